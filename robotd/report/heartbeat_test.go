package report

import (
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/effect"
)

// TestStateFollowsTheHeartbeatThatEndsARest lets a state become due by the end of a rest: the same step has looked at it before, so it
// is due later than the step, or the robot would run through the same moment twice.
func TestStateFollowsTheHeartbeatThatEndsARest(t *testing.T) {
	cfg := config.Defaults("r1")
	s := New(&cfg, "b", clock.Now{})
	at := func(d time.Duration) Step { return Step{State: &s, Out: &effect.List{}, Now: clock.Now{Mono: d}} }
	at(0).Connected("first")
	at(0).NextState()
	at(0).StartHeartbeats()
	ends := restAfter + 2*cfg.StateInterval // of the rest
	for now := time.Duration(0); now <= ends; now += time.Second {
		at(now).HeartbeatDue(now < ends)
		if now > restAfter && s.beats.rested != (now < ends) {
			t.Fatalf("at %v the newest heartbeat is one of a robot at rest: %v", now, s.beats.rested)
		}
	}
	if s.StateDue(ends) || !s.StateDue(ends+cfg.Gather) {
		t.Errorf("after the rest ended at %v the state is due at %v, want %v", ends, s.due(), ends+cfg.Gather)
	}
}
