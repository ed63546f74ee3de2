package body

import (
	"cmp"
	"slices"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
)

// homing is what the running calibration waits for.
type homing struct {
	waits  []driver.Event // of each unit that waits
	raised bool           // the alerts show waits
	barred schema.Reason  // why nothing may move although the safety core permits it
}

// waitsFor notes that the calibration of a unit waits.
func (h *homing) waitsFor(ev driver.Event) {
	h.waits = slices.DeleteFunc(h.waits, func(w driver.Event) bool { return w.Unit == ev.Unit })
	h.waits, h.raised = append(h.waits, ev), false
}

// OrderHoming sends the safety core's order to the units that move while a mode calibrates them.
// Homing moves them, so while motionBarred says why nothing may move they come to rest; the driver then
// waits as it does for safety/enable.
func (b *State) OrderHoming(o driver.Order, motionBarred schema.Reason, out *effect.List) {
	if o != driver.ToRun {
		motionBarred = ""
	}
	if motionBarred != "" {
		o = driver.Order(safety.Orders(schema.SafetyStop, b.movers))
	}
	b.Order(o, out)
	if o == driver.ToRun {
		b.EndWaits(out) // a unit that waits again reports it again
		return
	}
	h := &b.homing
	if h.barred != motionBarred {
		h.barred, h.raised = motionBarred, false
	}
	if h.raised {
		return
	}
	h.raised = true
	for _, w := range h.waits {
		hint := "send safety/enable when nobody is near"
		if motionBarred != "" {
			hint = "remove the cause of the alert " + string(motionBarred) + "; calibration then continues by itself"
		}
		why := cmp.Or(motionBarred, w.Reason)
		out.Do(effect.RaiseAlert{Kind: "calibration_waits", Level: schema.AlertInfo, Source: w.Unit,
			Detail: "calibration waits: " + why.Describe().Text, Hint: hint, Params: schema.AlertParams{Reason: why}})
	}
}

// EndWaits clears the alerts about what a calibration waited for, as soon as its units may
// move or it has ended.
func (b *State) EndWaits(out *effect.List) {
	for _, w := range b.homing.waits {
		out.Clear("calibration_waits", w.Unit)
	}
	b.homing = homing{}
}
