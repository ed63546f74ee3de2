// Package operatorlink takes in the heartbeats of fleetd and of consoles, and other signs of
// the state of their connection: whether operators can reach the robot through fleetd or through a console at
// the robot, such as its own page, the fleet's time, who the fleetd instances are, and how late a
// message may be.
//
// These send authenticated heartbeats; people and other clients do not. A broker that
// answers is not enough, since neither fleetd nor a console may be connected to it.
// The link is lost after one long silence, and also when many short silences add up:
// each silence longer than a late heartbeat counts in full against a budget, which
// refills at a quarter of that speed while heartbeats are in time.
//
// A robot that has received no heartbeat since boot has lost no link, unless it was
// enabled over a connection that is gone; then the silence starts there. Each mode
// decides what a loss means, with a timeout of its own. Time is counted from boot
// and is an argument; Link is comparable.
package operatorlink

import (
	"time"

	"troupe/schema"
	"troupe/schema/fsm"
)

// Config contains the time limits.
type Config struct {
	Period   time.Duration // between two heartbeats; up to 1.5 periods are in time
	Degraded time.Duration // silence after which the link is degraded
	Lost     time.Duration // silence after which it is lost; also the budget for short silences
	Brokers  int           // to which the robot may connect; 0 counts as 1
	Spread   float64       // from 0 to 1, different from robot to robot
}

// Defaults fit heartbeats once a second.
func Defaults() Config {
	return Config{Period: time.Second, Degraded: 2 * time.Second, Lost: 5 * time.Second}
}

// Event is what happened to the link.
type Event string

// The events.
const (
	OnFirst              Event = "first-heartbeat"
	OnSilent             Event = "silent"
	OnSteady             Event = "steady"
	OnDrained            Event = "budget-drained"
	OnReturned           Event = "returned"
	OnConnectionLost     Event = "connection-lost"
	OnConnectionRestored Event = "connection-restored"
)

// States lists every state.
var States = []schema.LinkState{schema.LinkNever, schema.LinkUp, schema.LinkDegraded, schema.LinkLost}

// Table lists the transitions of the link.
var Table = fsm.Table[schema.LinkState, Event]{
	{From: fsm.In(schema.LinkNever), On: OnFirst, To: schema.LinkUp, Why: "the first heartbeat since boot arrived"},
	{From: fsm.In(schema.LinkUp), On: OnSilent, To: schema.LinkDegraded, Why: "the next heartbeat is overdue"},
	{From: fsm.In(schema.LinkDegraded), On: OnSteady, To: schema.LinkUp, Why: "heartbeats arrive in time again"},
	{From: fsm.In(schema.LinkUp, schema.LinkDegraded), On: OnDrained, To: schema.LinkLost,
		Why: "heartbeats were missing for too long, at once or in pieces"},
	{From: fsm.In(schema.LinkNever), On: OnConnectionLost, To: schema.LinkDegraded,
		Why: "the connection ended while the robot was not DISABLED, and no heartbeat has arrived since boot"},
	{From: fsm.In(schema.LinkDegraded, schema.LinkLost), On: OnConnectionRestored, To: schema.LinkNever,
		Why: "that connection is back, and still no heartbeat has arrived"},
	{From: fsm.In(schema.LinkLost), On: OnReturned, To: schema.LinkDegraded, Why: "a heartbeat arrived; one heartbeat is not a link yet"},
}

// Link is the state of the link.
type Link struct {
	At            schema.LinkState
	Since         time.Duration // when At was entered
	LastHeartbeat time.Duration // when the last heartbeat arrived
	Client        string        // its sender
	Outage        Outage        // the latest

	spentBudget         time.Duration // of the budget, as of LastHeartbeat
	sinceConnectionLoss bool          // there was no heartbeat since boot; LastHeartbeat is when a connection was lost
}

// Outage is one loss of the link. The zero value is none.
type Outage struct {
	From time.Duration // the last heartbeat before it
	To   time.Duration // the first heartbeat after it
	Over bool          // it has ended, and To is set
}

// boot returns the state after boot.
func boot() Link { return Link{At: schema.LinkNever} }

// decision is the result of one step.
type decision struct {
	Changed  bool
	From, To schema.LinkState
	On       Event
	Why      string
	Silence  time.Duration // before this heartbeat, or until now
}

// heartbeat processes a heartbeat.
func (s *Link) heartbeat(now time.Duration, c Config, client string) decision {
	s.sinceConnectionLoss = false
	gap := now - s.LastHeartbeat
	d := decision{From: s.At, To: s.At, Silence: gap}
	late := gap > c.late()
	switch {
	case s.At == schema.LinkNever:
		d.Silence = 0
		s.transition(now, OnFirst, &d)
	case s.At == schema.LinkLost:
		// Only half of the budget is available, so the next silence is a loss sooner.
		s.spentBudget = c.Lost / 2
		s.transition(now, OnReturned, &d)
	case late && s.spentBudget+gap >= c.Lost: // the loss happened between two ticks
		s.spentBudget = c.Lost / 2
		s.transition(now, OnDrained, &d)
	case late:
		s.spentBudget += gap
	default:
		s.spentBudget = max(0, s.spentBudget-gap/4)
		s.transition(now, OnSteady, &d)
	}
	s.LastHeartbeat, s.Client = now, client
	return d
}

// connectionLost reports that the connection ended while the robot was not DISABLED. It
// has an effect only if no heartbeat has arrived since boot.
func (s *Link) connectionLost(now time.Duration) decision {
	d := decision{From: s.At, To: s.At}
	if s.At == schema.LinkNever {
		s.transition(now, OnConnectionLost, &d)
		s.LastHeartbeat, s.sinceConnectionLoss = now, true
	}
	return d
}

// connectionRestored reports that this connection is back.
func (s *Link) connectionRestored(now time.Duration) decision {
	d := decision{From: s.At, To: s.At, Silence: now - s.LastHeartbeat}
	if s.sinceConnectionLoss {
		s.transition(now, OnConnectionRestored, &d)
		s.sinceConnectionLoss, s.spentBudget = false, 0
	}
	return d
}

// tick checks the current silence.
func (s *Link) tick(now time.Duration, c Config) decision {
	gap := now - s.LastHeartbeat
	d := decision{From: s.At, To: s.At, Silence: gap}
	switch {
	case gap > c.late() && s.spentBudget+gap >= c.Lost:
		s.transition(now, OnDrained, &d)
	case gap >= c.Degraded:
		s.transition(now, OnSilent, &d)
	}
	return d
}

// lostFor returns for how long the link has been lost, including the silence
// (c.Lost) before the loss, so that a mode can compare it with its own timeout. It
// is zero while the link is not lost.
func (s *Link) lostFor(now time.Duration, c Config) time.Duration {
	if s.At != schema.LinkLost {
		return 0
	}
	return c.Lost + now - s.Since
}

// remaining returns after how much more silence the link is lost: from c.Lost down to
// zero when it is lost.
func (s *Link) remaining(now time.Duration, c Config) time.Duration {
	spent := s.spentBudget
	if gap := now - s.LastHeartbeat; gap > c.late() {
		spent += gap
	}
	switch s.At {
	case schema.LinkNever:
		return c.Lost
	case schema.LinkLost:
		return 0
	}
	return max(0, c.Lost-spent)
}

// transition changes the state if the table has a row for the event.
func (s *Link) transition(now time.Duration, on Event, d *decision) {
	row, ok := Table.Next(s.At, on)
	if !ok {
		return
	}
	d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
	switch {
	case row.To == schema.LinkLost:
		s.Outage = Outage{From: s.LastHeartbeat}
	case s.At == schema.LinkLost:
		s.Outage.To, s.Outage.Over = now, true
	}
	s.At, s.Since = row.To, now
}

func (c Config) late() time.Duration { return c.Period + c.Period/2 }
