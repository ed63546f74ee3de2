package manual

import (
	"slices"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/command"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// Manual commands have one lane for each class of actions on each unit, so that a robot can
// speak while it drives, and turn one head while it turns another. All these lanes are one
// occupant, so they do not take units from each other.
const (
	occupant          = "manual"
	ActLane  act.Lane = "manual-act"
)

// classOf is the class of an action on a unit. A motion has that of the other actions that
// move the unit, so that a new order to the unit replaces it.
func classOf(do *score.Action, unit schema.Unit) score.Class {
	row, _ := score.RowOf(do.Type())
	for _, other := range score.Table {
		if row.Unit == "" && other.Unit == unit.Kind {
			return other.Class
		}
	}
	return row.Class
}

// laneOf is the lane of a class of actions on a unit, one of units.
func laneOf(c score.Class, unit schema.Unit, units []schema.Unit) act.Lane {
	lane := act.Lane("manual-" + c)
	if first, _ := schema.FindUnit(units, unit.Kind, ""); first.ID != unit.ID {
		lane += act.Lane("-" + unit.ID)
	}
	return lane
}

// Lanes lists the manual lanes. They are above all others but the safety lane: a person outranks every script.
func Lanes(units []schema.Unit) []act.LaneConfig {
	lanes := []act.LaneConfig{{Lane: ActLane}}
	for _, row := range score.Table {
		for _, u := range units {
			name := laneOf(row.Class, u, units)
			if u.Kind == row.Unit && !slices.ContainsFunc(lanes, func(l act.LaneConfig) bool { return l.Lane == name }) {
				lanes = append(lanes, act.LaneConfig{Lane: name})
			}
		}
	}
	for i := range lanes {
		lanes[i].Occupant, lanes[i].AwaitsReports = occupant, true
		lanes[i].Single = lanes[i].Lane != ActLane
	}
	return lanes
}

// instantTimeout is the time limit for a unit's report on an action that takes no time.
const instantTimeout = 5 * time.Second

// entry is a manual command that is carried out.
type entry struct {
	id     string
	lane   act.Lane
	class  score.Class // of one action; empty = a whole act
	key    command.Key
	who    control.Who
	need   verb.Need     // required control
	until  time.Duration // time limit for the unit's report; 0 = the act has its own
	moves  bool
	drives bool        // it has a drive action, which needs control whatever the verb needs
	by     command.Key // the command that cancelled it
}

// queuedCommand is a manual command, with the name of its sender for people.
type queuedCommand struct {
	effect.Dispatch
	asker string
}

// Ask queues a command. manual/stop ends all manual commands, and removes the queued ones.
func (t Step) Ask(o effect.Dispatch, asker string) {
	if _, stops := o.Args.(verb.StopManual); stops {
		t.inbox.Clear(func(w command.Waiting[queuedCommand]) {
			t.Out.Reply(w.By, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop came before it was begun",
				Refs: o.Key.Refs()})
		})
	}
	t.inbox.Put(queuedCommand{o, asker}, o.Key, o.If)
}

// CarryOut carries out the oldest queued command, and ends commands that are not allowed any
// more.
func (t Step) CarryOut() {
	t.endForbidden()
	t.watchRecording()
	w, ok := t.inbox.Take()
	if !ok {
		return
	}
	o := w.In.Dispatch
	if _, stops := o.Args.(verb.StopManual); stops {
		t.stop(o, w.In.asker)
		return
	}
	kind := o.Verb.Unit
	unit, has := t.Body.First(kind)
	var do score.Action
	single := o.Verb.Does != nil
	_, whole := o.Args.(verb.WholeAct)
	if single {
		do = o.Verb.Action(o.Args, t.cfg.Languages)
		unit, _ = t.performer(o, &do)
		unit.Kind = kind // also if none can
	}
	switch {
	case !t.Out.Met(o.Key, o.If, t.CurrentState) || t.RefuseWithoutControl(o) || t.takeDeletion(o):
		return
	case kind != "" && !has:
		t.refuse(o, schema.ReasonUnknownVerb, "", "this robot has no "+string(kind))
		return
	case t.refuseManual(o, unit):
		return
	case (single || whole) && t.inStop(): // it would be cancelled before it begins
		t.refuse(o, safety.Gate(t.Safety, safety.Moves, safety.Act), "", t.Standstill.String())
		return
	}
	switch a := o.Args.(type) {
	case verb.SetVolume:
		t.setVolume(o, a.Volume)
	case verb.WholeAct:
		t.perform(o, a)
	default:
		if single {
			t.performAction(o, do, unit)
		} else if !t.takeTaught(o) {
			t.refuse(o, schema.ReasonUnknownVerb, "", "this robot does not know "+o.Verb.ID())
		}
	}
}

// performer returns the unit of the verb's kind that can perform an action. In an action that
// units of other kinds can perform too, it sets the unit.
func (t Step) performer(o effect.Dispatch, do *score.Action) (schema.Unit, bool) {
	for _, u := range t.Body.Units() {
		if _, can := do.Performer([]schema.Unit{u}); can && u.Kind == o.Verb.Unit {
			if row, _ := score.RowOf(do.Type()); row.Listed {
				do.Unit = u.ID
			}
			return u, true
		}
	}
	return schema.Unit{}, false
}

func (t Step) refuse(o effect.Dispatch, why schema.Reason, pointer, detail string) {
	t.Out.Refuse(o.Key, why, pointer, detail)
}

// refuseManual refuses a command for a unit that cannot be used now. A command without a unit
// has an empty one.
func (t Step) refuseManual(o effect.Dispatch, unit schema.Unit) bool {
	if why := t.forbids(unit.Kind); why != "" {
		t.refuse(o, why, "", t.explain(why, unit))
		return true
	}
	if why := t.Health.Unusable(unit.ID); why != "" {
		t.refuse(o, schema.ReasonDeviceDisabled, "", "the "+unit.ID+" cannot be used: "+why)
		return true
	}
	if why := t.Body.Broken(unit.ID); why != "" {
		wayOut := "; the robot uses it again when the fault is over"
		if unit.Kind.Moves() {
			wayOut = "; check what caused it, then send safety/reset and safety/enable"
		}
		t.refuse(o, schema.ReasonUnitError, "", "the "+unit.ID+" is out of order: "+why+wayOut)
		return true
	}
	return false
}

// stop ends driving and all manual commands, and answers the stop.
func (t Step) stop(o effect.Dispatch, asker string) {
	r := schema.Verdict{Status: schema.StatusSucceeded}
	drove := t.releaseStick()
	if !drove && len(t.entries) == 0 {
		r.Reason, r.Detail = schema.ReasonUnchanged, "nothing was done manually"
	} else {
		t.Out.Changed(effect.FlushNow)
		t.Out.Event("manual_stopped", "manual", asker, string(o.Key), nil)
	}
	t.cancel(schema.ReasonStopped, func(entry) bool { return true })
	for i := range t.entries {
		t.entries[i].by = o.Key
	}
	t.Out.Reply(o.Key, r)
}

// inStop reports whether the robot is on its way to standstill, or waits for a reset. Then nobody
// uses a unit manually, not even to show something.
func (t Step) inStop() bool {
	return t.Safety != schema.SafetyEnabled && t.Safety != schema.SafetyDisabled
}

// endForbidden ends commands that are not allowed any more: a stop is in progress, mnl was
// left, the sender lost control, or the unit does not answer.
func (t Step) endForbidden() {
	if len(t.entries) == 0 {
		return
	}
	if t.inStop() {
		t.cancel(schema.ReasonStopped, func(entry) bool { return true })
	}
	if t.forbids("") != "" {
		t.cancel(schema.ReasonNotInMnl, func(entry) bool { return true })
	}
	t.cancel(schema.ReasonNotInControl, func(h entry) bool {
		return t.control.May(&t.cfg.Control, h.need, h.who).Reason != "" || h.drives && !t.control.Holds(h.who)
	})
	t.cancel(schema.ReasonTimeout, func(h entry) bool { return h.until > 0 && t.Now.Mono >= h.until })
	if !t.Reachable {
		t.cancel(schema.ReasonLinkLost, func(h entry) bool { return h.moves })
	}
	if why := t.Health.MotionBarred(); why != "" {
		t.cancel(why, func(h entry) bool { return h.moves })
	}
}

func (t Step) cancel(why schema.Reason, these func(entry) bool) {
	for _, h := range t.entries {
		if these(h) {
			t.Lanes.Cancel(h.lane, h.id, why)
		}
	}
}
