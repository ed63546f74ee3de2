package life

import (
	"fmt"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/score"
)

// conditions of many kinds, none of which is true.
var untrueConditions = []string{
	`people > 5`, `touch && battery > 0.3`, `dark || sound`, `charging`, `labels.site == "museum"`, `location == "entrance"`,
	`since_s("touch") < 5.0`, `hour >= 23 && weekday == "sun"`, `mode == "mnl"`, `people > 3 && since_s("activity:a0") > 60.0`,
}

// crowded returns a robot in ato with as many activities as there may be.
func crowded(t testing.TB) *world {
	w := newWorld(t)
	for i := range score.MaxActivities {
		w.set.Activities = append(w.set.Activities, score.Activity{
			ID: fmt.Sprintf("a%d", i), Nature: []score.Nature{score.NatureSolitary, score.NatureInteractive}[i%2],
			Acts:   []score.Step{{Act: "still"}},
			Launch: score.Launch{When: untrueConditions[i%len(untrueConditions)], For: []string{"", "3s"}[i%2], Cooldown: "1m"},
		})
	}
	w.takeSet()
	w.f.Ato = true
	w.decide()
	w.sense(driver.People, "", true, 1)
	w.pass(10 * time.Second)
	w.decide()
	return w
}

// The launchpad chooses when something has changed, however often it is called, and a tick in
// which nothing has allocates nothing.
func TestLaunchpadCostsNothingWhenNothingChanges(t *testing.T) {
	w := crowded(t)
	const tick = 20 * time.Millisecond
	ticks := func(n int) (chose int64) {
		before := w.s.chose
		for range n {
			w.at += tick
			w.decide()
		}
		return w.s.chose - before
	}
	if n := ticks(3000); n != 0 {
		t.Errorf("in a minute in which nothing changed the launchpad chose %d times", n)
	}
	w.sense(driver.Touch, "head", true, 0)
	if n := ticks(50); n < 1 || n > 3 {
		t.Errorf("after one touch the launchpad chose %d times", n)
	}
	if n := ticks(500); n > 2 { // since_s("touch") < 5.0 ends
		t.Errorf("in the 10 s after it the launchpad chose %d times", n)
	}
	if allocs := testing.AllocsPerRun(1000, func() {
		w.at += time.Microsecond
		w.step().Decide()
		w.step().Launch()
	}); allocs != 0 {
		t.Errorf("a step in which nothing changes allocates %v times", allocs)
	}
}

// What a day of launches leaves behind is what is remembered of each activity.
func TestLaunchesLeaveNothingBehind(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b"} {
		w.add([]string{id, "solitary", "when=people>0"})
	}
	w.f.Ato = true
	w.sense(driver.People, "", true, 1)
	w.decide()
	const day = 10 * time.Hour
	launches := 0
	for w.at < day {
		w.pass(w.at + 550*time.Millisecond)
		if run := w.s.focus.run; run != "" {
			launches++
			w.s.Ended(effect.ActivityEnded{Run: run, Outcome: effect.Finished})
		}
		w.decide()
	}
	if want := int(day/time.Minute) * 100; launches < want {
		t.Errorf("in %v there were %d launches, want %d at least", day, launches, want)
	}
	w.f.Ato = false
	w.decide()
	d := w.step().Document(func(schema.Ability) bool { return false })
	if len(d.Focuses) > schema.MaxLifeHistory || len(d.States) > schema.MaxLifeHistory || len(d.Statistics) != 2 || d.Focused != "" ||
		len(d.Stack) > 0 || d.State != schema.LifeDisabled {
		t.Errorf("afterwards life is %s, has the focus %q, a stack %v, %d and %d entries of its history, and statistics of %d", d.State,
			d.Focused, d.Stack, len(d.Focuses), len(d.States), len(d.Statistics))
	}
	if w.s.Pending() || len(w.s.chosen) > 0 || cap(w.s.stack) > 8 || cap(w.s.focuses) > 2*schema.MaxLifeHistory {
		t.Errorf("afterwards: %d chosen, room for %d on the stack and %d in the history", len(w.s.chosen), cap(w.s.stack), cap(w.s.focuses))
	}
}

// Every key of a condition belongs to one plug-in, or could not be switched off.
func TestEveryKeyHasItsPlugin(t *testing.T) {
	of := map[string]schema.Plugin{}
	for _, p := range Plugins {
		for _, key := range p.Keys {
			if other := of[key]; other != "" {
				t.Errorf("%s is of %s and of %s", key, other, p.Name)
			}
			of[key] = p.Name
		}
	}
	for _, k := range append([]cond.Key{{Name: cond.Since}}, cond.Keys...) {
		if of[k.Name] == "" {
			t.Errorf("%s has no plug-in", k.Name)
		}
		delete(of, k.Name)
	}
	for key := range of {
		t.Errorf("%s is no key of a condition", key)
	}
}
