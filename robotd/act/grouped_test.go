package act

import (
	"fmt"
	"testing"
	"time"

	"troupe/schema/score"
)

// grouped is an act of 100 actions in 20 groups, which start one after the other and
// overlap: each of them starts and ends within the act.
func grouped() *score.Act {
	a := &score.Act{ID: "grouped"}
	for g := range int64(20) {
		a.Actions = append(a.Actions, group(fmt.Sprint("g", g), g*200, score.MethodMultiple,
			led("", 0, 100), sound("", 0, 700), wait(50, 400), face("", 100, 200), led("", 120, 180)))
	}
	return a
}

// An act of 100 actions in 20 groups
// starts, performs and ends without an allocation in any tick.
func TestActOf100ActionsIn20GroupsDoesNotAllocate(t *testing.T) {
	r := newRig(t)
	for i := range 3 { // AllocsPerRun performs one before it measures
		r.push(story, Entry{ID: fmt.Sprint("entry-", i), Act: grouped()})
	}
	out := make([]Effect, 0, 256)
	ended, started, now := 0, 0, r.now
	if n := testing.AllocsPerRun(1, func() {
		for until := ended + 1; ended < until; now += tick {
			out = r.x.Tick(now, out[:0])
			for i := range out {
				switch out[i].Kind {
				case Ended:
					ended++
				case Start:
					started++
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations in an act, want none", n)
	}
	if ended != 2 || started < 2*80 || started > 2*80+5 || now > 20*time.Second {
		t.Errorf("%d acts with %d commands ended by %v", ended, started, now)
	}
}

func BenchmarkTickOf100ActionsIn20Groups(b *testing.B) {
	r := newRig(b)
	a := grouped()
	out := make([]Effect, 0, 256)
	now := r.now
	b.ReportAllocs()
	for b.Loop() {
		if r.x.Idle(story) {
			b.StopTimer()
			out, _ = r.x.Push(story, Entry{ID: "entry", Act: a}, out[:0])
			b.StartTimer()
		}
		now += tick
		out = r.x.Tick(now, out[:0])
	}
}
