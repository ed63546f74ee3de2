package brain

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/body"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/desired"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/link"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/perform"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/robotd/stops"
	"troupe/schema"
	"troupe/schema/sign"
)

// State is the robot. One goroutine holds it; Step alone changes it.
type State struct {
	cfg *config.Config // the robot's own, with what the fleet desires over it

	// The machines that brain steps itself, and what waits for two of them.
	safety   safety.State
	toSafety request.Inbox[safety.Request]
	mode     mode.State
	modes    *mode.Runner
	toMode   request.Inbox[mode.Input]
	link     link.State
	requests *request.State
	lanes    act.Lanes
	gate     act.Gate // as the executor knows it

	// The parts.
	body    body.State
	stops   stops.State
	manual  manual.State
	perform perform.State
	desired desired.State
	report  report.State
	list    effect.List // what they leave to be done

	// Modes.
	modeSince schema.Time
	lastMode  schema.ModeID

	// The fleet.
	beats link.Heartbeats
	clock clock.FleetTime

	// Orders on their way to an answer.
	stopped   uint64      // what arrived before this number is older than a stop
	resetting request.Key // a reset that was granted and has not ended
	replies   []answered
	answers   []request.Effect // of this step, to be published; its room is used again
	cancels   []pendingCancel
	alarms    []request.Alert
	retained  map[string]bool // topics of commands that the broker retained, see retainedOn

	ticked          time.Duration // the last Tick
	retrySettingsAt time.Duration // when the disk is asked again to keep settings; 0 = it has them
}

// Memory is what the disk kept of the robot.
type Memory struct {
	Boots    int64 // how often robotd has started, this time included
	Lost     bool  // the robot ran before, and its disk knows nothing of that
	Requests []request.Record
	Kept     map[sign.Kind]delivery.Persisted
	Held     delivery.DiskContents
	Settings map[string]string // by name: on, off or a value

	Latches     []byte        // as of SaveLatches; empty before the first
	LatchesLost bool          // the newest may be missing
	Refused     schema.Reason // the disk takes nothing
}

// New is a robot that has just started: it has its story and its journal, and
// may not move whatever it was doing before. base is kept and not changed. modes
// has a mode for every rule of base, and is the robot's own from now on. The effects are
// to be performed before Begin.
func New(base *config.Config, id string, b driver.Body, m Memory, modes *mode.Runner, now clock.Now) (*State, []effect.Effect) {
	s := &State{}
	s.desired = desired.New(base, (*others)(s), m.Settings)
	cfg := s.desired.Config()
	*s = State{
		desired: s.desired, cfg: cfg,
		safety: safety.Boot(now.Mono), link: link.Boot(), mode: mode.Boot(&cfg.Mode), modes: modes,
		perform:   perform.New(cfg),
		manual:    manual.New(cfg, id),
		lanes:     act.Lanes{Executor: act.New(act.Config{Units: b.Units, Lanes: lanesOf(cfg, b.Units), Limits: act.Defaults()})},
		body:      body.New(b),
		modeSince: now.Wall,
		report:    report.New(cfg, id, now),
	}
	t := step{State: s, now: now}
	var told []request.Effect
	s.requests, told = request.Restore(m.Boots, m.Requests, nil)
	for _, e := range told {
		if save, ok := e.(request.Save); ok {
			t.do(effect.SaveRequests{Save: save})
		}
	}
	t.toDesired(func(d desired.Step) {
		d.Restore(desired.Memory{Settings: m.Settings, Kept: m.Kept, Held: m.Held})
	})
	t.restoreSettings(m.Settings)
	t.restoreStops(m)
	t.toReport(func(r report.Step) { r.RememberBoots(m.Settings) })
	t.persistStops()
	return s, t.out
}
