package mode

import (
	"time"

	"troupe/robotd/effect"
	"troupe/schema"
)

// step handles one input. It changes the phase at most once.
func (s *Supervisor) step(now time.Duration, c *Config, f Facts, in Input) Decision {
	d := Decision{From: s.Phase, To: s.Phase}
	switch in.Kind {
	case Set:
		s.set(now, c, f, in, &d)
	case Pause, Resume:
		s.pause(c, f, in, &d)
	case Kill:
		s.kill(now, c, f, in, &d)
	case Cancel:
		s.cancel(now, c, f, in, &d)
	case Enable, Disable:
		s.setEnabled(c, in, &d)
	case Load, Unload:
		s.setLoaded(c, in, &d)
	case Begin:
		if s.transition(now, &d, OnBoot) {
			s.System, s.ByBoot = schema.SystemRunning, true
			s.start(c, &d, c.Calibration, "")
		}
	case Shutdown:
		s.Restart = s.Restart || in.Restart
		s.shutdown(now, c, &d)
	case Tick:
		s.tick(now, c, f, &d)
	default:
		s.handleReport(now, c, f, in, &d)
	}
	return d
}

// transition changes the phase if the table has a row for the event.
func (s *Supervisor) transition(now time.Duration, d *Decision, on Event) bool {
	row, ok := Table.Next(s.Phase, on)
	if !ok {
		return false
	}
	d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
	s.Phase, s.Since = row.To, now
	return true
}

// changeStatus changes the status of m if StatusTable has a row for the event.
func (s *Supervisor) changeStatus(c *Config, d *Decision, m schema.ModeID, on StatusEvent) bool {
	i := c.index(m)
	if i < 0 {
		return false
	}
	row, ok := StatusTable.Next(s.Status[i], on)
	if ok {
		s.Status[i], d.List = row.To, true
	}
	return ok
}

// start orders m to start; until m reports that it runs, no mode is in charge. left is
// the mode that ended in an orderly way before m, if any.
func (s *Supervisor) start(c *Config, d *Decision, m, left schema.ModeID) {
	s.Active, s.Next, s.Left = "", m, left
	s.changeStatus(c, d, m, StatusStart)
	d.order(DoStart, m)
}

// startFallback starts the successor of a failed mode: the default mode, or safe if the
// default mode failed or may not run.
func (s *Supervisor) startFallback(now time.Duration, c *Config, d *Decision, from schema.ModeID, why schema.Reason) {
	s.FellFrom, s.Reason = from, why
	d.Fallback, d.Reason = from, why
	s.ByBoot = false
	next := c.Default
	if i := c.index(next); from == next || !s.Calibrated || i < 0 || s.off(i) {
		next = c.Safe
	}
	s.start(c, d, next, "")
}

// killActiveAndNext ends the active mode and the target of the switch at once.
func (s *Supervisor) killActiveAndNext(c *Config, d *Decision) {
	for _, m := range []schema.ModeID{s.Active, s.Next} {
		if m != "" && s.changeStatus(c, d, m, StatusKill) {
			d.order(DoKill, m)
		}
	}
}

// endRequest ends the request of the present switch or calibration.
func (s *Supervisor) endRequest(d *Decision, v schema.Verdict) {
	if s.Req != "" {
		d.Ended = effect.Reply{To: s.Req, Verdict: v}
	}
	s.Req = ""
}

// handleReport handles a report of a mode. Reports of other modes than the expected one
// are late (the mode was killed or replaced meanwhile) and are ignored.
func (s *Supervisor) handleReport(now time.Duration, c *Config, f Facts, in Input, d *Decision) {
	switch in.Kind {
	case Started:
		if s.Phase == Starting && in.Mode == s.Next {
			s.modeStarted(now, c, d)
		}
	case StartFailed:
		if s.Phase == Starting && in.Mode == s.Next {
			s.modeStartFailed(now, c, d, in.Reason, in.Detail)
		}
	case Stopped:
		if s.Phase == Stopping && in.Mode == s.Active {
			s.changeStatus(c, d, in.Mode, StatusStopped)
			s.modeStopped(now, c, d, OnStopped, in.Mode)
		}
	case Died:
		s.modeDied(now, c, d, in)
	case CalibOK:
		if s.Phase == Calibrating && in.Mode == s.Active {
			s.calibrationSucceeded(now, c, f, d)
		}
	case CalibFailed:
		if s.Phase == Calibrating && in.Mode == s.Active && s.transition(now, d, OnCalibFailed) {
			s.Reason, s.Detail, d.Reason, d.List = in.Reason, in.Detail, in.Reason, true
			s.endRequest(d, schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: in.Reason, Detail: in.Detail})
		}
	}
}

func (s *Supervisor) modeStarted(now time.Duration, c *Config, d *Decision) {
	on := OnStarted
	switch s.Next {
	case c.Calibration:
		on = OnCalibrating
	case c.Safe:
		on = OnSafe
	}
	m := s.Next
	s.transition(now, d, on)
	s.changeStatus(c, d, m, StatusStarted)
	s.Active, s.Next, s.Left = m, "", ""
	switch on {
	case OnCalibrating: // the request ends with the calibration
		s.Calibrated = false
		d.order(DoCalibrate, m)
		return
	case OnStarted:
		if m == s.Intended {
			s.FellFrom, s.Reason = "", ""
		}
	}
	s.endRequest(d, schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultSuccess})
}

func (s *Supervisor) modeStartFailed(now time.Duration, c *Config, d *Decision, why schema.Reason, detail string) {
	m := s.Next
	if why == "" {
		why = schema.ReasonStartFailed
	}
	s.changeStatus(c, d, m, StatusFailed)
	s.endRequest(d, schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: why, Detail: detail})
	if m == c.Safe {
		s.noModeLeft(now, d, m, why)
		return
	}
	s.transition(now, d, OnStartFailed)
	s.startFallback(now, c, d, m, why)
}

// noModeLeft is the last fallback: no mode is in charge and the body is stopped.
func (s *Supervisor) noModeLeft(now time.Duration, d *Decision, m schema.ModeID, why schema.Reason) {
	s.transition(now, d, OnSafeFailed)
	s.Active, s.Next, s.Left, s.FellFrom, s.Reason = "", "", "", m, why
	d.Fallback, d.Reason, d.SafetyStop = m, why, true
}

func (s *Supervisor) modeStopped(now time.Duration, c *Config, d *Decision, on Event, left schema.ModeID) {
	if s.System == schema.SystemStopping {
		s.transition(now, d, OnEnd)
		s.Active, s.Next = "", ""
		return
	}
	s.transition(now, d, on)
	s.start(c, d, s.Next, left)
}

func (s *Supervisor) modeDied(now time.Duration, c *Config, d *Decision, in Input) {
	why := in.Reason
	if why == "" {
		why = schema.ReasonModeFailed
	}
	switch {
	case s.Phase == Starting && in.Mode == s.Next:
		s.modeStartFailed(now, c, d, why, in.Detail)
	case in.Mode == "" || in.Mode != s.Active:
	case s.Phase == Stopping:
		s.changeStatus(c, d, in.Mode, StatusDied)
		s.modeStopped(now, c, d, OnStopped, "")
	case s.Phase == Safe:
		s.changeStatus(c, d, in.Mode, StatusDied)
		s.noModeLeft(now, d, in.Mode, why)
	case s.transition(now, d, OnDied):
		s.endRequest(d, schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: why, Detail: in.Detail})
		s.changeStatus(c, d, in.Mode, StatusDied)
		s.startFallback(now, c, d, in.Mode, why)
	}
}

// calibrationSucceeded ends a calibration. At boot, the boot mode follows, or the
// default mode if the boot mode cannot run yet.
func (s *Supervisor) calibrationSucceeded(now time.Duration, c *Config, f Facts, d *Decision) {
	s.Calibrated, s.Reason, d.List = true, "", true
	s.endRequest(d, schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultSuccess})
	if !s.ByBoot {
		s.transition(now, d, OnCalibrated)
		return
	}
	s.ByBoot = false
	s.Intended = c.Boot // a desired mode that came meanwhile changed it
	next := c.Boot
	if why := s.WhyNot(c, f, next, nil); len(why) > 0 && next != c.Default {
		d.Fallback, d.Reason = next, why[0].Reason
		s.FellFrom, s.Reason = next, why[0].Reason
		next = c.Default
	}
	s.transition(now, d, OnCalibratedAtBoot)
	s.stopActive(c, d, next)
}

// stopActive orders the active mode to end and records its successor.
func (s *Supervisor) stopActive(c *Config, d *Decision, next schema.ModeID) {
	s.Next = next
	if s.changeStatus(c, d, s.Active, StatusStop) {
		d.order(DoStop, s.Active)
	}
}

// tick handles what depends on time alone: link loss and time limits.
func (s *Supervisor) tick(now time.Duration, c *Config, f Facts, d *Decision) {
	switch {
	case s.linkLossApplies(c, f):
		m := s.Active
		if s.Phase == Starting {
			m = s.Next
		}
		s.endRequest(d, schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: schema.ReasonLinkLost,
			Detail: "no heartbeat of fleetd or of a panel arrives"})
		s.killActiveAndNext(c, d)
		s.transition(now, d, OnLinkLost)
		s.ByBoot = false
		s.FellFrom, s.Reason = m, schema.ReasonLinkLost
		d.Fallback, d.Reason = m, schema.ReasonLinkLost
		s.start(c, d, c.Safe, "")
	case s.Phase == Stopping && now-s.Since >= c.StopTime:
		if s.changeStatus(c, d, s.Active, StatusKill) {
			d.order(DoKill, s.Active)
		}
		s.modeStopped(now, c, d, OnStopTimeout, "")
	case s.Phase == Starting && now-s.Since >= c.StartTime:
		d.order(DoKill, s.Next)
		s.modeStartFailed(now, c, d, schema.ReasonTimeout, string(s.Next)+" did not start in time")
	}
}

// linkLossApplies reports whether the link loss ends the active or starting mode,
// according to the settings of that mode. Calibration at boot goes on while the body may
// not move: nobody has to watch it then, and the boot mode has settings of its own.
func (s *Supervisor) linkLossApplies(c *Config, f Facts) bool {
	if _, ok := Table.Next(s.Phase, OnLinkLost); !ok || !f.LinkLost || s.System == schema.SystemStopping {
		return false
	}
	m := s.Active
	if s.Phase == Starting {
		m = s.Next
	}
	if m == c.Safe || s.ByBoot && m == c.Calibration && !f.MotionEnabled {
		return false
	}
	settings := c.Settings(m)
	return settings.LinkLoss != schema.LinkLossContinue && f.LostFor >= settings.LostAfter
}

func (s *Supervisor) shutdown(now time.Duration, c *Config, d *Decision) {
	s.System, d.List = schema.SystemStopping, true
	s.endRequest(d, schema.Verdict{Status: schema.StatusCancelled, Result: schema.ResultNotReady, Reason: schema.ReasonStopped,
		Detail: "robotd ends"})
	switch s.Phase {
	case Starting:
		s.Active = s.Next
		s.transition(now, d, OnShutdown)
		s.stopActive(c, d, "")
	case Stopping:
		s.Next = ""
	default:
		if s.transition(now, d, OnShutdown) && s.Phase == Stopping {
			s.stopActive(c, d, "")
		}
	}
}
