package life

import (
	"fmt"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/score"
)

// causes are what makes the robot protect itself, the most urgent first. The first one is a
// stop (Facts.StopReason), to which life always reacts.
var causes = [...]schema.Safeguard{
	"",
	schema.SafeguardCriticalDiagnosis, schema.SafeguardCriticalTemperature,
	schema.SafeguardFell, schema.SafeguardPushed, schema.SafeguardMoved,
}

// Decide makes at most one transition: the one that the facts ask for, or else the one of the
// oldest input.
func (t Step) Decide() {
	t.again = false
	if t.Activities != t.set {
		t.replaceSet()
	}
	if n, known := t.Signals.People(); t.alone != (known && n == 0) {
		t.alone, t.lost = !t.alone, t.Now.Mono
	}
	if !t.transitionForFacts() {
		t.takeInput()
	}
	if t.at == disabled {
		t.setReason(t.whyDisabled())
	}
	t.reportFree()
}

// transitionForFacts makes the transition that the facts ask for, and reports whether there is one.
func (t Step) transitionForFacts() bool {
	was := t.begun
	if t.Ato && !t.ato && t.Requested || t.cfg.Enabled != t.enabled {
		t.setOff(false)
	}
	t.ato, t.enabled = t.Ato, t.cfg.Enabled
	t.begun = t.Ato && t.enabled && !t.StoryStopped
	begins := t.begun && !was && !t.off
	cause := t.topCause()
	switch {
	case t.at == disabled && begins && cause >= 0:
		return t.protect(OnBeginCaused, cause)
	case t.at == disabled && begins:
		return t.enter(OnBegin, "", "mode")
	case t.at == disabled:
		return false
	case !t.Ato:
		return t.clear(OnLeave, schema.ReasonNotInAto, "mode")
	case !t.enabled && was:
		return t.clear(OnDisable, schema.ReasonLifeDisabled, "life.enabled")
	case t.StoryStopped:
		return t.clear(OnStoryStopped, schema.ReasonNeedsStart, "auto")
	case t.at == safeguard:
		return t.recover(cause)
	case cause >= 0:
		return t.protect(OnCause, cause)
	case t.focus.run == "":
		return (t.at == interactive || len(t.stack) > 0) && t.proceed()
	case t.focus.nature == score.NatureSolitary && t.Interrupts && t.can(OnInterrupted):
		t.stop(schema.ReasonBusy)
		return t.enter(OnInterrupted, "", "interrupt")
	case t.focus.nature == score.NatureInteractive && t.Preempts && t.can(OnPreempted):
		t.stack = append(t.stack, t.focus.activity)
		t.stop(schema.ReasonBusy)
		return t.enter(OnPreempted, "", "interrupt")
	case t.watchesPeople() && t.alone && t.Now.Mono >= max(t.lost, t.focus.since)+t.cfg.HumansLost:
		return t.clear(OnHumansLost, schema.ReasonHumansLost, "people")
	}
	return false
}

// topCause is the most urgent cause to which life reacts; -1 = none.
func (t Step) topCause() int {
	if t.StopReason != "" {
		return 0
	}
	for i := 1; i < len(causes); i++ {
		if !t.ignored[i] && t.Health.Safeguarded(causes[i]) {
			return i
		}
	}
	return -1
}

// causeName names a cause in logs and events. Every stop has the name safety.
func causeName(i int) string {
	if i == 0 {
		return "safety"
	}
	return string(causes[i])
}

// whyProtected is the reason of a cause.
func (t Step) whyProtected(cause int) schema.Reason {
	if cause == 0 {
		return t.StopReason
	}
	return schema.ReasonSafeguard
}

// protect ends all activities because of a cause.
func (t Step) protect(on Event, cause int) bool {
	if !t.clear(on, t.whyProtected(cause), causeName(cause)) {
		return false
	}
	t.cause, t.stays = cause, false
	return true
}

// recover makes the transition in safeguard when the cause has ended or changed, or when the
// robot has come to rest because of damage.
func (t Step) recover(cause int) bool {
	switch {
	case cause < 0:
		return t.enter(OnCauseGone, "", causeName(t.cause))
	case cause != t.cause && t.can(OnOtherCause):
		t.cause, t.stays = cause, false
		return t.enter(OnOtherCause, t.whyProtected(cause), causeName(cause))
	case causes[cause] == schema.SafeguardCriticalDiagnosis && t.AtRest && !t.stays && t.can(OnAtRestWithDamage):
		t.stays = true
		return t.enter(OnAtRestWithDamage, schema.ReasonUnitCritical, causeName(cause))
	case cause == 0:
		t.setReason(t.StopReason)
	}
	return false
}

// setReason replaces the reason of the state.
func (t Step) setReason(r schema.Reason) {
	if t.reason != r {
		t.reason = r
		t.Out.Changed(effect.FlushSoon)
	}
}

func (t Step) whyDisabled() schema.Reason {
	switch {
	case !t.Ato:
		return schema.ReasonNotInAto
	case !t.cfg.Enabled:
		return schema.ReasonLifeDisabled
	case t.StoryStopped:
		return schema.ReasonNeedsStart
	}
	return schema.ReasonStopped
}

// clear ends the focused activity and forgets the stack, and enters the state to which the
// event leads.
func (t Step) clear(on Event, why schema.Reason, cause string) bool {
	if !t.can(on) {
		return false
	}
	t.stack = t.stack[:0]
	t.stop(why)
	if row, _ := Table.Next(t.at, on); row.To == solitary {
		why = "" // the reason is that of the activity's end, not of the state
	}
	return t.enter(on, why, cause)
}

// proceed starts the next activity of the stack again, or ends the stack if there is none. It
// reports whether there was a transition. An activity that FocusBlocks keep from the focus stays
// on the stack; one that lacks a permission is dropped.
func (t Step) proceed() bool {
	for len(t.stack) > 0 {
		last := len(t.stack) - 1
		a := t.named(t.stack[last])
		if a != nil && prevents(FocusBlocks, t, a) != nil {
			return false
		}
		on := OnNext
		if a != nil && a.Nature == score.NatureSolitary {
			on = OnNextSolitary
		}
		t.stack = t.stack[:last]
		if a == nil || !t.can(on) || prevents(Permissions, t, a) != nil {
			// a set that came meanwhile has changed it, or it lacks a permission now
			t.Out.Changed(effect.FlushSoon)
			continue
		}
		t.enter(on, "", a.ID)
		t.start(a, "stack")
		return true
	}
	return t.enter(OnEnded, "", "stack")
}

// start gives an activity the focus.
func (t Step) start(a *activity, cause string) {
	t.runs++
	t.focus = focus{activity: a.ID, run: fmt.Sprintf("%s-%d", a.ID, t.runs), nature: a.Nature, since: t.Now.Mono}
	a.starts++
	a.started = t.Now.Mono
	t.next, t.dirty = "", true
	t.focuses = newest(t.focuses, schema.LifeFocus{Activity: a.ID, Since: t.Now.Wall})
	t.Out.Changed(effect.FlushSoon)
	t.Out.Event("life_focused", "life", cause, string(t.by), focused{a.ID, a.Nature, t.stacked()})
	t.Out.Do(effect.FocusActivity{Activity: a.ID, Run: t.focus.run})
}

// reportFree reports that nothing has the focus any more.
func (t Step) reportFree() {
	if t.focus.run != "" || len(t.focuses) == 0 || t.focuses[0].Activity == "" {
		return
	}
	t.focuses = newest(t.focuses, schema.LifeFocus{Since: t.Now.Wall})
	t.Out.Event("life_focused", "life", "", string(t.by), focused{Stack: t.stacked()})
}

// stacked lists the stack, the next one first.
func (s *State) stacked() []string {
	list := make([]string, 0, len(s.stack))
	for i := len(s.stack) - 1; i >= 0 && len(list) < schema.MaxLifeStack; i-- {
		list = append(list, s.stack[i])
	}
	return list
}

// stop ends the focused activity, if there is one.
func (t Step) stop(why schema.Reason) {
	if t.focus.run == "" {
		return
	}
	t.Out.Do(effect.EndActivity{Run: t.focus.run, Reason: why})
	t.end(effect.Stopped, why, "")
}

// end takes the focus from its activity, and lets life react to all safeguards again.
func (t Step) end(how effect.Outcome, why schema.Reason, detail string) {
	f := t.focus
	t.focus, t.ignored, t.dirty = focus{}, [len(causes)]bool{}, true
	t.Out.Changed(effect.FlushSoon)
	lasted := t.Now.Mono - f.since
	if a := t.named(f.activity); a != nil {
		a.ends, a.ended, a.total, a.failed = a.ends+1, t.Now.Mono, a.total+lasted, how == effect.Failed
	}
	t.Signals.Note(t.Now.Mono, cond.SinceActivity+f.activity)
	t.Out.Event("life_completed", "life", "", string(t.by), completed{f.activity, how, why, lasted.Milliseconds(), detail})
}

// Data of events.
type (
	focused struct {
		Activity string       `json:"activity,omitempty"`
		Nature   score.Nature `json:"nature,omitempty"`
		Stack    []string     `json:"stack,omitempty"`
	}
	completed struct {
		Activity string         `json:"activity"`
		Outcome  effect.Outcome `json:"outcome"`
		Reason   schema.Reason  `json:"reason,omitempty"`
		MS       int64          `json:"ms"`
		Detail   string         `json:"detail,omitempty"`
	}
)

// replaceSet takes another set of activities. A focused activity that it lacks is stopped, and
// stacked ones that it lacks are forgotten when their turn comes.
func (t Step) replaceSet() {
	t.takeSet(t.Activities)
	t.Out.Changed(effect.FlushSoon)
	if t.focus.run != "" && t.named(t.focus.activity) == nil {
		t.stop(schema.ReasonUnknownActivity)
	}
}

// takeInput takes the oldest input.
func (t Step) takeInput() {
	w, ok := t.inbox.Take()
	if !ok {
		return
	}
	if w.In.args == nil {
		t.handleEnd(w.In.ended)
		return
	}
	if !t.Out.Met(w.By, w.When, t.CurrentState) {
		return
	}
	t.by = w.By
	v := t.command(w.In.args, w.In.who)
	t.reportFree()
	t.by = ""
	t.Out.Reply(w.By, v)
}

// handleEnd takes the end of a performance, if that is the focused one.
func (t Step) handleEnd(e effect.ActivityEnded) {
	if e.Run != "" && e.Run == t.focus.run {
		t.end(e.Outcome, e.Reason, e.Detail)
		t.proceed()
	}
}
