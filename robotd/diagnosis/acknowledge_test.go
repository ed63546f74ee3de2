package diagnosis

import (
	"slices"
	"testing"

	"troupe/schema"
)

// A unit may be warm, or critically hot, when its damage is acknowledged: it is not normal then.
func TestAcknowledgedDamageDoesNotReturnAfterRestart(t *testing.T) {
	for name, celsius := range map[string]string{"normal": "20", "warm": "62", "hot": "72", "critically hot": "95"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, line := range []string{"0s config face=critical", "0s reported", "1s starts face 7", "6s wait"} {
				w.play(t, line)
			}
			if w.saved[FaultKey+"face"] == "" {
				t.Fatal("the damage of an unanswered command is not saved")
			}
			w.play(t, "7s heat face "+celsius)
			w.play(t, "8s ack face")
			if left := w.saved[FaultKey+"face"]; left != "" {
				t.Errorf("the disk still has the damage %q, and the unit is %s", left, w.s.device("face").phase)
			}
		})
	}
}

// A client offers sys/ack-fault for units that are unacknowledged, and its person reads the hint:
// the world checks after each step that both say the same.
func TestUnacknowledgedUnitIsUsedAgainAfterAcknowledgement(t *testing.T) {
	for _, c := range []struct {
		name, unit string
		lines      []string
	}{
		{"serious, has not answered", "face", []string{"1s starts face 7", "7s wait"}},
		{"critical, has not answered", "face", []string{"0s config face=critical", "1s starts face 7", "7s wait"}},
		{"critical, repaired", "battery", []string{"1s breaks battery cell", "2s works battery"}},
		{"critical, hot before the restart", "battery", []string{"1s heat battery 70", "2s boot", "3s reported"}},
		{"serious, hot before the restart", "battery", []string{"1s heat battery 70", "2s boot", "3s reported", "4s config battery=serious"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.play(t, "0s reported")
			for _, line := range c.lines {
				w.play(t, line)
			}
			if !slices.ContainsFunc(w.s.Document(), func(d schema.Device) bool { return d.ID == c.unit && d.Unacknowledged }) {
				t.Errorf("%s is not unacknowledged: %+v", c.unit, w.s.Document())
			}
			if w.s.Unusable(c.unit) == "" {
				t.Errorf("%s can be used before it is acknowledged", c.unit)
			}
			w.play(t, "10s ack "+c.unit)
			if why := w.s.Unusable(c.unit); why != "" {
				t.Errorf("acknowledged, and still not used: %s", why)
			}
		})
	}
}
