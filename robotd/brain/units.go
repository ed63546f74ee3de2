package brain

import (
	"cmp"
	"strings"

	"troupe/robotd/act"
	"troupe/robotd/body"
	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// reported notes a report of the body; the safety core looks at it next.
func (t *step) reported(ev driver.Event) {
	for _, word := range []*string{&ev.Unit, (*string)(&ev.State), &ev.Name, (*string)(&ev.Reason), &ev.Detail} {
		*word = schema.SanitizeText(*word)
	}
	t.diagnosis.Sense(t.now.Mono, ev)
	switch ev.Kind {
	case driver.Done:
		if t.chosen(ev) {
			t.signals.Chosen(t.now.Mono, ev.Name)
		}
		t.lanes.Reported(ev.Key, "", "", t.now.Mono)
		t.modes.LookEnded(ev.Key)
		t.signals.Done(ev.Key)
		t.body.Ended(ev.Key)
	case driver.Failed:
		t.lanes.Reported(ev.Key, cmp.Or(ev.Reason, schema.ReasonInternal), ev.Detail, t.now.Mono)
		t.modes.LookEnded(ev.Key)
		t.body.Failed(ev.Key)
	case driver.Speed:
		t.signals.Moved(ev.VX != 0 || ev.WZ != 0)
		t.manual.SpeedReported(body.Rounded(ev.VX), body.Rounded(ev.WZ))
	case driver.Sensed:
		t.sensed(ev)
	case driver.Asks:
		t.safety.AskStop(effect.AskStop{Verb: ev.Name, Source: "unit", Key: ev.Unit, Why: ev.Detail})
	case driver.Calibrating:
		t.toModes(func(m mode.Step) { m.Calibrating(body.Rounded(ev.Level)) })
	default:
		t.toBody(ev)
	}
}

// pressReset is the input that resets, a button on the robot's body. Only it resets an E_STOP
// that a stop input caused; a restart does not. It also releases the latched stops that fleetd
// has not recorded. The units stay disabled.
const pressReset = "reset"

func (t *step) sensed(ev driver.Event) {
	if ev.Signal == driver.Press && ev.Name == pressReset {
		if ev.On { // a person at the robot
			t.toLatches(func(l latch.Step) { l.ReleaseAtRobot("input " + pressReset) })
			t.safety.ResetAtRobot()
		}
		return
	}
	// The press that ends an idle handler asks for no other one.
	if dismissed := t.perform.Senses(t.now.Mono, ev); !dismissed {
		t.signals.Sense(t.now.Mono, ev)
	}
	t.toBody(ev)
}

// toBody passes a report of the driver to the part body.
func (t *step) toBody(ev driver.Event) { t.runAndCarryOut(func() { body.Step(&t.body, ev, &t.list) }) }

// chosen reports whether a person chose what a screen offered.
func (t *step) chosen(ev driver.Event) (was bool) {
	t.toPerform(func(p perform.Step) { was = p.Chosen(ev) })
	return was
}

// orderUnits sends this step's decisions to the units: first the safety core's order, then
// the commands of acts.
func (t *step) orderUnits() {
	from, at, homing := t.list.Len(), t.safety.At, t.modes.InCalibration()
	if homing && at == schema.SafetySoftStop {
		at = schema.SafetyStop // an order is for every unit that moves, and in run a unit continues to home
	}
	if o := driver.Order(safety.Orders(at, t.body.Movers())); homing {
		t.body.OrderHoming(o, t.diagnosis.MotionBarred(), &t.list)
	} else {
		t.body.EndWaits(&t.list)
		t.body.Order(o, &t.list)
	}
	t.carryOut(from)
	t.carryOutActs()
}

// toUnit sends an act's command to a unit.
func (t *step) toUnit(o *act.Effect) {
	if o.Kind == act.Stop {
		t.diagnosis.Stopped(t.now.Mono, o.Key)
		t.body.Ended(o.Key)
		t.do(effect.Stop{Key: o.Key, Unit: o.Unit})
		return
	}
	by := safety.Act
	if o.Lane == perform.SafetyLane {
		by = safety.Core
	}
	c, why, detail := t.command(by, o)
	if why != "" {
		t.lanes.Reported(o.Key, why, detail, t.now.Mono)
		return
	}
	c.Asset = t.perform.File(c.Do)
	if row, _ := score.RowOf(o.Do.Type()); row.Drives {
		to, _ := o.Do.Do.(score.Goto)
		t.signals.Leaves(o.Key, to.Point)
	}
	t.diagnosis.Started(t.now.Mono, &c)
	t.do(effect.Start{Command: c, Demanded: o.Do})
}

// command asks the body whether a unit may do what o demands, within its limits.
func (t *step) command(by safety.Issuer, o *act.Effect) (c driver.Command, refused schema.Reason, detail string) {
	t.runAndCarryOut(func() { c, refused, detail = t.body.Command(t.standstill(), by, o, &t.list) })
	return c, refused, detail
}

// move sets the velocity of the drive, within its limits.
func (t *step) move(m effect.Move) {
	if m.Demanded == (driver.Velocity{}) { // nothing has limited it before
		m.Demanded = m.Velocity
	}
	t.runAndCarryOut(func() { m.Velocity = t.body.Velocity(m.Velocity, &t.list) })
	t.do(m)
}

// lanesOf lists the lanes of a robot, highest priority first.
func lanesOf(c *config.Config, units []schema.Unit) []act.LaneConfig {
	lanes := append([]act.LaneConfig{{Lane: perform.SafetyLane}}, manual.Lanes(units)...)
	return append(lanes, perform.Lanes(c)...)
}

// performing reports whether the executor needs the next tick.
func (s *State) performing() bool { return s.manual.Busy() || s.perform.Busy(&s.lanes) }

// atRest reports whether nothing of the robot moves or is performed, nobody has control of it, and
// everybody who judges it by its heartbeats accepts fewer of them.
func (t *step) atRest() bool {
	still := t.safety.At == schema.SafetyDisabled || t.safety.At == schema.SafetyEStop || t.safety.At == schema.SafetyEnabled &&
		!t.perform.HasAbilities()
	return still && !t.performing() && t.manual.Control().At != control.Held && t.link.AcceptsRest(t.now)
}

// changesNothing reports whether a heartbeat, which comes every second, is in time on a link that is up, at a robot at rest whose
// time-outs all wait for a tick: then no part but the link has to be asked, which saves a process with thousands of robots much work.
func (t *step) changesNothing(ev event.Heartbeat) bool {
	return t.link.InTime(t.now, ev) && t.idle() && t.atRest() && !t.Pending()
}

// indifferentToLink reports whether the loss of the link would change nothing of the robot.
func (t *step) indifferentToLink() bool {
	m := t.modes.Mode()
	continues := m.Phase == mode.Ready && t.cfg.Mode.Settings(m.Active).LinkLoss == schema.LinkLossContinue
	return (m.Phase == mode.Safe || continues) && t.safety.At == schema.SafetyDisabled && !t.performing() &&
		t.manual.Control().At != control.Held
}

// carryOutActs carries out the executor's decisions: commands go to the units, ends of acts
// to the part that waits for them.
func (t *step) carryOutActs() {
	for i := range t.lanes.Effects {
		switch o := &t.lanes.Effects[i]; {
		case o.Kind == act.Start, o.Kind == act.Stop:
			t.toUnit(o)
		case perform.IsAbility(o.Lane): // no act
			if o.Kind == act.Ended {
				from := t.list.Len()
				t.performStep().AbilityEnded(o)
				t.carryOut(from)
			}
		case o.Kind == act.Began:
			t.toReport(func(r report.Step) { r.Began(o) })
		case o.Kind == act.Ended:
			t.toReport(func(r report.Step) { r.Ended(o) })
			t.actEnded(o)
		case o.Kind == act.Warned:
			t.recordEvent("act_warning", "act", string(o.Warning), "", effect.Described{ID: o.Act, Reason: o.Reason,
				Detail: strings.TrimPrefix(o.Action+": "+o.Detail, ": ")})
		}
	}
	clear(t.lanes.Effects)
	t.lanes.Effects = t.lanes.Effects[:0]
}

func (t *step) actEnded(o *act.Effect) {
	t.changed(effect.FlushSoon)
	if !t.manualEnded(o) {
		t.runAndCarryOut(func() { t.performStep().Ended(o) })
	}
}

// manualEnded reports whether the entry that ended was a manual command.
func (t *step) manualEnded(o *act.Effect) (was bool) {
	t.runAndCarryOut(func() { was = t.manualStep().Ended(o) })
	return was
}

// look turns the head for the mode in charge. No act has the head then: a mode that performs
// or is manual asks for acts instead.
func (t *step) look(in effect.Look) {
	head, has := t.body.First(schema.UnitHead)
	if !has {
		return
	}
	do := &score.Action{Do: score.Head{Axes: score.Axes{YawRad: &in.Yaw}, Speed: &in.Speed}}
	c, why, _ := t.command(safety.Act, &act.Effect{Key: in.Key, Unit: head.ID, Do: do, Holds: true}) // so that it can be stopped on its way
	if why != "" {
		t.modes.LookEnded(in.Key)
		return
	}
	t.do(effect.Start{Command: c, Demanded: do})
}
