package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

var fleetBenches = []bench{{
	Name:  "fleet",
	What:  "a fleet of simulated robots is adopted, listed, given a plan, stopped and released; then the broker and fleetd are restarted",
	Floor: "the same with a tenth of the robots: what takes more than 12 times as long fails the run",
	Quick: true,
	Run:   measureFleets,
}}

const (
	// wholeFleet is the number of robots to which the goals apply.
	wholeFleet = 10_000
	// middleFleet is measured beside the two sizes that are compared, for the table of docs/scale.md.
	middleFleet = 3000
	// settling is how long a fleet must have been calm before something is measured: robots report, fleetd stores.
	settling = 3 * time.Second
)

// The goals of 10,000 robots.
const (
	adoptionGoal  = 20 * time.Second
	listGoal      = 500 * time.Millisecond
	reconnectGoal = 20 * time.Second
	coldStartGoal = 10 * time.Second
)

// measureFleets measures fleets of several sizes, one after the other.
func measureFleets(ctx context.Context, r *run) error {
	small, large := r.sizes()
	sizes := []int{small, large}
	if !r.quick {
		sizes = slices.Insert(sizes, 1, middleFleet)
	}
	for _, size := range sizes {
		r.say(fmt.Sprintf("%d robots", size))
		if err := measureFleet(ctx, r, size); err != nil {
			return fmt.Errorf("%d robots: %w", size, err)
		}
		r.endAll()
	}
	return nil
}

func measureFleet(ctx context.Context, r *run, size int) error {
	f, err := r.startFleet(ctx, size, "sqlite:"+r.path(fmt.Sprintf("fleet-%d.db", size)))
	if err != nil {
		return err
	}
	a := Arm{Name: fmt.Sprintf("%d robots", size)}
	f.figure(&a, "adoption", f.adopted, adoptionGoal)
	if !r.quick {
		f.step("adoption", size, f.adopted)
	}
	f.step("processor time of adoption", size, cpuOf(f.programs()))
	m := measure(f.programs()...)
	for _, part := range []func(context.Context, *Arm) error{f.list, f.plan} {
		if err := f.awaitCalm(ctx); err != nil {
			return err
		}
		if err := part(ctx, &a); err != nil {
			return err
		}
	}
	if err := f.measureStops(ctx, r.size(3, 2)); err != nil {
		return err
	}
	if err := f.brokerCounters(ctx, &a); err != nil {
		return err
	}
	a.Uses = m.uses()
	for _, part := range []func(context.Context, *Arm) error{f.reconnect, f.coldStart} {
		if err := f.awaitCalm(ctx); err != nil {
			return err
		}
		if err := part(ctx, &a); err != nil {
			return err
		}
	}
	r.report(a)
	return nil
}

// list measures fleetd robot list and the request behind it.
func (f *fleet) list(ctx context.Context, a *Arm) error {
	var commands, requests []time.Duration
	var answer int
	for range f.run.size(7, 5) {
		began := time.Now()
		c := f.tree("fleetd", "--server", f.fleetd.api.url, "robot", "list")
		out, err := exec.CommandContext(ctx, c.Path, c.Args...).Output()
		if lines := strings.Count(string(out), "\n"); err != nil || lines < f.size {
			return fmt.Errorf("fleetd robot list printed %d lines: %w", lines, err)
		}
		commands = append(commands, time.Since(began))
		began = time.Now()
		if answer, err = f.fleetd.api.do(ctx, "GET", "/robots", nil, nil); err != nil {
			return err
		}
		requests = append(requests, time.Since(began))
	}
	f.figure(a, "robot list", median(commands), listGoal)
	f.figure(a, "GET /robots", median(requests), 0)
	a.Values = append(a.Values, Value{"answer of GET /robots", "B", float64(answer)})
	f.step("robot list", f.size, commands...)
	f.step("GET /robots", f.size, requests...)
	return nil
}

// plan measures which robots an assignment would change, and what their bodies lack for it.
func (f *fleet) plan(ctx context.Context, a *Arm) error {
	s, err := f.publishStory(ctx, 0)
	if err != nil {
		return err
	}
	var took []time.Duration
	for range f.run.size(7, 5) {
		var plan struct{ Total int }
		began := time.Now()
		if _, err := f.fleetd.api.do(ctx, "POST", "/assignments", map[string]any{"story": s.name, "selector": everyRobot, "dry_run": true},
			&plan); err != nil {
			return err
		}
		took = append(took, time.Since(began))
		if plan.Total != f.size {
			return fmt.Errorf("the plan is of %d robots", plan.Total)
		}
	}
	f.figure(a, "assignment plan", median(took), 0)
	f.step("assignment plan", f.size, took...)
	return nil
}

// brokerCounters reports what the broker dropped and whom it cut: it has to be nothing.
func (f *fleet) brokerCounters(ctx context.Context, a *Arm) error {
	counters, err := f.broker.counters(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"connections_stalled", "connections_unacknowledged", "connections_queue_full", "deliveries_dropped",
		"deliveries_lost_stalled", "deliveries_lost_unacknowledged", "publishes_over_rate", "inflight_dropped"} {
		if n, _ := counters[name].(float64); n > 0 {
			a.Values = append(a.Values, Value{Name: name, Is: n})
			f.note("%d robots: the broker counts %s %.0f", f.size, name, n)
		}
	}
	return nil
}

// reconnect kills the broker and starts it again: robots return, fleetd returns, and its view is complete again.
func (f *fleet) reconnect(ctx context.Context, a *Arm) error {
	f.broker.Kill()
	began := time.Now()
	if err := f.awaitCount(ctx, "connected", 0); err != nil {
		return err
	}
	b, err := f.startBroker(ctx, f.broker.addr)
	if err != nil {
		return err
	}
	f.broker = b
	if err := f.awaitCount(ctx, "connected", f.size); err != nil {
		return err
	}
	connected := time.Since(began)
	if err := f.awaitBroker(ctx, began); err != nil {
		return err
	}
	if err := f.fleetd.api.awaitRobots(ctx, f.size, fleetLimit, f.say); err != nil {
		return err
	}
	took := time.Since(began)
	f.figure(a, "connected again", connected, reconnectGoal)
	f.figure(a, "back after a broker's restart", took, reconnectGoal)
	f.step("back after a broker's restart", f.size, took)
	return nil
}

// awaitBroker waits until fleetd has connected to the broker since a time.
func (f *fleet) awaitBroker(ctx context.Context, since time.Time) error {
	for end := time.Now().Add(fleetLimit); ; {
		var status struct {
			Broker struct {
				OK    bool
				Since schema.Time
			}
		}
		if _, err := f.fleetd.api.do(ctx, "GET", "/version", nil, &status); err != nil {
			return err
		}
		switch {
		case status.Broker.OK && !status.Broker.Since.Time().Before(since):
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: fleetd has not connected to the broker again", errLost)
		}
		if err := sleep(ctx, countsEvery); err != nil {
			return err
		}
	}
}

// coldStart ends fleetd and starts it again beside its database and the documents that the broker retains.
func (f *fleet) coldStart(ctx context.Context, a *Arm) error {
	f.fleetd.End()
	began := time.Now()
	started, err := f.startFleetd(ctx, f.database, f.broker.addr)
	if err != nil {
		return err
	}
	f.fleetd = started
	ready := time.Since(began)
	if err := f.fleetd.api.awaitRobots(ctx, f.size, fleetLimit, f.say); err != nil {
		return err
	}
	took := time.Since(began)
	f.figure(a, "fleetd ready", ready, 0)
	f.figure(a, "fleetd has every robot", took, coldStartGoal)
	f.step("fleetd has every robot", f.size, took)
	return nil
}
