package mode

import "troupe/schema"

// DocumentPhase returns the phase for the state document. When robotd ends, it is stopping,
// although no mode is in charge any more.
func (s *Supervisor) DocumentPhase() schema.ModePhase {
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

// List describes the modes, with the reasons why each cannot be selected now. leased says
// whether a request for a mode needs control of the robot. The safe mode cannot be requested.
func (s *Supervisor) List(c *Config, f Facts, r *Runner, leased bool) []schema.Mode {
	list := make([]schema.Mode, 0, len(c.Modes))
	active, _, _ := s.SafetyMode(c)
	for i, m := range c.Modes {
		if !s.has(i) {
			continue
		}
		d := schema.Mode{
			ID: m.ID, N: i, Name: r.Installed(m.ID).Name, Kind: "builtin",
			Status:     s.Status[i],
			NeedsLease: leased && m.ID != c.Safe,
			Enabled:    s.Status[i] != schema.ModeDisabled,
			Running:    active && s.Active == m.ID,
			Role:       c.Serves(m.ID),
			WhyNot:     []schema.WhyNot{}, LinkLoss: m.LinkLoss,
			Params: r.Params(m.ID),
		}
		if m.LinkLoss != schema.LinkLossContinue {
			d.LinkTimeoutMS = m.LostAfter.Milliseconds()
		}
		for _, w := range s.WhyNot(c, f, m.ID, nil) {
			d.WhyNot = append(d.WhyNot, schema.WhyNot{Reason: w.Reason, Detail: w.Detail})
		}
		d.Selectable = len(d.WhyNot) == 0
		list = append(list, d)
	}
	return list
}
