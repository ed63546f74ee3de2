package brain

import (
	"fmt"
	"time"

	"troupe/robotd/body"
	"troupe/robotd/clock"
	"troupe/robotd/delivery"
	"troupe/robotd/desired"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/intent"
	"troupe/robotd/latch"
	"troupe/robotd/life"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/operatorlink"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// step is one step in progress.
type step struct {
	*State
	now clock.Now
	out []effect.Effect
}

func (t *step) do(e effect.Effect) { t.out = append(t.out, e) }

// Step takes one event. It changes s, appends effects to out, and returns out. The order is
// the same for every event: what makes the robot safer comes first.
func Step(s *State, now clock.Now, ev event.Event, out []effect.Effect) []effect.Effect {
	t := step{State: s, now: now, out: out}
	if _, follows := ev.(event.Follow); !follows {
		t.motionUntil = now.Mono + stepTime
	}
	t.link.NoteArrival(now, ev)
	if beat, ok := ev.(event.Heartbeat); ok && t.changesNothing(beat) {
		t.toLink(func(l operatorlink.Step) { l.Received(beat) })
		return t.out
	}
	t.sense(ev)
	t.diagnosis.Check(now, t.safety.At)
	t.stepSafety()
	if t.safety.At != schema.SafetyDisabled || len(t.latches.Latches()) > 0 {
		t.desired.NoteActed()
	}
	t.perform.SetGate(&t.lanes, t.safety.At, t.diagnosis.MotionBarred())
	t.react(ev)
	t.toLink(operatorlink.Step.CheckLink)
	t.toReport(report.Step.ClearDuplicateIdentity)
	t.toLink(func(l operatorlink.Step) {
		l.CheckConnection(t.safety.At != schema.SafetyDisabled && t.safety.At != schema.SafetyEStop)
	})
	t.toManual(manual.Step.StepControl)
	t.toModes(mode.Step.Decide)
	t.toManual(manual.Step.UpdateSetPoint)
	t.toManual(manual.Step.CarryOut)
	t.noteStartupEnded()
	t.stepSignals()
	t.toLife(life.Step.Decide)
	t.toPerform(perform.Step.EndShutdownWithoutLink)
	t.toPerform(perform.Step.Power)
	t.toPerform(perform.Step.Handlers)
	t.toPerform(perform.Step.StepInterrupts)
	t.toLife(life.Step.Launch)
	t.toPerform(perform.Step.Activity)
	t.toDesired(func(d desired.Step) { d.ToDeliveries(delivery.Tick{}); d.FollowStory() })
	t.performAuto()
	t.toPerform(perform.Step.Abilities)
	if tick, ok := ev.(event.Tick); ok {
		t.ticked = now.Mono
		from := t.list.Len()
		if t.values.Retry(t.now.Mono, &t.list) {
			t.desired.ReportAgain() // reports that were held back with the settings
		}
		t.carryOut(from)
		t.toReport(func(r report.Step) { r.Ticked(tick.Late) })
		t.toLatches(latch.Step.Tick)
		t.toReport(report.Step.ClearDiskAlert)
		t.lanes.Tick(now.Mono)
		t.toManual(manual.Step.SendSetPoint)
		t.notifyMode(mode.TimePassed{})
		if safety.Feeds(t.safety.At) {
			t.do(effect.Feed{})
		}
	}
	t.orderUnits()
	t.publishDue()
	if _, inspects := ev.(event.Inspect); inspects {
		t.do(t.snapshot())
	}
	return t.out
}

// sense takes what the safety core has to know in this step: reports of the body and
// commands. It publishes nothing yet.
func (t *step) sense(ev event.Event) {
	switch ev := ev.(type) {
	case event.Reported:
		t.reported(ev.Event)
	case event.Command:
		t.commanded(ev)
	case event.RequestsSaved:
		t.toRequests(func(q request.Step) { q.Saved(ev) })
	case event.Delivered:
		t.requests.Delivered(ev.Key)
	case event.StopDocument:
		t.stopDocument(ev)
	case event.LiveStop:
		t.liveStop(ev)
	case event.MotionWithheld:
		t.safety.AskStop(effect.AskStop{Verb: string(safety.Stop), Source: "robotd",
			Why: "robotd stood still for too long just when a motion was to begin; the motion was left out, and the robot stopped"})
	case event.ReleaseStops:
		t.toLatches(func(l latch.Step) { l.ReleaseAtRobot(schema.LocalClient) })
	}
}

// react takes the other inputs, after the safety core has decided.
func (t *step) react(ev event.Event) {
	t.body.UpdateAlerts(t.cfg.Mode.Calibration, t.standstill().WayOutOfUnitError(), &t.list)
	t.diagnosisStep().Report()
	t.carryOut(0)
	t.toRequests(request.Step.RaiseAlerts)
	switch ev := ev.(type) {
	case event.Tick, event.Follow, event.MotionWithheld, event.Delivered, event.StopDocument, event.LiveStop, event.ReleaseStops,
		event.Inspect:
	case event.Reported:
		if ev.Kind == driver.Sensed && ev.Signal == driver.Touch {
			t.notifyMode(mode.Touched{Area: schema.SanitizeText(ev.Name), On: ev.On})
		}
		if ev.Kind == driver.Sensed && ev.Signal == driver.People {
			t.modes.SetPeople(int(body.Rounded(ev.Level)), body.Rounded(ev.Bearing))
		}
		if ev.Kind == driver.Heard && ev.Heard != nil {
			t.toIntent(func(i intent.Step) { i.Heard(*ev.Heard) })
		}
	case event.Command:
		t.toRequests(func(q request.Step) { q.Removed(ev) })
	case event.RequestsSaved:
		t.noteDiskWrite(ev.Refused)
	case event.ValuesSaved:
		t.noteDiskWrite(ev.Refused)
		t.values.Saved(t.now.Mono, ev)
	case event.LatchesSaved:
		t.toLatches(func(l latch.Step) { l.Saved(ev.N, ev.Refused) })
	case event.HistoryRead:
		t.toReport(func(r report.Step) { r.HistoryRead(ev) })
	case event.Begin:
		t.modes.Add(mode.Input{Kind: mode.Begin})
		t.recordEvent("booted", "robotd", "", "", nil)
	case event.Frame:
		if !t.latches.Overtook(ev.N) {
			t.manual.Frame(ev)
		}
	case event.Heartbeat:
		t.toLink(func(l operatorlink.Step) { l.Received(ev) })
	case event.DesiredStory, event.DesiredSet, event.DesiredConfig, event.DesiredMode:
		t.toDesired(func(d desired.Step) { d.Take(ev) })
	case event.Arriving:
		t.toDesired(func(d desired.Step) { d.ToDeliveries(delivery.Arriving(ev)) })
	case event.Fetched:
		t.toDesired(func(d desired.Step) { d.ToDeliveries(delivery.Fetched(ev)) })
	case event.Called:
		t.toPerform(func(p perform.Step) { p.Called(ev) })
	case event.ContentSaved:
		t.noteDiskWrite(ev.Refused)
		t.toDesired(func(d desired.Step) { d.Saved(ev) })
	case event.PresenceSeen:
		t.toReport(func(r report.Step) { r.PresenceSeen(ev) })
	case event.FleetdPresence:
		if client, gone := t.link.FleetdPresence(t.now, ev.Presence); gone {
			t.manual.ClientGone(client)
		}
	case event.Connected:
		t.connected(ev)
	case event.Disconnected:
		t.disconnected(ev)
	case event.DuplicateIdentity:
		t.toReport(func(r report.Step) { r.DuplicateIdentitySeen(ev) })
	case event.MessageDropped:
		t.toReport(func(r report.Step) { r.MessageDropped(ev) })
	case event.Recorder:
		t.toReport(func(r report.Step) { r.NoteRecorderState(ev) })
	case event.RecordExported:
		t.toReport(func(r report.Step) { r.RecordExported(ev) })
	case event.SimInput:
		t.toReport(func(r report.Step) { r.SimInput(ev) })
	case event.Calibrated:
		t.calibrated(ev)
	case event.CertificateState:
		t.toReport(func(r report.Step) { r.CertificateState(ev) })
	case event.Shutdown:
		t.modes.Add(mode.Input{Kind: mode.Shutdown})
		t.recordEvent("ending", "robotd", ev.Why, "", nil)
	default:
		panic(fmt.Sprintf("brain: no such event: %T", ev))
	}
	t.toRequests(request.Step.Tick)
}

// Pending reports whether an input waits in an inbox, or ato was left in this step after life had
// decided, so that life still is as in ato. The loop then makes the next step at once, with the event Follow.
func (s *State) Pending() bool {
	behind := s.life.At() != schema.LifeDisabled && s.perform.Auto().Status == schema.AutoNotActive
	return behind || s.safety.Len() > 0 || s.modes.Pending() || s.manual.Pending() || s.life.Pending() || s.perform.Pending()
}

// over reports whether the robot has ended: no mode is in charge any more, and the body may
// not move.
func (t *step) over() bool {
	return t.modes.Stopped() && !t.Pending() &&
		safety.Restriction(t.safety.At) >= safety.Restriction(schema.SafetyDisabled)
}

// watchEvery is the interval at which the robot checks the link, and the time limits of
// modes and handlers.
const watchEvery = 250 * time.Millisecond

// Deadline is the time of the next Tick if no event arrives before: a period of the
// executor later while anything is performed or may move, otherwise when a part or machine
// has something to do.
func Deadline(s *State) time.Duration { return deadline(s, watchEvery) }

func deadline(s *State, watch time.Duration) time.Duration {
	if s.performing() || safety.Feeds(s.safety.At) {
		return s.ticked + s.cfg.Tick
	}
	at := s.ticked + watch
	sooner := func(d time.Duration, ok bool) {
		if ok && d < at {
			at = d
		}
	}
	sooner(s.signals.Deadline())
	sooner(s.life.Deadline())
	sooner(s.latches.Deadline())
	sooner(s.requests.Deadline())
	sooner(s.values.Deadline())
	sooner(s.desired.Deadline())
	sooner(s.manual.Deadline(&s.body, s.report.Session()))
	sooner(s.report.Deadline())
	return at
}

// NextTick is when the next Tick is due, after a step at now. was is when it was due before
// the step: one that is overdue stays so until it comes. What the step itself made due is due
// now.
func NextTick(s *State, was, now time.Duration) time.Duration {
	return nextTick(Deadline(s), was, now)
}

// restWatch takes the place of watchEvery in NextTickAtRest.
const restWatch = 2 * time.Second

// idle reports whether the robot may not move, and a mode runs that no handler interrupts, or none.
func (s *State) idle() bool {
	phase := s.modes.Mode().Phase
	return (phase == mode.Ready || phase == mode.Safe) && s.safety.At == schema.SafetyDisabled && s.perform.RunningHandlers() == 0
}

// NextTickAtRest is NextTick for a process with so many robots that the ticks of those at rest cost the most. While the
// robot is idle, it watches the link and the time limits of its mode every two seconds, so what these decide comes up to two seconds later
// than their time; nothing else is later than with NextTick.
func NextTickAtRest(s *State, was, now time.Duration) time.Duration {
	watch := watchEvery
	if s.idle() {
		watch = restWatch
	}
	return nextTick(deadline(s, watch), was, now)
}

func nextTick(at, was, now time.Duration) time.Duration {
	switch {
	case at >= now:
		return at
	case was < now:
		return max(at, was)
	default:
		return now
	}
}
