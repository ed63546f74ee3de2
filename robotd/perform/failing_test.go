package perform

import (
	"strings"
	"testing"

	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/schema"
)

func TestStoryIsNotBlamedForAUnitThatWasSwitchedOff(t *testing.T) {
	if help := failingHelp(schema.ReasonDeviceDisabled); strings.Contains(help, "assign a story") {
		t.Errorf("a unit was switched off: %s", help)
	}
	if help := failingHelp(schema.ReasonOutOfRange); !strings.Contains(help, "assign a story") {
		t.Errorf("the body cannot perform it: %s", help)
	}
}

// In E_STOP the cause says what is wrong: a second alert about the story would lead away from it.
func TestStoryIsNotReportedAsFailingInEStop(t *testing.T) {
	for at, raised := range map[schema.SafetyState]bool{schema.SafetyEnabled: true, schema.SafetyEStop: false} {
		s := Step{State: &State{}, Facts: Facts{Safety: at}, Out: &effect.List{}}
		s.auto.FailedRounds = 1
		if s.reportFailing(auto.Round{Number: 1}); s.failing != raised {
			t.Errorf("%s: reported %t", at, s.failing)
		}
		if s.Safety = schema.SafetyEStop; raised {
			if s.reportFailing(auto.Round{}); s.failing {
				t.Error("the alert of before stays in E_STOP")
			}
		}
	}
}
