package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"troupe/deploy/launch"
	"troupe/schema"
)

var roundTripBenches = []bench{{
	Name: "rtt",
	What: "one command at a time: from publish to the robot's answer, over MQTT with QoS 1",
	Floor: "a robot that only answers, over the same broker (echo), over the broker's library alone (mochi) and over Mosquitto; " +
		"for what robotd persists first, an echo that syncs a file",
	Quick: false,
	Run:   roundTrips,
}}

// The robots of this bench: robotd twice, because one stays in its mode and the other changes it, and robots that
// only answer.
const (
	steadyRobot   = "r1"
	changingRobot = "r2"
	echoRobot     = "e1"
	syncRobot     = "e2"
)

// statePace is a little more than the interval of a robot's states: an answer comes after the state that shows its effect, and a
// robot publishes ten of them a second, and twenty at once.
const statePace = 110 * time.Millisecond

func roundTrips(ctx context.Context, r *run) error {
	ours, err := r.startBroker(ctx, "127.0.0.1:0", operatorUsers(steadyRobot, changingRobot, echoRobot, syncRobot)...)
	if err != nil {
		return err
	}
	mochi, err := r.startMochi(ctx)
	if err != nil {
		return err
	}
	mosquitto, err := r.startMosquitto(ctx)
	if err != nil {
		return err
	}
	robots := map[string]*launch.Program{}
	for _, id := range []string{steadyRobot, changingRobot} {
		if robots[id], err = r.startRobot(ctx, id, ours.addr, "--modes", "follow"); err != nil {
			return err
		}
	}
	journal, err := os.OpenFile(r.path("journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal of the echo: %w", err)
	}
	r.atEnd(func() { _ = journal.Close() }) // it was only written for the time that it takes
	for _, e := range []struct {
		addr, robot string
		file        *os.File
	}{{ours.addr, echoRobot, nil}, {ours.addr, syncRobot, journal}, {mochi.addr, echoRobot, nil}, {mosquitto.addr, echoRobot, nil}} {
		if err := r.startEcho(e.addr, e.robot, e.file); err != nil {
			return err
		}
	}
	ask := map[string]*requester{}
	for _, q := range []struct{ arm, addr, robot string }{
		{"steady", ours.addr, steadyRobot}, {"changing", ours.addr, changingRobot}, {"echo", ours.addr, echoRobot},
		{"sync", ours.addr, syncRobot},
		{"mochi", mochi.addr, echoRobot}, {"mosquitto", mosquitto.addr, echoRobot},
	} {
		if ask[q.arm], err = r.newRequester(q.addr, q.robot, q.arm, operators); err != nil {
			return err
		}
	}
	for _, which := range []string{"steady", "changing"} {
		if err := awaitManual(ctx, ask[which]); err != nil {
			return err
		}
	}
	peer, err := r.startVDA(ctx, mosquitto.addr)
	if err != nil {
		return err
	}
	of := func(which, verb string, args ...string) func(context.Context) (sample, error) {
		sent := 0
		return func(ctx context.Context) (sample, error) {
			sent++
			return ask[which].ask(ctx, verb, args[sent%len(args)])
		}
	}
	mnl, follow := `{"mode":"mnl"}`, `{"mode":"follow"}`
	pauses := 0
	return r.alternate(ctx, turns{warm: 40, rounds: r.size(12, 3), samples: 40},
		arm{name: "echo", of: "echo, mochi", programs: []*launch.Program{ours.Program}, sample: of("echo", "sys/ping", "")},
		arm{name: "ping", of: "echo", goal: 1.5, programs: []*launch.Program{ours.Program, robots[steadyRobot]},
			sample: of("steady", "sys/ping", "")},
		arm{name: "echo after fdatasync", programs: []*launch.Program{ours.Program}, sample: of("sync", "mode/set", mnl)},
		arm{name: "mode/set, unchanged", of: "echo after fdatasync", goal: 1.5, programs: []*launch.Program{ours.Program, robots[steadyRobot]},
			sample: of("steady", "mode/set", mnl)},
		arm{name: "mode/pause and mode/resume", of: "echo after fdatasync", goal: 1.5, pace: statePace, programs: []*launch.Program{ours.Program,
			robots[changingRobot]},
			sample: func(ctx context.Context) (sample, error) {
				pauses++
				return ask["changing"].ask(ctx, []string{"mode/resume", "mode/pause"}[pauses%2], "")
			}},
		arm{name: "mode/set, changing", of: "echo after fdatasync", goal: 1.5, pace: statePace, programs: []*launch.Program{ours.Program,
			robots[changingRobot]},
			sample: of("changing", "mode/set", mnl, follow)},
		arm{name: "echo, mochi", programs: []*launch.Program{mochi.Program}, sample: of("mochi", "sys/ping", "")},
		arm{name: "echo, mosquitto", programs: []*launch.Program{mosquitto.Program}, sample: of("mosquitto", "sys/ping", "")},
		peer,
	)
}

// awaitManual waits until a robot that has just started can be set to mode mnl.
func awaitManual(ctx context.Context, q *requester) error {
	for end := time.Now().Add(launch.StartLimit); ; {
		s, err := q.ask(ctx, "mode/set", `{"mode":"`+string(schema.ModeMnl)+`"}`)
		if err == nil && s.lost == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("robot %s is not in manual mode %v after its start: %w", q.robot, launch.StartLimit, err)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
