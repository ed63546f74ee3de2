package cli

import (
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
)

func TestSafetyTextNamesTheCauseOfAStop(t *testing.T) {
	for want, r := range map[string]view.Robot{
		"ENABLED":                          {Safety: schema.SafetyEnabled},
		"E_STOP (unit_error by unit head)": {Safety: schema.SafetyEStop, Cause: schema.ReasonUnitError, StoppedBy: "unit head"},
		"E_STOP (unit_error because of unit head: puppet: the adapter is gone)": {
			Safety: schema.SafetyEStop, Cause: schema.ReasonUnitError, StoppedBy: "unit head", CauseDetail: "unit head: puppet: the adapter is gone",
		},
	} {
		if got := safetyDetail(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
