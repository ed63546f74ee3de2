package auto

import (
	"testing"
	"time"

	"troupe/schema"
)

func TestStickyPauseReportsNeedsContinue(t *testing.T) {
	s := Boot()
	story := Story{ID: "s", Acts: 1}
	f := Facts{Story: story}
	Step(&s, 0, Limits{}, f, Input{What: Enter})
	f.Safety = PauseCause{Present: true, Sticky: true, Reason: schema.ReasonNeedsReset}
	Step(&s, time.Second, Limits{}, f, Input{What: Tick})
	if held := s.Held(); len(held) != 1 || held[0].Why != string(schema.ReasonNeedsReset) {
		t.Fatalf("held: %+v", held)
	}
	f.Safety = PauseCause{}
	Step(&s, 2*time.Second, Limits{}, f, Input{What: Tick})
	if held := s.Held(); len(held) != 1 || held[0].Why != string(schema.ReasonNeedsContinue) {
		t.Errorf("held: %+v", held)
	}
}

// Who enables the robot or continues the story has seen what failed: an alert that stayed would
// look as if that had not helped.
func TestFailedRoundsAreCountedAnewWhenAPersonResumes(t *testing.T) {
	const operator, elsewhere = "op1", "op2"
	for name, row := range map[string]struct {
		pause  PauseCause
		inputs []Input // after the cause of the pause is gone
		want   int64
	}{
		"enabled after a stop":           {PauseCause{Present: true}, []Input{{What: Tick}}, 0},
		"enabled after E_STOP":           {PauseCause{Present: true, Sticky: true}, []Input{{What: Tick}}, 1},
		"enabled and continued":          {PauseCause{Present: true, Sticky: true}, []Input{{What: Tick}, {What: Continue}}, 0},
		"continued by who paused":        {PauseCause{}, []Input{{What: Pause, Client: operator}, {What: Continue, Client: operator}}, 0},
		"not continued by somebody else": {PauseCause{}, []Input{{What: Pause, Client: operator}, {What: Continue, Client: elsewhere}}, 1},
		"an interrupt has ended": {PauseCause{}, []Input{{What: Acquire, Kind: ByInterrupt, Key: "k"},
			{What: Release, Kind: ByInterrupt, Key: "k"}}, 1},
		"continued although nothing waits": {PauseCause{}, []Input{{What: Continue}}, 1},
	} {
		s, f := Boot(), Facts{Story: Story{ID: "s", Acts: 1}}
		now := time.Duration(0)
		step := func(in Input) {
			now += time.Second
			Step(&s, now, Limits{}, f, in)
		}
		step(Input{What: Enter})
		step(Input{What: ActFailed, Reason: schema.ReasonUnitError})
		if s.FailedRounds != 1 {
			t.Fatalf("%s: %d rounds failed", name, s.FailedRounds)
		}
		f.Safety = row.pause
		step(Input{What: Tick})
		f.Safety = PauseCause{}
		for _, in := range row.inputs {
			step(in)
		}
		if s.FailedRounds != row.want {
			t.Errorf("%s: %d rounds failed, want %d", name, s.FailedRounds, row.want)
		}
		if step(Input{What: Tick}); s.Count() == 0 {
			failed := s.FailedRounds
			if step(Input{What: ActFailed, Reason: schema.ReasonUnitError}); s.FailedRounds != failed+1 {
				t.Errorf("%s: the next round failed, and %d rounds are counted after %d", name, s.FailedRounds, failed)
			}
		}
	}
}
