package mode

import (
	"fmt"
	"strings"
	"time"

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
