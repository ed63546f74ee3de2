package perform

import (
	"cmp"
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// activityLane is the lane of the focused activity, below the handlers and above the story.
const activityLane act.Lane = "activity"

// focus is the performance of an activity. As for the story, a state of package auto (a second
// one) decides which of its acts is due.
type focus struct {
	run string // id of this performance; empty = there is none
	id  string // id of the activity
	script
	facts  auto.Story
	auto   auto.State
	entry  string      // on the lane
	next   *auto.Input // the next input of auto; nil = Tick
	failed string      // why its act failed last
}

// Focused returns the id of the performance of an activity; empty = there is none.
func (s *State) Focused() string { return s.focus.run }

// Focus begins to perform an activity in place of the one before. One that cannot be performed
// ends at once.
func (t Step) Focus(in effect.FocusActivity) {
	t.EndFocus(effect.EndActivity{Run: t.focus.run, Reason: schema.ReasonSuperseded})
	s, facts, why := t.activity(in.Activity)
	ended := effect.ActivityEnded{Run: in.Run, Outcome: effect.Failed}
	switch {
	case t.auto.Status == schema.AutoNotActive:
		ended.Reason = schema.ReasonNotInAto
	case why != "":
		ended.Reason, ended.Detail = schema.ReasonUnknownActivity, why
	default:
		t.focus = focus{run: in.Run, id: in.Activity, script: s, facts: facts, auto: auto.Boot(), next: &auto.Input{What: auto.Enter}}
		return
	}
	t.Out.Do(ended)
}

// EndFocus stops a performance; one that has ended already stays so.
func (t Step) EndFocus(in effect.EndActivity) {
	if in.Run != "" && in.Run == t.focus.run {
		t.endFocus(effect.Stopped, in.Reason)
	}
}

func (t Step) endFocus(how effect.Outcome, why schema.Reason) {
	ended := effect.ActivityEnded{Run: t.focus.run, Outcome: how, Reason: why, Detail: t.focus.leftOut()}
	if how == effect.Failed {
		ended.Detail = cmp.Or(t.focus.failed, ended.Detail)
	}
	t.focus = focus{}
	t.Lanes.Cancel(activityLane, "", schema.ReasonStopped)
	t.Out.Do(ended)
	t.Out.Changed(effect.FlushSoon)
}

// Activity advances the focused activity. It acquires the pause token of a performance that
// began, and releases that of one that ended. It comes after everything that can give or take
// the focus in a step, so that the story does not resume between two activities.
func (t Step) Activity() {
	f := &t.focus
	switch {
	case f.run == "" && t.pausedForRun != "" && !t.ending: // another activity may get the focus in the next step
		t.ending = true
	case f.run != t.pausedForRun:
		t.ending = false
		if f.run != "" {
			t.toAuto.Add(autoInput{Input: auto.Input{What: auto.Acquire, Kind: auto.ByActivity, Key: f.run, Why: f.id}})
		}
		if t.pausedForRun != "" {
			t.toAuto.Add(autoInput{Input: auto.Input{What: auto.Release, Kind: auto.ByActivity, Key: t.pausedForRun}})
		}
		t.pausedForRun = f.run
	}
	t.freezeActivity()
	if f.run == "" || t.frozenFocus == auto.FreezeAll {
		return
	}
	in := auto.Input{What: auto.Tick}
	if f.next != nil {
		in, f.next = *f.next, nil
	}
	d := auto.Step(&f.auto, t.Now.Mono, t.cfg.Auto, auto.Facts{Story: f.facts, Apply: schema.ApplyNextStart}, in)
	switch {
	case d.Refused != "":
		t.endFocus(effect.Failed, d.Refused)
	case d.On == auto.OnActError, d.Over.Number > 0 && d.Over.Performed == 0: // else it would fail for ever
		t.endFocus(effect.Failed, in.Reason)
	case d.On == auto.OnEnd:
		t.endFocus(effect.Finished, "")
	case d.Begin:
		t.beginActivityAct()
	}
}

// beginActivityAct performs the part of the next act that is possible now.
func (t Step) beginActivityAct() {
	f := &t.focus
	e := f.acts[f.auto.Act]
	e.ID = t.Lanes.NextEntry("activity")
	f.entry = e.ID
	if refused := t.pushFitting(activityLane, &f.script, &e); refused != nil {
		f.failed = refused.Detail
		f.next = &auto.Input{What: auto.ActFailed, Reason: refused.Reason}
	}
	t.Out.Changed(effect.FlushSoon)
}

// activityActEnded takes the end of an act of the focused activity.
func (t Step) activityActEnded(o *act.Effect) {
	if o.Entry != t.focus.entry {
		return
	}
	in := auto.Input{What: auto.ActDone}
	if o.Outcome == act.EntryFailed {
		t.focus.failed = o.Detail
		in = auto.Input{What: auto.ActFailed, Reason: o.Reason}
	}
	t.focus.next = &in
}

// focusFrozen reports whether the pauses of ato are also one of the activity. That of a safeguard
// is not, for an activity with the permission in_safeguard.
func (s *State) focusFrozen() bool {
	return s.frozen == auto.FreezeAll && (!s.focus.inSafeguard || s.auto.FrozenBut(auto.BySafeguard))
}

// freezeActivity pauses the activity while everything is frozen, and while a handler performs:
// both would use the same units.
func (t Step) freezeActivity() {
	f := auto.FreezeNone
	switch {
	case t.focusFrozen():
		f = auto.FreezeAll
	case len(t.runningHandlers) > 0:
		f = auto.FreezeStory
	}
	if f != t.frozenFocus {
		t.frozenFocus = f
		t.freezeLane(activityLane, f)
	}
}

// freezeLane pauses a lane, or lets it go on.
func (t Step) freezeLane(l act.Lane, f auto.Freeze) {
	switch f {
	case auto.FreezeNone:
		t.Lanes.Resume(l, t.Now.Mono)
	case auto.FreezeStory:
		t.Lanes.Pause(l, act.AfterAct, t.Now.Mono)
	case auto.FreezeAll:
		t.Lanes.Pause(l, act.AtOnce, t.Now.Mono)
	}
}

// activity is the script of one of the fleet's activities, and how it is repeated.
func (t Step) activity(id string) (s script, facts auto.Story, why string) {
	set := t.Activities
	if set == nil {
		return s, facts, "the robot has no activities"
	}
	i := slices.IndexFunc(set.Activities, func(a score.Activity) bool { return a.ID == id })
	if i < 0 {
		return s, facts, "the robot has no activity " + id
	}
	a := &set.Activities[i]
	s = script{skips: !a.OnActError.Stop, files: set.Assets, inSafeguard: a.Permits(score.PermitInSafeguard)}
	languages := t.languagesOf(a.Languages)
	for _, step := range a.Acts {
		whole, _ := set.Acts[step.Act].Expand(score.In(set.Acts))
		s.acts = append(s.acts, act.Entry{Act: &whole, With: step.With, Languages: languages, OnResume: step.OnResume,
			FinishBeforePause: step.FinishBeforePause})
	}
	return s, autoStory(a.ID, len(s.acts), a.Repeat, a.OnActError), ""
}

// autoStory describes a list of acts for package auto.
func autoStory(id string, acts int, r score.Repeat, e score.ActError) auto.Story {
	s := auto.Story{ID: id, Acts: acts, Times: int(r.Times), OnError: auto.Skip, Retries: int(e.Retries)}
	switch {
	case e.Stop:
		s.OnError = auto.Stop
	case e.Retries > 0:
		s.OnError = auto.Retry
	}
	if r.Loop {
		s.Times = 0
	}
	return s
}
