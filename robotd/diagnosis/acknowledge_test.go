package diagnosis

import "testing"

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
