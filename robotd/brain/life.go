package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/life"
	"troupe/schema"
)

// lifeStep returns the part life with its facts.
func (t *step) lifeStep() life.Step {
	ato, interrupts := t.perform.Auto(), t.perform.InterruptState()
	return life.Step{State: &t.life, Now: t.now, Out: &t.list, Facts: life.Facts{
		CurrentState: t.preconditionNow(),
		Ato:          t.modes.Mode().System == schema.SystemRunning && ato.Status != schema.AutoNotActive, Requested: ato.Requested(),
		StoryStopped: ato.StoppedByRequest(),
		Paused:       ato.FrozenBut(auto.BySafeguard), Pauses: ato, Standstill: t.standstill(),
		Interrupts: len(interrupts.Running()) > 0, Preempts: interrupts.Preempts(&t.cfg.Interrupts),
		StopReason: life.StopReason(t.safety.At, len(t.latches.Latches()) > 0, ato), AtRest: t.safety.At == schema.SafetyDisabled,
		Charging: t.body.Battery().Charging,
		Health:   &t.diagnosis, Signals: &t.signals, Activities: t.desired.Activities(),
	}}
}

func (t *step) toLife(do func(life.Step)) { t.runAndCarryOut(func() { do(t.lifeStep()) }) }
