package control

import (
	"testing"
	"time"

	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) { fsmtest.Check(t, Table, Free, Stages) }

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/control.md", Table, Free)
}

func TestInvalidConfigurationsAreReported(t *testing.T) {
	sound := Defaults()
	if faults := sound.Check(); len(faults) > 0 {
		t.Errorf("the defaults have errors: %q", faults)
	}
	for name, spoil := range map[string]func(*Config){
		"required": func(c *Config) { c.Required = "some" },
		"no time":  func(c *Config) { c.Default = 0 },
		"too long": func(c *Config) { c.Default = 2 * time.Minute },
	} {
		c := Defaults()
		spoil(&c)
		if faults := c.Check(); len(faults) != 1 {
			t.Errorf("%s: got %q", name, faults)
		}
	}
}

func TestRankNamesRoundTrip(t *testing.T) {
	for r := Automation; r <= Local; r++ {
		if got, ok := RankOf(r.String()); !ok || got != r {
			t.Errorf("%s is parsed as %s, %v", r, got, ok)
		}
	}
	if _, ok := RankOf("captain"); ok {
		t.Error("captain was accepted as a rank")
	}
	if Unset.orOperator() != Operator {
		t.Error("an unset rank does not count as operator")
	}
}
