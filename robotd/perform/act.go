package perform

import (
	"cmp"
	"slices"
	"strings"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/config"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/interrupts"
	"troupe/schema/score"
)

// storyLane is the lane of the story. Each handler has a lane above it.
const storyLane act.Lane = "story"

// handlerLane returns the lane of a handler. The prefix keeps a handler that is named like
// another lane, such as safety, out of it.
func handlerLane(handler string) act.Lane { return act.Lane("handler-" + handler) }

// Lanes lists the lanes of handlers, activity, story and abilities, highest priority first.
func Lanes(c *config.Config) (lanes []act.LaneConfig) {
	handlers := slices.Clone(c.Interrupts.Handlers)
	slices.SortStableFunc(handlers, func(a, b interrupt.Handler) int { return b.Priority - a.Priority })
	for _, h := range handlers {
		lanes = append(lanes, act.LaneConfig{Lane: handlerLane(h.ID)})
	}
	lanes = append(lanes, act.LaneConfig{Lane: activityLane}, act.LaneConfig{Lane: storyLane})
	for _, a := range abilityLanes {
		lanes = append(lanes, act.LaneConfig{Lane: a.lane, Single: true})
	}
	return lanes
}

// beginAct starts the story's next act. An act that this robot cannot perform fails at
// once.
func (t Step) beginAct() {
	e := act.Entry{ID: t.Lanes.NextEntry("story")}
	t.storyEntry = e.ID
	step, a := t.playing.act(t.auto.Act)
	if a == nil {
		t.storyActFailed(e.ID, schema.FailedAct{Reason: schema.ReasonStoryInvalid})
		return
	}
	e.Act, e.With, e.Languages = a, step.With, t.playing.languages
	e.OnResume, e.FinishBeforePause = step.OnResume, step.FinishBeforePause
	if refused := t.Lanes.Push(storyLane, e); refused != nil {
		t.Out.Do(effect.ActFailed{ID: a.ID, Reason: refused.Reason, Detail: refused.Detail})
		t.storyActFailed(e.ID, schema.FailedAct{Act: a.ID, Reason: refused.Reason, Detail: refused.Detail})
		t.reportStart(refused.Reason, refused.Detail)
		return
	}
	t.Out.Changed(effect.FlushSoon)
	t.reportStart("", "")
}

// cancelAct cancels the act of the story.
func (t Step) cancelAct(why schema.Reason) {
	t.storyEntry = ""
	t.Lanes.Cancel(storyLane, "", why)
}

// freeze pauses lanes according to the pause tokens.
func (t Step) freeze(f auto.Freeze) {
	if f == t.frozen {
		return
	}
	t.frozen = f
	t.freezeLane(storyLane, f)
	t.freezeActivity()
	for _, h := range t.runningHandlers {
		t.freezeHandler(h.handler)
	}
}

// freezeHandler pauses or resumes a handler's lane, as everything in ato is frozen or not.
func (t Step) freezeHandler(handler string) {
	if t.frozen == auto.FreezeAll {
		t.Lanes.Pause(handlerLane(handler), act.AtOnce, t.Now.Mono)
	} else {
		t.Lanes.Resume(handlerLane(handler), t.Now.Mono)
	}
}

// beginHandlerAct performs the part of a handler's act that is possible now. While the
// robot may not move, that is the part without motion.
func (t Step) beginHandlerAct(h *runningHandler, e act.Entry) {
	t.freezeHandler(h.handler)
	refused := t.pushFitting(handlerLane(h.handler), &h.script, &e)
	h.choice = e.Act.Offers()
	if refused != nil {
		h.detail = refused.Detail
		t.handlerActEnded(e.ID, refused.Reason)
	}
}

// mayMove reports whether a handler may move the body now.
func (t Step) mayMove() bool {
	return t.Safety == schema.SafetyEnabled && t.frozen != auto.FreezeAll
}

// motionBarred returns why a handler must not move the body now, in words that say what ends that; empty if it may.
func (t Step) motionBarred() (reason schema.Reason, why string) {
	switch {
	case t.mayMove():
		return "", ""
	case t.Safety != schema.SafetyEnabled:
		return safety.Gate(t.Safety, safety.Moves, safety.Act), t.Standstill.String()
	}
	return cmp.Or(t.Pause, schema.ReasonNotPerforming), t.auto.PausedBy("", "", t.Standstill.String())
}

// pushFitting pushes the part of an act of a script that this robot can perform now. What is left out is reported, once
// for the same parts: in an event, and in the result of what performs the script. An act of which nothing is left fails.
func (t Step) pushFitting(to act.Lane, s *script, e *act.Entry) *act.Refusal {
	fits, out := t.fitting(*e.Act, s.files)
	e.Act = &fits
	news := s.noteLeftOut(out.text(fits.ID))
	refused := out.refusal(fits.ID)
	switch {
	case refused != nil:
	case news:
		t.reportLeftOut(fits.ID, e.Req, &out)
		fallthrough
	default:
		refused = t.Lanes.Push(to, *e)
		news = true
	}
	if refused != nil && news {
		t.Out.Do(effect.ActFailed{ID: fits.ID, Req: e.Req, Reason: refused.Reason, Detail: refused.Detail})
	}
	return refused
}

// reportLeftOut reports what is left out of an act that begins.
func (t Step) reportLeftOut(id, req string, out *leftOut) {
	if text := out.text(id); text != "" {
		t.Out.Event("act_warning", "act", string(act.WarnLeftOut), req, effect.Described{ID: id, Reason: out.reason, Detail: text})
	}
}

// leftOut is what is not performed of an act.
type leftOut struct {
	reason schema.Reason // why the first part is left out; empty = the act is performed whole
	parts  []string      // each with why, for people
	none   bool          // nothing is left for any unit
}

func (l *leftOut) add(do *score.Action, reason schema.Reason, why string) {
	l.reason = cmp.Or(l.reason, reason)
	if part := string(do.Type()) + " (" + why + ")"; !slices.Contains(l.parts, part) {
		l.parts = append(l.parts, part)
	}
}

// text says what is left out; empty if nothing is.
func (l *leftOut) text(act string) string {
	if len(l.parts) == 0 {
		return ""
	}
	return act + " without " + strings.Join(l.parts, ", ")
}

// refusal returns why an act cannot be performed of which nothing is left; nil if something is.
func (l *leftOut) refusal(id string) *act.Refusal {
	if !l.none {
		return nil
	}
	return &act.Refusal{Reason: l.reason, Detail: "nothing of " + id + " can be performed: " + strings.Join(l.parts, ", ")}
}

// fitting removes from an act the actions that this robot cannot perform, and, if it must not move, those that
// move. files are those that came with the act.
func (t Step) fitting(a score.Act, files []score.Asset) (score.Act, leftOut) {
	var out leftOut
	caps, used := score.WithAssets(t.Body.Capabilities(t.cfg.Languages), files), false
	barred, why := t.motionBarred()
	a.Actions = keep(a.Actions, func(do *score.Action) bool {
		row, ok := score.RowOf(do.Type())
		if !ok || !row.NeedsUnit() {
			return true // the executor refuses an action that it does not know
		}
		if row.Moves() && barred != "" {
			out.add(do, barred, why)
			return false
		}
		if lacks := schema.Errors(score.Fit(score.Act{Actions: []score.Action{*do}}, caps)); len(lacks) > 0 {
			out.add(do, schema.ReasonOutOfRange, lacks[0].Detail)
			return false
		}
		used = true
		return true
	})
	out.none = !used && len(out.parts) > 0
	return a, out
}

// keep returns the actions that fit, also those in groups; a group without any is left out.
func keep(list []score.Action, fits func(*score.Action) bool) []score.Action {
	kept := make([]score.Action, 0, len(list))
	for _, do := range list {
		group := len(do.Inner()) > 0
		if group {
			do.SetInner(keep(do.Inner(), fits))
		}
		if fits(&do) && (!group || len(do.Inner()) > 0) {
			kept = append(kept, do)
		}
	}
	return kept
}

func (t Step) cancelHandlerAct(handler string) {
	t.Lanes.Cancel(handlerLane(handler), "", schema.ReasonStopped)
}

// cancelLanes cancels all acts, because ato is left.
func (t Step) cancelLanes() {
	t.cancelAct(schema.ReasonStopped)
	for _, h := range t.runningHandlers {
		t.cancelHandlerAct(h.handler)
	}
	t.EndFocus(effect.EndActivity{Run: t.focus.run, Reason: schema.ReasonNotInAto})
}

// Busy reports whether the executor needs the next tick.
func (s *State) Busy(lanes *act.Lanes) bool {
	if !lanes.Idle(SafetyLane) || !lanes.Idle(storyLane) && s.frozen == auto.FreezeNone {
		return true
	}
	for _, h := range s.runningHandlers {
		if !lanes.Idle(handlerLane(h.handler)) && s.frozen != auto.FreezeAll {
			return true
		}
	}
	return !lanes.Idle(activityLane) && s.frozenFocus == auto.FreezeNone || s.finishing(lanes)
}

// finishing reports whether the present act of the story or of the activity is performed to
// its end before they pause.
func (s *State) finishing(lanes *act.Lanes) bool {
	return s.frozen == auto.FreezeStory && lanes.View(storyLane).Finishing || s.frozenFocus == auto.FreezeStory &&
		lanes.View(activityLane).Finishing
}

// Ended takes the end of an entry of the story, of the activity, of a handler or of the safety
// lane.
func (t Step) Ended(o *act.Effect) {
	if o.Lane == SafetyLane {
		t.safetyActEnded(o)
		return
	}
	switch o.Outcome {
	case act.EntryCompleted:
		t.Out.Do(effect.ActCompleted{ID: o.Act, Req: o.Req})
	case act.EntryFailed:
		t.Out.Do(effect.ActFailed{ID: o.Act, Req: o.Req, Reason: o.Reason, Detail: o.Detail})
	}
	switch {
	case o.Lane != storyLane && t.requestedActEnded(o):
		return
	case o.Outcome == act.EntryCancelled: // who cancelled it knows
		return
	case o.Lane == activityLane:
		t.activityActEnded(o)
		return
	case o.Lane != storyLane:
		t.handlerActEnded(o.Entry, o.Reason)
		return
	case o.Entry != t.storyEntry:
		return
	}
	if o.Outcome == act.EntryFailed {
		t.storyActFailed(o.Entry, schema.FailedAct{Act: o.Act, Reason: o.Reason, Detail: o.Detail})
		return
	}
	t.toAuto.Add(autoInput{Input: auto.Input{What: auto.ActDone}, entry: o.Entry})
}

// Acts lists the acts that are performed and those that wait, the handlers' first.
func (s *State) Acts(lanes *act.Lanes) (acts []schema.QueuedAct) {
	acts = lanes.Acts(SafetyLane)
	for _, h := range s.runningHandlers {
		acts = append(acts, lanes.Acts(handlerLane(h.handler))...)
	}
	acts = append(acts, lanes.Acts(activityLane)...)
	return append(acts, lanes.Acts(storyLane)...)
}

// Chosen records, and reports, that a person chose what a screen offered. It comes before the executor
// forgets the command.
func (t Step) Chosen(ev driver.Event) bool {
	if ev.Name == "" {
		return false
	}
	act, action, req, ok := t.Lanes.Running(ev.Key)
	if ok {
		t.Out.Event("screen_choice", "screen", ev.Name, req, choice{act, action, ev.Name})
		if slices.ContainsFunc(t.runningHandlers, func(h runningHandler) bool { return h.handler == interrupts.Service }) {
			t.setHelp(ev.Name == interrupts.Help || t.help && ev.Name != interrupts.Done)
		}
	}
	return ok
}

// choice is the data of the event.
type choice struct {
	Act    string `json:"act"`
	Action string `json:"action"`
	Choice string `json:"choice"`
}
