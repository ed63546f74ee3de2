// Package mode decides which mode is in charge of the robot.
//
// The supervisor runs one mode at a time: calibration at boot, then manual or
// automatic, and a mode called safe if the link is lost or no other
// mode runs. It checks a request completely before it touches the active mode, so a
// refused request changes nothing. If a mode fails to start or dies, the default mode
// replaces it; if that fails, safe does; if even safe fails, the supervisor asks the
// safety core to stop the body.
//
// A mode is a value that implements the interface Mode, in a package of its own below
// this one. The supervisor returns orders and calls no mode; a Runner carries them
// out and brings the modes' reports. The settings of a mode, such as the reaction to link
// loss, are configuration; its parameters are set while the robot runs.
//
// Requests wait in an inbox, and Step gives the supervisor one of them at a time, passes on what
// modes want done, and saves which modes are disabled or unloaded, and their parameters.
//
// The supervisor keeps no copy of the safety core's state, knows no messages and reads no
// clock; time is an argument, counted from boot. Supervisor is comparable.
package mode

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/verb"
)

// State is the state of the modes.
type State struct {
	cfg    *Config
	mode   Supervisor
	runner *Runner
	inbox  command.Inbox[Input]

	since schema.Time   // when the active mode became active
	last  schema.ModeID // the newest active mode
	// stops: the robot may have moved when the present change of modes was asked for, so that the change is what stopped it.
	stops bool
	// failed is the mode that failed in the newest change of phase; zero if none did.
	failed fallback

	people  int     // that the robot sees near it
	bearing float64 // of the nearest one

	motion motion
	looks  uint64 // number of commands to the head so far
}

// motion is what a mode set in motion. No lane of the executor has it, so the supervisor ends it.
type motion struct {
	by     schema.ModeID
	look   uint64 // key of the command to the head; 0 = none
	drives bool   // the last velocity was not zero
}

// lookKeys are the keys of the commands of modes. Those of acts count from 1, those of calibrations
// from 1<<52, and a body on the bus gets no integer beyond 1<<53, which is what JSON readers agree on.
const lookKeys = 1 << 51

// New returns the state of a robot that has just started. runner has an installed mode for
// each entry of cfg.Modes, and belongs to the state from now on.
func New(cfg *Config, runner *Runner, now clock.Now) State {
	return State{cfg: cfg, mode: Boot(cfg), runner: runner, since: now.Wall}
}

// Step is the part of one step of the robot that concerns modes.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Mode returns the state of the mode supervisor.
func (s *State) Mode() *Supervisor { return &s.mode }

// Failed returns the mode that was in charge until it failed, lost its link or did not end in time, and why; empty if
// none is missing for such a reason.
func (s *State) Failed() (schema.ModeID, schema.Reason) { return s.failed.From, s.failed.Reason }

// InCharge returns the row of the active mode, and Performer that of the mode that performs
// the story.
func (s *State) InCharge() *Installed  { return s.runner.Installed(s.mode.Active) }
func (s *State) Performer() *Installed { return s.runner.Performer() }

// SetPeople sets how many persons the robot sees near it, and where the nearest one is.
func (s *State) SetPeople(count int, bearing float64) { s.people, s.bearing = count, bearing }
func (s *State) People() (count int, bearing float64) { return s.people, s.bearing }

// Pending reports whether an input waits.
func (s *State) Pending() bool { return s.inbox.Len() > 0 }

// Drop removes a command that waits.
func (s *State) Drop(k command.Key) bool { return s.inbox.Drop(k) }

// Add adds an input without a sender, so that nobody gets its result.
func (s *State) Add(in Input) { s.inbox.Add(in) }

// Ask takes a command of a person, and reports whether it is one of modes.
func (s *State) Ask(o effect.Dispatch, asker string) bool {
	in := Input{Req: o.Key}
	switch a := o.Args.(type) {
	case verb.SetMode:
		in.Kind, in.Mode, in.Restart = Set, a.Mode, a.Restart
	case verb.PauseMode:
		in.Kind = Pause
	case verb.ResumeMode:
		in.Kind = Resume
	case verb.KillMode:
		in.Kind = Kill
	case verb.EnableMode:
		in.Kind, in.Mode = Enable, a.Mode
	case verb.SetParam:
		in.Kind, in.Mode, in.Name, in.Value, in.By = Param, a.Mode, a.Name, string(a.Value), asker
	case verb.DisableMode:
		in.Kind, in.Mode = Disable, a.Mode
	case verb.LoadController:
		in.Kind, in.Mode = Load, a.Mode
	case verb.UnloadController:
		in.Kind, in.Mode = Unload, a.Mode
	default:
		return false
	}
	s.inbox.Put(in, o.Key, o.If)
	return true
}

// AskRobot takes a command about robotd itself, and reports whether it is one. A reboot ends
// robotd like a shutdown; its answer precedes the end, because the connection ends with robotd.
func (t Step) AskRobot(o effect.Dispatch, asker string) bool {
	a, ok := o.Args.(verb.Reboot)
	if !ok {
		return false
	}
	if safety.Feeds(t.Safety) {
		detail := "the robot is coming to rest, it is " + string(t.Safety) + "; ask again in some seconds"
		if t.Safety == schema.SafetyEnabled || t.Safety == schema.SafetySoftStop {
			detail = "the robot may move, it is " + string(t.Safety) + "; safety/stop ends that"
		}
		if t.Safety == schema.SafetyReset {
			detail = "the robot's units are being reset; ask again in some seconds"
		}
		t.Out.Refuse(o.Key, schema.ReasonBusy, "", detail)
		return true
	}
	t.Add(Input{Kind: Shutdown, Restart: true})
	t.Out.Event("ending", "robotd", "sys/reboot by "+asker, string(o.Key), effect.Described{Detail: cmp.Or(a.Why, o.Why)})
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: "robotd ends; its service manager starts it again"})
	return true
}

// Set requests a mode.
func (s *State) Set(m schema.ModeID, by command.Key) {
	s.inbox.Put(Input{Kind: Set, Mode: m, Req: by}, by, schema.Precondition{})
}

// Cancel cancels the switch or the calibration of a command, if it is under way; the
// supervisor answers both commands.
func (s *State) Cancel(of command.Key, o effect.Dispatch) bool {
	if s.mode.Req != of {
		return false
	}
	s.inbox.Put(Input{Kind: Cancel, Req: of}, o.Key, o.If)
	return true
}

// InForce returns the arguments of mode/set that would change nothing now. That command is
// answered without a record on the disk: repeating it does no harm.
func (s *State) InForce() verb.Args {
	m := &s.mode
	if m.System != schema.SystemRunning || m.Phase != Ready || m.Active == s.cfg.Calibration || s.Pending() {
		return nil
	}
	return verb.SetMode{Mode: m.Active}
}

// Manual reports whether manual verbs are accepted.
func (s *State) Manual() bool {
	return s.InCharge().Manual && s.mode.Phase == Ready && !s.mode.Paused(s.cfg)
}

// NotManual returns why manual verbs are not accepted, and the way out; empty = they are.
func (s *State) NotManual() string {
	switch active := string(s.Active()); {
	case s.mode.Phase == Uncalibrated:
		return "the robot is in " + active + ", and its calibration failed; correct the cause, then mode/set " + active + " and mode/set mnl"
	case s.mode.Phase != Ready:
		return "the robot is in " + active + " (" + string(s.mode.Phase) + "); ask again when mnl is ready, which mode/set mnl starts"
	case !s.InCharge().Manual:
		return "the robot is in " + active + "; mode/set mnl starts mnl"
	case s.mode.Paused(s.cfg):
		return active + " is paused; mode/resume resumes it"
	}
	return ""
}

// Active returns the mode in charge. Between two modes it is the next one, so that the field of
// documents is never empty while phase is "switching".
func (s *State) Active() schema.ModeID {
	switch {
	case s.mode.Active != "":
		return s.mode.Active
	case s.mode.Next != "":
		return s.mode.Next
	case s.last != "":
		return s.last
	}
	return s.cfg.Calibration
}

// LookEnded notes that a command to the head ended by itself.
func (s *State) LookEnded(key uint64) {
	if s.motion.look == key {
		s.motion.look = 0
	}
}

// Document is the part of the state document with the mode. A mode that performs is paused by
// the tokens of the story, the others by the supervisor.
func (s *State) Document(storyPaused bool) schema.StateMode {
	paused := s.mode.Paused(s.cfg)
	if s.InCharge().Performs {
		paused = storyPaused
	}
	return schema.StateMode{
		System: s.mode.System, Active: s.Active(), Intended: s.mode.Intended,
		Phase: s.mode.documentPhase(), Paused: paused, Since: s.since,
		FallbackFrom: s.mode.FellFrom, Calibrated: s.mode.Calibrated,
	}
}

// documentPhase returns the phase for the state document. When robotd ends, it is stopping,
// although no mode is in charge any more.
func (s *Supervisor) documentPhase() schema.ModePhase {
	switch {
	case s.System == schema.SystemStopping:
		return schema.PhaseStopping
	case s.Phase == Booting || s.Phase == Starting || s.Phase == Stopping:
		return schema.PhaseSwitching
	case s.Phase == Uncalibrated || s.Phase == None:
		return schema.PhaseFailed
	}
	return schema.PhaseRunning
}

// List is the catalogue of modes, with the reasons why each cannot be selected now. The safe mode
// cannot be requested. checks are those of calibration.
func (t Step) List(checks []schema.CalibrationCheck) []schema.Mode {
	s, f, list := &t.mode, t.facts(Input{}), make([]schema.Mode, 0, len(t.cfg.Modes))
	active, _, _ := s.SafetyMode(t.cfg)
	for i, m := range t.cfg.Modes {
		if !s.has(i) {
			continue
		}
		d := schema.Mode{
			ID: m.ID, N: i, Name: t.runner.Installed(m.ID).Name, Kind: "builtin",
			Status:     s.Status[i],
			NeedsLease: t.Leased && m.ID != t.cfg.Safe,
			Enabled:    s.Status[i] != schema.ModeDisabled,
			Running:    active && s.Active == m.ID,
			Role:       t.cfg.Serves(m.ID),
			WhyNot:     []schema.WhyNot{}, LinkLoss: m.LinkLoss,
			Params: t.runner.Params(m.ID),
		}
		if m.LinkLoss != schema.LinkLossContinue {
			d.LinkTimeoutMS = m.LostAfter.Milliseconds()
		}
		if m.ID == t.cfg.Calibration {
			d.CalibrationChecks = checks
		}
		for _, w := range s.WhyNot(t.cfg, f, m.ID, nil) {
			d.WhyNot = append(d.WhyNot, schema.WhyNot{Reason: w.Reason, Detail: w.Detail})
		}
		d.Selectable = len(d.WhyNot) == 0
		list = append(list, d)
	}
	return list
}

// A mode that people disabled or unloaded stays so after a restart. The value is stored under
// the mode; enabled ones are not saved.
const (
	modeKey     = "mode."
	switchedOff = "off"
	unloaded    = "unloaded"
)

// HungKey names the mode that did not return from a call and for which robotd ended.
// Start-up treats it as failed, and deletes the value.
const HungKey = "hung_mode"

// hungAlert is the alert of the mode that hung, until it is active again.
const hungAlert = "mode_hung"

// paramKey begins the keys of parameters of modes; the mode, a dot and the name of the
// parameter follow.
const paramKey = "param."

// Restore restores the parameters of modes, and which modes were disabled or unloaded. The
// mode that calibration_mode, default_mode or safe_mode names stays available, because that setting
// may have changed since.
func (t Step) Restore(saved map[string]string) {
	for i, m := range t.cfg.Modes {
		if t.cfg.Serves(m.ID) != "" {
			continue
		}
		switch saved[modeKey+string(m.ID)] {
		case switchedOff:
			t.mode.Status[i] = schema.ModeDisabled
		case unloaded:
			t.mode.Status[i] = schema.ModeUnloaded
		}
	}
	for name, v := range saved {
		if of, ok := strings.CutPrefix(name, paramKey); ok {
			m, param, _ := strings.Cut(of, ".")
			// A value that this release does not allow any more has become the default.
			t.runner.SetParam(schema.ModeID(m), param, jsontext.Value(v))
		}
	}
	if hung := schema.ModeID(saved[HungKey]); hung != "" {
		t.mode.MarkFailed(t.cfg, hung)
		t.runner.MarkHung(hung)
		t.Out.Raise(hungAlert, schema.AlertError, string(hung), "a call of "+string(hung)+" did not return, and robotd ended because of it",
			"read robotd's log; mode/set "+string(hung)+" tries it again")
	}
}

// saveStatus saves that a mode was enabled, disabled, loaded or unloaded.
func (t Step) saveStatus(in Input, a schema.Verdict) {
	value, saved := map[Kind]string{Enable: "", Disable: switchedOff, Load: "", Unload: unloaded}[in.Kind]
	if saved && a.Status == schema.StatusSucceeded && a.Reason == "" {
		t.Out.Do(effect.SaveValue{Name: modeKey + string(in.Mode), Value: value})
	}
}

// setParam sets a parameter of a mode.
func (t Step) setParam(in Input) {
	v, was := t.runner.SetParam(in.Mode, in.Name, jsontext.Value(in.Value))
	if v.Status == schema.StatusSucceeded && v.Reason == "" {
		t.Out.Changed(effect.FlushSoon)
		t.Out.Event("mode_param", "mode", in.By, string(in.Req), paramChange{in.Mode, in.Name, was, t.runner.Param(in.Mode, in.Name)})
		t.saveParams()
	}
	t.Out.Reply(in.Req, v)
}

// saveParams saves the parameters that were set.
func (t Step) saveParams() {
	for _, p := range t.runner.ParamsSet() {
		t.Out.Do(effect.SaveValue{Name: paramKey + string(p.Mode) + "." + p.Name, Value: string(p.Value)})
	}
}

// paramChange is the data of the event about a parameter.
type paramChange struct {
	Mode schema.ModeID  `json:"mode"`
	Name string         `json:"name"`
	From jsontext.Value `json:"from"`
	To   jsontext.Value `json:"to"`
}

// StartupEnded reports whether start-up has ended: the calibration at boot and what follows it. A
// calibration that somebody requested is none.
func (s *State) StartupEnded() bool {
	return !s.mode.ByBoot && (s.mode.Phase == Ready || s.mode.Phase == Safe || s.mode.Phase == None)
}

// EndStartup notes that start-up has ended: the mode that hung may be tried again.
func (t Step) EndStartup() {
	if t.runner.EndStartup() {
		t.Out.Do(effect.SaveValue{Name: HungKey})
	}
}

// Stopped reports whether robotd ends and no mode is in charge any more.
func (s *State) Stopped() bool {
	return s.mode.System == schema.SystemStopping && s.mode.Phase == None
}

// Supervisor is what the supervisor of modes remembers between steps.
type Supervisor struct {
	System     schema.SystemStatus
	Phase      Phase
	Since      time.Duration // when the supervisor entered Phase
	Active     schema.ModeID // in charge, or ending; empty if none is
	Next       schema.ModeID // the target of the switch
	Left       schema.ModeID // while Next starts: the mode that ended in an orderly way before it
	Intended   schema.ModeID // the mode of the last granted request
	FellFrom   schema.ModeID // the mode that the present one replaces because it failed or lost the link
	Reason     schema.Reason // why FellFrom was replaced, or why calibration failed
	Detail     string        // of Reason, if calibration failed
	Calibrated bool
	ByBoot     bool        // calibration runs at boot and nobody asked for it; the boot mode follows when it succeeds
	Restart    bool        // robotd ends so that its service manager starts it again
	Req        command.Key // of the request that the present switch or calibration will answer
	Status     [MaxModes]schema.ModeStatus
}

// Boot returns the state of a robot that has just started.
func Boot(c *Config) Supervisor {
	s := Supervisor{System: schema.SystemStarting, Phase: Booting, Intended: c.Boot}
	for i, m := range c.Modes {
		s.Status[i] = schema.ModeAvailable
		if m.Disabled {
			s.Status[i] = schema.ModeDisabled
		}
	}
	return s
}

// MarkFailed notes, before the robot begins, that a mode had failed when robotd ended.
func (s *Supervisor) MarkFailed(c *Config, m schema.ModeID) {
	if i := c.index(m); i >= 0 && s.Status[i] == schema.ModeAvailable {
		s.Status[i] = schema.ModeFailed
	}
}

// has reports whether the robot has the mode with that index: it is loaded.
func (s *Supervisor) has(i int) bool { return i >= 0 && s.Status[i] != schema.ModeUnloaded }

// off reports whether the mode with that index may not start: it is disabled or unloaded.
func (s *Supervisor) off(i int) bool { return !s.has(i) || s.Status[i] == schema.ModeDisabled }

// Paused reports whether the active mode is paused.
func (s *Supervisor) Paused(c *Config) bool {
	i := c.index(s.Active)
	return i >= 0 && s.Status[i] == schema.ModePaused
}

// SafetyMode returns what the safety core needs to know: whether a mode is in charge,
// whether that mode wants to move, and whether a switch between two moving modes is
// under way. A mode that was killed, died or did not start does not hand its permission
// over; nor does calibration, because enabling the robot for homing does not permit a
// performance.
func (s *Supervisor) SafetyMode(c *Config) (active, wants, switching bool) {
	switch s.Phase {
	case Booting, None:
		return false, false, false
	case Stopping:
		return false, false, s.handsOver(c, s.Active)
	case Starting:
		return false, false, s.handsOver(c, s.Left)
	}
	return true, c.Settings(s.Active).Moves, false
}

func (s *Supervisor) handsOver(c *Config, left schema.ModeID) bool {
	return left != c.Calibration && c.Settings(left).Moves && c.Settings(s.Next).Moves
}
