package mode

import (
	"strings"
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
	fsmtest.CheckDiagram(t, "testdata/status.md", StatusTable, schema.ModeDisabled)
}

func TestConfigurationIsChecked(t *testing.T) {
	sound := Defaults()
	if faults := sound.Check(); len(faults) > 0 {
		t.Errorf("the defaults have faults: %q", faults)
	}
	for name, row := range map[string]struct {
		spoil func(*Config)
		want  string
	}{
		"too many": {func(c *Config) {
			for i := range MaxModes {
				c.Modes = append(c.Modes, Settings{ID: schema.ModeID(rune('a' + i))})
			}
		}, "at most 12"},
		"twice":       {func(c *Config) { c.Modes = append(c.Modes, Settings{ID: schema.ModeAto}) }, `"ato" is listed twice`},
		"nameless":    {func(c *Config) { c.Modes = append(c.Modes, Settings{}) }, "no name"},
		"no boot":     {func(c *Config) { c.Boot = "dance" }, `"dance" is not among the modes`},
		"safe moves":  {func(c *Config) { c.Modes[3].Moves = true }, "must not move"},
		"safe = boot": {func(c *Config) { c.Boot = c.Safe }, "one of its own"},
	} {
		c := Defaults()
		row.spoil(&c)
		if faults := c.Check(); len(faults) != 1 || !strings.Contains(faults[0], row.want) {
			t.Errorf("%s: got %q, want %q", name, faults, row.want)
		}
	}
}
