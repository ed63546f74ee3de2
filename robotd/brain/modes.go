package brain

import (
	"troupe/robotd/control"
	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/schema"
)

func (t *step) toModes(do func(mode.Step)) {
	lost, lostFor := t.link.Lost(t.now)
	f := mode.Facts{CurrentState: t.preconditionNow(), Safety: t.safety.At, Standstill: t.standstill(), LinkLost: lost, LostFor: lostFor,
		Units: t.body.Units(), MotionBarred: t.diagnosis.MotionBarred() != ""}
	f.NoDrive, f.NoLook = t.unusable(schema.UnitDrive), t.unusable(schema.UnitHead)
	if why, detail, ok := t.performStep().Ready(); !ok {
		f.NoStory = mode.Refusal{Reason: why, Detail: detail}
	}
	f.Map, f.Leased = t.body.Map(), t.cfg.Control.Required == control.RequireAll
	t.runAndCarryOut(func() { do(mode.Step{State: &t.modes, Facts: f, Now: t.now, Out: &t.list}) })
}

// unusable reports whether the body has no unit of a kind, or nobody may use it.
func (t *step) unusable(k schema.UnitKind) bool {
	u, has := t.body.First(k)
	return !has || t.diagnosis.Unusable(u.ID) != ""
}

func (t *step) notifyMode(n mode.Notice) { t.toModes(func(m mode.Step) { m.Notify(n) }) }

// calibrated takes the end of a calibration: its map and its points are in force.
func (t *step) calibrated(ev event.Calibrated) {
	t.diagnosis.Calibrated(ev.Units)
	if t.modes.Awaits(ev.Run) && t.body.Calibrated(&ev, t.cfg.Languages) {
		t.publishCaps()
		t.toDesired(desired.Step.RobotChanged)
	}
	t.toModes(func(m mode.Step) { m.Calibrated(ev) })
}

// noteStartupEnded tells the desired mode that start-up has ended, and how.
func (t *step) noteStartupEnded() {
	if t.desired.Starting() && t.modes.StartupEnded() {
		t.toDesired(func(d desired.Step) { d.StartupEnded(t.modes.Mode().Reason) })
		t.toModes(mode.Step.EndStartup)
	}
}

// performAuto gives the story of ato one input. If ato asked for the story to begin
// (mode.BeginStory), it tells ato whether the story is performed.
func (t *step) performAuto() {
	from := t.list.Len()
	r := t.performStep().StepAuto()
	t.carryOut(from)
	if r.Entered {
		t.toModes(func(m mode.Step) { m.StoryAnswered(r.Refused) })
	}
}
