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
	// stopsLook is how often stops that wait for the database are tried again.
	stopsLook = time.Second
	// stopsWithin bounds one attempt to persist stops.
	stopsWithin = 10 * time.Second
	// learnAfter is how long a stop that a robot shows, and that was never released, waits
	// to be written down: the live stop or the order behind it may be about to be.
	learnAfter = 300 * time.Millisecond
	// shownFor is how long a robot has to show a stop that was released before it is
	// written down again: a release takes a moment to arrive.
	shownFor = 2 * time.Second
)

// Stops are those that people hold. A stop is sent first, kept on this machine's
// disk next, and persisted with its documents as soon as the database takes it;
// robots hold it by its id meanwhile. Live stops of others are written down, and
// so is what a robot holds that nobody here knows of.
//
// Each instance writes down what was asked of it. What every instance overhears is written
// down by the one that leads; the others keep it until they see it persisted, for
// there may be nobody who leads.
//
// One goroutine owns the state (owner.go). It waits for neither the database nor the
// broker: a recorder does one job at a time with the database and reports what came of
// it, and a sender hands messages to the broker in order.
type Stops struct {
	deps  Deps
	spool *spool.Spool
	mail  mailbox
	out   sender
	work  chan func() (after func()) // to the recorder
	done  chan func()                // and back
	ended chan struct{}              // closed when nobody owns the state any more

	list  atomic.Pointer[listing] // what others see of the state
	fresh atomic.Int64            // when latched was last known to be what the database has; Unix ns

	// Owned by Run.
	waiting  []spool.Entry                   // not persisted yet; N = 0: not on the disk either
	names    map[string]map[string]bool      // by client: the ids that its stops have now
	latched  []stop.Latch                    // persisted
	on       map[string]map[string]bool      // the same: ids by robot
	loaded   bool                            // latched was read from the database
	renewed  bool                            // it was published as it would be published today
	shown    map[string]map[string]time.Time // by robot: what it holds and nobody here does, since when
	learned  []stop.Order                    // the same, when it is shown first: if it was never released it is written down soon
	requests []*request                      // releases and removals that wait for the recorder
	due      bool                            // what waits is to be persisted
	busy     bool                            // the recorder is at a job
	awaited  string                          // the client whose button's empty message is awaited
	awaiting chan struct{}                   // 1: it came
	dirty    bool                            // list is older than the state
	replies  []func()                        // to be called when it is not
}

// errEnded is why nothing more is done.
var errEnded = errors.New("fleetd ends")

// Deps is what the stops need.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Spool     string // file on this machine where stops wait for the database
	Now       func() time.Time
	// Leads reports whether this instance leads, and Followed whether another one does.
	Leads, Followed func() bool
	Store           func() (Store, error)        // the database, or why there is none
	Failed          func(what string, err error) // it did not do what was asked of it
	Session         func() string                // of fleetd's own link
	Publish         func(ctx context.Context, m link.Message) error
	Dispatcher      Dispatcher
	Robots          Robots
	Releases        *Releases
	Wake            func() // publishes what a transaction left to publish
	Live            func() // a live stop came, which the broker may have kept
}

// Store is the database with the stops.
type Store interface {
	Alone() bool
	LatchedStops(ctx context.Context) ([]stop.Latch, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// Dispatcher sends commands.
type Dispatcher interface {
	Send(ctx context.Context, c command.Command)
	// Publish sends one whatever release is under way.
	Publish(ctx context.Context, c command.Command)
	// EndReleased ends the commands that would hold what was released, and then calls
	// done.
	EndReleased(would func(command.Command) bool, done func())
}

// Robots is what is known of robots.
type Robots interface {
	Adopted(robot string) bool
	Reachable(robot string) bool
	Labels(robot string) map[string]string
	// Showing lists the stops with these ids that robots show.
	Showing(ids []string, now time.Time) (ours []stop.Order, elsewhere stop.Elsewhere)
}

func New(d Deps) (*Stops, error) {
	s := &Stops{
		deps: d, mail: newMailbox(), out: sender{wake: make(chan struct{}, 1)},
		work: make(chan func() func(), 1), done: make(chan func(), 1), ended: make(chan struct{}),
		awaiting: make(chan struct{}, 1), names: map[string]map[string]bool{}, on: map[string]map[string]bool{}, shown: map[string]map[string]time.Time{},
		due: true, dirty: true,
	}
	var err error
	s.spool, s.waiting, err = spool.Open(d.Spool)
	if errors.Is(err, spool.ErrDamaged) { // a fleetd instance that cannot read old stops must be able to give new ones
		aside := fmt.Sprintf("%s.damaged-%d", d.Spool, d.Now().Unix())
		d.Log.Error("stops that wait for the database cannot be read; the file was moved away, look at which robots hold stops", "error", err, "to", aside)
		if err := os.Rename(d.Spool, aside); err != nil {
			return nil, fmt.Errorf("move damaged stops away: %w", err)
		}
		s.spool, s.waiting, err = spool.Open(d.Spool)
	}
	if err != nil {
		return nil, err
	}
	if len(s.waiting) > 0 {
		d.Log.Warn("stops wait to be persisted", "stops", len(s.waiting))
	}
	s.publish()
	return s, nil
}

// Hold stops robots and holds the stop: the live message to all, if it is for all,
// and each robot's own command, which send sends, then the disk, then the database. The
// error says that the disk did not take it.
func (s *Stops) Hold(ctx context.Context, o stop.Order, send func()) error {
	if o.All || len(o.Labels) > 0 {
		s.call(ctx, o)
	}
	send()
	e, err := s.append(o)
	listed := make(chan struct{})
	s.mail.post(func() {
		s.await(e)
		s.reply(func() { close(listed) })
	})
	select {
	case <-listed:
	case <-s.ended: // it is on the disk
	}
	return err
}

// CheckDisk reports whether this machine's disk would take a stop.
func (s *Stops) CheckDisk() error { return s.spool.CheckWrite() }

// Close releases the file on this machine.
func (s *Stops) Close() error { return s.spool.Close() }

// Wake has it look at once at what waits.
func (s *Stops) Wake() { s.mail.post(func() { s.due = true }) }

// call sends a live stop, which every robot holds that hears it.
func (s *Stops) call(ctx context.Context, o stop.Order) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r := schema.StopRequest{ID: o.ID, Level: o.Level, Labels: o.Labels, By: o.By, Why: o.Why}
	payload, err := schema.Encode(r)
	if err == nil && len(payload) > schema.TopicOf(schema.TopicFleetStopCmd).MaxBytes {
		r.Why = ""
		payload, err = schema.Encode(r)
	}
	if err == nil {
		err = s.deps.Publish(ctx, link.Message{Topic: s.deps.Namespace.Topic(schema.TopicFleetStopCmd, s.deps.Name), Payload: payload, QoS: 1})
	}
	if err != nil {
		s.deps.Log.Error("live stop not sent", "stop", o.ID, "error", err)
	}
}

// append writes a stop to this machine's disk.
func (s *Stops) append(o stop.Order) (spool.Entry, error) {
	e, err := s.spool.Append(o)
	if err != nil {
		e.N = 0
		s.deps.Log.Error("stop not kept on this machine; it is persisted only if the database takes it before fleetd ends", "stop", o.ID, "error", err)
	}
	return e, err
}

// Listen takes in a client's live stop; it waits for nothing.
func (s *Stops) Listen(client string, payload []byte, now time.Time) {
	if client == s.deps.Name {
		return // its own: it was kept when it was sent
	}
	s.mail.hear(live{stop.OrderOf(client, payload, now), len(payload) == 0})
	s.deps.Live()
}

// Came notes that a robot is there: it may have missed what was sent meanwhile.
func (s *Stops) Came(robot string) { s.mail.post(func() { s.repeat(robot) }) }

// Shows compares what a robot says that it holds with what is persisted; it waits for
// nothing.
func (s *Stops) Shows(robot string, latches []schema.StopLatch, ahead time.Duration, now time.Time) {
	s.mail.show(robot, showing{latches, ahead, now})
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

// signal wakes whoever waits at c; it waits for nothing.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
