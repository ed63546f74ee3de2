package schema

import "testing"

// A fault in another field, or a level that is not known, must not make a live stop weaker.
func TestUndecodableStopIsNoWeakerThanItsLevel(t *testing.T) {
	for _, c := range []struct {
		payload string
		want    StopLevel
	}{
		{``, StopStop},
		{`stop!`, StopStop},
		{`{"id":"stage left"}`, StopStop},
		{`{"id":"stage left","level":"soft_stop"}`, StopStop},
		{`{"level":null,"id":"stage left"}`, StopStop},
		{`{"level":"","id":"stage left"}`, StopStop},
		{`{"id":"stage left","labels":{"level":"halt"}}`, StopStop},
		{`{"level":"halt","id":"stage left"}`, StopHalt},
		{`{"robots":"r1","level":"halt"}`, StopHalt},
		{`{"level":"stop","level":"halt"}`, StopHalt},
		{`{"level":"halt","level":"stop"}`, StopHalt},
		{`{"level":"halt","why":"cut o`, StopHalt},
		{`{"level":"halt","why":"` + "\xff" + `"}`, StopHalt},
		{`{"level":"halt"} and more`, StopHalt},
		{`{"level":"estop"}`, StopHalt},
		{`{"level":2}`, StopHalt},
		{`{"level":["halt"]}`, StopHalt},
	} {
		r, isNew := ReadStop("op1", []byte(c.payload))
		if r.Level != c.want || r.ID != "op1" || !isNew || len(r.Robots)+len(r.Labels) > 0 {
			t.Errorf("%s: %+v, new %v, want level %s for all robots", c.payload, r, isNew, c.want)
		}
	}
	if r, _ := ReadStop("op1", []byte(`{"level":"soft_stop","id":"k1"}`)); r.Level != StopSoft {
		t.Errorf("a soft stop that can be decoded is %s", r.Level)
	}
}
