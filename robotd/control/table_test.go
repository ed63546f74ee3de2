package control

import (
	"testing"
	"time"

	"troupe/schema/fsm/fsmtest"
)

func TestTheTableIsSound(t *testing.T) { fsmtest.Check(t, Table, Free, Stages) }

func TestTheTableIsDrawn(t *testing.T) { fsmtest.Drawn(t, "testdata/control.md", Table, Free) }

func TestAConfigurationIsChecked(t *testing.T) {
	sound := Defaults()
	if faults := sound.Check(); len(faults) > 0 {
		t.Errorf("the defaults have faults: %q", faults)
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

func TestARankIsSpelledAsItIsRead(t *testing.T) {
	for r := Automation; r <= Local; r++ {
		if got, ok := RankOf(r.String()); !ok || got != r {
			t.Errorf("%s is read as %s, %v", r, got, ok)
		}
	}
	if _, ok := RankOf("captain"); ok {
		t.Error("captain is a rank")
	}
	if Unsaid.orOperator() != Operator {
		t.Error("who has no rank is no operator")
	}
}
