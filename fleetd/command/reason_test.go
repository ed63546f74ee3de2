package command

import (
	"testing"

	"troupe/schema"
	"troupe/schema/verb"
)

func TestReasonThatTheDetailRepeatsIsLeftOut(t *testing.T) {
	for want, a := range map[string]schema.Ack{
		"there is no mode dance; the modes are str, mnl, ato": {Reason: schema.ReasonUnknownMode,
			Detail: "there is no mode dance; the modes are str, mnl, ato"},
		"there is no such mode; detail lists the modes":               {Reason: schema.ReasonUnknownMode},
		"a condition of the command is not met: mode is ato, not mnl": {Reason: schema.ReasonPrecondition, Detail: "mode is ato, not mnl"},
		"the safety core is DISABLED; safety/enable allows motion": {Reason: schema.ReasonSafetyDisabled,
			Detail: schema.ReasonSafetyDisabled.Describe().Text},
	} {
		if got := reasonText(verb.Verb{}, a); got != want {
			t.Errorf("%s %q: %q, want %q", a.Reason, a.Detail, got, want)
		}
	}
}

// "no change was needed" would be read as if the robot went on.
func TestAnswerToAStopReadsAsAStop(t *testing.T) {
	unchanged := schema.Ack{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged}
	for name, want := range map[string]string{"safety/stop": "it was stopped already", "safety/enable": "no change was needed"} {
		c := Command{Verb: name}
		if got := reasonText(c.verb(), unchanged); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
