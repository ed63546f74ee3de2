package interrupt

import (
	"testing"
	"time"

	"pgregory.net/rapid"
	"troupe/schema"
)

// walk calls Step with random inputs.
func walk(t *rapid.T, see func(was State, f Facts, in Input, d Decision)) {
	r := newWorld().r
	s, now := Boot(&r), time.Duration(0)
	f := Facts{}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second
		in := Input{
			What: rapid.SampledFrom([]What{Request, Request, Request, Request, Cancel, Run, Stop, Tick, Enter, Enter, Leave, CancelAll, Done,
				Done, Error}).Draw(t, "what"),
			Handler:     rapid.SampledFrom([]string{"service", "party", "alarm", "power", "power", "none"}).Draw(t, "handler"),
			Interrupter: rapid.SampledFrom([]string{"ai", "touch", "power", "power", "no_robot"}).Draw(t, "interrupter"),
			ID:          "service-1",
		}
		if running := s.Running(); len(running) > 0 && rapid.Bool().Draw(t, "hit") {
			in.ID = rapid.SampledFrom(running).Draw(t, "which").ID
		}
		switch in.What {
		case Enter:
			f.Ato = true
		case Leave:
			f.Ato = false
		}
		f.Paused = rapid.IntRange(0, 3).Draw(t, "paused") == 0
		f.Condition = rapid.IntRange(0, 3).Draw(t, "condition") > 0
		was := s
		see(was, f, in, Step(&s, now, &r, f, in))
		if in.What == Leave && len(s.Running()) > 0 {
			t.Fatal("an interrupt runs without ato")
		}
	}
}

func TestEveryInterruptStartsAndEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held, handlers := map[string]string{}, map[string]int{}
		walk(t, func(was State, f Facts, in Input, d Decision) {
			for _, e := range d.Ended {
				if held[e.ID] == "" {
					t.Fatalf("%s ended and did not run", e.ID)
				}
				handlers[held[e.ID]]--
				delete(held, e.ID)
			}
			if e := d.Start; e.ID != "" {
				if held[e.ID] != "" {
					t.Fatalf("%s started twice", e.ID)
				}
				held[e.ID] = e.Handler
				if handlers[e.Handler]++; handlers[e.Handler] > 1 {
					t.Fatalf("%s runs twice", e.Handler)
				}
			}
		})
	})
}

func TestRefusedRequestChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var last State
		first := true
		var lastRefused bool
		walk(t, func(was State, f Facts, in Input, d Decision) {
			if !first && lastRefused && was != last {
				t.Fatalf("a refusal changed %+v to %+v", last, was)
			}
			first, last, lastRefused = false, was, d.Answer.Status == schema.StatusRejected
			if lastRefused && (len(d.Ended) > 0 || d.Start.ID != "") {
				t.Fatalf("refused %s and changed something: %+v", in.What, d)
			}
		})
	})
}

func TestFrozenAtoAllowsOnlyPowerWithoutMotion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was State, f Facts, in Input, d Decision) {
			if d.Start.ID == "" {
				return
			}
			if !f.Ato || !f.Condition || f.Paused && (d.Handler.Moves || in.Interrupter != PowerInterrupter) {
				t.Fatalf("%s started for %s with %+v", d.Start.ID, in.Interrupter, f)
			}
		})
	})
}
