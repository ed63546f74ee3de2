package brain

import (
	"testing"
	"time"

	"troupe/robotd/diskvalues"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestRefusedDeletionOfSettingIsRepeated has the disk refuse that the damage of a unit was
// acknowledged: a later start must not take the unit for damaged.
func TestRefusedDeletionOfSettingIsRepeated(t *testing.T) {
	r := newRig(t)
	r.memory.Values["fault.battery"] = "cell 3 is low"
	r.bootConnected("s1")
	refusals := 0
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if e, ok := e.(effect.SaveValue); ok && e.Name == "fault.battery" {
				if r.diskFull = refusals < 3; r.diskFull {
					refusals++
				}
			}
		}
	}
	r.give(event.Command{Client: "op1", Group: "sys", Verb: "ack-fault", Payload: []byte(`{"id":"a1","args":{"source":"battery"}}`)})
	r.until(r.now + 4*time.Second)
	if damage := r.memory.Values["fault.battery"]; refusals != 3 || damage != "" {
		t.Errorf("after %d refusals the disk has the damage %q, want 3 refusals and none", refusals, damage)
	}
}

// TestRepeatedSettingIsTheNewest has a value refused while a newer one is already on its way.
func TestRepeatedSettingIsTheNewest(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.until(time.Second)
	volume := func(v string) event.ValuesSaved {
		r.s.values.Saving(effect.SaveValue{Name: "volume", Value: v})
		return event.ValuesSaved{Names: []string{"volume"}}
	}
	older, newer := volume("0.2"), volume("0.7")
	older.Refused = schema.ReasonNoSpace
	var repeated []string
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if e, ok := e.(effect.SaveValue); ok {
				repeated = append(repeated, e.Name+"="+e.Value)
			}
		}
	}
	r.give(older)
	r.until(r.now + 2*diskvalues.Pause)
	if len(repeated) != 1 || repeated[0] != "volume=0.7" {
		t.Errorf("the robot repeated %v, want the newest volume", repeated)
	}
	r.give(older)
	r.give(newer)
	r.until(r.now + 2*diskvalues.Pause)
	if len(repeated) != 1 {
		t.Errorf("the newest volume is on the disk, and the robot repeated %v", repeated[1:])
	}
}
