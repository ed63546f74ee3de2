package mode

import (
	"testing"
	"time"

	"pgregory.net/rapid"
	"troupe/robotd/command"
	"troupe/schema"
)

var (
	modes    = []schema.ModeID{"str", "mnl", "ato", "safe", "nope", ""}
	requests = []Kind{Set, Set, Set, Pause, Resume, Kill, Enable, Disable, Cancel, Cancel}
	reports  = []Kind{Started, Started, StartFailed, Stopped, Died, CalibOK, CalibFailed}
)

// walk takes a supervisor through random requests, reports of modes (expected, late or
// missing) and link losses, and calls see after every step.
func walk(t *rapid.T, see func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration)) {
	c := Defaults()
	if rapid.Bool().Draw(t, "boot ato") {
		c.Boot = schema.ModeAto
	}
	s, now := Boot(&c), time.Duration(0)
	step := func(f Facts, in Input) {
		was := s
		d := s.step(now, &c, f, in)
		see(was, s, f, in, d, now)
	}
	step(Facts{}, Input{Kind: Begin})
	for range rapid.IntRange(1, 50).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond
		f := Facts{MotionEnabled: rapid.Bool().Draw(t, "enabled")}
		if rapid.IntRange(0, 5).Draw(t, "lost") == 0 {
			f.LinkLost, f.LostFor = true, time.Duration(rapid.IntRange(0, 70).Draw(t, "lost for"))*time.Second
		}
		if rapid.IntRange(0, 5).Draw(t, "forbid") == 0 {
			f.Forbid = schema.ReasonNeedsReset
		}
		if rapid.IntRange(0, 3).Draw(t, "no story") == 0 {
			f.NotReady = []NotReady{{schema.ModeAto, schema.ReasonNoDefaultStory, ""}}
		}
		in := Input{Kind: Tick}
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			in = Input{Kind: rapid.SampledFrom(requests).Draw(t, "request"), Mode: rapid.SampledFrom(modes).Draw(t, "mode"),
				Restart: rapid.Bool().Draw(t, "restart"), Req: command.Key(rapid.StringMatching("[a-z]{8}").Draw(t, "req"))}
			if in.Kind == Cancel && s.Req != "" && rapid.IntRange(0, 3).Draw(t, "what runs") > 0 {
				in.Req = s.Req
			}
		case 1: // a report of the mode that the supervisor waits for
			in = Input{Kind: rapid.SampledFrom(reports).Draw(t, "report"), Mode: s.Active}
			if s.Phase == Starting {
				in.Mode = s.Next
			}
		case 2:
			in = Input{Kind: rapid.SampledFrom(reports).Draw(t, "late report"), Mode: rapid.SampledFrom(modes).Draw(t, "mode")}
		}
		step(f, in)
	}
}

func TestRefusedRequestChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration) {
			untouched := d.Answer.Status == schema.StatusRejected || d.Answer.Reason == schema.ReasonUnchanged
			if untouched && (s != was || len(d.Orders()) > 0 || d.Ended.To != "") {
				t.Fatalf("%s %s was answered with %s %s and changed\n%+v to\n%+v, orders %v", in.Kind, in.Mode, d.Answer.Status, d.Answer.Reason, was,
					s, d.Orders())
			}
		})
	})
}

func TestEveryAcceptedRequestEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open := map[command.Key]bool{}
		walk(t, func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration) {
			if in.Req != "" && d.Answer.Status == "" {
				t.Fatalf("%s %s got no answer in %s", in.Kind, in.Mode, was.Phase)
			}
			if e := d.Ended.To; e != "" {
				if !open[e] {
					t.Fatalf("request %s ended but was not open", e)
				}
				delete(open, e)
			}
			if d.Answer.Status == schema.StatusAccepted {
				open[in.Req] = true
			}
			if len(open) > 1 || len(open) == 1 && !open[s.Req] {
				t.Fatalf("open requests %v, but the supervisor has %q", open, s.Req)
			}
			if s.Req != "" && s.Phase != Starting && s.Phase != Stopping && s.Phase != Calibrating {
				t.Fatalf("request %s is still open in %s", s.Req, s.Phase)
			}
		})
	})
}

func TestAtMostOneModeIsAlive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Defaults()
		walk(t, func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration) {
			alive := schema.ModeID("")
			for i, m := range c.Modes {
				switch s.Status[i] {
				case schema.ModeStarting, schema.ModeRunning, schema.ModePaused, schema.ModeStopping:
					if alive != "" {
						t.Fatalf("%s and %s are alive at once in %s", alive, m.ID, s.Phase)
					}
					alive = m.ID
				}
			}
			want := s.Active
			if s.Phase == Starting {
				want = s.Next
			}
			if alive != want {
				t.Fatalf("%q is alive in %s, want %q (%s %s)", alive, s.Phase, want, in.Kind, in.Mode)
			}
			if d.Changed && s.Phase == None && s.System == schema.SystemRunning && !d.SafetyStop {
				t.Fatalf("no mode is in charge and the safety stop is missing, on %s", d.On)
			}
		})
	})
}

func TestOnlyRequestLeavesSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration) {
			if was.Phase == Safe && s.Phase != Safe && s.Phase != None && (in.Kind != Set || d.Answer.Status != schema.StatusAccepted ||
				f.LinkLost) {
				t.Fatalf("left safe for %s on %s", s.Phase, in.Kind)
			}
		})
	})
}

func TestOnlyCalibratedModesRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s Supervisor, f Facts, in Input, d Decision, now time.Duration) {
			if s.Phase == Ready && !s.Calibrated {
				t.Fatalf("%s runs uncalibrated after %s", s.Active, in.Kind)
			}
		})
	})
}

func TestTickWithoutChangeAllocatesNothing(t *testing.T) {
	c := Defaults()
	s := Boot(&c)
	if n := testing.AllocsPerRun(100, func() { s.step(time.Second, &c, Facts{}, Input{Kind: Tick}) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}
