package robot

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"troupe/robotd/driver/sim"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/bubble"
)

func TestScenarioIsReadInItsOrder(t *testing.T) {
	moments, _, err := parseScenario([]byte("- at_ms: 0\n  people: {count: 1}\n- {at_ms: 1500, battery: {level: 0.15}}\n" +
		"- {at_ms: 1500, touch: {area: head, on: true}}\n"))
	want := []moment{
		{line: 1, name: "people", in: schema.SimPeople{Count: 1}},
		{line: 3, clock: 1500 * time.Millisecond, at: 1500 * time.Millisecond, name: "battery", in: schema.SimBattery{Level: 0.15}},
		{line: 4, clock: 1500 * time.Millisecond, at: 1500 * time.Millisecond, last: true, name: "touch", in: schema.SimTouch{Area: "head",
			On: true}},
	}
	if err != nil || len(moments) != len(want) {
		t.Fatalf("%+v, %v", moments, err)
	}
	for i := range want {
		if !reflect.DeepEqual(moments[i], want[i]) {
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
		"value out of range":    {"- at_ms: 1\n  battery:\n\n    level: 15\n", ":4: battery: /level: 15 is not between 0 and 1"},
		"unit that it lacks": {"- at_ms: 1\n  repair: {unit: tail}\n",
			":1: repair: /unit: there is no unit tail; the units are battery, drive"},
		"area that it lacks": {"- at_ms: 1\n  touch: {area: haed, on: true}\n",
			":1: touch: /area: there is no touch area haed; the touch areas are arm-left, "},
		"input that it lacks": {"- at_ms: 1\n  stop-input: {name: bogus, pressed: true}\n",
			":1: stop-input: /name: there is no stop input bogus; the stop inputs are back, bumper, front"},
		"no time of day": {"- {at: 9 o'clock, push: {on: true}}\n", `:1: at: "9 o'clock" is not a time of day`},
		"two clocks": {"- {at: 09:00, push: {on: true}}\n- {at_ms: 5, push: {on: false}}\n",
			":2: the entry has at_ms and line 1 has at: use one of them"},
		"time of day before": {"- {at: 09:00, push: {on: true}}\n- {at: \"08:59:59\", push: {on: false}}\n",
			":2: at 08:59:59 is before that of line 1"},
		"note of two lines":  {"- at: 09:00\n  note: \"a\\nb\"\n", ":2: note: want one line"},
		"no robot":           {"- {at: 09:00, note: closed, robot: []}\n", ":1: robot: the list is empty"},
		"robot's id":         {"- {at: 09:00, note: closed, robot: R 1}\n", `:1: robot: "R 1" is not the id`},
		"unknown verb":       {"- {at: 09:00, command: {verb: safety/dance}}\n", `:1: command: verb: there is no verb "safety/dance"`},
		"argument of a verb": {"- {at: 09:00, command: {verb: mode/set, args: {mod: ato}}}\n", ":1: command: mode/set: /args/mod: "},
		"field of a command": {"- {at: 09:00, command: {verb: mode/set, arg: {mode: ato}}}\n", ":1: command: arg: unknown field"},
		"input and command":  {"- {at: 09:00, push: {on: true}, command: {verb: safety/stop}}\n", ":1: the entry has push and a command"},
		"mode that it lacks": {"- at_ms: 1\n  mode-fails: {mode: dance}\n", ":1: mode-fails: /mode: there is no mode dance"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scenario.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg := Config{Scenario: Scenario{File: path}}
			_, _, err := newSimInputs(&cfg, sim.New(sim.Config{}), nil, slog.New(slog.DiscardHandler))
			if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

const morning = `
- {at: 09:55, note: the doors open}
- {at: 10:00, people: {count: 2}, note: two visitors}
- {at: "10:00:20", robot: [r2, r3], push: {on: true}}
- {at: 10:05, command: {verb: mode/set, args: {mode: mnl}}}
`

func TestScenarioIsPlayedByItsOwnClockOnTheRobotsThatItNames(t *testing.T) {
	for robot, want := range map[string]string{
		"r1": "0s 09:55:00 the doors open;15s 10:00:00 two visitors;30s 10:05:00 mode/set {\"mode\":\"mnl\"};",
		"r2": "0s 09:55:00 the doors open;15s 10:00:00 two visitors;16s 10:00:20;30s 10:05:00 mode/set {\"mode\":\"mnl\"};",
	} {
		bubble.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scenario.yaml")
			if err := os.WriteFile(path, []byte(morning), 0o600); err != nil {
				t.Fatal(err)
			}
			begin := make(chan struct{})
			var began time.Time
			played := ""
			cfg := Config{ID: robot, Sim: sim.Config{Speed: 20}, Scenario: Scenario{File: path, Begin: begin,
				Played: func(_ context.Context, e Entry) {
					played += strings.TrimSpace(strings.Join([]string{time.Since(began).String(), e.At, e.Note, e.Verb, string(e.Args)}, " ")) + ";"
					played = strings.ReplaceAll(played, "  ", " ")
				}}}
			s, moments, err := newSimInputs(&cfg, sim.New(sim.Config{}), nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			var inputs, entries int
			s.report = func(ev event.SimInput) {
				if ev.Scenario.Speed != 20 {
					t.Errorf("%+v", ev.Scenario)
				}
				if entries++; ev.Name != "" {
					inputs++
				}
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.playScenario(t.Context(), cfg.Scenario, cfg.Sim.Speed, moments)
			}()
			time.Sleep(time.Minute)
			if played != "" {
				t.Error("it began too early: " + played)
			}
			began = time.Now()
			close(begin)
			<-done
			played = strings.ReplaceAll(played, "  ", " ")
			if played != want || entries != strings.Count(want, ";") || inputs != entries-2 {
				t.Errorf("%s: %s, %d inputs of %d entries; want %s", robot, played, inputs, entries, want)
			}
		})
	}
}

func TestSpeedOfTheSimulatedBodyIsBounded(t *testing.T) {
	for speed, ok := range map[float64]bool{0: true, 1: true, 20: true, 100: true, 0.5: false, 101: false, -1: false, math.NaN(): false} {
		cfg := Config{Sim: sim.Config{Speed: speed}}
		if _, _, err := newSimInputs(&cfg, sim.New(sim.Config{}), nil, slog.New(slog.DiscardHandler)); (err == nil) != ok {
			t.Errorf("speed %g: %v", speed, err)
		}
	}
}
