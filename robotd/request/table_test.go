package request

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Received, Phases, Done, Refused)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/request.md", Table, Received)
}

func TestEveryUnfinishedPhaseEndsOnRestart(t *testing.T) {
	for _, p := range Phases {
		e := entry{phase: p}
		if row, ok := Table.Next(p, OnRestart); e.open() && (!ok || row.To != Done) {
			t.Errorf("%s leads to %q on a restart, %v", p, row.To, ok)
		}
	}
}

func TestModeCommandsAnswerWithSupervisorCodes(t *testing.T) {
	for _, c := range []struct {
		verb   string
		status schema.Status
		reason schema.Reason
		want   schema.Result
	}{
		{"mode/set", schema.StatusSucceeded, "", schema.ResultSuccess},
		{"mode/set", schema.StatusSucceeded, schema.ReasonUnchanged, schema.ResultSuccess},
		{"mode/set", schema.StatusRejected, schema.ReasonBadRequest, schema.ResultInvCmd},
		{"mode/set", schema.StatusRejected, schema.ReasonUnknownMode, schema.ResultNoMode},
		{"mode/set", schema.StatusRejected, schema.ReasonNotCalibrated, schema.ResultNoCalib},
		{"mode/set", schema.StatusRejected, schema.ReasonNoDefaultStory, schema.ResultNotReady},
		{"mode/pause", schema.StatusRejected, schema.ReasonInvalidTransition, schema.ResultInvCmd},
		{"mode/set", schema.StatusFailed, schema.ReasonStartFailed, schema.ResultNotReady},
		{"mode/set", schema.StatusExpired, schema.ReasonExpired, ""},
		{"mode/set", schema.StatusAccepted, "", ""},
		{"auto/start", schema.StatusSucceeded, "", schema.ResultOK},
		{"auto/start", schema.StatusRejected, schema.ReasonNotInAto, ""},
		{"no/verb", schema.StatusRejected, schema.ReasonUnknownVerb, schema.ResultInvCmd},
	} {
		if got := complete(verbOf(c.verb), schema.Verdict{Status: c.status, Reason: c.reason}).Result; got != c.want {
			t.Errorf("%s %s %s: got %q, want %q", c.verb, c.status, c.reason, got, c.want)
		}
	}
	if got := complete(verbOf("mode/set"), schema.Verdict{Status: schema.StatusRejected, Result: schema.ResultNoMode,
		Reason: schema.ReasonForbidden}); got.Result != schema.ResultNoMode {
		t.Errorf("the mode supervisor's result was replaced by %q", got.Result)
	}
}
