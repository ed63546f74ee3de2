package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/deploy/launch"
)

// promoteAfter is how long the standby waits before it takes over, as the tool that watches over a pair of servers would.
const promoteAfter = 3 * time.Second

// leaderOf begins a name that means the node that leads a stream now.
const leaderOf = "leader-of="

func (f *fleet) kill(ctx context.Context, what string) error {
	if stream, ok := strings.CutPrefix(what, leaderOf); ok {
		n, err := f.leaderOf(ctx, stream)
		if err != nil {
			return err
		}
		what = n.name
	}
	if what == "postgres" {
		if err := f.postgres.KillPrimary(); err != nil {
			return err
		}
		f.say("the primary of Postgres was killed")
		if err := sleep(ctx, promoteAfter); err != nil {
			return err
		}
		if err := f.postgres.Promote(ctx); err != nil {
			return err
		}
		f.say("the standby of Postgres is the primary")
		return nil
	}
	p, err := f.program(what)
	if err != nil {
		return err
	}
	p.Kill()
	f.say("%s was killed", what)
	return nil
}

func (f *fleet) program(name string) (*launch.Program, error) {
	for _, n := range f.nodes {
		if n.name == name {
			return n.program, nil
		}
	}
	all := slices.Concat(f.fleetd, f.robots)
	if i := slices.IndexFunc(all, func(p *launch.Program) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	return nil, fmt.Errorf("nothing is called %s", name)
}

func (f *fleet) restart(ctx context.Context, what string) error {
	p, err := f.program(what)
	if err != nil {
		return err
	}
	if p.Running() {
		return fmt.Errorf("%s runs", what)
	}
	began := time.Now()
	if i := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == what }); i >= 0 {
		if err = f.startNode(f.nodes[i]); err == nil {
			err = f.nodes[i].awaitHealthy(ctx)
		}
	} else {
		err = f.startFleetd(ctx, what)
	}
	if err == nil {
		f.say("%s runs again, and has all there is, after %.1f s", what, time.Since(began).Seconds())
	}
	return err
}

// cut cuts a node off or connects it again.
func (f *fleet) cut(what string, do func(*namespace) error) error {
	i := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == what && n.network != nil })
	if i < 0 {
		return fmt.Errorf("%s has no network of its own: start with --isolate, and name n3", what)
	}
	return do(f.nodes[i].network)
}

// status says who is connected where, who leads what, and how the robots are.
func (f *fleet) status(ctx context.Context) {
	for _, n := range f.nodes {
		if n.program.Running() {
			f.say("%s: clients %s", n.name, strings.Join(slices.Sorted(slices.Values(f.clients(ctx, n))), " "))
		} else {
			f.say("%s does not run", n.name)
		}
	}
	for _, n := range f.nodes {
		f.say("%s leads %s", n.name, strings.Join(f.led(ctx, n), " "))
	}
	rows, err := f.rows(ctx)
	if err != nil {
		f.say("%v", err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Presence.Status+" "+r.Mode+" "+r.Safety]++
	}
	f.say("robots: %v", count)
}

// led are the streams of MQTT, messages, retained documents and sessions, that a node leads.
func (f *fleet) led(ctx context.Context, n *node) (streams []string) {
	for _, stream := range []string{"MQTT_msgs", "MQTT_rmsgs", "MQTT_sess"} {
		if leader, err := f.leaderOf(ctx, stream); err == nil && leader == n {
			streams = append(streams, stream)
		}
	}
	return streams
}
