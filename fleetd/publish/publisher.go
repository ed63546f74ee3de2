package publish

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/selector"
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
	// Writer is the leader's connection; nil if this instance is not the leader now.
	Writer  func() Writer
	Failed  func(what string, err error) // records a failure of the database
	Robots  Robots
	Send    func(ctx context.Context, c command.Command) // to a robot
	Changed func(ctx context.Context, robots []string)   // announces a committed transaction that touched these robots
	// BeforePart is for tests, which let parts start late: if not nil, the goroutine of each part
	// calls it before the part begins.
	BeforePart func(part string)
}

// Writer is the connection on which the leader writes.
type Writer interface {
	Up() bool
	// PublishAsync publishes m and returns a function that waits for the broker's
	// acknowledgement.
	PublishAsync(ctx context.Context, m link.Message) (wait func(context.Context) error, err error)
}

// Robots says which robots are reachable, and lists those whose state is missing, or that differ
// from what is desired of them.
type Robots interface {
	Reachable(robot string) bool
	StatesOutdated(now time.Time) []string
	NotConverged(desired map[string]map[schema.TopicKind]int64, now time.Time) []string
	Overtaken(revs map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string
}

// Store is the part of the database with what is to be published.
type Store interface {
	Unsent(ctx context.Context, after int64, limit int) ([]store.Outgoing, error)
	UnsentStops(ctx context.Context, after int64, limit int) ([]store.Outgoing, error)
	UnsentOf(ctx context.Context, target string, after, upTo int64, limit int) ([]store.Outgoing, error)
	MarkSent(ctx context.Context, seqs []int64, now time.Time) error
	RetainedDocuments(ctx context.Context) ([]store.Outgoing, error)
	DesiredDocuments(ctx context.Context, robots selector.Selector) ([]store.Outgoing, error)
	DesiredRevs(ctx context.Context) (map[string]map[schema.TopicKind]int64, error)
	Blob(ctx context.Context, sha256 string) ([]byte, error)
	File(ctx context.Context, sha256 string) (*store.File, error)
	RecordPublishedBlob(ctx context.Context, sha256 string) error
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// Publisher publishes the leader's documents: the outbox, blobs again that robots wait for,
// and desired documents again that a robot does not report.
type Publisher struct {
	outbox *outboxPublisher
	blobs  *blobs
	drift  *driftChecker
	before func(part string)
}

// New makes a publisher.
func New(d Deps) *Publisher {
	o := newOutboxPublisher(d)
	if d.BeforePart == nil {
		d.BeforePart = func(string) {}
	}
	return &Publisher{
		before: d.BeforePart,
		outbox: o,
		blobs:  &blobs{deps: d, outbox: o, at: map[reportKey]fetching{}},
		drift:  &driftChecker{deps: d, outbox: o, renumbered: backoff{}, askedForState: backoff{}},
	}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context, db Store) {
	var all sync.WaitGroup
	for part, run := range map[string]func(context.Context, Store){"outbox": p.outbox.run, "blobs": p.blobs.run, "drift": p.drift.run} {
		all.Go(func() {
			p.before(part)
			run(ctx, db)
		})
	}
	all.Wait()
}

// Wake has the outbox read, since a transaction has put something there.
func (p *Publisher) Wake() { signal(p.outbox.wake) }

// PublishAll publishes everything again, since the leader's connection is a new one.
func (p *Publisher) PublishAll() { signal(p.outbox.reconnected) }

// Enqueue queues one more document.
func (p *Publisher) Enqueue(m link.Message) { p.outbox.enqueue(m) }

// Reported records how far a robot is with a story or a set, and which blob it fetches.
func (p *Publisher) Reported(robot string, on schema.TopicKind, phase schema.DeployPhase, digest string, now time.Time) {
	p.blobs.reported(reportKey{robot, on}, phase, digest, now)
}

// signal wakes the goroutine that waits at c; it does not block.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
