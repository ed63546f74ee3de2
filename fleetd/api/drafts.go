package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// Copy names the copy of an entry.
type Copy struct {
	ID string `json:"id" maxLength:"63" doc:"id of the copy: a-z, 0-9 and -" cli:"new-name"`
	audit.Attribution
}

type savedAnswer struct {
	ETag string `header:"ETag" doc:"the draft revision, for If-Match"`
	Body Saved
}

// DraftMatch is the header that prevents overwriting somebody else's change.
type DraftMatch struct {
	IfMatch string `header:"If-Match" doc:"the draft revision that you read, as the ETag has it; \"0\" for a new draft; * for any"`
}

// draftRev returns the draft revision to save over; nil = any.
func (m DraftMatch) draftRev() (*int64, error) {
	if m.IfMatch == "" {
		return nil, KindPreconditionRequired.Problem("If-Match is missing: fleetd cannot tell whether somebody else changed the draft meanwhile", `send the ETag that you got, "0" for a new draft, or * to overwrite any`)
	}
	return draftOf(m.IfMatch)
}

// drafts registers the requests that save drafts, and the one that says who uses an entry.
func (s *server) drafts(t *operation.Table, kind library.Kind, plural string) {
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "save", Method: http.MethodPut, Path: "/{id}", Right: auth.Edit,
		Audit: audit.ActionSave, Example: "KIND save -f KIND.yaml",
		Summary: "Save a draft",
		Description: "YAML, or JSON if the text starts with {. A draft may have errors, but cannot be published then. If-Match is " +
			"required, so that nobody overwrites somebody else's change unknowingly. With format=yaml the text is stored " +
			"as YAML in fleetd's own form, without comments.",
	}), func(ctx context.Context, in *struct {
		PathID
		TextBody
		DraftMatch
		By     string `query:"by" maxLength:"63"`
		Format string `query:"format" enum:"yaml"`
	}) (*savedAnswer, error) {
		draftRev, err := in.draftRev()
		if err != nil {
			return nil, err
		}
		end, err := s.heavy.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		text := in.RawBody
		if in.Format != "" {
			var problems []schema.Problem
			if text, problems = library.Formatted(kind, text); len(problems) > 0 {
				return nil, refusal(inDocument(problems))
			}
		}
		saved, problems, err := s.Library.Save(ctx, in.principal, kind, in.ID, text, draftRev,
			audit.Attribution{Who: actingName(in.principal, in.By)})
		return s.saved(saved, problems, err, string(kind)+" "+in.ID)
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "restore", Method: http.MethodPost, Path: "/{id}/revisions/{rev}/restore", Right: auth.Edit,
		Audit: audit.ActionSave, Use: "KIND restore NAME REVISION", Example: "KIND restore NAME 2",
		Long: "Save the content of a published revision as the draft; publish makes it the newest revision. Of a\n" +
			"story or an activity the acts are not restored: it is published with their newest revisions. A draft\n" +
			"with changes that were not published is replaced only with --over.",
		Summary: "Save the content of a published revision as the draft",
		Description: "Nothing is published. Of a story or an activity the acts are not restored: it is published with their newest " +
			"revisions.",
	}), func(ctx context.Context, in *struct {
		PathID
		DraftMatch
		Rev  int64 `path:"rev" minimum:"1"`
		Body audit.Attribution
	}) (*savedAnswer, error) {
		draftRev, err := in.draftRev()
		if err != nil {
			return nil, err
		}
		saved, problems, err := s.Library.Restore(ctx, in.principal, kind, in.ID, in.Rev, draftRev, attribute(in.principal, in.Body))
		return s.saved(saved, problems, err, fmt.Sprintf("revision %d of %s %s", in.Rev, kind, in.ID))
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "duplicate", Method: http.MethodPost, Path: "/{id}/duplicate", Right: auth.Edit,
		Audit: audit.ActionSave, Use: "KIND duplicate NAME NEW-NAME", Example: "KIND duplicate NAME OTHER",
		Summary:     "Save a copy of the draft under another id",
		Description: "Refused if the id is taken.",
	}), func(ctx context.Context, in *idAndBody[Copy]) (*savedAnswer, error) {
		saved, problems, err := s.Library.Duplicate(ctx, in.principal, kind, in.ID, in.Body.ID, attribute(in.principal, in.Body.Attribution))
		return s.saved(saved, problems, err, string(kind)+" "+in.ID)
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "get-uses", Method: http.MethodGet, Path: "/{id}/uses", Right: auth.View,
		Use: "KIND uses NAME", Example: "KIND uses NAME",
		Summary: "Get what uses it: stories, activities and acts, and the robots that have each revision",
	}), func(ctx context.Context, in *PathID) (*answer[Uses], error) {
		return s.uses(ctx, in.principal, kind, in.ID)
	})
}

func (s *server) saved(saved library.Saved, problems []schema.Problem, err error, what string) (*savedAnswer, error) {
	if err := s.failed(err, what, inDocument(problems)); err != nil {
		return nil, err
	}
	return &savedAnswer{etag(saved.Entry.DraftRev), Saved{entryOf(saved.Entry), saved.Unchanged}}, nil
}

func etag(rev int64) string { return strconv.Quote(strconv.FormatInt(rev, 10)) }

// Uses is what uses an entry.
type Uses struct {
	Performers []Performer `json:"performers" doc:"of an act: the stories, activities and acts that perform it"`
	Robots     []RobotWith `json:"robots" doc:"of a story or an activity: the robots to which it is assigned, or that have it"`
}

// Performer is a story, an activity or an act that performs an act.
type Performer struct {
	Kind   string   `json:"kind" enum:"act,story,activity"`
	ID     string   `json:"id"`
	Draft  bool     `json:"draft" doc:"in its draft"`
	Rev    int64    `json:"rev,omitempty" doc:"its newest revision, if that performs it"`
	Robots []string `json:"robots" doc:"robots with a revision of it that performs the act"`
}

// RobotWith is a robot to which a story or an activity is assigned, or that has it.
type RobotWith struct {
	Robot  string `json:"robot"`
	Rev    int64  `json:"rev,omitempty" doc:"the assigned revision; left out if it is not assigned any more"`
	Active int64  `json:"active,omitempty" doc:"the revision that the robot has"`
	Newest bool   `json:"newest" doc:"the assigned revision is the newest one"`
	Done   bool   `json:"converged" doc:"the robot has what is assigned"`
}

func (s *server) uses(ctx context.Context, p auth.Principal, kind library.Kind, id string) (*answer[Uses], error) {
	what := string(kind) + " " + id
	e, _, err := s.Library.Entry(ctx, kind, id)
	if err != nil {
		return nil, s.fail(err, what)
	}
	out := Uses{Performers: []Performer{}, Robots: []RobotWith{}}
	if kind != library.KindAct {
		out.Robots = s.robotsUsing(p, kind, id, e.Rev)
		return &answer[Uses]{out}, nil
	}
	performers, problems, err := s.Library.UsesOfAct(ctx, id)
	if err := s.failed(err, what, inDocument(problems)); err != nil {
		return nil, err
	}
	for _, by := range performers {
		out.Performers = append(out.Performers, Performer{string(by.Of.Kind), by.Of.ID, by.Draft, by.Rev, s.visibleIDs(p, by.Robots)})
	}
	return &answer[Uses]{out}, nil
}

// robotsUsing lists the robots to which a story or an activity is assigned, or that have it.
func (s *server) robotsUsing(p auth.Principal, kind library.Kind, id string, newest int64) []RobotWith {
	out := []RobotWith{}
	for _, r := range visible(p, s.View.Robots()) {
		h := RobotWith{Robot: r.ID}
		if kind == library.KindStory {
			if d := r.Desired; d.Story != nil && d.Story.ID == id {
				h.Rev, h.Done = d.Story.Rev, d.Converged
			}
			if a := r.Desired.Active; a != nil && a.ID == id {
				h.Active = a.Rev
			}
		} else if r.Activities != nil {
			for _, a := range r.Activities.Assigned {
				if a.ID == id {
					h.Rev, h.Done = a.Rev, r.Activities.Converged
				}
			}
			if h.Done {
				h.Active = h.Rev
			}
		}
		if h.Rev > 0 || h.Active > 0 {
			h.Newest = h.Rev == newest
			out = append(out, h)
		}
	}
	return out
}
