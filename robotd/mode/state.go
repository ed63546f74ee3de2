// Package mode decides who is in charge of the robot.
//
// The supervisor starts and stops modes one after another: calibration at boot,
// then manual or automatic, and a mode called safe for when nobody can reach the
// robot or nothing else will run. It checks a request completely before it
// touches the mode that runs: a refused request changes nothing. A mode that
// fails to start or dies gives way to the default mode, that one to safe, and
// when even safe fails the safety core is asked to stop the body.
//
// The modes that there are take no parameters of their own: what of them can be
// set, such as what follows from a lost link, is configuration, which the fleet
// desired documents and the robot keeps. So none describes any, and no verb sets one.
//
// It runs no mode itself: it gives orders and is told how they ended. It never
// mirrors the safety core, knows no message and reads no clock; time is counted
// from boot. State is comparable.
package mode

import (
	"fmt"
	"time"

	"troupe/schema"
)

// MaxModes bounds the modes of one robot.
const MaxModes = 12

// Config is what the robot's configuration says of its modes. It does not
// change while the robot runs.
type Config struct {
	Modes       []Mode        // in registration order: their numbers are stable
	Calibration schema.ModeID // runs by itself at boot
	Default     schema.ModeID // whoever fails gives way to it
	Safe        schema.ModeID // entered without any check, never asked for
	Boot        schema.ModeID // what follows calibration at boot
	StopTime    time.Duration // an orderly end may take so long, then the mode is killed
	StartTime   time.Duration // a start may take so long, then it has failed
}

// Mode is one mode as configured.
type Mode struct {
	ID        schema.ModeID
	Moves     bool            // it wants the safety core ENABLED
	Off       bool            // switched off until somebody enables it
	LinkLoss  schema.LinkLoss // what follows when no operator is heard
	LostAfter time.Duration   // and after how long
}

// Defaults returns the four modes and their rules. A lost link ends what an
// operator steers by eye after 5 s; ato stops moving by itself first and has a
// minute, so that a broker may restart.
func Defaults() Config {
	return Config{
		Modes: []Mode{
			{ID: schema.ModeStr, Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second},
			{ID: schema.ModeMnl, Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second},
			{ID: schema.ModeAto, Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: time.Minute},
			{ID: schema.ModeSafe, LinkLoss: schema.LinkLossContinue},
		},
		Calibration: schema.ModeStr, Default: schema.ModeMnl, Safe: schema.ModeSafe, Boot: schema.ModeMnl,
		StopTime: 5 * time.Second, StartTime: 10 * time.Second,
	}
}

// Check returns one sentence for each fault of the configuration.
func (c *Config) Check() []string {
	var faults []string
	if len(c.Modes) > MaxModes {
		faults = append(faults, fmt.Sprintf("%d modes, at most %d are possible", len(c.Modes), MaxModes))
	}
	seen := map[schema.ModeID]bool{}
	for _, m := range c.Modes {
		if seen[m.ID] || m.ID == "" {
			faults = append(faults, fmt.Sprintf("mode %q has no name of its own", m.ID))
		}
		seen[m.ID] = true
	}
	for _, role := range []struct {
		name string
		mode schema.ModeID
	}{{"calibration", c.Calibration}, {"default", c.Default}, {"safe", c.Safe}, {"boot", c.Boot}} {
		if !seen[role.mode] {
			faults = append(faults, fmt.Sprintf("the %s mode %q is not among the modes", role.name, role.mode))
		}
	}
	if c.Safe == c.Default || c.Safe == c.Calibration || c.Safe == c.Boot || c.mode(c.Safe).Moves {
		faults = append(faults, "the safe mode has to be one of its own that does not move")
	}
	return faults
}

func (c *Config) index(m schema.ModeID) int {
	for i := range c.Modes {
		if c.Modes[i].ID == m {
			return i
		}
	}
	return -1
}

func (c *Config) mode(m schema.ModeID) Mode {
	if i := c.index(m); i >= 0 {
		return c.Modes[i]
	}
	return Mode{}
}

// State is what the supervisor remembers between steps.
type State struct {
	System     schema.SystemStatus
	Phase      Phase
	Since      time.Duration // when Phase was entered
	Active     schema.ModeID // in charge, or on its way out; empty while none is
	Next       schema.ModeID // where a switch leads to
	Left       schema.ModeID // while Next starts: the mode that ended in order for it
	Intended   schema.ModeID // the last one that was asked for and granted
	FellFrom   schema.ModeID // the mode that failed or was lost before the present one
	Reason     schema.Reason // why it fell, or why calibration failed
	Calibrated bool
	ByBoot     bool   // calibration runs by itself and hands over when it succeeds
	Req        string // the request that the present switch or calibration will answer
	Status     [MaxModes]schema.ModeStatus
}

// Boot returns the supervisor of a robot that has just started.
func Boot(c *Config) State {
	s := State{System: schema.SystemStarting, Phase: Booting, Intended: c.Boot}
	for i, m := range c.Modes {
		s.Status[i] = schema.ModeAvailable
		if m.Off {
			s.Status[i] = schema.ModeRegistered
		}
	}
	return s
}

// Paused reports whether the active mode is paused.
func (s *State) Paused(c *Config) bool {
	i := c.index(s.Active)
	return i >= 0 && s.Status[i] == schema.ModePaused
}

// Told is the phase in the words of the state document.
func (s *State) Told() schema.ModePhase {
	switch s.Phase {
	case Stopping:
		if s.System == schema.SystemStopping {
			return schema.PhaseStopping
		}
		return schema.PhaseSwitching
	case Booting, Starting:
		return schema.PhaseSwitching
	case Uncalibrated, None:
		return schema.PhaseFailed
	}
	return schema.PhaseRunning
}

// Charge answers what the safety core asks: whether a mode is in charge, whether
// it moves, and whether one that moves is just handing over to another that
// does. A mode that was killed, died or did not start hands nothing over; nor does
// calibration: who let the robot find its zero did not let it perform.
func (s *State) Charge(c *Config) (active, wants, switching bool) {
	switch s.Phase {
	case Booting, None:
		return false, false, false
	case Stopping:
		return false, false, s.handsOver(c, s.Active)
	case Starting:
		return false, false, s.handsOver(c, s.Left)
	}
	return true, c.mode(s.Active).Moves, false
}

func (s *State) handsOver(c *Config, left schema.ModeID) bool {
	return left != c.Calibration && c.mode(left).Moves && c.mode(s.Next).Moves
}
