package brain

import (
	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/supervisor"
	"troupe/schema"
)

func (t *step) toSupervisor(do func(supervisor.Step)) {
	lost, lostFor := t.link.Lost(t.now)
	f := supervisor.Facts{CurrentState: t.preconditionNow(), Safety: t.safety.At, Standstill: t.standstill(), LinkLost: lost, LostFor: lostFor, Units: t.body.Units(), MotionBarred: t.diagnosis.MotionBarred() != ""}
	f.NoDrive, f.NoLook = t.unusable(schema.UnitDrive), t.unusable(schema.UnitHead)
	if why, detail, ok := t.performStep().Ready(); !ok {
		f.NoStory = mode.Refusal{Reason: why, Detail: detail}
	}
	f.Map = t.body.Map()
	t.runAndCarryOut(func() { do(supervisor.Step{State: &t.supervisor, Facts: f, Now: t.now, Out: &t.list}) })
}

// unusable reports whether the body has no unit of a kind, or nobody may use it.
func (t *step) unusable(k schema.UnitKind) bool {
	u, has := t.body.First(k)
	return !has || t.diagnosis.Unusable(u.ID) != ""
}

func (t *step) notifyMode(n mode.Notice) { t.toSupervisor(func(m supervisor.Step) { m.Notify(n) }) }

// calibrated takes the end of a calibration: its map and its points are in force.
func (t *step) calibrated(ev event.Calibrated) {
	t.diagnosis.Calibrated(ev.Units)
	if t.supervisor.Awaits(ev.Run) && t.body.Calibrated(&ev, t.cfg.Languages) {
		t.publishCaps()
		t.toDesired(desired.Step.RobotChanged)
	}
	t.toSupervisor(func(m supervisor.Step) { m.Calibrated(ev) })
}

// noteStartupEnded tells the desired mode that start-up has ended, and how.
func (t *step) noteStartupEnded() {
	if t.desired.Starting() && t.supervisor.StartupEnded() {
		t.toDesired(func(d desired.Step) { d.StartupEnded(t.supervisor.Mode().Reason) })
		t.toSupervisor(supervisor.Step.EndStartup)
	}
}

// performAuto gives the story of ato one input. If ato asked for the story to begin
// (mode.BeginStory), it tells ato whether the story is performed.
func (t *step) performAuto() {
	from := t.list.Len()
	r := t.performStep().StepAuto()
	t.carryOut(from)
	if r.Entered {
		t.toSupervisor(func(m supervisor.Step) { m.StoryAnswered(r.Refused) })
	}
}
