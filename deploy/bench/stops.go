package main

import (
	"context"
	"fmt"
	"time"

	commands "troupe/fleetd/command"
	"troupe/schema"
)

// A stopRound is how long one latched stop of all robots took, from the request.
type stopRound struct {
	live   time.Duration // the last robot received the live stop
	last   time.Duration // fleetd had the last answer
	api    time.Duration // fleetd answered the request with all answers
	median time.Duration // half of the answers

	unanswered int // robots whose state of the command is not SUCCEEDED
	unknown    int

	release  time.Duration // fleetd answered the release
	released time.Duration // no robot is stopped any more

	cpu time.Duration // of the broker and of fleetd, from the request until nothing follows from the release any more
}

// afterwards is how long something follows from a stop or its release: the robots' states that say that it is recorded, and the
// heartbeats after those. Each size of a fleet pays for all of it only if it waits for it.
const afterwards = 5 * time.Second

// stopAll stops all robots, and releases the stop when every robot has it.
func (f *fleet) stopAll(ctx context.Context) (o stopRound, err error) {
	var batch struct {
		Latch    string
		Total    int
		Counts   map[commands.State]int
		Commands []struct {
			State commands.State
			Ended schema.Time
		}
	}
	m, sent := measure(f.programs()...), time.Now()
	if _, err := f.fleetd.api.do(ctx, "POST", "/stops", map[string]any{"selector": everyRobot, "why": "bench"}, &batch); err != nil {
		return o, err
	}
	o.api = time.Since(sent)
	if batch.Total != f.size {
		return o, fmt.Errorf("the stop is of %d robots, not %d", batch.Total, f.size)
	}
	o.unknown, o.unanswered = batch.Counts[commands.Unknown], batch.Total-batch.Counts[commands.Succeeded]
	var answers []time.Duration
	for _, c := range batch.Commands {
		if c.State == commands.Succeeded {
			answers = append(answers, c.Ended.Time().Sub(sent))
		}
	}
	if l := latencyOf(answers); l != nil {
		o.last, o.median = time.Duration(l.Max*1e3), median(answers)
	}
	at, err := f.liveStopAt(ctx, sent)
	if err != nil {
		return o, err
	}
	o.live = at.Sub(sent)
	if err := f.awaitCount(ctx, "stopped", f.size); err != nil {
		return o, err
	}
	if err := sleep(ctx, afterwards); err != nil {
		return o, err
	}
	began := time.Now()
	if _, err := f.fleetd.api.do(ctx, "POST", "/stops/release", map[string]any{"ids": []string{batch.Latch}, "why": "bench"},
		nil); err != nil {
		return o, err
	}
	o.release = time.Since(began)
	err = f.awaitCount(ctx, "stopped", 0)
	o.released = time.Since(began)
	if err == nil {
		err = sleep(ctx, afterwards)
	}
	o.cpu = m.cpu()
	return o, err
}

// The goals of a latched stop of 10,000 robots.
const (
	liveStopGoal = time.Second
	lastGoal     = 5 * time.Second
	apiGoal      = 8 * time.Second
	releaseGoal  = time.Second
)

// measureStops reports rounds of latched stops.
func (f *fleet) measureStops(ctx context.Context, rounds int) error {
	var all []stopRound
	m := measure(f.programs()...)
	for range rounds {
		if err := f.awaitCalm(ctx); err != nil {
			return err
		}
		o, err := f.stopAll(ctx)
		if err != nil {
			return err
		}
		all = append(all, o)
		f.say(fmt.Sprintf("stop of %d: live %v, answers %v to %v, API %v with %d unanswered, release %v, released %v, processor %v", f.size,
			o.live.Round(time.Millisecond), o.median.Round(time.Millisecond), o.last.Round(time.Millisecond), o.api.Round(time.Millisecond),
			o.unanswered,
			o.release.Round(time.Millisecond), o.released.Round(time.Millisecond), o.cpu.Round(10*time.Millisecond)))
	}
	each := func(get func(stopRound) time.Duration) (out []time.Duration) {
		for _, o := range all {
			out = append(out, get(o))
		}
		return out
	}
	a := Arm{Name: fmt.Sprintf("stop of %d robots", f.size), Uses: m.uses()}
	for _, part := range []struct {
		name   string
		get    func(stopRound) time.Duration
		goal   time.Duration // of 10,000 robots
		judged bool          // by its growth; in a quick run only processor time is, since that may run beside other work
	}{
		{"live stop at the last robot", func(o stopRound) time.Duration { return o.live }, liveStopGoal, !f.quick},
		{"median answer", func(o stopRound) time.Duration { return o.median }, 0, false},
		{"last answer", func(o stopRound) time.Duration { return o.last }, lastGoal, !f.quick},
		{"answer of the API", func(o stopRound) time.Duration { return o.api }, apiGoal, !f.quick},
		{"release", func(o stopRound) time.Duration { return o.release }, releaseGoal, !f.quick},
		{"processor time of a stop and its release", func(o stopRound) time.Duration { return o.cpu }, 0, true},
		{"released at the last robot", func(o stopRound) time.Duration { return o.released }, 0, false}, // the crowd says it ten times a second
	} {
		took := each(part.get)
		f.figure(&a, part.name, median(took), part.goal)
		if part.judged {
			f.step(part.name, f.size, took...)
		}
	}
	for _, o := range all {
		a.Lost += o.unanswered
		a.Values = add(a.Values, "UNKNOWN", float64(o.unknown))
	}
	f.report(a)
	return nil
}

// figure adds a duration to an arm. A goal is of the whole 10,000 robots, and noted if it is missed.
func (f *fleet) figure(a *Arm, name string, took, goal time.Duration) {
	a.Values = append(a.Values, Value{name, "s", took.Seconds()})
	if goal > 0 && f.size == wholeFleet && took > goal {
		f.note("%s of %d robots: %v MISSES %v", name, f.size, took.Round(time.Millisecond), goal)
	}
}

// add adds to the value of a name, which may be missing.
func add(values []Value, name string, more float64) []Value {
	for i := range values {
		if values[i].Name == name {
			values[i].Is += more
			return values
		}
	}
	return append(values, Value{Name: name, Is: more})
}
