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

// Fleet is the running fleetd instance behind the API.
type Fleet interface {
	Now() time.Time
	Status() Status

	// Store returns the database, or an error while it is not open.
	Store() (*store.Store, error)
	// CheckDatabase and CheckDisk report whether the database, and the disk with the spool
	// of stops, accept writes. They write without changing data.
	CheckDatabase(ctx context.Context) error
	CheckDisk() error
	// Changed must be called after a transaction: it updates the view of robots and wakes
	// the publisher of desired documents.
	Changed(ctx context.Context)

	Robots() []Robot
	Robot(id string) (Detail, bool)
	// Document returns the exact bytes of the newest document of that kind that the robot
	// published, empty if there is none.
	Document(robot string, kind schema.TopicKind) []byte
	Watch() Watch
	// Catalogue lists the sounds and faces that the fleet's robots have.
	Catalogue() library.Catalogue

	// Issuer returns what is needed to issue certificates, or why this instance cannot.
	Issuer() (Issuer, error)
	// Leaving says what the decommission of a robot waits for; empty = nothing.
	Leaving(robot string) string
	// Orphans lists the retained documents of robots that are not in the database.
	Orphans() []Orphan

	// TakenBy says who uses a name, so that a robot cannot; empty = nobody.
	TakenBy(name string) string

	Adopt(ctx context.Context, id string) error

	// Targets returns the robots that match a selector, and the names in it that are no
	// robots of the fleet. For a stop, named robots are targets even if they are unknown.
	Targets(s selector.Selector, stop bool) (targets []command.Target, unknownRobots []string)
	// Issue sends commands. A stop is sent before it is persisted, everything else after.
	Issue(ctx context.Context, b command.Batch, commands []command.Command, stop bool) (Ticket, error)

	// CallOff cancels a command if it was not sent to its robot yet, and reports whether
	// it did.
	CallOff(ctx context.Context, id string) bool

	// Labelled reports whether the robots' labels are known. Before the database was read
	// they are not, and each robot checks itself whether a stop's labels match.
	Labelled() bool
	// Hold sends a stop and latches it. An error says that fleetd could not write it to its
	// disk; the ticket is valid also then.
	Hold(ctx context.Context, o stop.Order, b command.Batch, commands []command.Command) (Ticket, error)
	// HeldComplete reports whether Latched lists every latched stop. Until the database was
	// read, some may be missing.
	HeldComplete() bool
	// Latched lists the latched stops. Release releases stops by their ids, all or none.
	Latched() []LatchedStop
	Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error)
}

// Issuer is what the enrolment of robots needs.
type Issuer struct {
	*ca.Authority
	URL         string            // address for enrolment
	Fingerprint [sha256.Size]byte // of the server certificate at URL
	Brokers     []string          // for robots to connect to
	TrustKeys   []string          // public keys of desired documents and releases
}

// Ticket tracks a batch in progress.
type Ticket interface {
	Commands() []command.Command
	Settled() <-chan struct{}
	Persisted() bool
}

// Watch reports changes of robots.
type Watch interface {
	// Next waits for changes and returns the newest summary of each robot that changed;
	// none if atMost passes without a change.
	Next(ctx context.Context, atMost time.Duration) ([]Robot, error)
	Close()
}
