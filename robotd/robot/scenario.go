package robot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"troupe/schema"
)

// moment is one entry of a scenario: an input of the simulated body and its time.
type moment struct {
	at   time.Duration // since robotd started
	line int
	name string
	in   schema.SimInput
}

const (
	scenarioBytes = 1 << 20
	scenarioTime  = 24 * time.Hour // the latest time of an entry
)

// readScenario reads a scenario file: a YAML list of entries in the order of their times. Each
// has at_ms, and the name of one input with its fields. An error begins with FILE:LINE.
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
		if n := len(moments); n > 0 && m.at < moments[n-1].at {
			return nil, line, fmt.Errorf("at_ms %d is before that of line %d: sort the entries by time", m.at.Milliseconds(), moments[n-1].line)
		}
		moments = append(moments, m)
	}
	return moments, 0, nil
}

func parseMoment(entry *yaml.Node) (m moment, line int, err error) {
	m.line, m.at = entry.Line, -1
	if entry.Kind != yaml.MappingNode {
		return m, m.line, errors.New("want an entry such as {at_ms: 5000, battery: {level: 0.15}}")
	}
	for i := 0; i < len(entry.Content); i += 2 {
		key, value := entry.Content[i], entry.Content[i+1]
		switch {
		case key.Value == "at_ms" && m.at < 0:
			var ms int64
			if err := value.Decode(&ms); err != nil || ms < 0 || ms > scenarioTime.Milliseconds() {
				return m, value.Line, fmt.Errorf("at_ms: %q is not a whole number of milliseconds, at most %d", value.Value, scenarioTime.Milliseconds())
			}
			m.at = time.Duration(ms) * time.Millisecond
		case key.Value == "at_ms":
			return m, key.Line, errors.New("at_ms is given twice")
		case m.in != nil:
			return m, key.Line, fmt.Errorf("%s: the entry has %s already; write another entry with its own at_ms", key.Value, m.name)
		default:
			m.name = key.Value
			if m.in, line, err = parseInput(key, value); err != nil {
				return m, line, err
			}
		}
	}
	switch {
	case m.at < 0:
		return m, m.line, errors.New("the entry has no at_ms")
	case m.in == nil:
		return m, m.line, errors.New("the entry has no input, such as battery: {level: 0.15}")
	}
	return m, m.line, nil
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

// perform plays a scenario, until its end or that of ctx.
func (s *simInputs) perform(ctx context.Context, moments []moment) {
	began := time.Now()
	for _, m := range moments {
		wait := time.NewTimer(time.Until(began.Add(m.at)))
		select {
		case <-wait.C:
			s.take(m.name, m.in)
		case <-ctx.Done():
			wait.Stop()
			return
		}
	}
}
