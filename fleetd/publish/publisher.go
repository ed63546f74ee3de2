package publish

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Deps is what a Publisher needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	Leads     func() bool
	// Writer is the leader's connection; nil: this instance does not lead now.
	Writer  func() Writer
	Failed  func(what string, err error) // the database did not do what was asked of it
	Robots  Robots
	Send    func(ctx context.Context, c command.Command) // to a robot
	Changed func(ctx context.Context)                    // makes a transaction known
}

// Writer is the connection on which the leader writes.
type Writer interface {
	Up() bool
	PublishWait(ctx context.Context, m link.Message) error
}

// Robots are the robots as far as they differ from what is desired of them.
type Robots interface {
	Behind(now time.Time) []string
	Lacking(desired map[string]map[schema.TopicKind]int64, now time.Time) []string
	Overtaken(revs map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string
}

// Store is the database with what is to be published.
type Store interface {
	Unsent(ctx context.Context, limit int) ([]store.Outgoing, error)
	MarkSent(ctx context.Context, seqs []int64, now time.Time) error
	Desired(ctx context.Context) ([]store.Outgoing, error)
	DesiredRevs(ctx context.Context) (map[string]map[schema.TopicKind]int64, error)
	Blob(ctx context.Context, sha256 string) ([]byte, error)
	File(ctx context.Context, sha256 string) (*store.File, error)
	ToldBlob(ctx context.Context, sha256 string) error
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// Publisher publishes what all robots go by: the outbox, blobs once more that robots
// wait for, and desired documents once more that a robot does not report on.
type Publisher struct {
	outbox *outbox
	blobs  *blobs
	drift  *driftChecker
}

func New(d Deps) *Publisher {
	o := newOutbox(d)
	return &Publisher{
		outbox: o,
		blobs:  &blobs{deps: d, outbox: o, at: map[waiting]fetching{}},
		drift:  &driftChecker{deps: d, outbox: o, outdone: renumberBackoff{}, behind: renumberBackoff{}},
	}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context, db Store) {
	var all sync.WaitGroup
	all.Go(func() { p.outbox.run(ctx, db) })
	all.Go(func() { p.blobs.run(ctx, db) })
	all.Go(func() { p.drift.run(ctx, db) })
	all.Wait()
}

// Wake has the outbox looked at, since a transaction has put something there.
func (p *Publisher) Wake() { signal(p.outbox.wake) }

// Again has all published anew, since the leader's connection is another one.
func (p *Publisher) Again() { signal(p.outbox.again) }

// Say publishes one more document soon.
func (p *Publisher) Say(m link.Message) { p.outbox.say(m) }

// Reported takes in how far a robot is with a story or a set, and which blob it fetches.
func (p *Publisher) Reported(robot string, on schema.TopicKind, phase schema.DeployPhase, digest string, now time.Time) {
	p.blobs.reported(waiting{robot, on}, phase, digest, now)
}

// signal wakes whoever waits at c; it waits for nothing.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
