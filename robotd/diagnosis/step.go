package diagnosis

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// The kinds of alerts, whose source is the unit. A unit has at most one of them.
const (
	hotAlert      = "device_hot"
	lateAlert     = "device_late"
	disabledAlert = "device_disabled"
	criticalAlert = "device_critical"
)

// Step is the part of one step of the robot that concerns diagnosis.
type Step struct {
	*State
	Now   clock.Now
	Lanes *act.Lanes
	Out   *effect.List
}

// Report carries out what Check decided: it takes units from acts and gives them back,
// raises and clears alerts. It runs after the safety core.
func (t Step) Report() {
	for i := range t.signalSafeguards {
		t.signalSafeguards[i].show(i, t.Out)
	}
	if !t.changed {
		return
	}
	t.changed = false
	for i := range t.devices {
		t.report(&t.devices[i])
	}
}

// change is the data of an event about a unit.
type change struct {
	Effect       schema.DeviceEffect `json:"effect"`
	Fault        string              `json:"fault,omitempty"`
	Heat         schema.Heat         `json:"heat,omitempty"`
	TemperatureC *float64            `json:"temperature_c,omitzero"`
}

func (t Step) report(d *device) {
	was, is := d.shown, d.current()
	d.shown = is
	disabled := ""
	if d.disabled() && !d.stopsRobot() {
		disabled = cmp.Or(d.why(), "its diagnosis has disabled it")
	}
	t.Lanes.SetUnitDisabled(d.unit.ID, disabled)
	t.alert(d)
	t.saveHeat(d)
	if was == is || was.phase == Normal && is.phase == Normal {
		return
	}
	t.Out.Changed(effect.FlushSoon)
	t.Out.Do(effect.LogTransition{Machine: "diagnosis", From: string(was.phase), To: string(is.phase), Why: d.why(), Cause: d.unit.ID,
		LoggedByDriver: was.lost || is.lost})
	t.Out.Event("diagnosis_changed", d.unit.ID, string(is.phase), "", change{d.effect(), is.fault, is.heat, d.temperature()})
	if d.damage != d.savedDamage {
		d.savedDamage = d.damage
		t.Out.Do(effect.SaveValue{Name: FaultKey + d.unit.ID, Value: d.damage})
	}
}

// saveHeat saves that a unit keeps the robot at rest by its heat, because a robot that starts
// again knows no temperature yet.
func (t Step) saveHeat(d *device) {
	rests := d.restsByHeat(t.cfg.SeverityOf(d.unit))
	if rests == d.heatSaved {
		return
	}
	d.heatSaved = rests
	s := effect.SaveValue{Name: HeatKey + d.unit.ID}
	if rests {
		s.Value = string(schema.HeatCritical)
	}
	t.Out.Do(s)
}

// stopsRobot reports whether a unit that moves is in error: that leads to E_STOP, in which
// its acts wait, with an alert of its own.
func (d *device) stopsRobot() bool { return d.broken != "" && d.unit.Kind.Moves() }

// alert raises the alert that fits a unit, and clears the others.
func (t Step) alert(d *device) {
	kind, level := "", schema.AlertWarn
	switch {
	case d.phase.rests():
		kind, level = criticalAlert, schema.AlertError
	case d.phase == Disabled && !d.stopsRobot():
		kind = disabledAlert
	case d.phase != Noted || t.cfg.SeverityOf(d.unit) == schema.SeverityNegligible:
	case d.heat.level > 0:
		kind = hotAlert
	default:
		kind = lateAlert
	}
	for _, k := range [...]string{hotAlert, lateAlert, disabledAlert, criticalAlert} {
		if k != kind {
			t.Out.Clear(k, d.unit.ID)
		}
	}
	if kind != "" {
		detail := "unit " + d.unit.ID + ": " + d.why()
		if d.isHeat() {
			detail += d.heat.span(t.cfg.ThresholdsOf(d.unit))
		}
		t.Out.Do(effect.RaiseAlert{Kind: kind, Level: level, Source: d.unit.ID, Detail: detail, Hint: d.wayOut(), LoggedByDriver: d.lost})
	}
}

// isHeat reports whether why says that the unit is warm or hot.
func (d *device) isHeat() bool {
	return d.fault() == "" && d.phase != Repaired && d.heat.known && d.heat.level > 0
}

// why says what is wrong with a unit, for people.
func (d *device) why() string {
	if d.phase == Damaged && d.isUnknown() {
		return "it was damaged (" + d.damage + "), and nothing is known of it now: " + d.fault()
	}
	if f := d.fault(); f != "" {
		return f
	}
	switch {
	case d.phase == Repaired:
		return "it was damaged (" + d.damage + ")"
	case d.heat.level > 0 && !d.heat.known:
		return "it was critically hot before the restart and has reported no temperature since"
	case d.heat.level == 0 && d.isLate():
		return "it did not finish its last " + strconv.Itoa(lateTimes) + " commands before their time-out"
	case d.isHeat():
		return "it is " + [...]string{"", "warm", "hot", "critically hot"}[d.heat.level]
	}
	return "it is normal"
}

// wayOut says what ends the effect, for people.
func (d *device) wayOut() string {
	switch d.phase {
	case Damaged:
		if d.calibration != "" {
			return "repair it; calibrate again with mode/set str or, if that waits for safety/enable, by a restart of robotd; then send " +
				"sys/ack-fault " + d.unit.ID
		}
		return "repair it, then send sys/ack-fault " + d.unit.ID
	case Repaired:
		return "sys/ack-fault " + d.unit.ID + " acknowledges the repair"
	case Resting:
		if d.lost {
			return "this ends when it is back; then send safety/enable, after safety/reset if the robot is in E_STOP"
		}
		if d.silent {
			return "check its driver, then send safety/enable"
		}
		if d.isUnmeasured() {
			return d.wayOutUnmeasured() + "; then safety/enable"
		}
		return "let it cool, then send safety/enable"
	case Disabled:
		if d.isUnanswered() {
			return "check it, then send sys/ack-fault " + d.unit.ID
		}
		if d.calibration != "" {
			return "correct the cause, then calibrate again with mode/set str"
		}
		if d.fault() != "" {
			return "correct the cause; the robot uses the unit again when the fault is over"
		}
		if d.isUnmeasured() {
			return d.wayOutUnmeasured()
		}
		return "the unit is used again when it has cooled"
	}
	if d.heat.level == 0 && d.isLate() {
		return "check whether it hangs, or the time-outs are too short; this ends when it finishes a command"
	}
	return "use the unit less until it cools"
}

func (d *device) wayOutUnmeasured() string {
	return "check that its driver reports the temperature and let it cool, or send sys/ack-fault " + d.unit.ID + " when it is cool"
}

// isUnacknowledged reports whether sys/ack-fault lets the unit be used again; wayOut names it then.
func (d *device) isUnacknowledged() bool {
	switch d.phase {
	case Damaged, Repaired:
		return true
	case Resting, Disabled:
		return d.isUnanswered() || d.isUnmeasured()
	}
	return false
}

func (d *device) effect() schema.DeviceEffect {
	switch {
	case d.phase.rests():
		return schema.DeviceRest
	case d.phase == Disabled:
		return schema.DeviceDisabled
	}
	return schema.DeviceUsed
}

func (d *device) temperature() *float64 {
	if !d.heat.known {
		return nil
	}
	c := math.Round(d.heat.celsius*10) / 10
	return &c
}

// Document lists the units that are not normal.
func (s *State) Document() (list []schema.Device) {
	for i := range s.devices {
		d := &s.devices[i]
		if d.phase == Normal {
			continue
		}
		list = append(list, schema.Device{
			ID: d.unit.ID, Severity: s.cfg.SeverityOf(d.unit), Effect: d.effect(), Fault: d.fault(),
			Unacknowledged: d.isUnacknowledged(),
			Heat:           d.heat.reported(), TemperatureC: d.temperature(), Since: d.since,
		})
	}
	return list
}

// Ask takes a command, and reports whether it is one of the diagnosis.
func (t Step) Ask(o effect.Dispatch) bool {
	a, ok := o.Args.(verb.AckFault)
	if ok {
		t.Acknowledge(o, a.Source)
	}
	return ok
}

// Acknowledge takes a person's word that a fault was repaired. A unit that did not answer
// is used again: nothing else can show that it answers. A unit that has reported no
// temperature since the restart counts as cool: its sensor may be what was repaired.
func (t Step) Acknowledge(o effect.Dispatch, unit string) {
	d := t.device(unit)
	if d == nil {
		t.Out.Refuse(o.Key, schema.ReasonUnknownID, "/args/source", fmt.Sprintf("this robot has no unit %s; caps lists the units", unit))
		return
	}
	unanswered, unmeasured := d.unanswered, !d.heat.known && d.heat.level > 0
	d.unanswered = false
	if unmeasured {
		d.heat.level = 0
	}
	t.judge(d, t.Now.Wall)
	switch {
	case d.phase == Damaged && d.isUnknown():
		t.Out.Refuse(o.Key, schema.ReasonUnitError, "", fmt.Sprintf("unit %s: %s", unit, d.why()))
		return
	case d.phase == Damaged:
		t.Out.Refuse(o.Key, schema.ReasonUnitError, "", fmt.Sprintf("unit %s still has its fault: %s", unit, d.fault()))
		return
	case d.transition(Acknowledged, t.Now.Wall) || unanswered || unmeasured:
		t.judge(d, t.Now.Wall)
		t.listCauses()
		t.report(d)
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded})
	default:
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged, Detail: "unit " + unit +
			" has nothing to acknowledge"})
	}
}
