package robot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// Scenario is played into the simulated body.
type Scenario struct {
	Live  bool            // administrators may also play faults and signals into the body over MQTT
	File  string          // YAML; empty = none
	Begin <-chan struct{} // it begins when this is closed; nil = when robotd starts
	// Played is called with each entry when its time has come; it may be nil. Who runs the
	// robot sends the commands of the scenario: robotd sends none.
	Played func(ctx context.Context, e Entry)
}

// Entry is one entry of a scenario.
type Entry struct {
	At      string // by the clock of the scenario
	Note    string // what happens, for people; may be empty
	Verb    string // of the command that a person sends; empty = none
	Args    jsontext.Value
	ForSome bool // the entry names the robots that play it
	Last    bool // no later entry follows, on any robot
}

// ScenarioSpan reads a scenario and returns the times of its first and its last entry by its
// clock, and how long it lasts by that clock.
func ScenarioSpan(path string) (from, to string, lasts time.Duration, err error) {
	moments, err := readScenario(path)
	if err != nil || len(moments) == 0 {
		return "", "", 0, err
	}
	first, last := moments[0], moments[len(moments)-1]
	return first.when(), last.when(), last.at, nil
}

// maxSpeed bounds sim.speed: a tick of the body then simulates two seconds of the
// slow processes, which is little of their time constants.
const maxSpeed = 100

// moment is an entry as it is played.
type moment struct {
	line   int
	clock  time.Duration // at_ms, or the time of day
	ofDay  bool          // clock is a time of day
	at     time.Duration // since the beginning
	robots []string      // empty = all
	name   string
	in     schema.SimInput // nil = none
	note   string
	verb   string
	args   jsontext.Value
	last   bool
}

// concerns reports whether a robot plays the entry.
func (m moment) concerns(robot string) bool {
	return len(m.robots) == 0 || slices.Contains(m.robots, robot)
}

const (
	scenarioBytes = 1 << 20
	scenarioTime  = 24 * time.Hour // the latest time of an entry
)

// readScenario reads a scenario file: a YAML list of entries in the order of their times. Each
// has a time, at_ms since the beginning or at as a time of day, and the name of one input with
// its fields, a note, or a command. An error begins with FILE:LINE.
func readScenario(path string) ([]moment, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("read the scenario: %w", err)
	}
	moments, line, err := parseScenario(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return moments, nil
}

func parseScenario(text []byte) (moments []moment, line int, err error) {
	if len(text) > scenarioBytes {
		return nil, 1, fmt.Errorf("the scenario has %d bytes, at most %d are allowed", len(text), scenarioBytes)
	}
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, lineIn(err), err
	}
	if err := decoder.Decode(&another); !errors.Is(err, io.EOF) {
		return nil, max(another.Line, 1), errors.New("want one document, and here is another")
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.SequenceNode {
		return nil, 1, errors.New("want a list of entries such as - {at_ms: 5000, battery: {level: 0.15}}")
	}
	for _, entry := range document.Content[0].Content {
		m, line, err := parseMoment(entry)
		if err != nil {
			return nil, line, err
		}
		if n := len(moments); n > 0 {
			switch last := moments[n-1]; {
			case m.ofDay != last.ofDay:
				return nil, line, fmt.Errorf("the entry has %s and line %d has %s: use one of them", timeKey(m.ofDay), last.line, timeKey(last.ofDay))
			case m.clock < last.clock:
				return nil, line, fmt.Errorf("%s %s is before that of line %d: sort the entries by time", timeKey(m.ofDay), m.when(), last.line)
			}
		}
		moments = append(moments, m)
		if m.ofDay {
			moments[len(moments)-1].at = m.clock - moments[0].clock
		}
	}
	if n := len(moments); n > 0 {
		moments[n-1].last = true
	}
	return moments, 0, nil
}

func parseMoment(entry *yaml.Node) (m moment, line int, err error) {
	m.line, m.clock = entry.Line, -1
	if entry.Kind != yaml.MappingNode {
		return m, m.line, errors.New("want an entry such as {at_ms: 5000, battery: {level: 0.15}}")
	}
	for i := 0; i < len(entry.Content); i += 2 {
		key, value := entry.Content[i], entry.Content[i+1]
		line = max(value.Line, key.Line)
		switch key.Value {
		case "at_ms", "at":
			if m.clock >= 0 {
				return m, key.Line, fmt.Errorf("%s is given twice", key.Value)
			}
			if m.clock, m.ofDay, err = parseTime(key.Value, value.Value); err != nil {
				return m, line, err
			}
			m.at = m.clock
		case "note":
			if m.note = value.Value; m.note == "" || schema.SanitizeText(m.note) != m.note {
				return m, line, errors.New("note: want one line of text that is not too long")
			}
		case "robot":
			if m.robots, err = parseRobots(value); err != nil {
				return m, line, err
			}
		case "command":
			if m.verb, m.args, err = parseCommand(value); err != nil {
				return m, line, fmt.Errorf("command: %w", err)
			}
		default:
			if m.in != nil {
				return m, key.Line, fmt.Errorf("%s: the entry has %s already; write another entry with its own time", key.Value, m.name)
			}
			m.name = key.Value
			if m.in, line, err = parseInput(key, value); err != nil {
				return m, line, err
			}
		}
	}
	switch {
	case m.clock < 0:
		return m, m.line, errors.New("the entry has no at_ms, and no at")
	case m.in != nil && m.verb != "":
		return m, m.line, fmt.Errorf("the entry has %s and a command; write another entry with its own time", m.name)
	case m.in == nil && m.verb == "" && m.note == "":
		return m, m.line, errors.New("the entry has no input, such as battery: {level: 0.15}, no command and no note")
	}
	return m, m.line, nil
}

// parseTime parses milliseconds since the beginning, or a time of day.
func parseTime(key, value string) (d time.Duration, ofDay bool, err error) {
	if key == "at_ms" {
		ms, err := strconv.ParseInt(value, 10, 64)
		if err != nil || ms < 0 || ms > scenarioTime.Milliseconds() {
			return 0, false, fmt.Errorf("at_ms: %q is not a whole number of milliseconds, at most %d", value, scenarioTime.Milliseconds())
		}
		return time.Duration(ms) * time.Millisecond, false, nil
	}
	for _, layout := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.Sub(t.Truncate(24 * time.Hour)), true, nil
		}
	}
	return 0, true, fmt.Errorf("at: %q is not a time of day such as 09:30 or 09:30:15", value)
}

// when formats the time of a moment as its scenario has it.
func (m moment) when() string {
	if !m.ofDay {
		return strconv.FormatInt(m.clock.Milliseconds(), 10)
	}
	return time.Time{}.Add(m.clock).Format(time.TimeOnly)
}

func timeKey(ofDay bool) string {
	if ofDay {
		return "at"
	}
	return "at_ms"
}

// parseRobots parses the robot or the robots that play an entry.
func parseRobots(value *yaml.Node) (robots []string, err error) {
	if value.Kind == yaml.ScalarNode {
		robots = []string{value.Value}
	} else if err := value.Decode(&robots); err != nil {
		return nil, fmt.Errorf("robot: %w", err)
	}
	for _, r := range robots {
		if !schema.ValidID(r) {
			return nil, fmt.Errorf("robot: %q is not the id of a robot", r)
		}
	}
	if len(robots) == 0 {
		return nil, errors.New("robot: the list is empty; leave it out for all robots")
	}
	return robots, nil
}

// parseCommand parses a command as strictly as a robot does.
func parseCommand(value *yaml.Node) (name string, args jsontext.Value, err error) {
	var c struct {
		Verb string         `yaml:"verb"`
		Args map[string]any `yaml:"args"`
	}
	if err := value.Decode(&c); err != nil {
		return "", nil, err
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		if k := value.Content[i].Value; k != "verb" && k != "args" {
			return "", nil, fmt.Errorf("%s: unknown field; a command has verb and args", k)
		}
	}
	group, v, _ := strings.Cut(c.Verb, "/")
	row, known := verb.Of(group, v)
	if !known {
		return "", nil, fmt.Errorf("verb: there is no verb %q; topics.md lists them", c.Verb)
	}
	request := map[string]any{}
	if len(c.Args) > 0 {
		if args, err = schema.Encode(c.Args); err != nil {
			return "", nil, err
		}
		request["args"] = c.Args
	}
	payload, err := schema.Encode(request)
	if err != nil {
		return "", nil, err
	}
	if _, problems := verb.Decode(row, payload); len(problems) > 0 {
		return "", nil, fmt.Errorf("%s: %s", c.Verb, problems[0])
	}
	return c.Verb, args, nil
}

// parseInput decodes an input as strictly as a message.
func parseInput(name, fields *yaml.Node) (schema.SimInput, int, error) {
	var v any
	if err := fields.Decode(&v); err != nil {
		return nil, max(lineIn(err), name.Line), err
	}
	text, err := schema.Encode(v)
	if err != nil {
		return nil, name.Line, fmt.Errorf("%s: %w", name.Value, err)
	}
	in, problems := schema.DecodeSimInput(name.Value, text)
	if len(problems) == 0 {
		return in, 0, nil
	}
	line := name.Line
	for i := 0; fields.Kind == yaml.MappingNode && i < len(fields.Content); i += 2 {
		if "/"+fields.Content[i].Value == problems[0].Pointer {
			line = fields.Content[i].Line
		}
	}
	return nil, line, fmt.Errorf("%s: %s", name.Value, strings.TrimPrefix(problems[0].String(), "/: "))
}

// lineIn returns the line that an error of the YAML library names, at least 1.
func lineIn(err error) (line int) {
	if _, after, ok := strings.Cut(err.Error(), "line "); ok {
		_, _ = fmt.Sscan(strings.TrimRight(strings.Fields(after)[0], ":"), &line)
	}
	return max(line, 1)
}

// playScenario plays a scenario, until its end or that of ctx.
func (s *simInputs) playScenario(ctx context.Context, sc Scenario, speed float64, moments []moment) {
	if sc.Begin != nil {
		select {
		case <-sc.Begin:
		case <-ctx.Done():
			return
		}
	}
	began := time.Now()
	for _, m := range moments {
		wait := time.NewTimer(time.Until(began.Add(time.Duration(float64(m.at) / speed))))
		select {
		case <-wait.C:
			s.play(ctx, sc, m, event.Scenario{At: m.when(), Speed: speed, Note: m.note, Command: m.verb})
		case <-ctx.Done():
			wait.Stop()
			return
		}
	}
}

func (s *simInputs) play(ctx context.Context, sc Scenario, m moment, at event.Scenario) {
	if m.in != nil {
		s.take(m.name, m.in, &at)
	} else {
		s.log.Info("scenario", "at", at.At, "note", m.note, "command", m.verb)
		s.report(event.SimInput{Scenario: &at})
	}
	if sc.Played != nil {
		sc.Played(ctx, Entry{At: at.At, Note: m.note, Verb: m.verb, Args: m.args, ForSome: len(m.robots) > 0, Last: m.last})
	}
}
