package life

import (
	"slices"
	"strings"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/score"
	"troupe/schema/verb"
)

func isCommand(args verb.Args) bool {
	switch args.(type) {
	case verb.SetLife, verb.FocusActivity, verb.StopFocus, verb.StopActivities, verb.SetSafeguard, verb.SetLaunchpad, verb.SetPlugin,
		verb.ExplainCondition:
		return true
	}
	return false
}

// command carries a command out.
func (t Step) command(args verb.Args, who string) schema.Verdict {
	switch a := args.(type) {
	case verb.SetLife:
		return t.setState(schema.LifeState(a.State), who)
	case verb.FocusActivity:
		return t.askFocus(a, who)
	case verb.StopFocus:
		return t.stopFocus()
	case verb.StopActivities:
		return t.stopAll(who)
	case verb.SetSafeguard:
		return t.setSafeguard(a)
	case verb.SetLaunchpad:
		return t.askLaunchpad(a.On)
	case verb.SetPlugin:
		return t.setPlugin(a)
	case verb.ExplainCondition:
		return t.explainCondition(string(a.Condition))
	}
	return refused(schema.ReasonUnknownVerb, "")
}

func succeeded(detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Detail: detail}
}

func unchanged(detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged, Detail: detail}
}

func refused(r schema.Reason, detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusRejected, Reason: r, Detail: detail}
}

// setState takes life/set, which decides until ato is left or the setting life.enabled changes, also
// against that setting: the command is for a person who watches the robot, the setting for what
// the robot does by itself when ato begins.
func (t Step) setState(to schema.LifeState, who string) schema.Verdict {
	switch {
	case !slices.Contains(schema.LifeStates, to):
		v := refused(schema.ReasonBadRequest, "there is no state "+string(to)+"; solitary and disabled can be asked for")
		v.Pointer = "/args/state"
		return v
	case !t.Ato:
		return refused(schema.ReasonNotInAto, "autonomous life runs in ato only; mode/set ato starts it")
	case to == disabled && t.at == disabled && t.StoryStopped && !t.off: // also after auto/start
		t.setOff(true)
		return succeeded("")
	case to == t.at:
		return unchanged("life is " + string(to))
	case to == interactive:
		return refused(schema.ReasonInvalidTransition, "an interactive activity leads there; life/focus starts one")
	case to == safeguard:
		return refused(schema.ReasonInvalidTransition, "only the robot itself enters it")
	case to == disabled:
		t.clear(OnDisable, schema.ReasonStopped, who)
		t.setOff(true)
		return succeeded("")
	case t.at == interactive:
		return refused(schema.ReasonInvalidTransition, "an interactive activity leads back by its end; life/stop-focus and life/stop-all end it")
	}
	if t.StoryStopped {
		return t.refuseStopped()
	}
	if cause := t.topCause(); cause >= 0 {
		return t.refuseProtected(cause)
	}
	if !t.enter(OnSetSolitary, "", who) {
		return t.refuseState()
	}
	return succeeded("")
}

// offKey is the key on the disk that life is off, because somebody switched it off.
const offKey = "life.off"

// Restore restores whether somebody had switched autonomous life off before the restart.
func (s *State) Restore(saved map[string]string) { s.off = saved[offKey] != "" }

// setOff notes and saves whether somebody has switched autonomous life off.
func (t Step) setOff(off bool) {
	if t.off == off {
		return
	}
	t.off = off
	value := ""
	if off {
		value = "yes"
	}
	t.Out.Do(effect.SaveValue{Name: offKey, Value: value})
}

// refuseState refuses a command that does nothing in the present state, and says how to leave it.
func (t Step) refuseState() schema.Verdict {
	return refused(schema.ReasonInvalidTransition, "life is "+string(t.at)+"; life/set solitary switches it on, or says what prevents that")
}

// refuseStopped refuses what would begin something while the story is stopped.
func (t Step) refuseStopped() schema.Verdict {
	return refused(schema.ReasonNeedsStart, schema.ReasonNeedsStart.Describe().Text+", and life with it")
}

// refuseProtected says which cause keeps autonomous life in safeguard, and what ends that.
func (t Step) refuseProtected(cause int) schema.Verdict {
	switch causes[cause] {
	case "":
		return refused(t.StopReason, "the robot protects itself: "+t.Standstill.String())
	case schema.SafeguardCriticalDiagnosis:
		return refused(schema.ReasonUnitCritical,
			"the robot protects itself: a critical unit is damaged; after its repair sys/ack-fault acknowledges that")
	}
	return refused(schema.ReasonSafeguard, "the robot protects itself: "+string(causes[cause])+"; it goes on by itself when that is over")
}

// focusEvent returns the event of an activity that gets the focus.
func focusEvent(a *activity) Event {
	if a.Nature == score.NatureInteractive {
		return OnInteractive
	}
	return OnSolitary
}

// askFocus gives an activity the focus.
func (t Step) askFocus(f verb.FocusActivity, who string) schema.Verdict {
	a, stacks := t.named(f.Activity), f.Flags == string(schema.FocusStopAndStackCurrent)
	switch {
	case !stacks && f.Flags != "" && f.Flags != string(schema.FocusStopCurrent):
		v := refused(schema.ReasonBadRequest, "flags are stop_current or stop_and_stack_current")
		v.Pointer = "/args/flags"
		return v
	case a == nil:
		return refused(schema.ReasonUnknownActivity, f.Activity+" is not among "+t.namesOfSet())
	case !t.Ato:
		return refused(schema.ReasonNotInAto, "autonomous life runs in ato only; mode/set ato starts it")
	case t.StoryStopped:
		return t.refuseStopped()
	case t.at == disabled:
		return refused(schema.ReasonInvalidTransition, "life is disabled; life/set solitary switches it on")
	case t.at == safeguard:
		return t.refuseProtected(t.cause)
	case t.focus.activity == a.ID:
		return unchanged(a.ID + " has the focus")
	}
	for _, rules := range [...][]FocusRule{FocusBlocks, Permissions} {
		if r := prevents(rules, t, a); r != nil {
			return refused(r.Reason, a.ID+": "+t.whyRefused(r))
		}
	}
	stacks = stacks && t.focus.run != ""
	switch {
	case stacks && len(t.stack) >= schema.MaxLifeStack:
		return refused(schema.ReasonBusy, "the stack is full; life/stop-all empties it")
	case !t.can(focusEvent(a)):
		return t.refuseState()
	case stacks:
		t.stack = append(t.stack, t.focus.activity)
	}
	t.stop(schema.ReasonSuperseded)
	t.enter(focusEvent(a), "", who)
	t.start(a, who)
	return succeeded(t.focus.run)
}

func (t Step) stopFocus() schema.Verdict {
	if t.focus.run == "" {
		return unchanged("no activity has the focus")
	}
	id := t.focus.activity
	t.stop(schema.ReasonStopped)
	t.proceed()
	if t.focus.run != "" {
		return succeeded(id + " was stopped; " + t.focus.activity + " starts again")
	}
	return succeeded(id + " was stopped")
}

func (t Step) stopAll(who string) schema.Verdict {
	switch {
	case t.focus.run == "" && len(t.stack) == 0:
		return unchanged("no activity has the focus")
	case !t.clear(OnStopAll, schema.ReasonStopped, who):
		return t.refuseState()
	}
	return succeeded("")
}

// setSafeguard makes life ignore a safeguard, or not, until an activity ends.
func (t Step) setSafeguard(a verb.SetSafeguard) schema.Verdict {
	i := slices.Index(causes[1:], schema.Safeguard(a.Name)) + 1
	switch {
	case i == 0:
		v := refused(schema.ReasonBadRequest, "there is no safeguard "+a.Name)
		v.Pointer = "/args/name"
		return v
	case t.ignored[i] == !a.Enabled:
		return unchanged("")
	}
	t.ignored[i] = !a.Enabled
	t.Out.Changed(effect.FlushSoon)
	if a.Enabled {
		return succeeded("life reacts to it again")
	}
	return succeeded("life does not react to it until an activity ends")
}

func (t Step) askLaunchpad(on bool) schema.Verdict {
	switch {
	case on == t.launchpadOn:
		return unchanged("")
	case t.at == solitary:
		return refused(schema.ReasonInvalidTransition, "in solitary the launchpad always runs")
	case t.at != interactive:
		return refused(schema.ReasonInvalidTransition, "life is "+string(t.at)+"; nothing starts by itself")
	}
	t.setLaunchpad(on)
	t.Out.Changed(effect.FlushSoon)
	if on {
		return succeeded("it only suggests while an interactive activity has the focus")
	}
	return succeeded("")
}

// explainCondition says whether a condition is true now, and if not, why.
func (t Step) explainCondition(text string) schema.Verdict {
	a := t.named(text)
	if a != nil && a.when == nil {
		return succeeded(a.ID + " has no condition; it starts on request")
	}
	if a != nil {
		if truth, why := t.explain(a); truth {
			return succeeded(strings.TrimSuffix("true; "+why, "; "))
		}
		return succeeded(shorten(t.untrue(a.when, a.watch.Facts(t.Now.Mono, &t.Signals.Values), "; "), maxExplained))
	}
	c, problems := cond.Parse(text)
	switch {
	case len(problems) == 0:
	case problems[0].Code == "unknown_key" && schema.ValidID(text):
		return refused(schema.ReasonUnknownActivity, text+" is not among "+t.namesOfSet()+", and is no key of conditions")
	default:
		v := refused(schema.ReasonBadRequest, strings.TrimSuffix(problems[0].Detail+"; "+problems[0].Hint, "; "))
		v.Pointer = "/args/condition"
		return v
	}
	if facts := t.Signals.Facts(t.Now.Mono); !c.Eval(facts) {
		return succeeded(shorten(t.untrue(c, facts, "; "), maxExplained))
	}
	return succeeded("true")
}

// namesOfSet lists the activities of the set.
func (s *State) namesOfSet() string {
	if len(s.activities) == 0 {
		return "those of the robot, which has none"
	}
	names := make([]string, len(s.activities))
	for i, a := range s.byName() {
		names[i] = a.ID
	}
	return shorten(strings.Join(names, ", "), maxExplained)
}

// maxExplained bounds an explanation in an answer, in bytes.
const maxExplained = 1000

// setPlugin switches a plug-in until the next transition.
func (t Step) setPlugin(a verb.SetPlugin) schema.Verdict {
	i := slices.IndexFunc(Plugins[:], func(p Plugin) bool { return string(p.Name) == a.Name })
	switch {
	case i < 0:
		v := refused(schema.ReasonBadRequest, "there is no plug-in "+a.Name)
		v.Pointer = "/args/name"
		return v
	case t.plugins[i] == a.Enabled:
		return unchanged("")
	case t.at != solitary && t.at != interactive:
		return refused(schema.ReasonInvalidTransition, "life is "+string(t.at)+"; no condition is evaluated")
	}
	t.plugins[i] = a.Enabled
	t.hide()
	t.Out.Changed(effect.FlushSoon)
	return succeeded("until an activity begins or ends, or the state of life changes")
}
