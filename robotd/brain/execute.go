package brain

import (
	"troupe/robotd/act"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/perform"
	"troupe/robotd/safety"
	"troupe/schema"
)

// lanesOf lists the lanes of a robot, highest priority first.
func lanesOf(c *config.Config) []act.LaneConfig { return append(manual.Lanes(), perform.Lanes(c)...) }

// gate tells the executor what may be started from now on. What may not any more
// is stopped in this very step.
func (t *step) gate() {
	g := act.Gate{
		Moves:  safety.Gate(t.safety.At, safety.Moves, safety.Act),
		Sounds: safety.Gate(t.safety.At, safety.Sounds, safety.Act),
	}
	if g != t.gateTold {
		t.gateTold = g
		t.lanes.Gate(g)
	}
}

// moving reports whether an act has a command on a unit that moves.
func (t *step) moving() bool {
	units := t.body.Units()
	for i := range units {
		if u := &units[i]; u.Kind.Moves() && t.lanes.Owner(u.ID) != "" {
			return true
		}
	}
	return false
}

// performing reports whether the executor needs the next tick.
func (s *State) performing() bool { return s.manual.Busy() || s.perform.Busy(&s.lanes) }

// carry brings what the executor came to where it belongs: commands to the
// units, ends to whoever waits for them.
func (t *step) carry() {
	for i := range t.lanes.Outs {
		switch o := &t.lanes.Outs[i]; o.Kind {
		case act.Start, act.Stop:
			t.toUnit(o)
		case act.Ended:
			t.actEnded(o)
		case act.Warned:
			t.tell("act_warning", "act", string(o.Warning), "", effect.Described{ID: o.Act, Reason: o.Reason, Detail: o.Action + ": " + o.Detail})
		}
	}
	clear(t.lanes.Outs)
	t.lanes.Outs = t.lanes.Outs[:0]
}

func (t *step) actEnded(o *act.Out) {
	t.dirty(effect.FlushSoon)
	if !t.manualEnded(o) {
		from := t.list.Len()
		t.performs().Ended(o)
		t.settle(from)
	}
}

func (t *step) queueDocument() schema.StateQueue {
	q := t.report.Acts()
	if acts := append(t.lanes.Acts(manual.Acts), t.perform.Acts(&t.lanes)...); len(acts) > 0 {
		q.Current, q.Waiting = acts[0], append(q.Waiting, acts[1:]...)
	}
	return q
}

// manualEnded reports whether what ended was done manually.
func (t *step) manualEnded(o *act.Out) (was bool) {
	from := t.list.Len()
	was = t.manuals().Ended(o)
	t.settle(from)
	return was
}
