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
	"fmt"
	"strings"
	"time"

	"troupe/robotd/command"
	"troupe/schema"
)

// MaxModes is the highest number of modes of one robot.
const MaxModes = 12

// Config is the part of the robot's configuration that concerns modes. While the
// robot runs only LinkLoss and LostAfter change, with the fleet's configuration.
type Config struct {
	Modes       []Settings    // in registration order, so that their indexes are stable
	Calibration schema.ModeID // runs by itself at boot
	Default     schema.ModeID // replaces a mode that fails
	Safe        schema.ModeID // entered without any check; cannot be requested
	Boot        schema.ModeID // follows calibration at boot
	StopTime    time.Duration // limit of an orderly end; then the mode is killed
	StartTime   time.Duration // limit of a start; then the start has failed
}

// Settings are what the configuration says of one mode.
type Settings struct {
	ID          schema.ModeID
	Moves       bool            // it wants the safety core ENABLED
	Disabled    bool            // until a request enables it
	Calibrates  bool            // it carries out CalibrationOrdered
	Conditional bool            // it has an entry check of its own: Installed.Ready
	LinkLoss    schema.LinkLoss // the reaction when no heartbeat of fleetd or of a panel arrives
	LostAfter   time.Duration   // the silence after which LinkLoss applies, counted from the last heartbeat
}

// Defaults returns the settings of the four modes that every robot has. After 5 s, link loss ends the modes
// in which an operator steers by sight. ato stops moving by itself first and gets a
// minute, so that the broker may restart.
func Defaults() Config {
	return Config{
		Modes: []Settings{
			{ID: schema.ModeStr, Moves: true, Calibrates: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second},
			{ID: schema.ModeMnl, Moves: true, LinkLoss: schema.LinkLossSafe, LostAfter: 5 * time.Second},
			{ID: schema.ModeAto, Moves: true, Conditional: true, LinkLoss: schema.LinkLossSafe, LostAfter: time.Minute},
			{ID: schema.ModeSafe, LinkLoss: schema.LinkLossContinue},
		},
		Calibration: schema.ModeStr, Default: schema.ModeMnl, Safe: schema.ModeSafe, Boot: schema.ModeMnl,
		StopTime: 5 * time.Second, StartTime: 10 * time.Second,
	}
}

// DefaultSettings returns the settings that Defaults has of a mode.
func DefaultSettings(m schema.ModeID) Settings {
	c := Defaults()
	return c.Settings(m)
}

// Check returns one sentence for each error in the configuration.
func (c *Config) Check() []string {
	var faults []string
	if len(c.Modes) > MaxModes {
		faults = append(faults, fmt.Sprintf("%d modes, at most %d are possible", len(c.Modes), MaxModes))
	}
	seen := map[schema.ModeID]bool{}
	for _, m := range c.Modes {
		switch {
		case m.ID == "":
			faults = append(faults, "a mode has no name")
		case seen[m.ID]:
			faults = append(faults, fmt.Sprintf("mode %q is listed twice", m.ID))
		}
		seen[m.ID] = true
	}
	for _, role := range c.roles() {
		settings := c.Settings(role.mode)
		switch {
		case settings.ID == "":
			faults = append(faults, fmt.Sprintf("the %s mode %q is not among the modes", role.name, role.mode))
		case !role.serves(settings):
			faults = append(faults, fmt.Sprintf("the %s mode cannot be %s: %s; want %s", role.name, role.mode, role.needs, c.candidates(role)))
		}
	}
	if c.Safe == c.Default || c.Safe == c.Calibration || c.Safe == c.Boot {
		faults = append(faults, "the safe mode has to be one of its own that does not move")
	}
	return faults
}

// role is what the configuration needs one mode for, such as calibration.
type role struct {
	name   string
	mode   schema.ModeID
	serves func(Settings) bool
	needs  string // what serves checks, for people
}

// roles lists the roles with the modes that have them.
func (c *Config) roles() []role {
	return []role{
		{"calibration", c.Calibration, func(m Settings) bool { return m.Calibrates && !m.Disabled }, "it has to be one that calibrates"},
		{"safe", c.Safe, func(m Settings) bool { return !m.Moves && !m.Conditional && !m.Disabled }, "it must not move nor depend on anything"},
		{"default", c.Default, func(m Settings) bool { return !m.Calibrates && !m.Conditional && !m.Disabled && m.ID != c.Safe },
			"other modes fall back on it, so it must not depend on anything, nor be the safe mode"},
		{"boot", c.Boot, func(Settings) bool { return true }, ""},
	}
}

// candidates lists the modes that could have a role.
func (c *Config) candidates(r role) string {
	var can []string
	for _, m := range c.Modes {
		if r.serves(m) {
			can = append(can, string(m.ID))
		}
	}
	return strings.Join(can, " or ")
}

// Serves reports whether m is the calibration, the default or the safe mode, and as which.
// Such a mode is always available.
func (c *Config) Serves(m schema.ModeID) (as string) {
	for _, r := range c.roles() {
		if r.mode == m && r.name != "boot" {
			return r.name
		}
	}
	return ""
}

// Selectable lists the modes that people may ask for.
func (c *Config) Selectable() []schema.ModeID {
	ids := make([]schema.ModeID, 0, len(c.Modes))
	for _, m := range c.Modes {
		if m.ID != c.Safe {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// names lists all modes, those that are unloaded included.
func (c *Config) names() string {
	names := make([]string, len(c.Modes))
	for i, m := range c.Modes {
		names[i] = string(m.ID)
	}
	return strings.Join(names, ", ")
}

func (c *Config) index(m schema.ModeID) int {
	for i := range c.Modes {
		if c.Modes[i].ID == m {
			return i
		}
	}
	return -1
}

// Settings returns the settings of a mode, which are empty if there is no such mode.
func (c *Config) Settings(m schema.ModeID) Settings {
	if i := c.index(m); i >= 0 {
		return c.Modes[i]
	}
	return Settings{}
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
