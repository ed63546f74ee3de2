package main

import (
	"context"
	"fmt"
	"time"
	"troupe/deploy/launch"
)

// An arm is one of the alternatives that a bench measures in turn, so that what the machine does meanwhile happens to
// all of them alike.
type arm struct {
	name string
	of   string  // the arm with which it is compared; empty: it is a floor itself
	goal float64 // the largest ratio of the p50 that is good enough; 0 = none
	// goalP99 is the same for the p99.
	goalP99 float64
	// programs are those that work for its samples.
	programs []*launch.Program
	// pace, if not zero, is the time from one sample to the next, for what is limited in its rate; such an arm has a
	// quarter of the samples of the others.
	pace time.Duration
	// before, if not nil, makes ready for the samples of a turn. What it uses is not measured.
	before func(context.Context) error
	// sample does it once. Its answer belongs to its request.
	sample func(context.Context) (sample, error)
}

// A sample is one measured request, or one round of many of them.
type sample struct {
	took    time.Duration // without meaning if nothing arrived
	lost    int           // answers that did not arrive in time
	doubled int           // answers beyond the first
}

// turns says how the arms alternate: rounds in which each arm has its turn of so many samples. Before them come so many
// samples of each arm that do not count.
type turns struct{ warm, rounds, samples int }

// alternate measures the arms in turn and reports them.
func (r *run) alternate(ctx context.Context, t turns, arms ...arm) error {
	type sum struct {
		took          []time.Duration
		lost, doubled int
		uses          []Use
	}
	sums := make([]sum, len(arms))
	turn := func(a arm, samples int, into *sum) error {
		if a.before != nil {
			if err := a.before(ctx); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
		m := measure(a.programs...)
		if a.pace > 0 {
			samples = max(1, samples/4)
		}
		for range samples {
			if err := sleep(ctx, a.pace); err != nil {
				return err
			}
			s, err := a.sample(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			if s.lost == 0 {
				into.took = append(into.took, s.took)
			}
			into.lost, into.doubled = into.lost+s.lost, into.doubled+s.doubled
		}
		into.uses = addUses(into.uses, m.uses())
		return nil
	}
	for _, a := range arms {
		if t.warm > 0 {
			if err := turn(a, t.warm, new(sum)); err != nil {
				return err
			}
		}
	}
	for round := range t.rounds {
		r.say(fmt.Sprintf("round %d of %d, %d arms", round+1, t.rounds, len(arms)))
		for i, a := range arms {
			if err := turn(a, t.samples, &sums[i]); err != nil {
				return err
			}
		}
	}
	found := make([]Arm, len(arms))
	for i, a := range arms {
		found[i] = Arm{Name: a.name, Latency: latencyOf(sums[i].took), Of: a.of, Goal: a.goal, GoalP99: a.goalP99, Lost: sums[i].lost,
			Doubled: sums[i].doubled,
			Uses:    sums[i].uses}
	}
	compareArms(found)
	for _, a := range found {
		r.report(a)
	}
	return nil
}

// compareArms fills in the ratios of arms to those that they name.
func compareArms(arms []Arm) {
	for i := range arms {
		for _, floor := range arms {
			if arms[i].Of == floor.Name && arms[i].Latency != nil && floor.Latency != nil && floor.P50 > 0 && floor.P99 > 0 {
				arms[i].Ratio, arms[i].RatioP99 = arms[i].P50/floor.P50, arms[i].P99/floor.P99
			}
		}
	}
}
