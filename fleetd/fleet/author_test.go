package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema/score"
)

// TestAuthorRestoresAndDuplicates takes a story through what its author does with it: save,
// publish, restore, copy, and look at who has it.
func TestAuthorRestoresAndDuplicates(t *testing.T) {
	onBoth(t, func(w *world) {
		furnished(w)
		var s api.Saved
		changed := strings.Replace(museum, "name: {en: Museum}", "name: {en: Night}", 1)
		if changed == museum {
			w.Fatalf("the story has another name: %s", museum)
		}
		w.must("PUT", "/stories/museum", changed, &s, "If-Match", `"1"`)
		if p := w.ask("PUT", "/stories/museum", museum, nil, "If-Match", `"1"`); p == nil || !p.Of(api.KindPreconditionFailed) {
			w.Errorf("a second save over the same draft revision: %+v", p)
		}
		var e api.Entry
		w.must("GET", "/stories/museum", nil, &e)
		if !e.Edited || e.LengthMS == 0 || e.Steps != 2 || !strings.HasPrefix(string(e.Content), `{"story":"museum"`) {
			w.Errorf("the changed story is %+v", e)
		}
		w.must("POST", "/stories/museum/publish", audit.Attribution{}, nil)
		w.must("POST", "/stories/museum/revisions/1/restore", audit.Attribution{Who: "ann"}, &s, "If-Match", fmt.Sprintf(`"%d"`, e.DraftRev))
		if s.Entry.Name != "Museum" || s.Entry.Rev != 2 || s.Entry.DraftRev != e.DraftRev+1 || !strings.HasPrefix(s.Entry.Draft,
			"story: museum\nname: {en: Museum}\n") {
			w.Errorf("the restored draft is %+v", s.Entry)
		}
		var uses api.Uses
		w.must("GET", "/stories/museum/uses", nil, &uses)
		if len(uses.Robots) != 1 || uses.Robots[0].Robot != "r1" || uses.Robots[0].Rev != 1 || uses.Robots[0].Newest {
			w.Errorf("robots with the story: %+v", uses)
		}
		w.must("GET", "/acts/bow/uses", nil, &uses)
		at := slices.IndexFunc(uses.Performers, func(u api.Performer) bool { return u.ID == "museum" })
		if at < 0 || !uses.Performers[at].Draft || uses.Performers[at].Rev != 2 || !slices.Equal(uses.Performers[at].Robots, []string{"r1"}) {
			w.Errorf("users of bow: %+v", uses)
		}
		w.must("POST", "/stories/museum/duplicate", api.Copy{ID: "museum-2"}, &s)
		if s.Entry.ID != "museum-2" || s.Entry.Rev != 0 || !strings.HasPrefix(s.Entry.Draft, "story: museum-2\n") {
			w.Errorf("the copy is %+v", s.Entry)
		}
		if p := w.ask("POST", "/stories/museum/duplicate", api.Copy{ID: "museum-2"}, nil); p == nil || !p.Of(api.KindInvalid) ||
			!strings.Contains(p.Hint, "another id") {
			w.Errorf("a copy over another story: %+v", p)
		}
	})
}

// TestFormOfTheBrowserIsStoredAsYAML saves what an editor sends.
func TestFormOfTheBrowserIsStoredAsYAML(t *testing.T) {
	inWorld(t, func(w *world) {
		var s api.Saved
		w.must("PUT", "/acts/wave?format=yaml", `{"act":"wave","actions":[{"type":"face","start_ms":0,"face":"smile"}]}`, &s, "If-Match", `"0"`)
		if s.Entry.Draft != "act: wave\nactions:\n  - {type: face, start_ms: 0, face: smile}\n" || s.Entry.DraftRev != 1 {
			w.Errorf("stored as %q", s.Entry.Draft)
		}
		if p := w.ask("PUT", "/acts/wave?format=yaml", `{"act":"wave","actions":[{"type":"face","start_ms":0}]}`, nil, "If-Match", `"0"`); p == nil || !p.Of(api.KindPreconditionFailed) {
			w.Errorf("a new act over one that exists: %+v", p)
		}
	})
}

// TestTimelineOfADraftHasItsActions draws an act whose author has not chosen a face yet, for a preview.
func TestTimelineOfADraftHasItsActions(t *testing.T) {
	inWorld(t, func(w *world) {
		var got api.Timeline
		ask := api.TimelineText{SourceText: api.SourceText{Kind: "act", Text: `act: x
parameters: {guest: {type: string, default: everybody}}
actions:
  - {type: face, start_ms: 0, end_ms: 3000, face: ''}
  - {type: say, start_ms: 1000, timeout_ms: 4000, text: {en: "Hello ${guest}"}}
`}}
		if p := w.ask("POST", "/library/timeline", ask, nil); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("an act without a face: %+v", p)
		}
		ask.Actions = true
		w.must("POST", "/library/timeline", ask, &got)
		if len(got.Lanes) != 2 || len(got.Actions) != 2 || len(got.Actions[0]) != 1 ||
			fmt.Sprint(got.Actions[0][0]) != "map[start_ms:1000 text:map[en:Hello everybody] timeout_ms:4000 type:say]" {
			w.Errorf("the timeline is %+v", got)
		}
		ask.Text = "act: x\nactions:\n  - {type: fly, start_ms: 0}\n"
		if p := w.ask("POST", "/library/timeline", ask, nil); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("an action of an unknown type: %+v", p)
		}
	})
}

// TestTimelineOfATextShowsConflicts draws an act whose actions overlap on one unit.
func TestTimelineOfATextShowsConflicts(t *testing.T) {
	inWorld(t, func(w *world) {
		var got api.Timeline
		ask := api.TimelineText{SourceText: api.SourceText{Kind: "act", Text: `act: x
actions:
  - {type: face, start_ms: 0, end_ms: 3000, face: smile}
  - {type: face, start_ms: 1000, end_ms: 2000, face: calm}
`}}
		w.must("POST", "/library/timeline", ask, &got)
		if len(got.Conflicts) != 1 || got.Conflicts[0].Pointer != "/actions/1/start_ms" || got.Conflicts[0].Code != score.CodeOverlap ||
			len(got.Lanes) == 0 || len(got.Lanes[0].Bars) != 2 {
			w.Errorf("the timeline is %+v", got)
		}
		ask.Text = "act: x\nactions:\n  - {type: fly, start_ms: 0}\n"
		if p := w.ask("POST", "/library/timeline", ask, nil); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("an act with other errors: %+v", p)
		}
	})
}
