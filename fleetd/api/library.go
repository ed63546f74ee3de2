package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/score"
)

// EntryList is acts, stories or activities, without their drafts.
type EntryList struct {
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

// names are what examples are about, by kind.
var names = map[library.Kind][2]string{library.KindAct: {"welcome", "hello"}, library.KindStory: {"museum", "shop"},
	library.KindActivity: {"greet", "wave"}}

// ofKind completes the row of an operation that exists for acts, stories and activities. It replaces KIND in Use, Done,
// Example and Columns by the kind, and NAME and OTHER in Example by names of entries. For acts it leaves out the column
// ROBOTS, because no act is assigned to robots.
func ofKind(kind library.Kind, plural string, r operation.Row) operation.Row {
	r.ID, r.Path, r.Tag = r.ID+"-"+string(kind), "/"+plural+r.Path, plural
	r.Example = strings.NewReplacer("KIND", string(kind), "NAME", names[kind][0], "OTHER", names[kind][1]).Replace(r.Example)
	for _, text := range []*string{&r.Use, &r.Done} {
		*text = strings.ReplaceAll(*text, "KIND", string(kind))
	}
	if r.Columns = strings.ReplaceAll(r.Columns, "KIND", strings.ToUpper(string(kind))); kind == library.KindAct {
		r.Columns = strings.ReplaceAll(r.Columns, " | ROBOTS robots", "")
	}
	return r
}

// library registers the requests for acts, stories or activities.
func (s *server) library(t *operation.Table, kind library.Kind, plural string) {
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "list", Method: http.MethodGet, Path: "", Right: auth.View,
		Use:     "KIND list",
		Summary: "List " + plural,
		Columns: "KIND id | NAME name | REVISION Published() | PROBLEMS Found() | ROBOTS robots | CHANGED changed_at | BY changed_by",
		None:    "no " + plural,
	}), func(ctx context.Context, in *struct {
		caller
		Deleted bool `query:"deleted" doc:"also list deleted ones"`
	}) (*answer[EntryList], error) {
		return s.entries(ctx, in.principal, kind, in.Deleted)
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "get", Method: http.MethodGet, Path: "/{id}", Right: auth.View,
		Example: "KIND get NAME",
		Summary: "Get one " + string(kind) + ": draft, problems, revisions",
	}), func(ctx context.Context, in *PathID) (*entryAnswer, error) {
		return s.entry(ctx, in.principal, kind, in.ID)
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "get-published", Method: http.MethodGet, Path: "/{id}/revisions/{rev}", Right: auth.View,
		Example: "KIND get NAME --rev 2",
		Summary: "Get the exact bytes of a published revision",
	}), func(ctx context.Context, in *struct {
		PathID
		Rev int64 `path:"rev" minimum:"1"`
	}) (*struct {
		ContentType string `header:"Content-Type"`
		Body        []byte
	}, error) {
		v, err := s.Library.Revision(ctx, kind, in.ID, in.Rev)
		if err != nil {
			return nil, s.fail(err, fmt.Sprintf("revision %d of %s %s", in.Rev, kind, in.ID))
		}
		return &struct {
			ContentType string `header:"Content-Type"`
			Body        []byte
		}{"application/json", v.Body}, nil
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "publish", Method: http.MethodPost, Path: "/{id}/publish", Right: auth.Edit,
		Audit: audit.ActionPublish, Example: "KIND publish NAME",
		Summary: "Publish the draft as the next revision",
		Description: "Robots keep the revision that is assigned to them. Refused while the draft has errors. If-Match publishes " +
			"only the draft that you read. With acts, these acts are published before it in the same transaction, all or " +
			"none.",
	}), func(ctx context.Context, in *struct {
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
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "delete", Method: http.MethodDelete, Path: "/{id}", Right: auth.Edit,
		Audit: audit.ActionDelete, Use: "KIND delete NAME",
		Example: "KIND delete NAME\nKIND delete NAME --dry-run\n" +
			"KIND delete NAME --expect-stories 1 --expect-robots 5 --yes-clear-default museum",
		Summary: "Delete; recover undoes it",
		Description: "An act is removed from every story and activity that uses it; one that is left empty is deleted too; robots " +
			"get what is left. The request must repeat the numbers that a dry run shows, and name the stories whose " +
			"robots would be left without a default story.",
	}), func(ctx context.Context, in *struct {
		PathID
		DryRun     bool     `query:"dry_run" doc:"only show what it would do"`
		Stories    int      `query:"expected_stories" minimum:"0" doc:"stories that change" cli:"expect-stories"`
		Activities int      `query:"expected_activities" minimum:"0" doc:"activities that change" cli:"expect-activities"`
		Robots     int      `query:"expected_robots" minimum:"0" doc:"robots that get a new desired story or new activities" cli:"expect-robots"`
		Clear      []string `query:"clear,explode" doc:"stories whose robots may be left without a default story" cli:"yes-clear-default"`
		AttributionQuery
	}) (*answer[Deletion], error) {
		expect := &library.Expect{Stories: in.Stories, Activities: in.Activities, Robots: in.Robots, Clear: in.Clear}
		if in.DryRun {
			expect = nil
		}
		return s.remove(ctx, in.principal, kind, in.ID, expect, in.attribution(in.principal))
	})
	operation.Register(t, ofKind(kind, plural, operation.Row{
		ID: "recover", Method: http.MethodPost, Path: "/{id}/recover", Right: auth.Edit,
		Audit: audit.ActionRecover, Use: "KIND recover NAME", Example: "KIND recover NAME", Done: "KIND {id} is recovered",
		Summary:     "Recover what was deleted",
		Description: "It is assigned to no robot.",
	}), func(ctx context.Context, in *idAndBody[audit.Attribution]) (*savedAnswer, error) {
		return s.recover(ctx, in.principal, kind, in.ID, in.Body)
	})
}

// validation registers the request that validates texts.
func (s *server) validation(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "validate-texts", Method: http.MethodPost, Path: validatePath, Tag: "library", Right: auth.View,
		Summary:     "List the problems of acts, stories and activities",
		Description: "Each is validated as if the assets and then the acts of the request had been published. Nothing is saved.",
		ReadOnly:    true,
		Example:     "validate -f act.yaml --online",
		MaxBody:     maxTexts,
	}, s.validate)
}

// publication registers the request that publishes texts.
func (s *server) publication(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "publish-texts", Method: http.MethodPost, Path: publishPath, Tag: "library", Right: auth.Edit,
		Summary: "Publish acts, stories and activities, all or none of them",
		Description: "Each text is saved as a draft and published as its next revision, in one transaction: acts before those that " +
			"perform them, then the others. Refused if one has errors or two have one name. dry_run shows what would " +
			"change; assets are then those that would be uploaded before.",
		Audit:   audit.ActionPublish,
		Example: "publish -f act.yaml",
		MaxBody: maxTexts,
	}, s.publishAll)
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

func (s *server) entries(ctx context.Context, p auth.Principal, kind library.Kind, deleted bool) (*answer[EntryList], error) {
	rows, err := s.Library.Entries(ctx, kind, deleted)
	if err != nil {
		return nil, s.fail(err, "library")
	}
	summaries, err := s.summaries(ctx, kind, rows...)
	if err != nil {
		return nil, err
	}
	robots := s.robotsWith(p, kind)
	out := EntryList{Entries: []Entry{}}
	for _, row := range rows {
		e := entryOf(row)
		e.Robots, e.Draft, e.Content = robots[e.ID], "", nil
		e.summarise(summaries[e.ID])
		out.Entries = append(out.Entries, e)
	}
	return &answer[EntryList]{out}, nil
}

// robotsWith counts the robots that have each story as default, or each activity.
func (s *server) robotsWith(p auth.Principal, kind library.Kind) map[string]int {
	out := map[string]int{}
	for _, r := range visible(p, s.View.Robots()) {
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
	row, revisions, err := s.Library.Entry(ctx, kind, id)
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
	all, problems, err := s.Library.Summaries(ctx, kind, ids)
	if err := s.failed(err, "library", inDocument(problems)); err != nil {
		return nil, err
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

func (s *server) validate(ctx context.Context, in *bodyOf[Validation]) (*answer[Validities], error) {
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	texts, assets := in.Body.rows()
	checked, problems, err := s.Library.Validate(ctx, texts, assets)
	if err := s.failed(err, "library", inDocument(problems)); err != nil {
		return nil, err
	}
	out := Validities{Results: make([]Validity, len(checked))}
	for i, c := range checked {
		out.Results[i] = Validity{ID: c.ID, Valid: len(schema.Errors(c.Problems)) == 0, Problems: nonNil(c.Problems)}
	}
	return &answer[Validities]{out}, nil
}

func (s *server) publish(ctx context.Context, p auth.Principal, kind library.Kind, id string, draftRev *int64,
	in ToPublish) (*answer[PublishedWith], error) {
	done, problems, err := s.Library.Publish(ctx, p, kind, id, draftRev, in.Acts, attribute(p, in.Attribution))
	if err := s.failed(err, string(kind)+" "+id, inDocument(problems)); err != nil {
		return nil, err
	}
	out := PublishedWith{Published: publishedOf(done)}
	for _, act := range done.Acts {
		out.Acts = append(out.Acts, publishedOf(act))
	}
	return &answer[PublishedWith]{out}, nil
}

func (s *server) publishAll(ctx context.Context, in *bodyOf[Publication]) (*answer[Publications], error) {
	if len(in.Body.Assets) > 0 && !in.Body.DryRun {
		return nil, refusal(inBody("", []schema.Problem{schema.NewProblem("/assets", score.CodeWrongField,
			"assets are uploaded before, not published with the texts", "leave them out, or set dry_run")}))
	}
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	texts, assets := in.Body.rows()
	done, problems, err := s.Library.PublishAll(ctx, in.principal, texts, assets, in.Body.DryRun, attribute(in.principal, in.Body.Attribution))
	if err := s.failed(err, "library", inBody("/texts", problems)); err != nil {
		return nil, err
	}
	out := Publications{DryRun: in.Body.DryRun, Results: make([]Published, len(done.Results))}
	for i, one := range done.Results {
		out.Results[i] = publishedOf(one)
	}
	return &answer[Publications]{out}, nil
}

func (s *server) remove(ctx context.Context, p auth.Principal, kind library.Kind, id string, expect *library.Expect,
	by audit.Attribution) (*answer[Deletion], error) {
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
