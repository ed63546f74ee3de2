package act

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/score"
)

// begin is an action that begins at a time.
type begin struct {
	action string
	at     time.Duration
}

// performed returns when the executor begins each action of a that an audience notices, if every unit takes as
// long as its bar on the timeline.
func (r *rig) performed(a score.Act, bars map[string]score.Bar, every time.Duration) []begin {
	r.act(a.Actions...)
	var all []begin
	due := map[string]time.Duration{} // when the unit of an action is done
	for len(r.pick(Ended, "")) == 0 && r.now < time.Hour {
		r.now += every
		for _, id := range sortedByTime(due) {
			if due[id] > r.now {
				break
			}
			delete(due, id)
			r.done(id)
		}
		before := len(r.outs)
		r.check(r.x.Tick(r.now, nil))
		for _, o := range r.outs[before:] {
			if o.Kind != Start {
				continue
			}
			all = append(all, begin{o.Action, r.now})
			if b := bars[o.Action]; o.Holds && o.Do.TimeoutMS != nil {
				due[o.Action] = r.now + time.Duration(b.EndMS-b.StartMS)*time.Millisecond
			}
		}
	}
	return all
}

func sortedByTime(due map[string]time.Duration) []string {
	ids := make([]string, 0, len(due))
	for id := range due {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int { return cmp.Or(cmp.Compare(due[x], due[y]), cmp.Compare(x, y)) })
	return ids
}

// barsOf returns the bars of an act by the ids of its actions, or else their paths.
func barsOf(t testing.TB, a score.Act) map[string]score.Bar {
	tl, found := score.ActTimeline(a, nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	bars := map[string]score.Bar{}
	for _, lane := range tl.Lanes {
		for _, b := range lane.Bars {
			if b.Action == nil || b.Action.Type() != b.Type {
				t.Fatalf("bar %s of %s has the action %+v", b.Pointer, b.Type, b.Action)
			}
			bars[cmp.Or(b.ID, b.Pointer[1:])] = b
		}
	}
	return bars
}

// agrees fails if an action begins over 200 ms from the start of its bar, which is what a preview shows.
func agrees(t testing.TB, performed []begin, bars map[string]score.Bar) {
	t.Helper()
	for _, b := range performed {
		bar, ok := bars[b.action]
		drawn := time.Duration(bar.StartMS) * time.Millisecond
		if off := (b.at - drawn).Abs(); !ok || off > 200*time.Millisecond {
			t.Fatalf("%s begins at %v, but is drawn at %v", b.action, b.at, drawn)
		}
	}
	for i := 1; i < len(performed); i++ {
		if before, after := bars[performed[i-1].action], bars[performed[i].action]; before.StartMS > after.StartMS+200 {
			t.Fatalf("%s begins before %s, but is drawn after it", performed[i-1].action, performed[i].action)
		}
	}
}

// accepting has a head with the motions of the shipped acts.
var accepting = func() Config {
	c := testConfig
	c.Units = slices.Clone(testUnits)
	for i := range c.Units {
		if c.Units[i].Kind == schema.UnitHead {
			c.Units[i].Motions = []string{"nod", "shake", "look-around"}
		}
	}
	return c
}()

// TestPreviewAgreesWithPerformance plays acts whose units take as long as estimated. A preview shows the bars of the
// timeline, each from its start on.
func TestPreviewAgreesWithPerformance(t *testing.T) {
	t.Run("shipped acts", func(t *testing.T) {
		files, _ := filepath.Glob("../../deploy/library/acts/*.yaml")
		library := map[string]score.Act{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a, found := score.ParseAct(text)
			if len(found) > 0 {
				t.Fatal(file, found)
			}
			library[a.ID] = a
		}
		played := 0
		for id, a := range library {
			a, found := a.Resolve(score.Step{}).Expand(score.In(library))
			if len(found) > 0 {
				t.Fatal(id, found)
			}
			bars := barsOf(t, a)
			r := &rig{t: t, x: New(accepting), a: newAudit(accepting.Units)}
			r.setGate(Gate{})
			got := r.performed(a, bars, 20*time.Millisecond)
			played += len(got)
			agrees(t, got, bars)
		}
		if played < 150 {
			t.Errorf("%d actions of %d acts: too few for this test", played, len(files))
		}
	})
	t.Run("actions that wait", func(t *testing.T) {
		long := say("long", 0, 9000)
		long.Do = score.Say{Text: score.Text{"en": "This is a long sentence, and what follows has to wait until it is over."}}
		for _, a := range []score.Act{
			{ID: "act", Actions: []score.Action{long, say("next", 500, 3000), face("smile", 600, -1)}},
			{ID: "act", Actions: []score.Action{long, exclusive(led("alone", 1000, 2000)), face("after", 1500, -1)}},
			{ID: "act", Actions: []score.Action{group("g", 0, score.MethodMultiple, long, say("next", 10, 2000)),
				group("h", 100, score.MethodExclusive, face("last", 200, 900))}},
			{ID: "act", Actions: []score.Action{head("turn", 0, 4000), motion("nods", 500, 3000)}},
		} {
			bars := barsOf(t, a)
			waits := slices.ContainsFunc(slices.Collect(maps.Values(bars)), func(b score.Bar) bool { return b.StartMS > b.Action.StartMS })
			got := newRig(t).performed(a, bars, 20*time.Millisecond)
			if !waits || len(got) != len(bars) {
				t.Fatalf("nothing waits, or %d of %d actions were performed: %+v", len(got), len(bars), got)
			}
			agrees(t, got, bars)
		}
	})
	t.Run("drawn acts", func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			for range 5 {
				a := score.Act{ID: "act", Actions: drawGroup(rt, "a", 0, false)}
				if len(schema.Errors(score.ValidateAct(a))) > 0 {
					continue
				}
				bars := barsOf(t, a)
				agrees(t, newRig(t).performed(a, bars, 5*time.Millisecond), bars)
			}
		})
	})
}
