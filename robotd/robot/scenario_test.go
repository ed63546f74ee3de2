package robot

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/robotd/driver/sim"
	"troupe/schema"
)

func TestScenarioIsReadInItsOrder(t *testing.T) {
	moments, _, err := parseScenario([]byte("- at_ms: 0\n  people: {count: 1}\n- {at_ms: 1500, battery: {level: 0.15}}\n- {at_ms: 1500, touch: {area: head, on: true}}\n"))
	want := []moment{
		{0, 1, "people", schema.SimPeople{Count: 1}},
		{1500 * time.Millisecond, 3, "battery", schema.SimBattery{Level: 0.15}},
		{1500 * time.Millisecond, 4, "touch", schema.SimTouch{Area: "head", On: true}},
	}
	if err != nil || len(moments) != len(want) {
		t.Fatalf("%+v, %v", moments, err)
	}
	for i := range want {
		if moments[i] != want[i] {
			t.Errorf("got %+v, want %+v", moments[i], want[i])
		}
	}
}

func TestWrongScenarioIsRefusedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":               {"- at_ms: 1\n  people: {count: 1\n", ":1: yaml: "},
		"no list":               {"at_ms: 1\n", ":1: want a list"},
		"nothing":               {"", ":1: want a list"},
		"two documents":         {"- {at_ms: 1, push: {on: true}}\n---\n- {at_ms: 2}\n", ":2: "},
		"no entry":              {"- {at_ms: 1, push: {on: true}}\n- battery\n", ":2: want an entry"},
		"no time":               {"- {at_ms: 1, push: {on: true}}\n- push: {on: false}\n", ":2: the entry has no at_ms"},
		"two times":             {"- at_ms: 1\n  at_ms: 2\n", ":2: at_ms is given twice"},
		"time is no number":     {"- at_ms: soon\n  push: {on: true}\n", `:1: at_ms: "soon" is not`},
		"time before":           {"- {at_ms: 9, push: {on: true}}\n- {at_ms: 8, push: {on: false}}\n", ":2: at_ms 8 is before that of line 1"},
		"no input":              {"- at_ms: 1\n", ":1: the entry has no input"},
		"two inputs":            {"- at_ms: 1\n  push: {on: true}\n  lift: {on: true}\n", ":3: lift: the entry has push already"},
		"unknown input":         {"- at_ms: 1\n  dance: {on: true}\n", `:2: dance: a simulated body has no "dance"`},
		"unknown field":         {"- at_ms: 1\n  battery:\n    level: 0.1\n    charge: 2\n", ":4: battery: /charge: unknown field"},
		"field twice":           {"- at_ms: 1\n  battery:\n    level: 0.1\n    level: 0.2\n", ":4: "},
		"missing field":         {"- at_ms: 1\n  touch: {area: head}\n", ":2: touch: /on: missing"},
		"value of another type": {"- at_ms: 1\n  battery:\n    level: low\n", ":3: battery: /level: "},
		"value out of range":    {"- at_ms: 1\n  battery:\n\n    level: 15\n", ":4: battery: /level: 15 is not within 0 and 1"},
		"unit that it lacks":    {"- at_ms: 1\n  repair: {unit: tail}\n", ":1: repair: /unit: there is no unit tail; the units are battery, drive"},
		"area that it lacks":    {"- at_ms: 1\n  touch: {area: haed, on: true}\n", ":1: touch: /area: there is no touch area haed; the touch areas are arm-left, "},
		"input that it lacks":   {"- at_ms: 1\n  stop-input: {name: bogus, pressed: true}\n", ":1: stop-input: /name: there is no stop input bogus; the stop inputs are back, bumper, front"},
		"mode that it lacks":    {"- at_ms: 1\n  mode-fails: {mode: dance}\n", ":1: mode-fails: /mode: there is no mode dance"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scenario.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := Config{SimScenario: path}
			_, _, err := newSimInputs(&cfg, sim.New(sim.Config{}), nil, slog.New(slog.DiscardHandler))
			if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
