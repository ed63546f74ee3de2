package cli

import (
	"slices"
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

func TestSafetyTextNamesTheWayOutOfDisabled(t *testing.T) {
	r := view.Robot{ID: "r1", Safety: schema.SafetyDisabled}
	if got, want := safetyNow(r, nil), "DISABLED: fleetd safety enable r1 lets it move"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Latches = []schema.StopLatch{{ID: "stop-1"}} // the line of the latched stop has the way out
	if got := safetyNow(r, nil); got != "DISABLED" {
		t.Errorf("latched: %q", got)
	}
}

func TestRefusalBeginsWithWhatIsWrong(t *testing.T) {
	meaning := schema.ReasonTimeout.Describe().Text
	for want, r := range map[string]schema.ReportedStory{
		meaning:                                         {Reason: schema.ReasonTimeout},
		"no bytes within 10s (" + meaning + ")":         {Reason: schema.ReasonTimeout, Detail: "no bytes within 10s"},
		"/acts/0: no act (" + meaning + ")":             {Reason: schema.ReasonTimeout, Detail: "/acts/0: no act", Pointer: "/acts/0"},
		"it is not known, at /acts/0 (" + meaning + ")": {Reason: schema.ReasonTimeout, Detail: "it is not known", Pointer: "/acts/0"},
		"at /acts/0 (" + meaning + ")":                  {Reason: schema.ReasonTimeout, Pointer: "/acts/0"},
	} {
		if got := refusalText(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAlertsWithOneCauseAreOneLine(t *testing.T) {
	const gone = "parrot: the adapter is gone: start the adapter"
	got := alertLines([]schema.Alert{
		{Level: schema.AlertWarn, Type: "device_disabled", Source: "speaker", Detail: "unit speaker: " + gone,
			Hint: "it is used again by itself"},
		{Level: schema.AlertWarn, Type: "disk_full", Source: "disk", Detail: "the disk is full", Hint: "make room"},
		{Level: schema.AlertError, Type: "unit_error", Source: "head", Detail: "unit head: " + gone, Hint: "reset it"},
	})
	want := []string{"warn: device_disabled speaker, error: unit_error head: " + gone +
		"; speaker: it is used again by itself; head: reset it", "warn: disk_full disk: the disk is full; make room"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What was to be done about a cause of E_STOP is not asked of people when the cause is over.
func TestSafetyTextSaysThatTheCauseIsOver(t *testing.T) {
	r := view.Robot{ID: "r1", Safety: schema.SafetyEStop, Cause: schema.ReasonUnitError, StoppedBy: "unit head",
		CauseDetail: "unit head: parrot: the adapter is gone: start the adapter"}
	state := &schema.State{Safety: schema.StateSafety{State: schema.SafetyEStop}, Units: []schema.UnitState{{ID: "head", State: "error"}}}
	const over = "E_STOP (unit_error, which is over: fleetd safety reset r1; it was unit head: parrot: the adapter is gone: start the adapter)"
	if got := safetyNow(r, state); got != over {
		t.Errorf("got %q", got)
	}
	if !faultIsOver(state.Units[0], r.Safety) {
		t.Error("a unit without a fault has one")
	}
	state.Units[0].Detail = "parrot: the adapter is gone: start the adapter"
	if got := safetyNow(r, state); got != safetyDetail(r) || faultIsOver(state.Units[0], r.Safety) {
		t.Errorf("with the fault: %q", got)
	}
}

func TestWatchBeginsWithWhatIsWrong(t *testing.T) {
	got := presentTrouble(view.Robot{
		ID: "r1", Safety: schema.SafetyEStop, Cause: schema.ReasonUnitError, CauseDetail: "unit head: parrot: the adapter is gone",
		Alerts: []schema.Alert{{Level: schema.AlertError, Type: "unit_error", Source: "head", Detail: "unit head: parrot: the adapter is gone",
			Hint: "check what caused it, then send safety/reset"}},
	})
	if len(got) != 2 || got[0] != (watchLine{kindSafety, "is in E_STOP (unit_error because of unit head: parrot: the adapter is gone)"}) ||
		got[1] != (watchLine{kindAlert,
			"error: unit_error head: unit head: parrot: the adapter is gone; check what caused it, then send fleetd safety reset r1"}) {
		t.Errorf("got %q", got)
	}
}
