package mode

import (
	"strings"

	"troupe/schema"
)

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
			add(schema.ResultNotReady, schema.ReasonLinkLost, "no heartbeat of fleetd or of a panel arrives; when one does, send mode/set again to leave "+string(c.Safe))
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
