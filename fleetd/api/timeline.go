package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/score"
)

// Timeline is what an act, a story or an activity does on each unit by time.
type Timeline struct {
	Kind string `json:"kind" enum:"act,story,activity"`
	ID   string `json:"id"`
	Rev  int64  `json:"rev,omitempty" doc:"the published revision; 0 = the draft"`
	score.Timeline
	Conflicts []schema.Problem `json:"conflicts,omitempty" doc:"actions that cannot run at the same time"`

	// Lists of any: an action has a form of its own in JSON, which files have, too.
	Actions [][]any `json:"actions,omitempty" doc:"if they were asked for: of each lane the action of each bar, as files have it, with its parameters filled in"`
}

// TimelineText is a text to draw.
type TimelineText struct {
	SourceText
	Lang    string `json:"lang,omitempty" maxLength:"35" doc:"language of the texts, such as de"`
	Actions bool   `json:"actions,omitempty" doc:"give the actions, too, such as for a preview; a text in which something is still missing has a timeline then"`
}

// timeline registers the request for the timeline of an act, a story or an activity.
func (s *server) timeline(t *operation.Table, kind library.Kind, plural string) {
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "get-timeline", Method: http.MethodGet, Path: "/{id}/timeline", Right: auth.View,
		Example: "KIND get NAME --timeline",
		Summary: "Get what each unit does by time, in bars to draw",
		Description: "Of the draft, or of the published revision rev. The draft of a story or of an act that performs others is " +
			"shown with their newest published revisions, or else their drafts.",
	}), func(ctx context.Context, in *struct {
		PathID
		Rev  int64  `query:"rev" minimum:"0" doc:"a published revision; 0 = the draft"`
		Lang string `query:"lang" maxLength:"35" doc:"language of the texts, such as de"`
	}) (*answer[Timeline], error) {
		t, problems, err := s.timelineOf(ctx, kind, in.ID, in.Rev, in.Lang)
		if err != nil {
			return nil, s.fail(err, fmt.Sprintf("%s %s", kind, in.ID))
		}
		if problems = schema.Errors(problems); len(problems) > 0 {
			return nil, refusal(inDocument(problems))
		}
		return &answer[Timeline]{Timeline{Kind: string(kind), ID: in.ID, Rev: in.Rev, Timeline: t}}, nil
	})
}

// draftTimeline registers the request for the timeline of a text that is not saved.
func (s *server) draftTimeline(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "get-timeline-of-text", Method: http.MethodPost, Path: "/library/timeline", Tag: "library", Right: auth.View,
		Summary: "Get what each unit of a text does by time, in bars to draw",
		Description: "Nothing is saved. If the only errors are of times, such as two actions that overlap on one unit, the " +
			"timeline shows them as robots would perform them, and conflicts names them.",
		ReadOnly: true,
		Example:  "act get --timeline -f act.yaml", Without: "without fleetd",
	}, func(ctx context.Context, in *bodyOf[TimelineText]) (*answer[Timeline], error) {
		end, err := s.heavy.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		lookup := s.newActLookup(ctx)
		despite := ofTimes
		if in.Body.Actions {
			despite = func(p schema.Problem) bool { return ofTimes(p) || !score.SpoilsTimes(p) }
		}
		t, problems := textTimeline(library.Kind(in.Body.Kind), []byte(in.Body.Text), lookup.find, despite, in.Body.Lang)
		if lookup.err != nil {
			return nil, s.fail(lookup.err, "library")
		}
		out := Timeline{Kind: in.Body.Kind, Timeline: t}
		for _, p := range schema.Errors(problems) {
			switch {
			case !despite(p):
				return nil, refusal(inDocument(schema.Errors(problems)))
			case ofTimes(p):
				out.Conflicts = append(out.Conflicts, p)
			}
		}
		if in.Body.Actions {
			out.Actions = actionsOf(t)
		}
		return &answer[Timeline]{out}, nil
	})
}

// ofTimes reports whether an act with this error still has a timeline.
func ofTimes(p schema.Problem) bool {
	return p.Code == score.CodeOverlap || p.Code == score.CodeStarvation
}

// actionsOf returns the actions of the bars of each lane.
func actionsOf(t score.Timeline) [][]any {
	all := make([][]any, len(t.Lanes))
	for i, lane := range t.Lanes {
		for _, b := range lane.Bars {
			all[i] = append(all[i], b.Action)
		}
	}
	return all
}

// timelineOf returns a timeline, or the problems because of which there is none.
func (s *server) timelineOf(ctx context.Context, kind library.Kind, id string, rev int64,
	lang string) (t score.Timeline, found []schema.Problem, err error) {
	text, err := s.source(ctx, kind, id, rev)
	if err != nil {
		return t, nil, err
	}
	if kind == library.KindAct || rev == 0 {
		lookup := s.newActLookup(ctx)
		t, found = textTimeline(kind, text, lookup.find, ofTimes, lang)
		return t, found, lookup.err
	}
	b, found := library.PublishedOf(kind, text)
	if len(found) == 0 {
		t, found = score.StoryTimeline(b.Story, score.In(b.Acts), lang)
	}
	return t, found, nil
}

// textTimeline returns the timeline of a text and its problems. There is none if the text has an error
// that despite does not allow.
func textTimeline(kind library.Kind, text []byte, lookup score.Lookup, despite func(schema.Problem) bool,
	lang string) (t score.Timeline, found []schema.Problem) {
	none := score.Timeline{Acts: []score.ActSpan{}, Lanes: []score.Lane{}, Frozen: []score.Freeze{}}
	drawable := func() bool {
		return !slices.ContainsFunc(schema.Errors(found), func(p schema.Problem) bool { return !despite(p) })
	}
	if kind == library.KindAct {
		a, readable, problems := score.CheckAct(text, lookup)
		if found = problems; !readable || !drawable() {
			return none, found
		}
		t, problems = score.ActTimeline(a, lookup, lang)
		return t, append(found, problems...)
	}
	story, problems := library.StoryOf(kind, text)
	if found = problems; len(found) == 0 {
		found = score.Locate(text, schema.Errors(score.ValidateStory(story, lookup)))
	}
	if !drawable() {
		return none, found
	}
	t, problems = score.StoryTimeline(story, lookup, lang)
	return t, append(found, problems...)
}

// source returns the text of a draft, or the bytes of a revision.
func (s *server) source(ctx context.Context, kind library.Kind, id string, rev int64) ([]byte, error) {
	if rev > 0 {
		v, err := s.Library.Revision(ctx, kind, id, rev)
		return v.Body, err
	}
	e, _, err := s.Library.Entry(ctx, kind, id)
	return e.Draft, err
}

// actLookup finds acts: the newest revision of each, or else its draft. It asks for each once.
type actLookup struct {
	find score.Lookup
	err  error // the database did not answer, so what find did not find may exist
}

func (s *server) newActLookup(ctx context.Context) *actLookup {
	l := &actLookup{}
	known := map[string]*score.Act{} // nil: it does not exist, or is not valid
	l.find = func(id string) (score.Act, bool) {
		a, asked := known[id]
		if !asked {
			var err error
			if a, err = s.act(ctx, id); err != nil && l.err == nil {
				l.err = err
			}
			known[id] = a
		}
		if a == nil {
			return score.Act{}, false
		}
		return *a, true
	}
	return l
}

func (s *server) act(ctx context.Context, id string) (*score.Act, error) {
	e, _, err := s.Library.Entry(ctx, library.KindAct, id)
	text := e.Draft
	if err == nil && e.Rev > 0 && !e.Deleted() {
		text, err = s.source(ctx, library.KindAct, id, e.Rev)
	}
	switch {
	case errors.Is(err, change.ErrNotFound):
		return nil, nil
	case err != nil || e.Deleted():
		return nil, err
	}
	a, found := score.ParseAct(text)
	if len(found) > 0 {
		return nil, nil
	}
	return &a, nil
}
