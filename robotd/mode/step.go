package mode

import (
	"time"

	"troupe/schema"
)

// Step takes one input. It changes the phase at most once.
func Step(s *State, now time.Duration, c *Config, f Facts, in Input) Decision {
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
		s.switchOn(c, in, &d)
	case Begin:
		if s.take(now, &d, OnBoot) {
			s.System, s.ByBoot = schema.SystemRunning, true
			s.start(c, &d, c.Calibration, "")
		}
	case Shutdown:
		s.shutdown(now, c, &d)
	case Tick:
		s.tick(now, c, f, &d)
	default:
		s.told(now, c, f, in, &d)
	}
	return d
}

// take follows the table; what it does not list does not happen.
func (s *State) take(now time.Duration, d *Decision, on Event) bool {
	row, ok := Table.Next(s.Phase, on)
	if !ok {
		return false
	}
	d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
	s.Phase, s.Since = row.To, now
	return true
}

// live moves the life of m on.
func (s *State) live(c *Config, d *Decision, m schema.ModeID, turn Turn) bool {
	i := c.index(m)
	if i < 0 {
		return false
	}
	row, ok := Life.Next(s.Status[i], turn)
	if ok {
		s.Status[i], d.List = row.To, true
	}
	return ok
}

// start orders m to start; until it says so, nobody is in charge. left is the
// mode that handed over in order, if one did.
func (s *State) start(c *Config, d *Decision, m, left schema.ModeID) {
	s.Active, s.Next, s.Left = "", m, left
	s.live(c, d, m, TurnStart)
	d.order(DoStart, m)
}

// fall starts what follows a mode that failed: the default mode, or safe when
// the default is what failed or may not run.
func (s *State) fall(now time.Duration, c *Config, d *Decision, from schema.ModeID, why schema.Reason) {
	s.FellFrom, s.Reason = from, why
	d.Fallback, d.Reason = from, why
	next := c.Default
	if i := c.index(next); from == next || !s.Calibrated || i < 0 || s.Status[i] == schema.ModeRegistered {
		next = c.Safe
	}
	s.start(c, d, next, "")
}

// abandon ends the switch or the mode that is under way, at once.
func (s *State) abandon(c *Config, d *Decision) {
	for _, m := range []schema.ModeID{s.Active, s.Next} {
		if m != "" && s.live(c, d, m, TurnKill) {
			d.order(DoKill, m)
		}
	}
}

// end answers the request that the present switch belongs to.
func (s *State) end(d *Decision, e Ended) {
	if e.Req = s.Req; e.Req != "" {
		d.Ended = e
	}
	s.Req = ""
}

// told takes what a mode says of itself. A mode that is not the one waited for
// is late: it was killed or replaced meanwhile.
func (s *State) told(now time.Duration, c *Config, f Facts, in Input, d *Decision) {
	switch in.Kind {
	case Started:
		if s.Phase == Starting && in.Mode == s.Next {
			s.started(now, c, d)
		}
	case StartFailed:
		if s.Phase == Starting && in.Mode == s.Next {
			s.startFailed(now, c, d, in.Reason, in.Detail)
		}
	case Stopped:
		if s.Phase == Stopping && in.Mode == s.Active {
			s.live(c, d, in.Mode, TurnStopped)
			s.stopped(now, c, d, OnStopped, in.Mode)
		}
	case Died:
		s.died(now, c, d, in)
	case CalibOK:
		if s.Phase == Calibrating && in.Mode == s.Active {
			s.calibrated(now, c, f, d)
		}
	case CalibFailed:
		if s.Phase == Calibrating && in.Mode == s.Active && s.take(now, d, OnCalibFailed) {
			s.Reason, d.Reason, d.List = in.Reason, in.Reason, true
			s.end(d, Ended{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: in.Reason, Detail: in.Detail})
		}
	}
}

func (s *State) started(now time.Duration, c *Config, d *Decision) {
	on := OnStarted
	switch s.Next {
	case c.Calibration:
		on = OnCalibrating
	case c.Safe:
		on = OnSafe
	}
	m := s.Next
	s.take(now, d, on)
	s.live(c, d, m, TurnStarted)
	s.Active, s.Next, s.Left = m, "", ""
	switch on {
	case OnCalibrating: // who asked for it is told how it ends
		s.Calibrated = false
		d.order(DoCalibrate, m)
		return
	case OnStarted:
		if m == s.Intended {
			s.FellFrom, s.Reason = "", ""
		}
	}
	s.end(d, Ended{Status: schema.StatusSucceeded, Result: schema.ResultSuccess})
}

func (s *State) startFailed(now time.Duration, c *Config, d *Decision, why schema.Reason, detail string) {
	m := s.Next
	if why == "" {
		why = schema.ReasonStartFailed
	}
	s.live(c, d, m, TurnFailed)
	s.end(d, Ended{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: why, Detail: detail})
	if m == c.Safe {
		s.nobody(now, d, m, why)
		return
	}
	s.take(now, d, OnStartFailed)
	s.fall(now, c, d, m, why)
}

// nobody is the end of every fallback: the body is stopped.
func (s *State) nobody(now time.Duration, d *Decision, m schema.ModeID, why schema.Reason) {
	s.take(now, d, OnSafeFailed)
	s.Active, s.Next, s.Left, s.FellFrom, s.Reason = "", "", "", m, why
	d.Fallback, d.Reason, d.SafetyStop = m, why, true
}

func (s *State) stopped(now time.Duration, c *Config, d *Decision, on Event, left schema.ModeID) {
	if s.System == schema.SystemStopping {
		s.take(now, d, OnEnd)
		s.Active, s.Next = "", ""
		return
	}
	s.take(now, d, on)
	s.start(c, d, s.Next, left)
}

func (s *State) died(now time.Duration, c *Config, d *Decision, in Input) {
	why := in.Reason
	if why == "" {
		why = schema.ReasonModeFailed
	}
	switch {
	case s.Phase == Starting && in.Mode == s.Next:
		s.startFailed(now, c, d, why, in.Detail)
	case in.Mode == "" || in.Mode != s.Active:
	case s.Phase == Stopping:
		s.live(c, d, in.Mode, TurnDied)
		s.stopped(now, c, d, OnStopped, "")
	case s.Phase == Safe:
		s.live(c, d, in.Mode, TurnDied)
		s.nobody(now, d, in.Mode, why)
	case s.take(now, d, OnDied):
		s.end(d, Ended{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: why, Detail: in.Detail})
		s.live(c, d, in.Mode, TurnDied)
		s.fall(now, c, d, in.Mode, why)
	}
}

// calibrated ends a calibration well. At boot it hands over to the boot mode, or
// to the default when that one cannot run yet.
func (s *State) calibrated(now time.Duration, c *Config, f Facts, d *Decision) {
	s.Calibrated, s.Reason, d.List = true, "", true
	s.end(d, Ended{Status: schema.StatusSucceeded, Result: schema.ResultSuccess})
	if !s.ByBoot {
		s.take(now, d, OnCalibrated)
		return
	}
	s.ByBoot = false
	next := c.Boot
	if why := s.WhyNot(c, f, next, nil); len(why) > 0 && next != c.Default {
		d.Fallback, d.Reason = next, why[0].Reason
		s.FellFrom, s.Reason = next, why[0].Reason
		next = c.Default
	}
	s.take(now, d, OnHandOver)
	s.leave(c, d, next)
}

// leave orders the active mode to end and notes what follows.
func (s *State) leave(c *Config, d *Decision, next schema.ModeID) {
	s.Next = next
	if s.live(c, d, s.Active, TurnStop) {
		d.order(DoStop, s.Active)
	}
}

// tick looks at what time alone changes.
func (s *State) tick(now time.Duration, c *Config, f Facts, d *Decision) {
	switch {
	case s.linkEnds(c, f):
		m := s.Active
		if s.Phase == Starting {
			m = s.Next
		}
		s.end(d, Ended{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: schema.ReasonLinkLost, Detail: "no operator's heartbeat arrives"})
		s.abandon(c, d)
		s.take(now, d, OnLinkLost)
		s.ByBoot = false
		s.FellFrom, s.Reason = m, schema.ReasonLinkLost
		d.Fallback, d.Reason = m, schema.ReasonLinkLost
		s.start(c, d, c.Safe, "")
	case s.Phase == Stopping && now-s.Since >= c.StopTime:
		if s.live(c, d, s.Active, TurnKill) {
			d.order(DoKill, s.Active)
		}
		s.stopped(now, c, d, OnStopTimeout, "")
	case s.Phase == Starting && now-s.Since >= c.StartTime:
		d.order(DoKill, s.Next)
		s.startFailed(now, c, d, schema.ReasonTimeout, string(s.Next)+" did not start in time")
	}
}

// linkEnds reports whether the lost link ends what runs, by the rule of the mode
// that is or will be in charge. Calibration at boot goes on as long as the body
// may not move: nobody's eyes are missing, and the boot mode has a rule of its
// own.
func (s *State) linkEnds(c *Config, f Facts) bool {
	if _, ok := Table.Next(s.Phase, OnLinkLost); !ok || !f.LinkLost || s.System == schema.SystemStopping {
		return false
	}
	m := s.Active
	if s.Phase == Starting {
		m = s.Next
	}
	if m == c.Safe || s.ByBoot && m == c.Calibration && !f.Enabled {
		return false
	}
	rule := c.mode(m)
	return rule.LinkLoss != schema.LinkLossContinue && f.LostFor >= rule.LostAfter
}

func (s *State) shutdown(now time.Duration, c *Config, d *Decision) {
	s.System, d.List = schema.SystemStopping, true
	s.end(d, Ended{Status: schema.StatusCancelled, Result: schema.ResultNotReady, Reason: schema.ReasonStopped, Detail: "robotd ends"})
	switch s.Phase {
	case Starting:
		s.Active = s.Next
		s.take(now, d, OnShutdown)
		s.leave(c, d, "")
	case Stopping:
		s.Next = ""
	default:
		if s.take(now, d, OnShutdown) && s.Phase == Stopping {
			s.leave(c, d, "")
		}
	}
}
