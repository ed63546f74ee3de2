package safety

import (
	"testing"
	"time"

	"troupe/schema"
)

// The refusal names a way out, so its reason must not say "never retry".
func TestEnableWithoutMovingModeMayBeRetried(t *testing.T) {
	for _, m := range []Mode{{}, {Active: true}} {
		s := Boot(0)
		d := s.step(time1s, Defaults(), Facts{Mode: m}, Request{Verb: Enable})
		if a := d.Answer; a.Taken || a.Reason.Describe().Retry != schema.RetryAfterFix {
			t.Errorf("%+v: %+v says to retry %s", m, a, a.Reason.Describe().Retry)
		}
	}
}

func TestEnableFromBeforeAStopIsRefused(t *testing.T) {
	mode := Facts{Mode: Mode{Active: true, Wants: true}}
	for asked, granted := range map[time.Duration]bool{1 * time.Second: false, 3 * time.Second: true} {
		s := Boot(0)
		s.step(time.Second, Defaults(), mode, Request{Verb: Enable, ID: "a"})
		s.step(2*time.Second, Defaults(), Facts{}, Request{}) // no mode in charge: STOP
		s.step(2*time.Second, Defaults(), mode, Request{})
		if s.At != schema.SafetyDisabled {
			t.Fatalf("the robot is in %s", s.At)
		}
		d := s.step(4*time.Second, Defaults(), mode, Request{Verb: Enable, ID: "b", AskedAt: asked, HasAskedAt: true})
		if d.Answer.Taken != granted || d.Changed != granted {
			t.Errorf("asked at %v: %+v", asked, d)
		}
	}
}
