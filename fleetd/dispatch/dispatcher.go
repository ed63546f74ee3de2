package dispatch

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/trace"
	"troupe/schema"
	"troupe/schema/verb"
)

const (
	// atOnce bounds the commands that one robot was sent and has not finished, stops excepted.
	atOnce = 8
	// minSleep keeps the loop from spinning, whatever Due says.
	minSleep = 5 * time.Millisecond
	// walkEach is added to it for each command in progress: wakeDue looks at all of them, and must not take all of the time.
	walkEach = 5 * time.Microsecond
	// saveAgain is the pause after a failed write to the database.
	saveAgain = time.Second
	// saveWithin bounds one write: commands to robots wait for it.
	saveWithin = 3 * time.Second
	// savedAtOnce bounds the commands of one write.
	savedAtOnce = 2000
	// lastSave bounds the write at shutdown.
	lastSave = 2 * time.Second
	// takeUpFor is the age up to which a restarted instance continues commands.
	takeUpFor = 24 * time.Hour
	// queryPrefix begins the ids of the sys/query commands with which the dispatcher queries a
	// command. Other questions have the prefix question:.
	queryPrefix = "ask:"
)

// Dispatcher takes commands through their states. One goroutine owns them all. Package
// command decides on each event; the dispatcher carries the decision out: it sends the
// command, queries it, saves it.
//
// A robot gets its commands of the mode class one at a time, each after the answer to the
// one before, so that it receives them in the order in which they were issued. Of all others
// it gets at most a few at once. Stops do not wait. The order also holds between instances,
// as far as the database shows it: commands that another instance persisted first go first
// (ordering.go).
type Dispatcher struct {
	deps Deps
	wake chan struct{}

	mu      sync.Mutex
	events  []event
	dropped int64 // events

	inProgress atomic.Int64 // commands

	// Owned by Run.
	open    map[string]*activeCommand
	robots  map[string][]*activeCommand // of open, in the order of issue
	dirty   map[*activeCommand]struct{}
	batches []*Handle // not persisted yet
	others  ordering
	unsent  []*unsent
	queries int64 // number of sys/query commands sent, for their ids

	released releasedStops // within releaseInterest
	next     time.Time     // when a command may be due; zero = never
	early    earlyAnswers
	pace     pace
}

// activeCommand is a command in progress.
type activeCommand struct {
	command.Command
	class  verb.Class
	handle *Handle
	// waits is set while it waits for its turn, and underWay while it awaits its first answer and counts for the window (pace.go).
	waits, underWay bool
	span            trace.Span
	ahead           []string // ids of other instances' commands to the robot that were persisted before it
}

// Deps is what a Dispatcher needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	Store     func() (Store, error)        // the database, or the reason why it is unavailable
	Failed    func(what string, err error) // records a failure of the database
	Leads     func() bool
	Publish   func(ctx context.Context, m link.Message) error
	Robots    Robots
	Instances Instances
	// DeferIfReleasing keeps a command back if it would latch a stop again whose release is under
	// way, until the outcome is known, and reports whether it does.
	DeferIfReleasing func(c command.Command) bool
	// Settled is called with each command whose state is not expected to change any more; nil = nobody asks.
	// ctx names their trace in lines of the log.
	Settled func(ctx context.Context, c command.Command, now time.Time)
}

// Robots is what the dispatcher asks about robots.
type Robots interface {
	Reachable(robot string) bool
	Adopted(robot string) bool
}

// Instances are the fleetd instances, this one among them.
type Instances interface {
	Has(name string) bool
	Gone(name string, now time.Time) bool
}

// Store is the part of the database with commands.
type Store interface {
	SingleInstance() bool
	OpenCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error)
	OpenCommandsOfOthers(ctx context.Context, owner string, then time.Time) ([]command.Command, error)
	CommandsByID(ctx context.Context, ids []string) ([]command.Command, error)
	SaveCommands(ctx context.Context, commands []command.Command) error
	ReleasedStops(ctx context.Context, since time.Time) ([]stop.Latch, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// New makes a dispatcher without commands.
func New(d Deps) *Dispatcher {
	return &Dispatcher{
		deps: d, wake: make(chan struct{}, 1), open: map[string]*activeCommand{}, robots: map[string][]*activeCommand{},
		dirty:  map[*activeCommand]struct{}{},
		others: ordering{known: map[string]command.Command{}}, pace: pace{window: firstWindow},
	}
}

// Run takes commands through their states until ctx ends.
func (d *Dispatcher) Run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
			d.take(last)
			d.save(last)
			cancel()
			for _, c := range d.open {
				c.span.End() // what the robot answers later is in no trace
			}
			return
		case <-d.wake:
		case <-timer.C:
		}
		d.take(ctx)
		if now := d.deps.Now(); !d.next.IsZero() && !now.Before(d.next) {
			d.wakeDue(ctx, now)
		}
		d.readAhead(ctx, d.deps.Now())
		d.giveTurns(ctx)
		d.forgetBurst()
		d.forgetEarly(d.deps.Now())
		d.inProgress.Store(int64(len(d.open)))
		changed := d.changed()
		saved := d.save(ctx)
		saved = d.endUnsent(ctx, d.deps.Now()) && saved
		for t := range changed {
			t.settle()
		}
		timer.Reset(d.sleepTime(d.deps.Now(), saved))
	}
}

// begin takes on the commands of a batch.
func (d *Dispatcher) begin(ctx context.Context, now time.Time, t *Handle) {
	if !t.Persisted() {
		d.batches = append(d.batches, t)
	}
	for _, c := range t.Commands() {
		if c.State.Final() || d.open[c.ID] != nil {
			continue
		}
		group, name, _ := strings.Cut(c.Verb, "/")
		v, _ := verb.Of(group, name)
		one := &activeCommand{Command: c, class: v.Class, handle: t, span: t.spans[c.ID]}
		d.others.queueBehind(one, t.ahead[c.Robot])
		d.open[c.ID] = one
		d.pace.changed(one, command.Queued, now) // it may have been sent before a restart
		d.robots[c.Robot] = append(d.robots[c.Robot], one)
		slices.SortFunc(d.robots[c.Robot], byAge)
		n := command.Event{Kind: command.Begin}
		switch {
		case d.isReleased(c):
			n.Kind = command.Released
		case d.mustWait(one):
			one.waits = true
			d.pace.waiting = append(d.pace.waiting, one)
			continue
		case !one.paced() && one.class != verb.ClassStop:
			d.letPass(ctx, c.Robot)
		}
		d.step(ctx, now, c.ID, n)
	}
}

// answer applies a robot's answer to the command that it is about: the one that it answers, or
// the one that a sys/query is about.
func (d *Dispatcher) answer(ctx context.Context, now time.Time, p event) {
	if p.ack.ID == nil {
		return
	}
	id := *p.ack.ID
	if about, ok := strings.CutPrefix(id, queryPrefix); ok {
		if p.ack.Status == schema.StatusRejected && p.ack.Reason == schema.ReasonUnknownID {
			if about, _, _ = strings.Cut(about, ":"); d.isInProgress(p.robot, about) {
				d.step(ctx, now, about, command.Event{Kind: command.NoRecord})
			}
		}
		return
	}
	if c := d.liveStopped(p.robot, id); c != nil {
		id, p.ack.ID, c.handle.answeredAt = c.ID, &c.ID, now
	}
	if !d.isInProgress(p.robot, id) {
		d.keepEarly(now, p)
		return // another instance's, final, or not this robot's
	}
	traceAnswer(d.open[id].span, d.open[id].Verb, p.ack)
	d.step(ctx, now, id, command.Event{Kind: command.Answered, Answer: p.ack})
}

// isInProgress reports whether a command is in progress and for this robot: a robot must not end another's.
func (d *Dispatcher) isInProgress(robot, id string) bool {
	c := d.open[id]
	return c != nil && c.Robot == robot
}

// wakeQueued wakes the queued commands of a robot: one may be next.
func (d *Dispatcher) wakeQueued(ctx context.Context, now time.Time, robot string) {
	for _, c := range slices.Clone(d.robots[robot]) {
		if c.State == command.Queued {
			d.step(ctx, now, c.ID, command.Event{Kind: command.Wake})
		}
	}
}

// step applies an event to a command and carries the effects out. If the command no longer waits
// to be sent or answered, however that came about, the robot's queued commands are next.
func (d *Dispatcher) step(ctx context.Context, now time.Time, id string, n command.Event) {
	c := d.open[id]
	if c == nil || c.waits && n.Kind != command.CancelRequested && n.Kind != command.Released {
		return
	}
	ctx = c.span.In(ctx)
	// The view may be ahead of the events: a robot that came may have left since.
	reachable := n.Kind == command.RobotOnline || n.Kind != command.RobotOffline && d.deps.Robots.Reachable(c.Robot)
	n.Present = reachable && d.maySendNext(c)
	before := c.State
	next, effects := command.Step(c.Command, now, n)
	c.Command = next
	for _, e := range effects {
		switch e {
		case command.Save:
			d.dirty[c] = struct{}{}
			c.handle.update(c.Command)
			if c.class == verb.ClassStop {
				c.handle.settle() // the caller of a stop does not wait for the database
			}
		case command.Send:
			d.pace.sent(c, now)
			d.Send(ctx, c.Command)
		case command.Query:
			d.query(ctx, now, c)
		}
	}
	d.pace.changed(c, before, now)
	d.expect(c)
	if c.State.Settled() && !before.Settled() {
		endSpan(c.span, c.Command)
		if d.deps.Settled != nil {
			d.deps.Settled(ctx, c.Command, now)
		}
	}
	if c.State.Final() {
		delete(d.open, id)
		d.robots[c.Robot] = slices.DeleteFunc(d.robots[c.Robot], func(other *activeCommand) bool { return other == c })
		if len(d.robots[c.Robot]) == 0 {
			delete(d.robots, c.Robot)
		}
	}
	if c.State != before && c.State != command.Sent {
		d.wakeQueued(ctx, now, c.Robot)
	}
}

// changed returns the batches with commands to be saved.
func (d *Dispatcher) changed() map[*Handle]struct{} {
	out := map[*Handle]struct{}{}
	for c := range d.dirty {
		out[c.handle] = struct{}{}
	}
	return out
}

// InProgress is how many commands of this instance have not ended.
func (d *Dispatcher) InProgress() int64 { return d.inProgress.Load() }

// Dropped is how many events were dropped because too many waited, since the start.
func (d *Dispatcher) Dropped() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dropped
}
