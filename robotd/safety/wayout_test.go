package safety

import (
	"testing"

	"troupe/schema"
)

// TestStandstillLeadsTheWholeWay checks that no step is missing between a stop and the
// performance, and that none is named that is refused or not needed.
func TestStandstillLeadsTheWholeWay(t *testing.T) {
	const button = "press the button reset on the robot's body (after a stop input, safety/reset is refused)"
	one := []Latch{{ID: "s-1"}}
	for want, h := range map[string]Standstill{
		"a stop is latched; release the latched stop s-1 at fleetd, then " +
			"safety/enable": {At: schema.SafetyDisabled, Latches: one},
		"2 stops are latched; release the latched stops s-1, s-2 at fleetd, then safety/enable, then " +
			"auto/continue": {At: schema.SafetyDisabled, Latches: append(one, Latch{ID: "s-2"}), Continue: true},
		"the robot is in E_STOP because of operator ann; release the latched stop s-1 at fleetd, then safety/reset, then safety/enable, then " +
			"auto/continue": {At: schema.SafetyEStop, Cause: Cause{Source: "operator", By: "ann"}, Latches: one, Continue: true},
		"the robot is in E_STOP because of input red; release stop input red, then " + button + ", then safety/enable": {At: schema.SafetyEStop,
			Cause: Cause{Source: "input", Key: "red"}, Inputs: []string{"red"}, Physical: true},
		"the safety core is DISABLED; safety/enable": {At: schema.SafetyDisabled},
		"the stop is over; auto/continue":            {At: schema.SafetyEnabled, Continue: true},
	} {
		if got := h.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		for class, start := range map[Class]string{Moves: "the head may not move: ", Sounds: "the head may not make sounds: "} {
			if got := h.Refusal("head", class); got != start+want {
				t.Errorf("got  %q\nwant %q", got, start+want)
			}
		}
	}
}
