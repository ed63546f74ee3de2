package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

// Library changes acts, stories and activities. Problems refuse a change.
type Library interface {
	Validate(ctx context.Context, texts []library.Source, assets []library.Asset) ([]library.Checked, []schema.Problem, error)
	Publish(ctx context.Context, p auth.Principal, kind library.Kind, id string, draftRev *int64, acts []string, by audit.Attribution) (library.Published, []schema.Problem, error)
	PublishAll(ctx context.Context, p auth.Principal, texts []library.Source, assets []library.Asset, dry bool, by audit.Attribution) (library.PublishedAll, []schema.Problem, error)
	Delete(ctx context.Context, p auth.Principal, kind library.Kind, id string, expect *library.Expect, by audit.Attribution) (library.Removal, []schema.Problem, error)
	Recover(ctx context.Context, p auth.Principal, kind library.Kind, id string, by audit.Attribution) (library.Saved, []schema.Problem, error)
}

// Entries reads acts, stories and activities.
type Entries interface {
	Entries(ctx context.Context, kind library.Kind, deleted bool) ([]library.Entry, error)
	// Entry returns one with its revisions, which have no bodies.
	Entry(ctx context.Context, kind library.Kind, id string) (library.Entry, []library.Revision, error)
	Revision(ctx context.Context, kind library.Kind, id string, rev int64) (library.Revision, error)
}

type entryList struct {
	Entries []Entry `json:"entries"`
}

// TextBody is the source of an entry, in YAML or JSON.
type TextBody struct {
	RawBody []byte `contentType:"application/yaml"`
}

type entryAnswer struct {
	ETag string `header:"ETag"`
	Body Entry
}

// library registers the requests for acts, stories or activities.
func (s *server) library(h huma.API, kind library.Kind, plural string) {
	at := func(id, method, path, summary string, description ...string) huma.Operation {
		return op(id+"-"+string(kind), method, "/"+plural+path, plural, summary, description...)
	}
	register(h, at("list", http.MethodGet, "", "List "+plural), auth.View, func(ctx context.Context, in *struct {
		caller
		Deleted bool `query:"deleted" doc:"also list deleted ones"`
	}) (*answer[entryList], error) {
		return s.entries(ctx, in.principal, kind, in.Deleted)
	})
	register(h, at("get", http.MethodGet, "/{id}", "Get one "+string(kind)+": draft, problems, revisions"), auth.View, func(ctx context.Context, in *PathID) (*entryAnswer, error) {
		return s.entry(ctx, in.principal, kind, in.ID)
	})
	register(h, at("get-published", http.MethodGet, "/{id}/revisions/{rev}", "Get the exact bytes of a published revision"), auth.View, func(ctx context.Context, in *struct {
		PathID
		Rev int64 `path:"rev" minimum:"1"`
	}) (*struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}, error) {
		v, err := s.Entries.Revision(ctx, kind, in.ID, in.Rev)
		if err != nil {
			return nil, s.fail(err, fmt.Sprintf("revision %d of %s %s", in.Rev, kind, in.ID))
		}
		return &struct {
			ContentType string `header:"Content-Type"`
			Body        []byte
		}{"application/json", v.Body}, nil
	})
	register(h, at("publish", http.MethodPost, "/{id}/publish", "Publish the draft as the next revision",
		"Robots keep the revision that is assigned to them. Refused while the draft has errors. If-Match publishes only the draft that you read. With acts, these acts are published before it in the same transaction, all or none."), auth.Edit,
		func(ctx context.Context, in *struct {
			PathID
			IfMatch string `header:"If-Match"`
			Body    ToPublish
		}) (*answer[PublishedWith], error) {
			draftRev, err := draftOf(in.IfMatch)
			if err != nil {
				return nil, err
			}
			return s.publish(ctx, in.principal, kind, in.ID, draftRev, in.Body)
		})
	register(h, at("delete", http.MethodDelete, "/{id}", "Delete; recover undoes it",
		"An act is removed from every story and activity that uses it; one that is left empty is deleted too; robots get what is left. The request must repeat the numbers that a dry run shows, and name the stories whose robots would be left without a default story."), auth.Edit,
		func(ctx context.Context, in *struct {
			PathID
			DryRun     bool     `query:"dry_run"`
			Stories    int      `query:"expected_stories" minimum:"0" doc:"stories that change"`
			Activities int      `query:"expected_activities" minimum:"0" doc:"activities that change"`
			Robots     int      `query:"expected_robots" minimum:"0" doc:"robots that get a new desired story or new activities"`
			Clear      []string `query:"clear,explode" doc:"stories whose robots may be left without a default story"`
			By         string   `query:"by" maxLength:"63"`
			Why        string   `query:"why" maxLength:"256"`
		}) (*answer[Deletion], error) {
			expect := &library.Expect{Stories: in.Stories, Activities: in.Activities, Robots: in.Robots, Clear: in.Clear}
			if in.DryRun {
				expect = nil
			}
			return s.remove(ctx, in.principal, kind, in.ID, expect, audit.Attribution{Who: in.By, Why: in.Why})
		})
	register(h, at("recover", http.MethodPost, "/{id}/recover", "Recover what was deleted", "It is assigned to no robot."), auth.Edit,
		func(ctx context.Context, in *struct {
			PathID
			Body audit.Attribution
		}) (*savedAnswer, error) {
			return s.recover(ctx, in.principal, kind, in.ID, in.Body)
		})
}

// validation registers the request that validates texts.
func (s *server) validation(h huma.API) {
	o := op("validate-texts", http.MethodPost, validatePath, "library", "List the problems of acts, stories and activities",
		"Each is validated as if the assets and then the acts of the request had been published. Nothing is saved.")
	o.MaxBodyBytes = maxTexts
	register(h, o, auth.View, func(ctx context.Context, in *struct {
		caller
		Body Validation
	}) (*answer[Validities], error) {
		return s.validate(ctx, in.Body)
	})
}

// publication registers the request that publishes texts.
func (s *server) publication(h huma.API) {
	o := op("publish-texts", http.MethodPost, publishPath, "library", "Publish acts, stories and activities, all or none of them",
		"Each text is saved as a draft and published as its next revision, in one transaction: acts before those that perform them, then the others. Refused if one has errors or two have one name. dry_run shows what would change; assets are then those that would be uploaded before.")
	o.MaxBodyBytes = maxTexts
	register(h, o, auth.Edit, func(ctx context.Context, in *struct {
		caller
		Body Publication
	}) (*answer[Publications], error) {
		return s.publishAll(ctx, in.principal, in.Body)
	})
}

const (
	validatePath = "/library/validate"
	publishPath  = "/library/publish"
)

// maxTexts bounds the texts of one request together.
const maxTexts = 8 << 20

// draftOf parses If-Match; nil means any revision.
func draftOf(match string) (*int64, error) {
	match = strings.Trim(strings.TrimPrefix(match, "W/"), `"`)
	if match == "" || match == "*" {
		return nil, nil
	}
	rev, err := strconv.ParseInt(match, 10, 64)
	if err != nil {
		return nil, KindPreconditionFailed.Problem(fmt.Sprintf("If-Match %q is not a revision of a draft", match), "send the ETag that you got")
	}
	return &rev, nil
}

func (s *server) entries(ctx context.Context, p auth.Principal, kind library.Kind, deleted bool) (*answer[entryList], error) {
	rows, err := s.Entries.Entries(ctx, kind, deleted)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	summaries, err := s.summaries(ctx, kind, rows...)
	if err != nil {
		return nil, err
	}
	robots := s.robotsWith(p, kind)
	out := entryList{Entries: []Entry{}}
	for _, row := range rows {
		e := entryOf(row)
		e.Robots, e.Draft, e.Content = robots[e.ID], "", nil
		e.summarise(summaries[e.ID])
		out.Entries = append(out.Entries, e)
	}
	return &answer[entryList]{out}, nil
}

// robotsWith counts the robots that have each story as default, or each activity.
func (s *server) robotsWith(p auth.Principal, kind library.Kind) map[string]int {
	out := map[string]int{}
	for _, r := range visible(p, s.Robots.Robots()) {
		switch {
		case kind == library.KindStory && r.Desired.Story != nil:
			out[r.Desired.Story.ID]++
		case kind == library.KindActivity && r.Activities != nil:
			for _, a := range r.Activities.Assigned {
				out[a.ID]++
			}
		}
	}
	return out
}

func (s *server) entry(ctx context.Context, p auth.Principal, kind library.Kind, id string) (*entryAnswer, error) {
	what := string(kind) + " " + id
	row, revisions, err := s.Entries.Entry(ctx, kind, id)
	if err != nil {
		return nil, s.fail(err, what)
	}
	summaries, err := s.summaries(ctx, kind, row)
	if err != nil {
		return nil, err
	}
	e := entryOf(row)
	e.Robots = s.robotsWith(p, kind)[id]
	e.summarise(summaries[id])
	e.Revisions = make([]Revision, len(revisions))
	for i, v := range revisions {
		e.Revisions[i] = revisionOf(v)
	}
	return &entryAnswer{ETag: etag(row.DraftRev), Body: e}, nil
}

func (s *server) summaries(ctx context.Context, kind library.Kind, rows ...library.Entry) (map[string]library.Summary, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	all, problems, err := s.Drafts.Summaries(ctx, kind, ids)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	if len(problems) > 0 {
		return nil, refusal(inDocument(problems))
	}
	return all, nil
}

func (s *server) recover(ctx context.Context, p auth.Principal, kind library.Kind, id string, by audit.Attribution) (*savedAnswer, error) {
	saved, problems, err := s.Library.Recover(ctx, p, kind, id, attribute(p, by))
	return s.saved(saved, problems, err, string(kind)+" "+id)
}

// rows returns the texts and assets of a request.
func (in Validation) rows() ([]library.Source, []library.Asset) {
	texts := make([]library.Source, len(in.Texts))
	for i, t := range in.Texts {
		texts[i] = library.Source{Kind: library.Kind(t.Kind), Body: []byte(t.Text)}
	}
	assets := make([]library.Asset, len(in.Assets))
	for i, a := range in.Assets {
		assets[i] = library.Asset{Name: a.Name, Media: library.AnyMedia(score.AssetKind(a.Kind)), SHA256: a.SHA256, Size: a.Size}
	}
	return texts, assets
}

func (s *server) validate(ctx context.Context, in Validation) (*answer[Validities], error) {
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	texts, assets := in.rows()
	checked, problems, err := s.Library.Validate(ctx, texts, assets)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	if len(problems) > 0 {
		return nil, refusal(inDocument(problems))
	}
	out := Validities{Results: make([]Validity, len(checked))}
	for i, c := range checked {
		out.Results[i] = Validity{ID: c.ID, Valid: len(schema.Errors(c.Problems)) == 0, Problems: nonNil(c.Problems)}
	}
	return &answer[Validities]{out}, nil
}

func (s *server) publish(ctx context.Context, p auth.Principal, kind library.Kind, id string, draftRev *int64, in ToPublish) (*answer[PublishedWith], error) {
	done, problems, err := s.Library.Publish(ctx, p, kind, id, draftRev, in.Acts, attribute(p, in.Attribution))
	if err != nil {
		return nil, s.fail(err, string(kind)+" "+id)
	}
	if len(problems) > 0 {
		return nil, refusal(inDocument(problems))
	}
	out := PublishedWith{Published: publishedOf(done)}
	for _, act := range done.Acts {
		out.Acts = append(out.Acts, publishedOf(act))
	}
	return &answer[PublishedWith]{out}, nil
}

func (s *server) publishAll(ctx context.Context, p auth.Principal, in Publication) (*answer[Publications], error) {
	if len(in.Assets) > 0 && !in.DryRun {
		return nil, refusal(inBody("", []schema.Problem{schema.NewProblem("/assets", score.CodeWrongField, "assets are uploaded before, not published with the texts", "leave them out, or set dry_run")}))
	}
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	texts, assets := in.rows()
	done, problems, err := s.Library.PublishAll(ctx, p, texts, assets, in.DryRun, attribute(p, in.Attribution))
	if err != nil {
		return nil, s.fail(err, "library")
	}
	if len(problems) > 0 {
		return nil, refusal(inBody("/texts", problems))
	}
	out := Publications{DryRun: in.DryRun, Results: make([]Published, len(done.Results))}
	for i, one := range done.Results {
		out.Results[i] = publishedOf(one)
	}
	return &answer[Publications]{out}, nil
}

func (s *server) remove(ctx context.Context, p auth.Principal, kind library.Kind, id string, expect *library.Expect, by audit.Attribution) (*answer[Deletion], error) {
	if !p.SeesAll() {
		dry, _, err := s.Library.Delete(ctx, p, kind, id, nil, attribute(p, by))
		if err != nil {
			return nil, s.fail(err, string(kind)+" "+id)
		}
		for _, one := range slices.Concat(dry.Impact.Stories, dry.Impact.Activities) {
			if err := s.refuseDelete(p, string(kind)+" "+id, one.Repinned, one.Cleared); err != nil {
				return nil, err
			}
		}
	}
	done, problems, err := s.Library.Delete(ctx, p, kind, id, expect, attribute(p, by))
	if err != nil {
		return nil, s.fail(err, string(kind)+" "+id)
	}
	if len(problems) > 0 {
		no := refusal(expectations(problems)).withCount(done.Impact.Robots)
		no.Confirm = strings.Join(done.Impact.Clears, " ")
		return nil, no
	}
	out := deletionOf(done.Impact)
	out.DryRun = expect == nil
	return &answer[Deletion]{out}, nil
}

// expectations adds the query parameters that a refused deletion is about.
func expectations(problems []schema.Problem) []Finding {
	found := findings("query", problems)
	for i := range found {
		switch found[i].Code {
		case library.CodeCountChanged:
			found[i].Pointer = "/expected_stories"
		case library.CodeConfirm:
			found[i].Pointer = "/clear"
		}
	}
	return found
}
