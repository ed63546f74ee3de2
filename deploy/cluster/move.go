package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"troupe/deploy/launch"
)

// move has the whole fleet on Troupe's broker, and then moves it to NATS as docs/cluster.md says: an instance of fleetd first, which
// has to lead then, then one robot after the other, then the last instance. Stops are given all the while, to either instance in turn.
func (f *fleet) move(ctx context.Context) error {
	broker, err := f.startOldBroker(ctx)
	if err != nil {
		return err
	}
	defer broker.Kill()
	for _, p := range slices.Concat(f.robots, f.fleetd) {
		p.End()
		f.old[p.Name] = true
	}
	for _, name := range []string{"fleetd-a", "fleetd-b"} {
		if err := f.startFleetd(ctx, name); err != nil {
			return err
		}
	}
	for i := range f.robots {
		if err := f.startRobot(i); err != nil {
			return err
		}
	}
	if err := f.await(ctx, startLimit, "online", isOnline, len(f.robots)); err != nil {
		return err
	}
	f.say("%d robots and both instances of fleetd are on Troupe's broker", len(f.robots))
	delete(f.old, "fleetd-b")
	if err := f.restartFleetd(ctx, "fleetd-b"); err != nil {
		return err
	}
	f.fleetd[0].End() // so that the other one leads
	if err := f.awaitLead(ctx, 1); err != nil {
		return err
	}
	if err := f.startFleetd(ctx, "fleetd-a"); err != nil {
		return err
	}
	f.say("fleetd-b is at NATS, and leads; fleetd-a is at Troupe's broker")
	var names []string // startRobot replaces the programs meanwhile
	for _, p := range f.robots {
		names = append(names, p.Name)
	}
	lost := 0
	try := func(at int, when string) error {
		missing, err := f.stopAndRelease(ctx, names, at, when)
		lost += missing
		return err
	}
	if err := try(0, "before the first robot moves"); err != nil {
		return err
	}
	for i, p := range f.robots {
		p.End()
		delete(f.old, p.Name)
		// A stop for a fleet of which a robot just starts, at each instance in turn.
		if i%5 == 2 {
			stopped := make(chan error, 1)
			go func() { stopped <- try(i%2, fmt.Sprintf("while %s, the robot number %d, restarts", p.Name, i+1)) }()
			if err := sleep(ctx, 200*time.Millisecond); err != nil {
				return err
			}
			if err := f.startRobot(i); err != nil {
				return err
			}
			if err := <-stopped; err != nil {
				return err
			}
			continue
		}
		if err := f.startRobot(i); err != nil {
			return err
		}
	}
	if err := try(1, "after the last robot has moved"); err != nil {
		return err
	}
	delete(f.old, "fleetd-a")
	if err := f.restartFleetd(ctx, "fleetd-a"); err != nil {
		return err
	}
	if err := f.await(ctx, startLimit, "online", isOnline, len(f.robots)); err != nil {
		return err
	}
	if err := try(0, "when all are on NATS"); err != nil {
		return err
	}
	f.say("the fleet has moved; of all stops, %d did not hold a robot within %v", lost, heldWithin)
	return nil
}

func (f *fleet) startOldBroker(ctx context.Context) (*launch.Program, error) {
	at := freeAddress("127.0.0.1")
	p, err := launch.Start(launch.Command{Name: "broker", Path: filepath.Join(f.programs, "broker"), Args: []string{"--dev", "--mqtt", at,
		"--http", ""}})
	if err != nil {
		return nil, err
	}
	f.oldBroker = "mqtt://" + at
	if _, err = p.Ready(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// restartFleetd restarts an instance, perhaps at the other broker. The other one sends stops meanwhile.
func (f *fleet) restartFleetd(ctx context.Context, name string) error {
	p, err := f.program(name)
	if err != nil {
		return err
	}
	p.End()
	return f.startFleetd(ctx, name)
}

// awaitLead waits until an instance says that it leads.
func (f *fleet) awaitLead(ctx context.Context, at int) error {
	for end := time.Now().Add(startLimit); ; {
		text, err := f.ctlAt(ctx, at, "version")
		if strings.Contains(text, "leader: this instance") {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not lead (%w): %s", f.fleetd[at].Name, err, text)
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// heldWithin is how long a robot may take to hold a stop. One that restarts takes as long as that.
const heldWithin = 15 * time.Second

var stopName = regexp.MustCompile(`stop-[0-9]{6}-[0-9]{6}-[0-9a-f]{4}`)

// stopAndRelease stops all robots at an instance, says how many of those names hold the stop, and releases it. It returns how many do
// not.
func (f *fleet) stopAndRelease(ctx context.Context, robots []string, at int, when string) (missing int, err error) {
	began := time.Now()
	text, _ := f.ctlAt(ctx, at, "stop", "--all", "--why", "move") // robots of the other broker do not answer
	id := stopName.FindString(text)
	if id == "" {
		return 0, fmt.Errorf("%s: there is no stop: %s", when, text)
	}
	var missed []string
	var last time.Duration
	for end := began.Add(heldWithin); ; {
		missed = nil
		for _, name := range robots {
			if held := f.logLines(name, began, id); len(held) == 0 {
				missed = append(missed, name)
			}
		}
		if last = time.Since(began); len(missed) == 0 || time.Now().After(end) {
			break
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
	f.say("%s, at %s: %d of %d robots hold the stop after %.1f s%s", when, f.fleetd[at].Name, len(robots)-len(missed), len(robots),
		last.Seconds(),
		strings.Join(append([]string{""}, missed...), " NOT:"))
	if _, err := f.ctlAt(ctx, at, "stop", "release", id, "--why", "moved"); err != nil {
		return len(missed), err
	}
	return len(missed), nil
}
