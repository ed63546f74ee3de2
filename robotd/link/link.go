// Package link watches whether an operator can reach the robot.
//
// An operator is whoever sends an authenticated heartbeat: a fleetd instance, or somebody
// at the robot's own page. A broker that answers is not enough, for nobody might
// be behind it. The link is lost after a plain silence, and also when many short
// silences add up: each one that is longer than a late heartbeat counts in full
// against a budget, which fills again at a quarter of that speed.
//
// A robot that never heard an operator has lost none, unless somebody enabled it
// over a connection that is gone: then the silence counts from there. What a loss means is not
// decided here: each mode has its own patience. Time is counted from boot and is
// an argument; State is comparable.
package link

import (
	"time"

	"troupe/schema"
	"troupe/schema/fsm"
)

// Config says how patient the watch is.
type Config struct {
	Period   time.Duration // between two heartbeats; half of it again is merely late
	Degraded time.Duration // of silence
	Lost     time.Duration // of plain silence; also the budget for many short ones
}

// Defaults fit heartbeats once a second.
func Defaults() Config {
	return Config{Period: time.Second, Degraded: 2 * time.Second, Lost: 5 * time.Second}
}

// Event is what the watch notices.
type Event string

// The events.
const (
	OnFirst    Event = "first-heartbeat"
	OnSilent   Event = "silent"
	OnSteady   Event = "steady"
	OnDrained  Event = "budget-drained"
	OnReturned Event = "returned"
	OnParted   Event = "parted"
	OnJoined   Event = "joined"
)

// States lists every state.
var States = []schema.LinkState{schema.LinkNever, schema.LinkUp, schema.LinkDegraded, schema.LinkLost}

// Table is the link as the robot sees it.
var Table = fsm.Table[schema.LinkState, Event]{
	{From: fsm.In(schema.LinkNever), On: OnFirst, To: schema.LinkUp, Why: "an operator was heard for the first time since boot"},
	{From: fsm.In(schema.LinkUp), On: OnSilent, To: schema.LinkDegraded, Why: "the next heartbeat is overdue"},
	{From: fsm.In(schema.LinkDegraded), On: OnSteady, To: schema.LinkUp, Why: "heartbeats arrive in time again"},
	{From: fsm.In(schema.LinkUp, schema.LinkDegraded), On: OnDrained, To: schema.LinkLost, Why: "no operator was heard for too long, at once or in pieces"},
	{From: fsm.In(schema.LinkNever), On: OnParted, To: schema.LinkDegraded, Why: "the connection over which somebody enabled the robot is gone, and no operator was ever heard"},
	{From: fsm.In(schema.LinkDegraded, schema.LinkLost), On: OnJoined, To: schema.LinkNever, Why: "that connection is there again, and still no operator was heard"},
	{From: fsm.In(schema.LinkLost), On: OnReturned, To: schema.LinkDegraded, Why: "an operator is heard again; one heartbeat is not a link yet"},
}

// State is what the watch remembers.
type State struct {
	At     schema.LinkState
	Since  time.Duration // when At was entered
	Last   time.Duration // when an operator was heard last
	Client string        // who that was
	Outage Outage        // the newest

	spent  time.Duration // of the budget, as of Last
	parted bool          // nobody was ever heard; the silence counts from a lost connection
}

// Outage is one loss of the link. The zero value is none.
type Outage struct {
	From time.Duration // when an operator was heard last before it
	To   time.Duration // when one was heard again
	Over bool          // To holds
}

// Boot returns the watch of a robot that has just started.
func Boot() State { return State{At: schema.LinkNever} }

// Decision is what one step came to.
type Decision struct {
	Changed  bool
	From, To schema.LinkState
	On       Event
	Why      string
	Silence  time.Duration // before this heartbeat, or until now
}

// Heard takes a heartbeat.
func Heard(s *State, now time.Duration, c Config, client string) Decision {
	s.parted = false
	gap := now - s.Last
	d := Decision{From: s.At, To: s.At, Silence: gap}
	late := gap > c.late()
	switch {
	case s.At == schema.LinkNever:
		d.Silence = 0
		s.take(now, OnFirst, &d)
	case s.At == schema.LinkLost:
		// Half of the budget is left: whoever falls silent again now is lost sooner.
		s.spent = c.Lost / 2
		s.take(now, OnReturned, &d)
	case late && s.spent+gap >= c.Lost: // no tick has seen the loss
		s.spent = c.Lost / 2
		s.take(now, OnDrained, &d)
	case late:
		s.spent += gap
	default:
		s.spent = max(0, s.spent-gap/4)
		s.take(now, OnSteady, &d)
	}
	s.Last, s.Client = now, client
	return d
}

// Parted says that the only way on which somebody had reached the robot is gone.
// It matters where no operator was ever heard.
func Parted(s *State, now time.Duration) Decision {
	d := Decision{From: s.At, To: s.At}
	if s.At == schema.LinkNever {
		s.take(now, OnParted, &d)
		s.Last, s.parted = now, true
	}
	return d
}

// Joined says that this way is there again.
func Joined(s *State, now time.Duration) Decision {
	d := Decision{From: s.At, To: s.At, Silence: now - s.Last}
	if s.parted {
		s.take(now, OnJoined, &d)
		s.parted, s.spent = false, 0
	}
	return d
}

// Tick looks at the silence that lasts.
func Tick(s *State, now time.Duration, c Config) Decision {
	gap := now - s.Last
	d := Decision{From: s.At, To: s.At, Silence: gap}
	switch {
	case gap > c.late() && s.spent+gap >= c.Lost:
		s.take(now, OnDrained, &d)
	case gap >= c.Degraded:
		s.take(now, OnSilent, &d)
	}
	return d
}

// LostFor is how long nobody can be relied on to reach the robot; zero while the
// link is not lost. It begins with the patience that a plain silence has used
// up, so that a mode compares it with its own.
func LostFor(s State, now time.Duration, c Config) time.Duration {
	if s.At != schema.LinkLost {
		return 0
	}
	return c.Lost + now - s.Since
}

// Left is how much more silence makes a loss, with the silence that lasts counted
// in: from c.Lost down to zero, which is a loss.
func Left(s State, now time.Duration, c Config) time.Duration {
	spent := s.spent
	if gap := now - s.Last; gap > c.late() {
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

func (s *State) take(now time.Duration, on Event, d *Decision) {
	row, ok := Table.Next(s.At, on)
	if !ok {
		return
	}
	d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
	switch {
	case row.To == schema.LinkLost:
		s.Outage = Outage{From: s.Last}
	case s.At == schema.LinkLost:
		s.Outage.To, s.Outage.Over = now, true
	}
	s.At, s.Since = row.To, now
}

func (c Config) late() time.Duration { return c.Period + c.Period/2 }
