package perform

import (
	"strings"
	"testing"

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
