package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"troupe/deploy/launch"
)

// A fleet is a broker, fleetd and simulated robots.
type fleet struct {
	*run
	size     int // number of robots
	database string
	broker   *broker
	fleetd   *fleetd
	crowd    *launch.Program
	// adopted is how long it took from the start of the robots until fleetd had all.
	adopted time.Duration
}

const (
	// crowdAddresses are the source addresses of the simulated robots: the broker limits connections a second of one
	// address.
	crowdAddresses = 16
	// countsEvery is how often the crowd prints its counts, and so how exact a wait for them is.
	countsEvery = 100 * time.Millisecond
	// fleetLimit bounds the wait for something that all robots do.
	fleetLimit = 3 * time.Minute
)

// startFleet starts everything with an empty database, and waits until fleetd has adopted every robot. more are arguments of robotd sim.
func (r *run) startFleet(ctx context.Context, size int, database string, more ...string) (*fleet, error) {
	f := &fleet{run: r, size: size, database: database}
	var err error
	if f.broker, err = r.startBroker(ctx, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if f.fleetd, err = r.startFleetd(ctx, database, f.broker.addr); err != nil {
		return nil, err
	}
	began := time.Now()
	if f.crowd, err = r.startCrowd(ctx, size, f.broker.addr, append(more, "--spread", strconv.Itoa(crowdAddresses), "--every",
		countsEvery.String())...); err != nil {
		return nil, err
	}
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case <-f.crowd.Ended:
			stop(errors.New("the crowd has ended"))
		case <-waiting.Done():
		}
	}()
	err = f.fleetd.api.awaitRobots(waiting, size, fleetLimit, r.say)
	f.adopted = time.Since(began)
	return f, err
}

// programs are the two that serve the robots.
func (f *fleet) programs() []*launch.Program {
	return []*launch.Program{f.broker.Program, f.fleetd.Program}
}

// counts returns what the crowd printed last, as name=value.
func (f *fleet) counts() map[string]string {
	lines, _ := f.crowd.Lines()
	for i := len(lines) - 1; i >= 0; i-- {
		if !strings.HasPrefix(lines[i], "robots=") {
			continue
		}
		counts := map[string]string{}
		for _, word := range strings.Fields(lines[i]) {
			name, value, _ := strings.Cut(word, "=")
			counts[name] = value
		}
		return counts
	}
	return nil
}

// awaitCount waits until the crowd counts so many of something.
func (f *fleet) awaitCount(ctx context.Context, name string, want int) error {
	for end := time.Now().Add(fleetLimit); ; {
		_, changed := f.crowd.Lines()
		have := f.counts()[name]
		switch {
		case have == strconv.Itoa(want):
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: after %v the crowd has %s=%s, not %d", errLost, fleetLimit, name, have, want)
		}
		select {
		case <-changed:
		case <-f.crowd.Ended:
			return errors.New("the crowd has ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitCalm waits until nothing of what was measured before goes on: for settling, every robot is connected and online. Otherwise
// the next figure would be one of a fleet that still recovers.
func (f *fleet) awaitCalm(ctx context.Context) error {
	calm := time.Now()
	for end := calm.Add(fleetLimit); ; {
		asked := time.Now()
		list, err := f.fleetd.api.robots(ctx)
		if err != nil {
			return err
		}
		connected := f.counts()["connected"]
		restless := connected != strconv.Itoa(f.size) || len(list) != f.size
		statuses := map[string]int{}
		for _, one := range list {
			statuses[one.Presence.Status]++
			restless = restless || one.Presence.Status != "online"
		}
		switch {
		case restless && asked.After(end):
			return fmt.Errorf("%w: the fleet does not become calm within %v: %s of %d robots are connected, and fleetd counts %v", errLost,
				fleetLimit, connected, f.size, statuses)
		case restless:
			calm = time.Now()
		case time.Since(calm) >= settling:
			return nil
		}
		if err := sleep(ctx, max(500*time.Millisecond, 4*time.Since(asked))); err != nil { // asking must not be most of fleetd's work
			return err
		}
	}
}

// liveStopAt returns when the last robot received the newest live stop. sent is before it.
func (f *fleet) liveStopAt(ctx context.Context, sent time.Time) (last time.Time, err error) {
	total := -1
	for end := time.Now().Add(fleetLimit); time.Now().Before(end); {
		counts := f.counts()
		at, err := time.Parse("15:04:05.000", counts["stop_last"])
		received, _ := strconv.Atoi(counts["live_stops"])
		if err == nil {
			y, m, d := sent.UTC().Date()
			at = at.AddDate(y, int(m)-1, d-1)
			if at.Before(sent.Add(-time.Hour)) {
				at = at.AddDate(0, 0, 1) // it was sent before midnight
			}
			if !at.Before(sent.Truncate(time.Millisecond)) && received == total {
				return at, nil
			}
		}
		total = received
		if err := sleep(ctx, 2*countsEvery); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, fmt.Errorf("%w: no robot received the live stop", errLost)
}
