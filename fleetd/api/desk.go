package api

import (
	"context"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
)

// Desk is the running desk behind the API.
type Desk interface {
	Now() time.Time
	Status() Status

	// Store is the database, or why there is none now.
	Store() (*store.Store, error)
	// Changed makes a committed transaction known: to what is shown, and to the
	// sender of wishes.
	Changed(ctx context.Context)

	Robots() []Robot
	Robot(id string) (Detail, bool)
	Watch() Watch
	Adopt(ctx context.Context, id string) error

	// Targets are the robots that a selector means, and the names in it that are
	// no robots of the fleet. A stop means also robots that nobody knows.
	Targets(s selector.Selector, stop bool) (targets []command.Target, strangers []string)
	// Issue sets commands on their way: a stop is sent first and put on record
	// after, everything else the other way round.
	Issue(ctx context.Context, b command.Batch, commands []command.Command, stop bool) (Ticket, error)
}

// Ticket is a batch on its way.
type Ticket interface {
	Commands() []command.Command
	Settled() <-chan struct{}
	OnRecord() bool
}

// Watch tells of changes of robots.
type Watch interface {
	// Next waits for changes and returns the newest line of each robot that
	// changed; none when atMost has passed without a change.
	Next(ctx context.Context, atMost time.Duration) ([]Robot, error)
	Close()
}
