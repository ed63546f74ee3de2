package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/store"
	"troupe/fleetd/trace"
)

// Handle is a batch of commands in progress, for the goroutine that waits for them.
type Handle struct {
	batch command.Batch
	ahead map[string][]command.Command // unfinished commands of other instances that were persisted before, by robot

	origin trace.Span            // of what issued the commands
	spans  map[string]trace.Span // by command; nil without origin

	mu              sync.Mutex
	unsettled       int // of commands
	commands        []command.Command
	place           map[string]int
	settled         chan struct{}
	isSettled       bool          // settled is closed
	persistedSignal chan struct{} // closed when the database has the batch
	persisted       bool
	large           bool // its commands are paced

	live       string    // id of the live stop that its robots answer
	answeredAt time.Time // by one of them; the dispatcher's
}

func newHandle(batch command.Batch, commands []command.Command, persisted bool) *Handle {
	t := &Handle{batch: batch, commands: slices.Clone(commands), place: map[string]int{}, settled: make(chan struct{}),
		persistedSignal: make(chan struct{})}
	for i, c := range commands {
		t.place[c.ID] = i
		if !c.State.Settled() {
			t.unsettled++
		}
	}
	if persisted {
		t.markPersisted()
	}
	t.settle()
	return t
}

// Commands returns the commands in their present states.
func (t *Handle) Commands() []command.Command {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.commands)
}

// Settled is closed when every command is settled.
func (t *Handle) Settled() <-chan struct{} { return t.settled }

// Persisted reports whether the database has the batch.
func (t *Handle) Persisted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.persisted
}

func (t *Handle) markPersisted() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.persisted {
		t.persisted = true
		close(t.persistedSignal)
	}
}

func (t *Handle) update(c command.Command) {
	t.mu.Lock()
	if i, ok := t.place[c.ID]; ok {
		if was := t.commands[i].State.Settled(); was && !c.State.Settled() {
			t.unsettled++
		} else if !was && c.State.Settled() {
			t.unsettled--
		}
		t.commands[i] = c
	}
	t.mu.Unlock()
}

// settle closes settled when all commands are settled. The dispatcher calls it when their
// states are persisted, or could not be.
func (t *Handle) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isSettled || t.unsettled > 0 {
		return
	}
	t.isSettled = true
	close(t.settled)
}

// persistTimeout is how long the caller of a stop waits for the database. The stop itself was
// sent before.
const persistTimeout = time.Second

const (
	// issueWithin bounds how long a command may take to be persisted: a person waits for the
	// robot to act. A batch has issueEach more for each of its commands.
	issueWithin = 5 * time.Second
	issueEach   = time.Millisecond
)

// Issue starts commands. A stop is sent first and persisted afterwards, with a database or
// without; everything else is persisted before it is sent.
func (d *Dispatcher) Issue(ctx context.Context, batch command.Batch, commands []command.Command, stop bool) (*Handle, error) {
	if stop {
		t := d.SendStop(context.WithoutCancel(ctx), batch, commands, "") // a stop goes on if its caller disconnects
		t.AwaitPersisted()
		return t, nil
	}
	db, err := d.deps.Store()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, issueWithin+time.Duration(len(commands))*issueEach)
	defer cancel()
	var t *Handle
	if err := db.Tx(within, func(tx *store.Tx) error {
		t, err = d.Save(within, tx, batch, commands)
		return err
	}); err != nil {
		if errors.Is(err, store.ErrOutcomeUnknown) {
			d.post(event{kind: eventUnsent, unsent: commands})
		}
		return nil, err
	}
	d.Begin(t)
	return t, nil
}

// Save saves commands in a transaction of the caller, which may run again; then they are not sent before Begin.
func (d *Dispatcher) Save(ctx context.Context, tx *store.Tx, batch command.Batch, commands []command.Command) (*Handle, error) {
	db, err := d.deps.Store()
	if err != nil {
		return nil, err
	}
	d.own(commands)
	ahead, err := d.ahead(ctx, db, tx, commands)
	if err != nil {
		return nil, err
	}
	t := newHandle(batch, commands, true)
	t.ahead, t.origin, t.large = ahead, trace.Current(ctx), len(commands) >= pacedFrom
	return t, tx.AddBatch(ctx, batch, commands)
}

// Begin sends commands that were saved.
func (d *Dispatcher) Begin(t *Handle) {
	t.beginSpans()
	d.post(event{kind: eventBatch, handle: t})
}

// own marks commands as this instance's: it alone sends them and receives the answers.
func (d *Dispatcher) own(commands []command.Command) {
	for i := range commands {
		commands[i].Owner = d.deps.Name
	}
}

// SendStop sends a stop; it does not wait for the database. live is the id of the live stop that was published to all these robots, if one
// was. In a large fleet that one counts as the first sending: see answersLive.
func (d *Dispatcher) SendStop(ctx context.Context, batch command.Batch, commands []command.Command, live string) *Handle {
	d.own(commands)
	if len(commands) < pacedFrom || !answersLive(batch.Verb) {
		live = ""
	}
	var out []command.Command
	for i, c := range commands {
		n := command.Event{Kind: command.Begin, Present: d.deps.Robots.Reachable(c.Robot)}
		if live != "" && n.Present {
			n.Kind = command.SentLive
		}
		next, effects := command.Step(c, d.deps.Now(), n)
		if slices.Contains(effects, command.Send) {
			out = append(out, c)
		}
		commands[i] = next
	}
	t := newHandle(batch, commands, false)
	t.live = live
	t.origin = trace.Current(ctx)
	t.beginSpans()
	d.post(event{kind: eventBatch, handle: t}) // before it is sent: the answer may come at once
	for _, c := range out {
		d.Send(t.spans[c.ID].In(ctx), c)
	}
	d.deps.Log.WarnContext(ctx, "stop issued", "verb", batch.Verb, "robots", len(commands), "by", batch.By, "why", batch.Why,
		"batch", batch.ID)
	return t
}

// AwaitPersisted waits up to persistTimeout for the database to have the batch.
func (t *Handle) AwaitPersisted() {
	wait := time.NewTimer(persistTimeout)
	defer wait.Stop()
	select {
	case <-t.persistedSignal:
	case <-wait.C:
	}
}

// addBatch persists a stop. Robots that the database does not know were stopped all the
// same; they get no row. It reports false if the database has the batch already, from a try
// whose outcome was unknown, with the states of that time.
func (d *Dispatcher) addBatch(ctx context.Context, db Store, t *Handle) (added bool, err error) {
	known := slices.DeleteFunc(t.Commands(), func(c command.Command) bool { return !d.deps.Robots.Adopted(c.Robot) })
	err = db.Tx(ctx, func(tx *store.Tx) error { return tx.AddBatch(ctx, t.batch, known) })
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return false, err
	}
	t.markPersisted()
	return err == nil, nil
}

// ResumeOwn continues the commands that this instance began before a restart.
func (d *Dispatcher) ResumeOwn(ctx context.Context, db Store, now time.Time) error {
	rows, err := db.OpenCommands(ctx, d.deps.Name, now.Add(-takeUpFor))
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		d.deps.Log.Info("unfinished commands resumed after a restart", "commands", len(rows))
		d.post(event{kind: eventBatch, handle: newHandle(command.Batch{}, rows, true)})
	}
	return nil
}

// ResumeBatch sends the commands of a batch of this instance that were saved and never sent, as after a commit whose outcome was
// unknown. It reports whether the database has any.
func (d *Dispatcher) ResumeBatch(ctx context.Context, db *store.Store, id string) (there bool, err error) {
	batch, err := db.Batch(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rows, err := db.Commands(ctx, store.CommandQuery{Batch: id, Limit: max(1, batch.Total)})
	if err != nil {
		return false, err
	}
	rows = slices.DeleteFunc(rows, func(c command.Command) bool { return c.Owner != d.deps.Name || c.State != command.Queued })
	d.Begin(newHandle(batch, rows, true))
	return true, nil
}
