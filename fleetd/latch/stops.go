package latch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

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
type Stops struct {
	deps  Deps
	spool *spool.Spool
	wake  chan struct{}

	mu      sync.Mutex
	heard   []stop.Order                    // live, not kept yet
	storing []stop.Order                    // of heard: on their way to the disk
	again   []stop.Order                    // asked for again while they wait, not answered yet
	names   map[string]map[string]bool      // by client: the ids that its stops have now
	waiting []spool.Entry                   // not persisted yet; N = 0: not on the disk either
	back    []string                        // robots that came while something waits
	latched []stop.Latch                    // persisted
	on      map[string]map[string]bool      // the same: ids by robot
	loaded  bool                            // held was read from the database
	current time.Time                       // when held was last known to be what the database has
	shown   map[string]map[string]time.Time // by robot: what it holds and nobody here does, since when
	learned []stop.Order                    // the same, when it is shown first: if it was never released it is written down soon

	// view.Change is taken by whoever persists stops, by a release, and by the removal
	// of a live stop that the broker keeps: one is over before the other begins, so
	// that no stop is written down after the release that has seen it.
	turn     chan struct{}
	awaited  string        // the client whose button's empty message is awaited
	awaiting chan struct{} // 1: it came

	renewed bool       // what is held was told as it would be today; owned by record
	keeping sync.Mutex // held while what was heard goes to the disk
}

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
	s := &Stops{deps: d, wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), awaiting: make(chan struct{}, 1), on: map[string]map[string]bool{}, shown: map[string]map[string]time.Time{}}
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
	return s.keep(o)
}

// CheckDisk reports whether this machine's disk would take a stop.
func (s *Stops) CheckDisk() error { return s.spool.CheckWrite() }

// Close releases the file on this machine.
func (s *Stops) Close() error { return s.spool.Close() }

// Wake has it look at once at what waits.
func (s *Stops) Wake() { signal(s.wake) }

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

// keep writes a stop to this machine's disk and has it persisted.
func (s *Stops) keep(o stop.Order) error {
	e, err := s.spool.Append(o)
	if err != nil {
		e.N = 0
		s.deps.Log.Error("stop not kept on this machine; it is persisted only if the database takes it before fleetd ends", "stop", o.ID, "error", err)
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, e)
	s.mu.Unlock()
	signal(s.wake)
	return err
}

// Listen takes in a client's live stop; it runs on the link's own goroutine.
func (s *Stops) Listen(client string, payload []byte, now time.Time) {
	if client == s.deps.Name {
		return // its own: it was kept when it was sent
	}
	o := stop.OrderOf(client, payload, now)
	s.mu.Lock()
	if o = s.gather(o); !s.wasAsked(o) {
		s.heard = append(s.heard, o)
		s.deps.Log.Warn("live stop heard", "stop", o.ID, "client", client, "by", o.By, "why", o.Why)
	}
	if len(payload) == 0 && client == s.awaited {
		signal(s.awaiting)
	}
	s.mu.Unlock()
	signal(s.wake)
	s.deps.Live()
}

// Came notes that a robot is there: it may have missed what was sent meanwhile.
func (s *Stops) Came(robot string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 {
		s.back = append(s.back, robot)
		signal(s.wake)
	}
}

// Shows compares what a robot says that it holds with what is persisted. What it
// shows although nobody here holds it was asked for while fleetd did not hear it, and
// is written down: soon, unless the database says that it was released and the robot
// may not know yet. Then, and without a database, it has to go on showing it.
func (s *Stops) Shows(robot string, latches []schema.StopLatch, ahead time.Duration, now time.Time) {
	adopted := len(latches) > 0 && s.deps.Robots.Adopted(robot) && s.deps.Leads()
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.shown[robot]
	delete(s.shown, robot)
	if !s.loaded || !adopted {
		return
	}
	for _, l := range latches {
		o, named := stop.Learned(robot, l, ahead, now)
		if !named || s.on[robot][l.ID] || s.awaitsRecord(o) {
			continue
		}
		since, before := was[l.ID]
		if !before {
			since = now
			if len(latches) <= maxNames { // else somebody floods the robot with stops, and it gathers them
				s.learned = append(s.learned, o)
				time.AfterFunc(learnAfter, func() { signal(s.wake) })
			}
		}
		if s.shown[robot] == nil {
			s.shown[robot] = map[string]time.Time{}
		}
		s.shown[robot][l.ID] = since
		if before && now.Sub(since) >= shownFor {
			s.writeDown(o)
			signal(s.wake)
		}
	}
}

// awaitsRecord reports whether a stop that a robot shows is to be persisted for this
// robot already. It is called under the lock.
func (s *Stops) awaitsRecord(o stop.Order) bool {
	return slices.ContainsFunc(s.waiting, func(e spool.Entry) bool {
		return e.Order.ID == o.ID && (!e.Order.FromRobot || e.Order.All || slices.Equal(e.Order.Robots, o.Robots))
	})
}

// writeDown has a stop persisted that a robot shows. It is called under the lock.
func (s *Stops) writeDown(o stop.Order) {
	s.waiting = append(s.waiting, spool.Entry{Order: o})
	s.deps.Log.Warn("a robot holds a stop that is not persisted; it is written down", "robot", o.Robots[0], "stop", o.ID, "all", o.All, "by", o.By)
}

// Run keeps, repeats and persists stops until ctx ends.
func (s *Stops) Run(ctx context.Context) {
	look := time.NewTicker(stopsLook)
	defer look.Stop()
	var recording sync.WaitGroup
	defer recording.Wait()
	due := make(chan struct{}, 1)
	recording.Go(func() { // beside: what is heard waits for no database
		for {
			select {
			case <-ctx.Done():
				return
			case <-due:
				s.persist(ctx)
			}
		}
	})
	for {
		s.keepHeard(ctx)
		s.repeat(ctx)
		signal(due)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-look.C:
		}
	}
}

// keepHeard keeps the live stops that were heard, and tells their senders. When it
// returns, all that was heard before is kept.
func (s *Stops) keepHeard(ctx context.Context) {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.mu.Lock()
	heard, again := s.heard, s.again
	s.heard, s.again, s.storing = nil, nil, heard
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.storing = nil
		s.mu.Unlock()
	}()
	followed := s.deps.Followed()
	for _, o := range again {
		if !followed {
			s.answer(ctx, o, schema.Ack{Status: schema.StatusAccepted, Detail: "fleetd has it already"})
		}
	}
	for _, o := range heard {
		err := s.keep(o)
		if followed {
			continue // fleetd that leads answers
		}
		a := schema.Ack{Status: schema.StatusAccepted, Detail: "fleetd has it, and holds it until it is released"}
		if err != nil {
			a.Detail = "fleetd has it, and could not keep it on its disk"
		}
		s.answer(ctx, o, a)
	}
}

// repeat sends the stops that wait to robots that came.
func (s *Stops) repeat(ctx context.Context) {
	s.mu.Lock()
	back, waiting := s.back, slices.Clone(s.waiting)
	s.back = nil
	s.mu.Unlock()
	for _, robot := range back {
		labels := s.deps.Robots.Labels(robot)
		for _, e := range waiting {
			if o := e.Order; !o.FromRobot && o.Means(robot, labels) {
				s.sendTo(ctx, robot, e)
			}
		}
	}
}

// sendTo sends a stop that waits, unless it was released meanwhile.
func (s *Stops) sendTo(ctx context.Context, robot string, e spool.Entry) {
	o := e.Order
	verb, _ := schema.VerbOf("safety", verbOf(o.Level))
	payload, err := schema.EncodeRequest(verb, schema.Request{ID: uuid.NewString(), By: o.By, Why: o.Why, Args: schema.Args{Latch: o.ID, Why: o.Why}})
	if err != nil {
		s.deps.Log.Error("stop not encoded", "stop", o.ID, "error", err)
		return
	}
	c := command.Command{Robot: robot, Verb: verb.ID(), Payload: payload, CreatedAt: o.At}
	if !s.deps.Releases.Defers(c) && s.waits(e) { // in this order: a release that is over has forgotten it
		s.deps.Dispatcher.Publish(ctx, c)
	}
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

// answer tells the sender of a live stop what became of it here; robots answer for
// themselves.
func (s *Stops) answer(ctx context.Context, o stop.Order, a schema.Ack) {
	if o.Client == "" {
		return
	}
	a.TS, a.Session, a.ID, a.Verb = schema.TimeOf(s.deps.Now()), s.deps.Session(), &o.ID, "fleet/stop"
	payload, err := schema.Encode(&a)
	if err != nil {
		s.deps.Log.Error("answer not encoded", "error", err)
		return
	}
	m := link.Message{Topic: s.deps.Namespace.Topic(schema.TopicFleetAck, o.Client), Payload: payload, QoS: 1}
	if err := s.deps.Publish(ctx, m); err != nil {
		s.deps.Log.Debug("answer not sent", "client", o.Client, "error", err)
	}
}

// signal wakes whoever waits at c; it waits for nothing.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
