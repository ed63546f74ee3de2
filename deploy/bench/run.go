package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"troupe/deploy/launch"
)

// A run is one bench while it runs: where its data is, the programs that it started, and what it has found.
type run struct {
	quick    bool
	lasts    time.Duration // how long robots come and go; 0 = as long as the bench does that
	programs string        // folder of the programs of the tree
	folder   string        // for its data; removed at its end
	say      func(string)

	found   Result
	running []*launch.Program // in the order of their starts
	closers []func()          // of connections
}

// A Result is what one bench found.
type Result struct {
	Bench string   `json:"bench"`
	Arms  []Arm    `json:"arms,omitempty"`
	Steps []Step   `json:"steps,omitempty"` // judged by growths
	Notes []string `json:"notes,omitempty"`
	// Seconds is how long the bench took.
	Seconds float64 `json:"seconds"`
}

// An Arm is one of the alternatives that a bench measured in turn.
type Arm struct {
	Name     string `json:"arm"`
	*Latency        // of its samples; nil if it measured something else
	// Of is the arm with which Ratio compares this one: its floor. Ratio and RatioP99 are how many times as long.
	Of       string  `json:"of,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"`
	RatioP99 float64 `json:"ratio_p99,omitempty"`
	// Goal and GoalP99 are the largest ratios that are good enough; 0 = there is none. Missing one does not fail the run.
	Goal    float64 `json:"goal,omitempty"`
	GoalP99 float64 `json:"goal_p99,omitempty"`
	// Lost and Doubled count requests without an answer and answers beyond the first.
	Lost    int     `json:"lost"`
	Doubled int     `json:"doubled"`
	Values  []Value `json:"values,omitempty"`
	Uses    []Use   `json:"uses,omitempty"`
}

// A Value is a figure that is no duration of a sample.
type Value struct {
	Name string  `json:"name"`
	Unit string  `json:"unit"` // "B", "B/s", "s", "cores", "1/s", ""
	Is   float64 `json:"is"`
}

// size returns a number of robots or commands: that of make bench, or a smaller one.
func (r *run) size(full, quick int) int {
	if r.quick {
		return quick
	}
	return full
}

// sizes returns the two sizes that are compared: 1,000 and 10,000, or 300 and 3,000.
func (r *run) sizes() (small, large int) { return r.size(1000, 300), r.size(10_000, 3000) }

// report adds an arm to the result.
func (r *run) report(a Arm) { r.found.Arms = append(r.found.Arms, a) }

// step adds what has to grow with its size: the run fails if it grows faster.
func (r *run) step(what string, size int, rounds ...time.Duration) {
	s := Step{What: what, Size: size, Took: microseconds(median(rounds))}
	if r.quick {
		s.Growth = quickGrowth
	}
	r.found.Steps = append(r.found.Steps, s)
}

// note adds a sentence to the result.
func (r *run) note(format string, args ...any) {
	r.found.Notes = append(r.found.Notes, fmt.Sprintf(format, args...))
}

// path is the path of a file or a new folder in the folder of the run.
func (r *run) path(name string) string { return filepath.Join(r.folder, name) }

// start starts a program, which ends with the bench at the latest.
func (r *run) start(c launch.Command) (*launch.Program, error) {
	p, err := launch.Start(c)
	if err == nil {
		r.running = append(r.running, p)
	}
	return p, err
}

// atEnd calls f when the bench has ended, before its programs end. The last one is called first.
func (r *run) atEnd(f func()) { r.closers = append(r.closers, f) }

// execute runs a bench and ends all that it started.
func execute(ctx context.Context, b bench, o options, data string) (Result, error) {
	folder, err := os.MkdirTemp(data, b.Name+"-")
	if err != nil {
		return Result{}, fmt.Errorf("make the folder of the data: %w", err)
	}
	defer os.RemoveAll(folder)
	began := time.Now()
	r := &run{quick: o.quick, lasts: o.lasts, programs: o.programs, folder: folder, found: Result{Bench: b.Name},
		say: func(line string) { o.say(b.Name + ": " + line) }}
	defer r.endAll()
	o.say(b.Name + ": " + b.What)
	if err := b.Run(ctx, r); err != nil {
		return r.found, fmt.Errorf("%s: %w%s", b.Name, err, r.failures())
	}
	r.found.Seconds = time.Since(began).Seconds()
	return r.found, nil
}

// failures is the end of the output of programs that ended too early.
func (r *run) failures() string {
	var text strings.Builder
	for _, p := range r.running {
		if !p.Running() {
			fmt.Fprintf(&text, "\n%s has ended (%v); its last output:\n%s", p.Name, p.State(), p.Tail())
		}
	}
	return text.String()
}

// endAll closes the connections and ends the programs, the last first.
func (r *run) endAll() {
	for _, f := range slices.Backward(r.closers) {
		f()
	}
	for _, p := range slices.Backward(r.running) {
		p.End()
	}
	r.closers, r.running = nil, nil
}

// sleep waits, or returns the error of a run that was interrupted.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
