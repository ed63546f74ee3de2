package api

import (
	"context"
	"crypto/sha256"
	"time"

	"troupe/fleetd/ca"
	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Instance is the running fleetd behind the API.
type Fleet interface {
	Now() time.Time
	Status() Status

	// Store is the database, or why there is none now.
	Store() (*store.Store, error)
	// CheckDatabase and CheckDisk write, change nothing, and say what stands in the way:
	// of the database, and of this machine's disk, where stops wait for it.
	CheckDatabase(ctx context.Context) error
	CheckDisk() error
	// Changed makes a committed transaction known: to what is shown, and to the
	// sender of desired documents.
	Changed(ctx context.Context)

	Robots() []Robot
	Robot(id string) (Detail, bool)
	// Document is the newest of that kind that a robot told, as its exact bytes;
	// empty where there is none.
	Document(robot string, kind schema.TopicKind) []byte
	Watch() Watch
	// Catalogue is what the bodies of the fleet's robots can play and show.
	Catalogue() library.Catalogue

	// Issuer is what certificates are issued with, or why none are.
	Issuer() (Issuer, error)
	// Leaving says what the decommission of a robot waits for; empty = for nothing.
	Leaving(robot string) string
	// Orphans are the retained documents of robots that the database does not know.
	Orphans() []Orphan

	// TakenBy says who goes by a name, so that no robot can; empty: nobody.
	TakenBy(name string) string

	Adopt(ctx context.Context, id string) error

	// Targets are the robots that a selector means, and the names in it that are
	// no robots of the fleet. A stop means also robots that nobody knows.
	Targets(s selector.Selector, stop bool) (targets []command.Target, unknownRobots []string)
	// Issue sets commands on their way: a stop is sent first and persisted
	// after, everything else the other way round.
	Issue(ctx context.Context, b command.Batch, commands []command.Command, stop bool) (Ticket, error)

	// CallOff ends a command that was not sent to its robot yet, and reports whether
	// it was so.
	CallOff(ctx context.Context, id string) bool

	// Labelled reports whether the robots' labels are known: before the database was
	// read, robots themselves have to tell whether a label means them.
	Labelled() bool
	// Hold sends a stop and holds it. The ticket is there also with an error, which
	// says that fleetd's own disk did not take it.
	Hold(ctx context.Context, o stop.Order, b command.Batch, commands []command.Command) (Ticket, error)
	// HeldComplete reports whether Held lists every stop that the database has; before
	// it was read, or when it cannot be read, some may be missing.
	HeldComplete() bool
	// Latched lists the latched stops; Release releases some, all or none.
	Latched() []LatchedStop
	Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error)
}

// Issuer is what a robot is enrolled with.
type Issuer struct {
	*ca.Authority
	URL         string            // where robots ask
	Fingerprint [sha256.Size]byte // of the certificate that they find there
	Brokers     []string          // where they are to connect
	TrustKeys   []string          // by which fleetd's desired documents and releases are signed
}

// Ticket is a batch on its way.
type Ticket interface {
	Commands() []command.Command
	Settled() <-chan struct{}
	Persisted() bool
}

// Watch tells of changes of robots.
type Watch interface {
	// Next waits for changes and returns the newest line of each robot that
	// changed; none when atMost has passed without a change.
	Next(ctx context.Context, atMost time.Duration) ([]Robot, error)
	Close()
}
