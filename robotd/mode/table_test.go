package mode

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTablesAreSound(t *testing.T) {
	fsmtest.Check(t, Table, Booting, Phases)
	fsmtest.Check(t, StatusTable, schema.ModeDisabled, Statuses)
}

func TestTablesMatchTheirDiagrams(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/supervisor.md", Table, Booting)
	fsmtest.CheckDiagram(t, "testdata/life.md", StatusTable, schema.ModeDisabled)
}

func TestConfigurationIsChecked(t *testing.T) {
	sound := Defaults()
	if faults := sound.Check(); len(faults) > 0 {
		t.Errorf("the defaults have faults: %q", faults)
	}
	for name, spoil := range map[string]func(*Config){
		"too many": func(c *Config) {
			for i := range MaxModes {
				c.Modes = append(c.Modes, Settings{ID: schema.ModeID(rune('a' + i))})
			}
		},
		"twice":       func(c *Config) { c.Modes = append(c.Modes, Settings{ID: schema.ModeAto}) },
		"nameless":    func(c *Config) { c.Modes = append(c.Modes, Settings{}) },
		"no boot":     func(c *Config) { c.Boot = "dance" },
		"safe moves":  func(c *Config) { c.Modes[3].Moves = true },
		"safe = boot": func(c *Config) { c.Boot = c.Safe },
	} {
		c := Defaults()
		spoil(&c)
		if faults := c.Check(); len(faults) != 1 {
			t.Errorf("%s: got %q", name, faults)
		}
	}
}
