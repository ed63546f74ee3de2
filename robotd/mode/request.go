package mode

import (
	"cmp"
	"strings"
	"time"

	"troupe/schema"
)

// set handles a request for a mode. It makes every check before it changes anything.
func (s *Supervisor) set(now time.Duration, c *Config, f Facts, in Input, d *Decision) {
	m := in.Mode
	known := s.has(c.index(m)) && m != c.Safe && m != ""
	if known && s.System == schema.SystemRunning && m == s.Active && !in.Restart {
		switch {
		case s.Phase == Ready && m != c.Calibration:
			d.Answer = unchanged(string(m) + " already is in charge")
			if s.Intended != m || s.FellFrom != "" { // it replaces no mode any more: somebody wants it
				d.Answer.Reason, d.List = "", true
				s.Intended, s.FellFrom, s.Reason = m, "", ""
			}
			return
		case s.Phase == Calibrating: // it goes on; its end answers the newer request, and m stays active also at boot
			s.supersede(d, m)
			s.ByBoot, s.Intended = false, m
			s.Req, d.Answer = in.Req, schema.Verdict{Status: schema.StatusAccepted}
			return
		}
	}
	if why := s.WhyNot(c, f, m, nil); len(why) > 0 {
		d.Answer = why[0]
		return
	}
	s.supersede(d, m)
	s.ByBoot = false
	s.Intended = m
	s.Req, d.Answer = in.Req, schema.Verdict{Status: schema.StatusAccepted}
	if m == c.Calibration && m == s.Active && !in.Restart && s.transition(now, d, OnRecalibrate) {
		s.Calibrated, d.List = false, true
		if s.changeStatus(c, d, m, StatusResume) {
			d.order(DoResume, m)
		}
		d.order(DoCalibrate, m)
		return
	}
	if m == s.Next && !in.Restart {
		return // already starting or next; its end answers the newer request
	}
	s.switchTo(now, c, d, m)
}

func (s *Supervisor) supersede(d *Decision, m schema.ModeID) {
	s.endRequest(d, schema.Verdict{Status: schema.StatusSuperseded, Reason: schema.ReasonSuperseded, Detail: "mode/set " + string(m) +
		" came later"})
}

// switchTo begins the switch to m from any phase.
func (s *Supervisor) switchTo(now time.Duration, c *Config, d *Decision, m schema.ModeID) {
	switch s.Phase {
	case None:
		s.transition(now, d, OnSwitchAtOnce)
		s.start(c, d, m, "")
	case Stopping: // the active mode is already ending; only its successor changes
		since := s.Since
		s.transition(now, d, OnSwitch)
		s.Next, s.Since = m, since
	case Starting: // the starting mode has to end first, although it never was in charge
		s.Active = s.Next
		s.transition(now, d, OnSwitch)
		s.stopActive(c, d, m)
	default:
		s.transition(now, d, OnSwitch)
		s.stopActive(c, d, m)
	}
}

// cancel cancels the request that is being carried out. A calibration ends without a
// result. A switch goes to the default mode, which does nothing by itself; it cannot
// go back, because the previous mode may have ended already.
func (s *Supervisor) cancel(now time.Duration, c *Config, f Facts, in Input, d *Decision) {
	ended := schema.Verdict{Status: schema.StatusCancelled, Result: schema.ResultNotReady, Reason: schema.ReasonCancelled}
	no := func(r schema.Reason, detail string) {
		d.Answer = schema.Verdict{Status: schema.StatusRejected, Reason: r, Detail: detail}
	}
	switch {
	case s.Req == "" || s.Req != in.Req:
		no(schema.ReasonInvalidTransition, "no switch of modes is under way for it")
		return
	case s.Phase == Calibrating:
		s.transition(now, d, OnCalibFailed)
		s.Reason, s.Detail, d.Reason, d.List = schema.ReasonCancelled, "", schema.ReasonCancelled, true
		d.order(DoEndCalibration, s.Active)
		ended.Detail = "calibration was cancelled; only calibration can follow"
	case s.Next == c.Default:
		no(schema.ReasonInvalidTransition, "a switch to "+string(c.Default)+" cannot be cancelled: cancelling a switch leads to "+
			string(c.Default))
		return
	default:
		if why := s.WhyNot(c, f, c.Default, nil); len(why) > 0 {
			no(why[0].Reason, string(c.Default)+" would have to follow: "+why[0].Detail)
			return
		}
		ended.Detail = "the switch was cancelled; " + string(c.Default) + " follows"
		s.Intended = c.Default
		s.switchTo(now, c, d, c.Default)
	}
	s.endRequest(d, ended)
	d.Answer = schema.Verdict{Status: schema.StatusSucceeded}
}

// pause handles the requests pause and resume for the active mode.
func (s *Supervisor) pause(c *Config, f Facts, in Input, d *Decision) {
	if s.Phase != Ready {
		d.Answer = rejected(schema.ResultInvCmd, schema.ReasonInvalidTransition, "no mode is running that could be paused")
		return
	}
	paused := s.Paused(c)
	switch {
	case in.Kind == Pause && paused, in.Kind == Resume && !paused:
		d.Answer = unchanged(string(s.Active) + " already is " + string(s.Status[c.index(s.Active)]))
	case in.Kind == Pause && f.NoPause.Reason != "":
		d.Answer = rejected(schema.ResultNotReady, f.NoPause.Reason, cmp.Or(f.NoPause.Detail, string(s.Active)+" cannot pause now"))
	case in.Kind == Pause:
		s.changeStatus(c, d, s.Active, StatusPause)
		d.order(DoPause, s.Active)
		d.Answer = succeeded()
	default:
		s.changeStatus(c, d, s.Active, StatusResume)
		d.order(DoResume, s.Active)
		d.Answer = succeeded()
	}
}

// kill ends the active or starting mode at once. The default mode follows; safe if the
// default mode cannot run; no mode if the safety core forbids starting one.
func (s *Supervisor) kill(now time.Duration, c *Config, f Facts, in Input, d *Decision) {
	victim := s.Active
	if s.Phase == Starting {
		victim = s.Next
	}
	if _, ok := Table.Next(s.Phase, OnKill); !ok || victim == c.Safe || s.System == schema.SystemStopping {
		d.Answer = rejected(schema.ResultInvCmd, schema.ReasonInvalidTransition, "no mode is running that could be killed")
		return
	}
	s.endRequest(d, schema.Verdict{Status: schema.StatusCancelled, Result: schema.ResultNotReady, Reason: schema.ReasonStopped,
		Detail: "the mode was killed"})
	s.killActiveAndNext(c, d)
	s.ByBoot, s.Req = false, in.Req
	if f.Forbid != "" {
		s.transition(now, d, OnKillNone)
		s.Active, s.Next, s.Reason, s.Req = "", "", f.Forbid, ""
		d.SafetyStop, d.Reason = true, f.Forbid
		d.Answer = succeeded()
		d.Answer.Detail = "no mode follows: " + f.forbidDetail()
		return
	}
	s.transition(now, d, OnKill)
	next := c.Default
	if i := c.index(next); !s.Calibrated || i < 0 || s.off(i) {
		next = c.Safe
	}
	s.Intended = next
	s.start(c, d, next, "")
	d.Answer = schema.Verdict{Status: schema.StatusAccepted}
}

// setEnabled enables or disables a mode. The default, calibration and safe modes cannot
// be disabled, nor can a mode that is active or next.
func (s *Supervisor) setEnabled(c *Config, in Input, d *Decision) {
	i := c.index(in.Mode)
	switch {
	case !s.has(i):
		d.Answer = rejected(schema.ResultNoMode, schema.ReasonUnknownMode, "there is no mode "+string(in.Mode)+"; the modes are "+s.modeNames(c))
	case in.Kind == Enable && s.Status[i] != schema.ModeDisabled:
		d.Answer = unchanged(string(in.Mode) + " already is enabled")
	case in.Kind == Disable && s.Status[i] == schema.ModeDisabled:
		d.Answer = unchanged(string(in.Mode) + " already is disabled")
	case in.Kind == Disable && c.Serves(in.Mode) != "":
		d.Answer = rejected(schema.ResultInvCmd, schema.ReasonInvalidTransition, string(in.Mode)+" cannot be disabled: it is the robot's "+
			c.Serves(in.Mode)+" mode")
	case in.Kind == Disable && in.Mode == s.Next:
		d.Answer = rejected(schema.ResultInvCmd, schema.ReasonInvalidTransition, "a switch to "+string(in.Mode)+" is under way")
	default:
		on := StatusEnable
		if in.Kind == Disable {
			on = StatusDisable
		}
		if !s.changeStatus(c, d, in.Mode, on) {
			d.Answer = rejected(schema.ResultInvCmd, schema.ReasonInvalidTransition, string(in.Mode)+" is in charge; switch to another mode first")
			return
		}
		d.Answer = succeeded()
	}
}

// setLoaded loads or unloads a mode that is compiled in. The default, calibration and
// safe modes cannot be unloaded, nor can a mode that is active or next.
func (s *Supervisor) setLoaded(c *Config, in Input, d *Decision) {
	i, m := c.index(in.Mode), string(in.Mode)
	refuse := func(detail string) {
		d.Answer = rejected(schema.ResultNoOperation, schema.ReasonInvalidTransition, detail)
	}
	switch {
	case i < 0:
		d.Answer = rejected(schema.ResultUnknownCmd, schema.ReasonUnknownMode, "this robotd has no mode "+m+"; it has "+c.names())
	case in.Kind == Load && s.has(i):
		d.Answer = unchanged(m + " already is loaded")
		d.Answer.Result = schema.ResultNoOperation
	case in.Kind == Load:
		s.changeStatus(c, d, in.Mode, StatusLoad)
		d.Answer = succeeded()
		d.Answer.Result = schema.ResultLoaded
	case !s.has(i):
		d.Answer = unchanged(m + " already is unloaded")
		d.Answer.Result = schema.ResultUnloaded
	case c.Serves(in.Mode) != "":
		refuse(m + " cannot be unloaded: it is the robot's " + c.Serves(in.Mode) + " mode")
	case in.Mode == s.Next:
		refuse("a switch to " + m + " is under way")
	case !s.changeStatus(c, d, in.Mode, StatusUnload):
		refuse(m + " is in charge; switch to another mode first")
	default:
		d.Answer = succeeded()
		d.Answer.Result = schema.ResultUnloaded
	}
}

// WhyNot appends to out every reason why m cannot be selected now, each as a refusal. The first is the
// one with which a request is refused. Without a reason, m can be selected.
func (s *Supervisor) WhyNot(c *Config, f Facts, m schema.ModeID, out []schema.Verdict) []schema.Verdict {
	add := func(res schema.Result, r schema.Reason, detail string) { out = append(out, rejected(res, r, detail)) }
	i := c.index(m)
	switch {
	case m == "":
		add(schema.ResultInvCmd, schema.ReasonBadRequest, "name a mode: "+s.modeNames(c))
		return out
	case m == c.Safe:
		add(schema.ResultInvCmd, schema.ReasonInvalidTransition, string(m)+" is entered by the robot alone; ask for "+string(c.Default))
		return out
	case !s.has(i):
		add(schema.ResultNoMode, schema.ReasonUnknownMode, "there is no mode "+string(m)+"; the modes are "+s.modeNames(c))
		return out
	}
	if s.Status[i] == schema.ModeDisabled {
		add(schema.ResultNoMode, schema.ReasonModeDisabled, string(m)+" is disabled")
	}
	if !s.Calibrated && m != c.Calibration {
		detail := "calibration has not succeeded; mode/set " + string(c.Calibration) + " runs it"
		if s.Phase == Calibrating || s.Phase == Starting && s.Next == c.Calibration {
			detail = "calibration is still running"
		} else if s.Phase == Uncalibrated && s.Detail != "" {
			detail = "calibration failed: " + s.Detail + "; mode/set " + string(c.Calibration) + " runs it again"
		}
		add(schema.ResultNoCalib, schema.ReasonNotCalibrated, detail)
	}
	if s.Phase == Booting || s.System == schema.SystemStopping {
		add(schema.ResultNotReady, schema.ReasonBusy, "robotd is "+string(s.System))
	}
	if f.Forbid != "" {
		add(schema.ResultNotReady, f.Forbid, "the safety core lets no mode start: "+f.forbidDetail())
	}
	if policy := c.Modes[i]; f.LinkLost {
		switch {
		case s.Phase == Safe || s.Next == c.Safe && s.Phase == Starting:
			add(schema.ResultNotReady, schema.ReasonLinkLost,
				"no heartbeat of fleetd or of a panel arrives; when one does, send mode/set again to leave "+string(c.Safe))
		case policy.LinkLoss != schema.LinkLossContinue && f.LostFor >= policy.LostAfter:
			add(schema.ResultNotReady, schema.ReasonLinkLost, string(m)+" would be left at once: no heartbeat of fleetd or of a panel arrives")
		}
	}
	for _, n := range f.NotReady {
		if n.Mode == m {
			add(schema.ResultNotReady, n.Reason, n.Detail)
		}
	}
	return out
}

// modeNames lists the modes that a request may name.
func (s *Supervisor) modeNames(c *Config) string {
	var names []string
	for i, m := range c.Modes {
		if m.ID != c.Safe && s.has(i) {
			names = append(names, string(m.ID))
		}
	}
	return strings.Join(names, ", ")
}

func rejected(res schema.Result, r schema.Reason, detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusRejected, Result: res, Reason: r, Detail: detail}
}

func succeeded() schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultSuccess}
}

func unchanged(detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultSuccess, Reason: schema.ReasonUnchanged, Detail: detail}
}
