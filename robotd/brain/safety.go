package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/perform"
	"troupe/robotd/safety"
	"troupe/schema"
)

// stepSafety lets the safety core decide. It runs before everything else that decides.
func (t *step) stepSafety() {
	core, from := t.safetyStep(), t.list.Len()
	d, by := core.Decide()
	t.permitted = t.permitted || by != "" && d.Changed && d.Answer.Taken && (d.To == schema.SafetyEnabled || d.To == schema.SafetyReset)
	t.carryOut(from)
	t.latches.SetPendingReset(t.safety.CoreState)
	if d.Changed {
		t.toPerform(func(p perform.Step) { p.SafetyChanged(d) })
	}
	core.Answer(d, by)
	t.carryOut(from)
}

// safetyStep returns the part safety with its facts.
func (t *step) safetyStep() safety.Step {
	return safety.Step{State: &t.safety, Facts: t.safetyFacts(), Now: t.now, Out: &t.list}
}

// safetyFacts are the facts for the safety core. The slices belong to the parts, so that
// nothing is allocated.
func (t *step) safetyFacts() safety.Facts {
	active, wants, switching := t.modes.Mode().SafetyMode(&t.cfg.Mode)
	failed, why := t.modes.Failed()
	return safety.Facts{
		Units:    t.body.Movers(),
		Inputs:   t.body.PressedInputs(),
		Latches:  t.latches.Latches(),
		Critical: t.diagnosis.Causes(),
		Mode: safety.Mode{
			Active: active, Wants: wants, Switching: switching,
			ShutdownDone: t.lanes.Idle(perform.SafetyLane),
			Failed:       string(failed), FailedWhy: why,
		},
		CurrentState:  t.preconditionNow(),
		SeenSince:     t.report.SeenSince(t.now.Mono, t.cfg.Safety.Sight),
		NeedsContinue: t.needsContinue(),
	}
}

// standstill is what keeps the robot at rest, for texts that lead people out of it.
func (t *State) standstill() safety.Standstill {
	return t.safety.Standstill(t.body.PressedInputs(), t.latches.Latches(), t.needsContinue())
}

// needsContinue reports whether ato waits for auto/continue after a stop or a lost link.
func (t *State) needsContinue() bool {
	ato := t.perform.Auto()
	return ato.NeedsContinueAfter(auto.BySafety) || ato.NeedsContinueAfter(auto.ByLink)
}
