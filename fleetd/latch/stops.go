package latch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// retryEvery is how often waiting stops are tried again.
	retryEvery = time.Second
	// persistWithin bounds one attempt to persist stops.
	persistWithin = 10 * time.Second
	// spoolAtOnce bounds the live stops that are written to the disk before the owner turns
	// to other events: a stop that a person gives here waits for them.
	spoolAtOnce = 32
	// persistReportedAfter is how long a robot reports a stop that is not persisted before fleetd persists
	// it: the live stop or the request may be about to do so.
	persistReportedAfter = 300 * time.Millisecond
	// reportedFor is how long a robot reports a stop that is not persisted before it is persisted without a look at the database,
	// which does not answer.
	reportedFor = 2 * time.Second
	// releaseArrives is how long a robot reports a released stop before it is persisted again, for this robot only: of a large fleet
	// the release takes a while to arrive at the last one, and what that one says to come back. It is listed at once.
	releaseArrives = time.Minute
	// publishAgainEvery is how often the stops of a robot are published again that it does not report.
	publishAgainEvery = 30 * time.Second
)

// reportedStop is a stop that a robot reports and that is not persisted.
type reportedStop struct {
	since    time.Time // when the robot reported it first
	released bool      // this instance released it, or the database says that it was released
}

// Stops are the latched stops of a fleet. A stop is sent first, then written to this
// machine's disk, and persisted with its documents as soon as the database accepts it; until
// then robots hold it by its id. Live stops of other clients are persisted too, and so are
// stops that robots report and nobody has persisted.
//
// Each instance persists the stops that were given to it. Stops that every instance receives
// are persisted by the leader; the others keep them until they see them in the database,
// because there may be no leader.
//
// One goroutine owns the state (owner.go). It waits for neither the database nor the broker:
// a worker does one database job at a time and returns the result, and a sender sends
// messages in order.
type Stops struct {
	deps   Deps
	spool  *spool.Spool
	mail   mailbox
	out    sender
	relays sender                     // sends stops of other instances
	work   chan func() (after func()) // jobs for the worker
	done   chan func()                // their results, which the owner calls
	ended  chan struct{}              // closed when Run has ended

	list  atomic.Pointer[listing] // snapshot of the state for other goroutines
	fresh atomic.Int64            // when latched was last known to be current, in Unix ns

	readings atomic.Int64 // of the latched stops from the database that have begun

	// Owned by Run.
	waiting       []spool.Entry                          // not persisted yet; N = 0 if not on the disk either
	queued        queuedStops                            // the same, by id
	stopIDs       map[string]map[string]bool             // ids of a client's stops, by client
	latched       []stop.Latch                           // persisted
	newest        int64                                  // number of the reading that latched is from
	latchedOn     map[string]map[string]schema.StopLevel // levels of latched by id, by robot; those of all robots by ""
	loaded        bool                                   // latched was read from the database
	signedAgain   bool                                   // latched was checked for documents to be signed again
	reportedSince map[string]map[string]reportedStop     // by robot and id: stops that it reports and that are not persisted
	// stops that robots reported for the first time, to be persisted after persistReportedAfter
	reportedFirst  []stop.Request
	unspooledLive  []live               // taken out of the mailbox, not handled yet
	queuedJobs     []*exclusiveJob      // wait for the worker
	due            bool                 // persist when the worker is idle
	busy           bool                 // the worker has a job
	removingClient string               // client whose empty message a removal awaits
	removalArrived chan struct{}        // capacity 1: it arrived
	dirty          bool                 // the snapshot is outdated
	replies        []func()             // called after the next snapshot
	notHeld        []string             // robots to which the latched stops are to be published again
	sentLive       map[string]time.Time // when this instance sent the live stop with that id
	releasedAt     map[string]time.Time // when this instance released the stop with that id, less than releaseArrives ago
	publishedAgain map[string]time.Time // when the stops of a robot were published again last, because it did not report them
}

// errEnded is the reason why a request is refused during shutdown.
var errEnded = errors.New("fleetd is shutting down; try again when it runs again")

// Deps is what Stops needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Spool     string // file on this machine where stops wait for the database
	Now       func() time.Time
	// Leads reports whether this instance leads, and AnotherLeads whether another one does.
	Leads, AnotherLeads func() bool
	// Instance reports whether another instance of this fleet has that name.
	Instance        func(name string) bool
	Store           func() (Store, error)        // the database, or the reason why it is unavailable
	Failed          func(what string, err error) // records a failure of the database
	Session         func() string                // of fleetd's own connection
	Publish         func(ctx context.Context, m link.Message) error
	PublishStop     func(ctx context.Context, m link.Message) error // publishes a live stop, which does not wait behind what Publish sends
	Dispatcher      Dispatcher
	Robots          Robots
	Releases        *Releases
	WakeOutbox      func() // has the outbox published
	LiveStopArrived func() // a live stop arrived, which the broker may have retained
}

// Store is the part of the database with stops.
type Store interface {
	SingleInstance() bool
	LatchedStops(ctx context.Context) ([]stop.Latch, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// Dispatcher sends commands.
type Dispatcher interface {
	// Send sends a command, unless it would latch a stop whose release is under way: then it
	// waits for the outcome.
	Send(ctx context.Context, c command.Command)
	// SendNow sends a command even if a release is under way.
	SendNow(ctx context.Context, c command.Command)
	// EndReleased ends the commands for which latchesReleased is true, because they would latch
	// again what was released, and then calls done.
	EndReleased(latchesReleased func(command.Command) bool, done func())
}

// Robots is what Stops asks about robots.
type Robots interface {
	Adopted(robot string) bool
	Reachable(robot string) bool
	Labels(robot string) map[string]string
	// ReportedStops lists the stops with these ids that robots report.
	ReportedStops(ids []string, now time.Time) (ours []stop.Request, elsewhere stop.Elsewhere)
	// NotHeld lists the connected robots that have not reported the stops that are latched for them, by
	// robot and id, for a while.
	NotHeld(latched map[string]map[string]schema.StopLevel, now time.Time) []string
}

// New opens the file on this machine and reads the stops that wait there.
func New(d Deps) (*Stops, error) {
	s := &Stops{
		deps: d, mail: newMailbox(), out: newSender(), relays: newSender(),
		work: make(chan func() func(), 1), done: make(chan func(), 1), ended: make(chan struct{}),
		removalArrived: make(chan struct{}, 1), stopIDs: map[string]map[string]bool{}, latchedOn: map[string]map[string]schema.StopLevel{},
		sentLive: map[string]time.Time{}, releasedAt: map[string]time.Time{}, reportedSince: map[string]map[string]reportedStop{},
		due: true, dirty: true,
	}
	var err error
	s.spool, s.waiting, err = spool.Open(d.Spool)
	if errors.Is(err, spool.ErrDamaged) { // fleetd must be able to stop robots even if it cannot read old stops
		aside := fmt.Sprintf("%s.damaged-%d", d.Spool, d.Now().Unix())
		d.Log.Error("stops that wait for the database cannot be read; the file was moved away, look at which robots hold stops", "error", err,
			"to", aside)
		if err := os.Rename(d.Spool, aside); err != nil {
			return nil, fmt.Errorf("move damaged stops away: %w", err)
		}
		s.spool, s.waiting, err = spool.Open(d.Spool)
	}
	if err != nil {
		return nil, err
	}
	s.setWaiting(s.waiting)
	if len(s.waiting) > 0 {
		d.Log.Warn("stops wait to be persisted", "stops", len(s.waiting))
	}
	s.publish()
	return s, nil
}

// StopAndLatch stops robots and latches the stop: it publishes the live stop if the request is for all
// robots or by labels, calls send for the commands to single robots, with whether that live stop is on its way, and writes the request to
// the disk. The error says that the disk did not accept it; the stop waits for the database
// all the same.
func (s *Stops) StopAndLatch(ctx context.Context, o stop.Request, send func(live bool)) error {
	s.mail.post(func() { s.noteSent(o.ID) }) // before another instance can repeat it
	send((o.All || len(o.Labels) > 0) && s.publishLive(ctx, o))
	e, err := s.append(o)
	listed := make(chan struct{})
	s.mail.post(func() {
		s.enqueue(e)
		s.reply(func() { close(listed) })
	})
	select {
	case <-listed:
	case <-s.ended: // the next process reads it from the disk
	}
	return err
}

// CheckDisk reports whether this machine's disk would take a stop.
func (s *Stops) CheckDisk() error { return s.spool.CheckWrite() }

// Close releases the file on this machine.
func (s *Stops) Close() error { return s.spool.Close() }

// PersistNow has waiting stops persisted now.
func (s *Stops) PersistNow() { s.mail.post(func() { s.due = true }) }

// publishLive publishes a live stop, which every robot latches that receives it.
func (s *Stops) publishLive(ctx context.Context, o stop.Request) (sent bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r := schema.StopRequest{ID: o.ID, Level: o.Level, Labels: o.Labels, By: o.By, Why: o.Why}
	payload, err := schema.Encode(r)
	if err == nil && len(payload) > schema.TopicOf(schema.TopicFleetStopCmd).MaxBytes {
		r.Why = ""
		payload, err = schema.Encode(r)
	}
	if err == nil {
		topic := s.deps.Namespace.Topic(schema.TopicFleetStopCmd, s.deps.Name)
		err = s.deps.PublishStop(ctx, link.Message{Topic: topic, Payload: payload, QoS: 1})
	}
	if err != nil {
		s.deps.Log.Error("live stop not sent", "stop", o.ID, "error", err)
	}
	return err == nil
}

// append writes a request to this machine's disk.
func (s *Stops) append(o stop.Request) (spool.Entry, error) {
	e, err := s.spool.Append(o)
	if err != nil {
		e.N = 0
		s.deps.Log.Error("stop not kept on this machine; it is persisted only if the database takes it before fleetd ends", "stop", o.ID,
			"error", err)
	}
	return e, err
}

// ReceiveLiveStop receives a client's live stop; it does not block.
func (s *Stops) ReceiveLiveStop(client string, payload []byte, now time.Time) {
	if client == s.deps.Name {
		return // its own, which StopAndLatch has written
	}
	s.mail.putLive(live{stop.RequestOf(client, payload, now), len(payload) == 0})
	s.deps.LiveStopArrived()
}

// RobotOnline records that a robot became reachable: it may have missed waiting stops.
func (s *Stops) RobotOnline(robot string) { s.mail.post(func() { s.sendWaiting(robot) }) }

// ReceiveLatches receives the latches that a robot reports; it does not block.
func (s *Stops) ReceiveLatches(robot string, latches []schema.StopLatch, ahead time.Duration, now time.Time) {
	s.mail.putReported(robot, reportedLatches{latches, ahead, now})
}

func verbOf(l schema.StopLevel) string {
	switch l {
	case schema.StopSoft:
		return "soft-stop"
	case schema.StopHalt:
		return "halt"
	}
	return "stop"
}

// signal wakes the goroutine that waits at c; it does not block.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
