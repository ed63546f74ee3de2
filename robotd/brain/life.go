package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/life"
	"troupe/robotd/safety"
	"troupe/schema"
)

// lives returns the part life with its facts.
func (t *step) lives() life.Step {
	ato, queue := t.perform.Auto(), t.perform.Queue()
	return life.Step{State: &t.life, Now: t.now, Out: &t.list, Facts: life.Facts{
		CurrentState: t.currentState(),
		Ato:          t.modes.Mode().System == schema.SystemRunning && ato.Status != schema.AutoHalt,
		Paused:       ato.FrozenBut(auto.BySafeguard), Pauses: ato, Standstill: t.standstill(),
		Interrupts: len(queue.Running()) > 0, Preempts: queue.Preempts(&t.cfg.Interrupts),
		Safety: t.stopReason(), AtRest: t.safety.At == schema.SafetyDisabled, Charging: t.body.Battery().Charging,
		Health: &t.health, Signals: &t.signals, Activities: t.desired.Activities(),
	}}
}

func (t *step) toLife(do func(life.Step)) { t.collect(func() { do(t.lives()) }) }

// stopReason is why a stop keeps the robot from living: one of the safety core, a latched one,
// one after which only auto/continue lets it go on, or that somebody stopped the story: then
// neither activity nor ability begins before auto/start; handlers of interrupts do.
func (t *step) stopReason() schema.Reason {
	switch at := t.safety.At; {
	case safety.NeedsReset(at):
		return schema.ReasonSafetyLatched
	case at != schema.SafetyEnabled && at != schema.SafetyDisabled:
		return schema.ReasonStopped
	case len(t.stops.Latches()) > 0:
		return schema.ReasonLatched
	case t.perform.Auto().NeedsContinueAfter(auto.BySafety):
		return schema.ReasonNeedsContinue
	case t.perform.Auto().StoppedByRequest():
		return schema.ReasonNeedsStart
	}
	return ""
}
