package brain

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/manual"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// storyLane is where the story is performed; every handler has a lane of its own
// name above it.
const storyLane act.Lane = "story"

// lanesOf lists the lanes of a robot, highest priority first.
func lanesOf(c *config.Config) []act.LaneConfig {
	handlers := slices.Clone(c.Interrupts.Handlers)
	slices.SortStableFunc(handlers, func(a, b interrupt.Handler) int { return b.Priority - a.Priority })
	lanes := manual.Lanes()
	for _, h := range handlers {
		lanes = append(lanes, act.LaneConfig{Lane: act.Lane(h.ID)})
	}
	return append(lanes, act.LaneConfig{Lane: storyLane})
}

// beginAct performs the act that is due in the story. One that this robot cannot
// perform fails at once.
func (t *step) beginAct() {
	e := act.Entry{ID: t.lanes.NextEntry("story")}
	t.storyEntry = e.ID
	step, a := t.playing.act(t.auto.Act)
	if a == nil {
		t.toAuto.Add(autoInput{Input: auto.Input{What: auto.ActFail, Reason: schema.ReasonStoryInvalid}, entry: e.ID})
		return
	}
	e.Act, e.With, e.Languages = a, step.With, t.playing.languages
	e.OnResume, e.FinishBeforePause = step.OnResume, step.FinishBeforePause
	if refused := t.lanes.Push(storyLane, e); refused != nil {
		t.actFailed(a.ID, refused.Reason, refused.Detail)
		t.toAuto.Add(autoInput{Input: auto.Input{What: auto.ActFail, Reason: refused.Reason}, entry: e.ID})
		t.tried(refused.Reason, refused.Detail)
		return
	}
	t.dirty(effect.FlushSoon)
	t.tried("", "")
}

// cancelAct ends the act of the story.
func (t *step) cancelAct() {
	t.storyEntry = ""
	t.lanes.Cancel(storyLane, "", schema.ReasonStopped)
}

// freeze lets the lanes stand still as far as the pauses say.
func (t *step) freeze(f auto.Freeze) {
	if f == t.frozen {
		return
	}
	t.frozen = f
	switch f {
	case auto.FreezeNone:
		t.lanes.Resume(storyLane, t.now.Mono)
	case auto.FreezeStory:
		t.lanes.Pause(storyLane, act.AfterAct, t.now.Mono)
	case auto.FreezeAll:
		t.lanes.Pause(storyLane, act.AtOnce, t.now.Mono)
	}
	for _, h := range t.handling {
		switch {
		case f != auto.FreezeAll:
			t.lanes.Resume(act.Lane(h.handler), t.now.Mono)
		case !h.still:
			t.lanes.Pause(act.Lane(h.handler), act.AtOnce, t.now.Mono)
		}
	}
}

// beginHandlerAct performs what of a handler's act this robot can perform now.
// While it may not move, or all of ato is frozen, that is what does not move.
func (t *step) beginHandlerAct(handler string, e act.Entry) {
	slot := &t.handling[len(t.handling)-1]
	slot.still = t.safety.At != schema.SafetyEnabled || t.frozen == auto.FreezeAll
	a := t.fitting(*e.Act, slot.still)
	e.Act = &a
	t.lanes.Resume(act.Lane(handler), t.now.Mono)
	if refused := t.lanes.Push(act.Lane(handler), e); refused != nil {
		t.handlerActEnded(e.ID, refused.Reason)
	}
}

// fitting leaves out of a handler's act what this robot has no unit for, where
// it cannot go, and, when it has to stand still, what moves.
func (t *step) fitting(a score.Act, still bool) score.Act {
	fits := func(do score.Action) bool {
		row, ok := score.RowOf(do.Type)
		switch {
		case !ok:
			return false
		case row.Unit == "":
			return true
		case row.Unit.Moves() && still, do.Point != "" && !slices.Contains(t.body.Points(), do.Point):
			return false
		}
		return slices.ContainsFunc(t.body.Units(), func(u schema.Unit) bool { return u.Kind == row.Unit && able(u, do) })
	}
	kept := make([]score.Action, 0, len(a.Actions))
	for _, do := range a.Actions {
		if fits(do) {
			kept = append(kept, do)
		}
	}
	a.Actions = kept
	return a
}

// able reports whether a unit of the right kind can do what is asked of it.
func able(u schema.Unit, do score.Action) bool {
	within := func(r *schema.Range, v *float64) bool { return v == nil || r.Holds(*v) }
	return (do.Face == "" || len(u.Faces) == 0 || slices.Contains(u.Faces, do.Face)) &&
		(do.Sound == "" || len(u.Sounds) == 0 || slices.Contains(u.Sounds, do.Sound)) &&
		within(u.YawRad, do.YawRad) && within(u.PitchRad, do.PitchRad) && within(u.RollRad, do.RollRad)
}

func (t *step) cancelHandlerAct(handler string) {
	t.lanes.Cancel(act.Lane(handler), "", schema.ReasonStopped)
}

// cancelLanes ends all acts: ato is left.
func (t *step) cancelLanes() {
	t.cancelAct()
	for _, h := range t.handling {
		t.cancelHandlerAct(h.handler)
	}
}

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
func (s *State) performing() bool {
	if s.manual.Busy() {
		return true
	}
	if !s.lanes.Idle(storyLane) && s.frozen == auto.FreezeNone {
		return true
	}
	for _, h := range s.handling {
		if !s.lanes.Idle(act.Lane(h.handler)) && (s.frozen != auto.FreezeAll || h.still) {
			return true
		}
	}
	return s.finishing()
}

// finishing: an act is let end before its story is paused.
func (s *State) finishing() bool {
	return s.frozen == auto.FreezeStory && s.lanes.View(storyLane).Finishing
}

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
	if t.manualEnded(o) {
		return
	}
	switch o.Outcome {
	case act.EntryCompleted:
		t.report.ActCompleted(o.Act)
	case act.EntryFailed:
		t.actFailed(o.Act, o.Reason, o.Detail)
	}
	if o.Lane != storyLane {
		t.handlerActEnded(o.Entry, failure(o))
		return
	}
	if o.Entry != t.storyEntry || o.Outcome == act.EntryCancelled {
		return
	}
	in := auto.Input{What: auto.ActDone}
	if o.Outcome == act.EntryFailed {
		in = auto.Input{What: auto.ActFail, Reason: o.Reason}
	}
	t.toAuto.Add(autoInput{Input: in, entry: o.Entry})
}

func failure(o *act.Out) schema.Reason {
	if o.Outcome == act.EntryFailed {
		return o.Reason
	}
	return ""
}

func (t *step) queueDocument() schema.StateQueue {
	q := t.report.Acts()
	acts := t.lanes.Acts(manual.Acts)
	for _, h := range t.handling {
		acts = append(acts, t.lanes.Acts(act.Lane(h.handler))...)
	}
	if acts = append(acts, t.lanes.Acts(storyLane)...); len(acts) > 0 {
		q.Current, q.Waiting = acts[0], append(q.Waiting, acts[1:]...)
	}
	return q
}

func (t *step) actName() string {
	if step, _ := t.playing.act(t.auto.Act); step != nil && t.auto.Status != schema.AutoHalt {
		return step.Act
	}
	return ""
}

// manualEnded reports whether what ended was done manually.
func (t *step) manualEnded(o *act.Out) (was bool) {
	from := t.list.Len()
	was = t.manuals().Ended(o)
	t.settle(from)
	return was
}
