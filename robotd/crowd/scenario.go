package crowd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"troupe/schema"
)

// Scenario is what happens to the robots, again and again. What is drawn is drawn for all of them together, so PerMinute counts in the
// whole crowd. The zero value: nothing happens.
type Scenario struct {
	Churn      Rate  // robots that end in order, and start again after For
	LinkLoss   Rate  // connections that are cut, and come back after For
	Stalled    Rate  // robots that neither read nor answer for the time For, while their connection stays
	Slow       Every // robots that take each message so much later
	Failing    Every // robots of which a unit fails its next command, this often: acts of their story fail
	Performing Share // robots that a person at their own page lets perform, once they have a story
}

// Rate is something that happens PerMinute times a minute, and lasts as long as For.
type Rate struct {
	PerMinute float64
	For       time.Duration
}

// Share is a part of the robots, from 0 to 1: always the same ones.
type Share float64

// Every is a share of the robots, and a time.
type Every struct {
	Share Share
	Time  time.Duration
}

const (
	scenarioBytes = 64 << 10
	mostPerMinute = 1_000_000
	longest       = time.Hour
)

// ReadScenario reads a scenario file. An error names all that is wrong with it, each with FILE:LINE.
func ReadScenario(path string) (Scenario, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return Scenario{}, fmt.Errorf("read the scenario: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, scenarioBytes+1))
	if err != nil {
		return Scenario{}, fmt.Errorf("read the scenario: %w", err)
	}
	s, faults := parseScenario(text)
	var errs []error
	for _, f := range faults {
		errs = append(errs, fmt.Errorf("%s:%d: %s", path, f.line, f.text))
	}
	return s, errors.Join(errs...)
}

// fault is one thing that is wrong with a scenario file.
type fault struct {
	line int
	text string
}

// field is one number of an entry. Its name has the unit.
type field struct {
	name     string
	from, to float64
	set      func(float64)
}

func seconds(d *time.Duration) func(float64) {
	return func(v float64) { *d = time.Duration(v * float64(time.Second)) }
}

func milliseconds(d *time.Duration) func(float64) {
	return func(v float64) { *d = time.Duration(v * float64(time.Millisecond)) }
}

// entries are those of a scenario file, by name. All fields of an entry are required, so that none is forgotten.
func (s *Scenario) entries() map[string][]field {
	rate := func(r *Rate, last string) []field {
		return []field{{"per_minute", 0, mostPerMinute, func(v float64) { r.PerMinute = v }}, {last, 0.1, longest.Seconds(), seconds(&r.For)}}
	}
	share := func(of *Share) field { return field{"share", 0, 1, func(v float64) { *of = Share(v) }} }
	return map[string][]field{
		"churn":      rate(&s.Churn, "away_s"),
		"link_loss":  rate(&s.LinkLoss, "away_s"),
		"stalled":    rate(&s.Stalled, "for_s"),
		"slow":       {share(&s.Slow.Share), {"delay_ms", 1, 60_000, milliseconds(&s.Slow.Time)}},
		"failing":    {share(&s.Failing.Share), {"every_s", 0.1, longest.Seconds(), seconds(&s.Failing.Time)}},
		"performing": {share(&s.Performing)},
	}
}

// parseScenario parses a scenario: a YAML mapping of entries, each with its numbers.
func parseScenario(text []byte) (s Scenario, faults []fault) {
	refuse := func(line int, format string, args ...any) {
		faults = append(faults, fault{max(line, 1), fmt.Sprintf(format, args...)})
	}
	if len(text) > scenarioBytes {
		refuse(1, "the scenario has more than %d bytes", scenarioBytes)
		return s, faults
	}
	var document, another yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		refuse(lineIn(err), "%v", err)
		return s, faults
	}
	if err := decoder.Decode(&another); !errors.Is(err, io.EOF) {
		refuse(another.Line, "want one document, and here is another")
		return s, faults
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		refuse(1, "want entries such as link_loss: {per_minute: 60, away_s: 5}")
		return s, faults
	}
	all := s.entries()
	names := slices.Sorted(maps.Keys(all))
	seen := map[string]int{}
	root := document.Content[0].Content
	for i := 0; i+1 < len(root); i += 2 {
		key, value := root[i], root[i+1]
		fields, known := all[key.Value]
		switch {
		case !known:
			refuse(key.Line, "%s: no such entry; there are %s", schema.SanitizeText(key.Value), strings.Join(names, ", "))
			continue
		case seen[key.Value] > 0:
			refuse(key.Line, "%s is given twice, first in line %d", key.Value, seen[key.Value])
			continue
		}
		seen[key.Value] = key.Line
		parseEntry(key, value, fields, refuse)
	}
	return s, faults
}

func parseEntry(key, value *yaml.Node, fields []field, refuse func(line int, format string, args ...any)) {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	if value.Kind != yaml.MappingNode {
		refuse(max(value.Line, key.Line), "%s: want {%s: ...}", key.Value, strings.Join(names, ": ..., "))
		return
	}
	given := map[string]bool{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, number := value.Content[i], value.Content[i+1]
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name.Value })
		switch {
		case at < 0:
			refuse(name.Line, "%s: %s: no such field; there are %s", key.Value, schema.SanitizeText(name.Value), strings.Join(names, ", "))
			continue
		case given[name.Value]:
			refuse(name.Line, "%s: %s is given twice", key.Value, name.Value)
			continue
		}
		given[name.Value] = true
		f := fields[at]
		v, err := schema.ReadFloat(number.Value)
		if number.Kind != yaml.ScalarNode || err != nil || !(v >= f.from && v <= f.to) {
			refuse(max(number.Line, name.Line), "%s: %s: %q is not a number from %g to %g", key.Value, f.name,
				schema.SanitizeText(number.Value), f.from, f.to)
			continue
		}
		f.set(v)
	}
	for _, name := range names {
		if !given[name] {
			refuse(key.Line, "%s: %s is missing", key.Value, name)
		}
	}
}

// lineIn returns the line that an error of the YAML library names, at least 1.
func lineIn(err error) (line int) {
	if _, after, ok := strings.Cut(err.Error(), "line "); ok {
		_, _ = fmt.Sscan(strings.TrimRight(strings.Fields(after)[0], ":"), &line)
	}
	return max(line, 1)
}

// playEvery is how often what is to happen is drawn.
const playEvery = 100 * time.Millisecond

// Change lets another scenario happen from now on. What is a share of the robots stays as it was when they started.
func (c *Crowd) Change(s Scenario) { c.playing.Store(&s) }

// play plays the scenario until ctx ends.
func (c *Crowd) play(ctx context.Context) {
	random := rand.New(rand.NewPCG(c.cfg.Seed, 0x74726f757065))
	rates := []struct {
		of   func(*Scenario) Rate
		owed float64
		do   func(*robot, time.Duration)
	}{
		{of: func(s *Scenario) Rate { return s.Churn },
			do: func(r *robot, away time.Duration) { r.leave("scenario: churn", r.shard.now()+away) }},
		{of: func(s *Scenario) Rate { return s.LinkLoss }, do: (*robot).cut},
		{of: func(s *Scenario) Rate { return s.Stalled }, do: (*robot).stall},
	}
	tick := time.NewTicker(playEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, s := time.Now(), c.playing.Load()
		for i := range rates {
			one, rate := &rates[i], rates[i].of(s)
			for one.owed += rate.PerMinute * now.Sub(last).Minutes(); one.owed >= 1; one.owed-- {
				r := c.robot(random.IntN(c.cfg.Count))
				do, lasts := one.do, rate.For
				r.shard.send(input{r: r, do: inDo, fn: func(r *robot) {
					if r.phase == up {
						do(r, lasts)
					}
				}})
			}
		}
		last = now
	}
}

// robot returns robot n, counted from 0.
func (c *Crowd) robot(n int) *robot { return c.shards[n%len(c.shards)].robots[n/len(c.shards)] }

// has reports whether robot n, counted from 0, belongs to the share. of tells shares apart, so that they do not all have the
// same robots.
func (s Share) has(n, of int) bool {
	return rand.New(rand.NewPCG(uint64(n), uint64(of))).Float64() < float64(s)
}
