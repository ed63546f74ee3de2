package dispatch

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// maxPosts bounds the answers and facts that wait for the driver. Beyond it
	// they are left out: a robot is asked again about what stays unanswered.
	maxPosts = 100_000
	// atOnce bounds the unfinished commands of one robot, stops excepted.
	atOnce = 8
	// leastRest keeps the driver from spinning, whatever Due says.
	leastRest = 5 * time.Millisecond
	// saveAgain is how long the driver waits when the database did not take
	// what it had to write.
	saveAgain = time.Second
	// saveWithin bounds one writing: the driver has robots to look after.
	saveWithin = 3 * time.Second
	// lastSave bounds the writing at the end.
	lastSave = 2 * time.Second
	// goBack is how old the unfinished commands are that a new fleetd takes up.
	goBack = 24 * time.Hour
	// askPrefix begins the ids of the driver's own questions about a command.
	askPrefix = "ask:"
)

// Dispatcher leads commands through their states. One goroutine owns them all; what
// becomes of each is decided by package command, and done here: sent, asked
// about, written.
//
// A robot gets its commands of the mode class one after the other, each when
// the one before was answered, so that it sees them in the order in which they
// were asked for; of the rest at most a few at once. Stops wait for nothing. This
// holds over several fleetd instances as far as the database tells: what another instance had on
// record before goes before (ahead.go).
type Dispatcher struct {
	deps Deps
	wake chan struct{}

	mu      sync.Mutex
	posts   []event
	dropped int64

	// Owned by run.
	open    map[string]*activeCommand
	robots  map[string][]*activeCommand // of open, in the order of asking
	dirty   map[*activeCommand]struct{}
	batches []*Handle // made and not stored yet
	others  ordering
	unsent  []*unsent
	asks    int64

	released []stop.Latch // lately
	next     time.Time    // when something may be due; zero = at no time
}

// activeCommand is one command on its way.
type activeCommand struct {
	command.Command
	class  schema.VerbClass
	ticket *Handle
	ahead  []string // ids of other fleetd instances' commands to the robot, persisted before it
}

// event is news for the driver.
type event struct {
	kind   eventKind
	robot  string
	ack    schema.Ack
	last   schema.LastRequest
	ticket *Handle
	id     string                     // of an unwanted command
	ended  chan bool                  // 1: whether that ended it
	would  func(command.Command) bool // hold what was released
	done   func()                     // called when those that would are called off

	released []stop.Latch
	unsent   []command.Command
}

type eventKind string

const (
	postTicket eventKind = "ticket" // new commands
	postAnswer eventKind = "answer"
	postShown  eventKind = "shown"
	postCame   eventKind = "came"
	postLeft   eventKind = "left"
	postNot    eventKind = "unwanted"
	postLet    eventKind = "let-go" // of stops, here

	postReleased eventKind = "released" // stops, wherever
	postUnsent   eventKind = "unsent"   // commands that may be persisted, and are not sent
)

// Deps is what a Dispatcher needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	Store     func() (Store, error)        // the database, or why there is none
	Failed    func(what string, err error) // it did not do what was asked of it
	Leads     func() bool
	Publish   func(ctx context.Context, m link.Message) error
	Robots    Robots
	Instances Instances
	// Defers keeps a command until it is known whether the stop that it holds is
	// released, and reports whether it does.
	Defers func(c command.Command) bool
}

// Robots is what is known of robots.
type Robots interface {
	Reachable(robot string) bool
	Adopted(robot string) bool
}

// Instances are the other fleetd instances.
type Instances interface {
	Has(name string) bool
	Gone(name string, now time.Time) bool
}

// Store is where commands are.
type Store interface {
	Alone() bool
	OpenCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error)
	OthersCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error)
	CommandsByID(ctx context.Context, ids []string) ([]command.Command, error)
	SaveCommands(ctx context.Context, commands []command.Command) error
	ReleasedStops(ctx context.Context, since time.Time) ([]stop.Latch, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

func New(d Deps) *Dispatcher {
	return &Dispatcher{
		deps: d, wake: make(chan struct{}, 1), open: map[string]*activeCommand{}, robots: map[string][]*activeCommand{}, dirty: map[*activeCommand]struct{}{},
		others: ordering{known: map[string]command.Command{}},
	}
}

// event queues news; it waits for nothing. New commands are never left out,
// no release of stops, and no commands that may be persisted.
func (d *Dispatcher) post(p event) {
	d.mu.Lock()
	if len(d.posts) >= maxPosts && p.kind != postTicket && p.kind != postLet && p.kind != postReleased && p.kind != postUnsent {
		d.dropped++
		d.mu.Unlock()
		return
	}
	d.posts = append(d.posts, p)
	d.mu.Unlock()
	signal(d.wake)
}

// Answer takes in a robot's answer to a command of this instance.
func (d *Dispatcher) Answer(robot string, a schema.Ack) {
	d.post(event{kind: postAnswer, robot: robot, ack: a})
}

// Shown takes in the last command of this instance that a robot's state shows.
func (d *Dispatcher) Shown(robot string, last schema.LastRequest) {
	d.post(event{kind: postShown, robot: robot, last: last})
}

// Came notes that a robot can be reached from now on, and Left that it cannot.
func (d *Dispatcher) Came(robot string) { d.post(event{kind: postCame, robot: robot}) }
func (d *Dispatcher) Left(robot string) { d.post(event{kind: postLeft, robot: robot}) }

// EndReleased ends the commands that would hold what was released, and then calls done.
func (d *Dispatcher) EndReleased(would func(command.Command) bool, done func()) {
	d.post(event{kind: postLet, would: would, done: done})
}

// Run leads the commands until ctx ends.
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
			return
		case <-d.wake:
		case <-timer.C:
		}
		d.take(ctx)
		if now := d.deps.Now(); !d.next.IsZero() && !now.Before(d.next) {
			d.wakeDue(ctx, now)
		}
		d.askOthers(ctx, d.deps.Now())
		changed := d.changed()
		saved := d.save(ctx)
		saved = d.endUnsent(ctx, d.deps.Now()) && saved
		for t := range changed {
			t.look()
		}
		timer.Reset(d.sleep(d.deps.Now(), saved))
	}
}

// take deals with all news.
func (d *Dispatcher) take(ctx context.Context) {
	d.mu.Lock()
	posts := d.posts
	d.posts = nil
	d.mu.Unlock()
	for _, p := range posts {
		now := d.deps.Now()
		switch p.kind {
		case postTicket:
			d.begin(ctx, now, p.ticket)
		case postAnswer:
			d.answer(ctx, now, p)
		case postShown:
			d.tell(ctx, now, p.last.ID, command.Event{Kind: command.Shown, Last: p.last})
			d.release(ctx, now, p.robot)
		case postNot:
			waits := d.open[p.id] != nil && d.open[p.id].State == command.Queued
			d.tell(ctx, now, p.id, command.Event{Kind: command.CancelRequested})
			p.ended <- waits
		case postLet:
			d.letGo(ctx, now, p.would)
			p.done()
		case postReleased:
			d.released = p.released
			d.letGo(ctx, now, d.isReleased)
		case postUnsent:
			d.unsent = append(d.unsent, newUnsent(p.unsent))
		case postCame, postLeft:
			kind := command.RobotOnline
			if p.kind == postLeft {
				kind = command.RobotOffline
			}
			for _, c := range slices.Clone(d.robots[p.robot]) {
				d.tell(ctx, now, c.ID, command.Event{Kind: kind})
			}
		}
	}
}

// letGo ends the commands that would hold what was released here, or elsewhere.
func (d *Dispatcher) letGo(ctx context.Context, now time.Time, would func(command.Command) bool) {
	for _, c := range slices.SortedFunc(maps.Values(d.open), inTurn) {
		if would(c.Command) {
			d.tell(ctx, now, c.ID, command.Event{Kind: command.Released})
		}
	}
}

// begin takes on the commands of a ticket.
func (d *Dispatcher) begin(ctx context.Context, now time.Time, t *Handle) {
	if !t.stored() {
		d.batches = append(d.batches, t)
	}
	for _, c := range t.Commands() {
		if c.State.Final() || d.open[c.ID] != nil {
			continue
		}
		group, name, _ := strings.Cut(c.Verb, "/")
		verb, _ := schema.VerbOf(group, name)
		one := &activeCommand{Command: c, class: verb.Class, ticket: t}
		d.others.stand(one, t.ahead[c.Robot])
		d.open[c.ID] = one
		d.robots[c.Robot] = append(d.robots[c.Robot], one)
		slices.SortFunc(d.robots[c.Robot], inTurn)
		n := command.Event{Kind: command.Begin}
		if d.isReleased(c) {
			n.Kind = command.Released
		}
		d.tell(ctx, now, c.ID, n)
	}
}

// answer finds the command that an answer is about: its own, or the one that we
// asked about.
func (d *Dispatcher) answer(ctx context.Context, now time.Time, p event) {
	if p.ack.ID == nil {
		return
	}
	id := *p.ack.ID
	if about, ok := strings.CutPrefix(id, askPrefix); ok {
		if p.ack.Status == schema.StatusRejected && p.ack.Reason == schema.ReasonUnknownID {
			about, _, _ = strings.Cut(about, ":")
			d.tell(ctx, now, about, command.Event{Kind: command.NoRecord})
		}
		return
	}
	if c := d.open[id]; c == nil || c.Robot != p.robot {
		return // not ours, over, or another robot's claim
	}
	d.tell(ctx, now, id, command.Event{Kind: command.Answered, Answer: p.ack})
	d.release(ctx, now, p.robot)
}

// release lets commands go that waited for their turn.
func (d *Dispatcher) release(ctx context.Context, now time.Time, robot string) {
	for _, c := range slices.Clone(d.robots[robot]) {
		if c.State == command.Queued {
			d.tell(ctx, now, c.ID, command.Event{Kind: command.Wake})
		}
	}
}

// tell gives news to a command and does what follows.
func (d *Dispatcher) tell(ctx context.Context, now time.Time, id string, n command.Event) {
	c := d.open[id]
	if c == nil {
		return
	}
	n.Present = d.present(c)
	next, effects := command.Step(c.Command, now, n)
	c.Command = next
	for _, e := range effects {
		switch e {
		case command.Save:
			d.dirty[c] = struct{}{}
			c.ticket.update(c.Command)
			if c.class == schema.ClassStop {
				c.ticket.look() // who stops waits for no database
			}
		case command.Send:
			d.Send(ctx, c.Command)
		case command.Ask:
			d.ask(ctx, now, c)
		}
	}
	d.expect(c)
	if c.State.Final() {
		delete(d.open, id)
		d.robots[c.Robot] = slices.DeleteFunc(d.robots[c.Robot], func(other *activeCommand) bool { return other == c })
		if len(d.robots[c.Robot]) == 0 {
			delete(d.robots, c.Robot)
		}
	}
}

// Cancel ends a command that was not sent yet, and reports whether it was so.
func (d *Dispatcher) Cancel(ctx context.Context, id string) bool {
	ended := make(chan bool, 1)
	d.post(event{kind: postNot, id: id, ended: ended})
	select {
	case e := <-ended:
		return e
	case <-ctx.Done():
		return false
	}
}

// changed are the tickets of what is to be written.
func (d *Dispatcher) changed() map[*Handle]struct{} {
	out := map[*Handle]struct{}{}
	for c := range d.dirty {
		out[c.ticket] = struct{}{}
	}
	return out
}

// signal wakes whoever waits at c; it waits for nothing.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
