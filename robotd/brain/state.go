package brain

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/body"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/desired"
	"troupe/robotd/diagnosis"
	"troupe/robotd/diskvalues"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
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
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/sign"
)

// State is the state of the robot. One goroutine owns it, and only Step changes it.
type State struct {
	cfg *config.Config // the robot's own, overridden by the desired configuration

	// The executor, which several parts use.
	lanes act.Lanes

	// The parts.
	safety    safety.State
	requests  request.State
	link      operatorlink.State
	modes     mode.State
	body      body.State
	signals   signal.State
	diagnosis diagnosis.State
	latches   latch.State
	manual    manual.State
	perform   perform.State
	desired   desired.State
	intent    intent.State
	life      life.State
	report    report.State
	list      effect.List // what the parts returned in this step

	values diskvalues.State // small values that the disk refused

	// A command permitted motion in this event, so this event's further entries of the history wait for
	// its answer.
	permitted bool
	later     []effect.Event

	ticked      time.Duration // time of the last Tick
	motionUntil time.Duration // see MotionUntil
}

// Memory is what the disk has of the robot.
type Memory struct {
	latch.Memory
	Boots      int64 // number of starts of robotd, including this one
	Requests   []command.Record
	Deliveries map[sign.Kind]delivery.Persisted
	Contents   delivery.DiskContents
	Values     map[string]string // the small values of effect.SaveValue, by their names
}

// New returns the state of a robot that has just started: it has its story and its journal,
// and may not move, whatever it did before. It keeps base and does not change it. modes has an
// installed mode for each entry of base.Mode.Modes, and belongs to the state from now on. The effects have to be
// carried out before Begin.
func New(base *config.Config, id string, b driver.Body, m Memory, modes *mode.Runner, now clock.Now) (*State, []effect.Effect) {
	s := &State{}
	s.desired = desired.New(base, (*desiredView)(s), m.Values)
	cfg := s.desired.Config()
	*s = State{
		desired: s.desired, cfg: cfg,
		safety:    safety.New(&cfg.Safety, id, now),
		modes:     mode.New(&cfg.Mode, modes, now),
		link:      operatorlink.New(cfg.Link),
		signals:   signal.New(),
		perform:   perform.New(cfg),
		manual:    manual.New(cfg, id, m.Values),
		intent:    intent.New(&cfg.Intents),
		life:      life.New(&cfg.Life),
		lanes:     act.Lanes{Executor: act.New(act.Config{Units: b.Units, Lanes: lanesOf(cfg, b.Units), Limits: act.Defaults()})},
		body:      body.New(b),
		diagnosis: diagnosis.New(&cfg.Diagnosis, b.Units, now, m.Values),
		report:    report.New(cfg, id, now),
	}
	s.shareTaught()
	t := step{State: s, now: now}
	t.requests = request.Restore(m.Boots, m.Requests, &t.list)
	t.carryOut(0)
	t.toDesired(func(d desired.Step) {
		d.Restore(desired.Memory{Values: m.Values, Deliveries: m.Deliveries, Contents: m.Contents})
	})
	t.body.SetVolume(manual.RestoredVolume(m.Values))
	t.toModes(func(r mode.Step) { r.Restore(m.Values) })
	t.perform.Restore(now, m.Values)
	t.life.Restore(m.Values)
	t.restoreStops(m)
	t.toPerform(func(p perform.Step) { p.RestoreHelp(m.Values) })
	t.toReport(func(r report.Step) { r.RememberBoots(m.Values) })
	t.toReport(func(r report.Step) { r.RestoreLog(m.Values) })
	t.persistStops()
	return s, t.out
}

// BootIDs are the ids of this run of robotd and of those before it, so that a late will of one of
// them is not taken for another robot of this name.
func (s *State) BootIDs() []string { return s.report.BootIDs() }

// stepTime is how much time the steps of one event have at most before what they permit to move begins. They take
// less than a millisecond, unless the process is suspended.
const stepTime = time.Second

// commandTime is what remains of that for a command which comes at the end of its time to live.
const commandTime = 50 * time.Millisecond

// MotionUntil returns until when what the last step permitted to move may begin, since boot: for stepTime, and no
// longer than the commands live that permit motion and that this event carried out (see commandTime).
func (s *State) MotionUntil() time.Duration { return s.motionUntil }

// FleetTime is the fleet's time according to the heartbeats since the start.
func (s *State) FleetTime(now clock.Now) (_ time.Time, known bool) {
	fleet, known := s.link.FleetTime(now)
	return fleet.Time(), known
}

// Tally is what counts of many robots take from each.
type Tally struct {
	Adopted    bool // it obeys a fleet
	Story      bool // it can perform the story that was assigned to it
	Performing bool // ato performs the story
	Latched    bool // it holds a stop
	EStop      bool
}

// Tally returns what counts of many robots take from this one.
func (s *State) Tally() Tally {
	story, _ := s.desired.Story().InUse()
	return Tally{
		Adopted: s.desired.FleetID() != "", Story: story != nil, Performing: (*desiredView)(s).AtoPerforms(),
		Latched: len(s.latches.Latches()) > 0, EStop: s.safety.At == schema.SafetyEStop,
	}
}
