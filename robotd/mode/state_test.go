package mode

import (
	"testing"

	"troupe/schema"
)

// SafetyMode is called while the old mode ends and while the next one starts.
func TestSwitchingBetweenMovingModesKeepsPermission(t *testing.T) {
	c := Defaults()
	for _, from := range []schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto, schema.ModeSafe} {
		for _, to := range []schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto, schema.ModeSafe} {
			want := from != schema.ModeStr && from != schema.ModeSafe && to != schema.ModeSafe
			ending := State{Phase: Stopping, Active: from, Next: to}
			starting := State{Phase: Starting, Left: from, Next: to}
			for _, s := range []State{ending, starting} {
				if _, _, got := s.SafetyMode(&c); got != want {
					t.Errorf("%s to %s, %s: hands over %v, want %v", from, to, s.Phase, got, want)
				}
			}
		}
	}
}
