package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/store"
)

// ticket is a batch on its way: what its asker waits at.
type ticket struct {
	batch command.Batch
	ahead map[string][]command.Command // by robot: of other fleetd instances, persisted before

	mu        sync.Mutex
	commands  []command.Command
	place     map[string]int
	settled   chan struct{}
	isOver    bool
	persist   chan struct{} // closed when the database has the batch
	persisted bool
}

func newTicket(batch command.Batch, commands []command.Command, stored bool) *ticket {
	t := &ticket{batch: batch, commands: slices.Clone(commands), place: map[string]int{}, settled: make(chan struct{}), persist: make(chan struct{})}
	for i, c := range commands {
		t.place[c.ID] = i
	}
	if stored {
		t.wasStored()
	}
	t.look()
	return t
}

// Commands are the commands as they now are.
func (t *ticket) Commands() []command.Command {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.commands)
}

// Settled is closed when waiting is no longer worth it.
func (t *ticket) Settled() <-chan struct{} { return t.settled }

// Persisted reports whether the database has the batch.
func (t *ticket) Persisted() bool { return t.stored() }

func (t *ticket) stored() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.persisted
}

func (t *ticket) wasStored() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.persisted {
		t.persisted = true
		close(t.persist)
	}
}

func (t *ticket) update(c command.Command) {
	t.mu.Lock()
	if i, ok := t.place[c.ID]; ok {
		t.commands[i] = c
	}
	t.mu.Unlock()
}

// look closes settled when all commands are; the driver calls it when what they
// are is persisted, or could not be put there.
func (t *ticket) look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isOver || slices.ContainsFunc(t.commands, func(c command.Command) bool { return !c.State.Settled() }) {
		return
	}
	t.isOver = true
	close(t.settled)
}

// stopPatience is how long a stop's asker waits to hear that it is persisted. The
// stop itself went out before.
const stopPatience = time.Second

// issueWithin is how long a command may take to be persisted: somebody stands
// there and waits for the robot to do something.
const issueWithin = 5 * time.Second

// Issue sets commands on their way. A stop is sent first and persisted
// after, with the database or without; everything else is persisted before it
// is sent.
func (f *Fleet) Issue(ctx context.Context, batch command.Batch, commands []command.Command, stop bool) (api.Ticket, error) {
	f.own(commands)
	if stop {
		t := f.sendStop(context.WithoutCancel(ctx), batch, commands) // who asked for a stop may hang up; it goes on
		t.awaitPersisted()
		return t, nil
	}
	db, err := f.Store()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, issueWithin)
	defer cancel()
	var ahead map[string][]command.Command
	if err := db.Tx(within, func(tx *store.Tx) error {
		if ahead, err = f.ahead(within, db, tx, commands); err != nil {
			return err
		}
		return tx.AddBatch(within, batch, commands)
	}); err != nil {
		if errors.Is(err, store.ErrUnknown) {
			f.driver.post(event{kind: postUnsent, unsent: commands})
		}
		return nil, err
	}
	t := newTicket(batch, commands, true)
	t.ahead = ahead
	f.driver.post(event{kind: postTicket, ticket: t})
	return t, nil
}

// own marks commands as this instance's: it alone sends them and hears the answers.
func (f *Fleet) own(commands []command.Command) {
	for i := range commands {
		commands[i].Owner = f.cfg.Name
	}
}

// CallOff ends a command that was not sent yet.
func (f *Fleet) CallOff(ctx context.Context, id string) bool { return f.driver.callOff(ctx, id) }

func (f *Fleet) sendStop(ctx context.Context, batch command.Batch, commands []command.Command) *ticket {
	var out []command.Command
	for i, c := range commands {
		next, effects := command.Step(c, time.Now(), command.Event{Kind: command.Begin, Present: f.view.Reachable(c.Robot)})
		if slices.Contains(effects, command.Send) {
			out = append(out, c)
		}
		commands[i] = next
	}
	t := newTicket(batch, commands, false)
	f.driver.post(event{kind: postTicket, ticket: t}) // first, which waits for nothing: the answer may come at once
	for _, c := range out {
		f.send(ctx, c)
	}
	f.log.Warn("stop sent", "verb", batch.Verb, "robots", len(commands), "by", batch.By, "why", batch.Why, "batch", batch.ID)
	return t
}

// awaitPersisted waits a moment for the database to have the batch.
func (t *ticket) awaitPersisted() {
	wait := time.NewTimer(stopPatience)
	defer wait.Stop()
	select {
	case <-t.persist:
	case <-wait.C:
	}
}

// addBatch persists a stop. Robots that the database does not know were
// stopped all the same, and have no record.
func (f *Fleet) addBatch(ctx context.Context, db *store.Store, t *ticket) error {
	known := slices.DeleteFunc(t.Commands(), func(c command.Command) bool { return !f.view.Adopted(c.Robot) })
	err := db.Tx(ctx, func(tx *store.Tx) error { return tx.AddBatch(ctx, t.batch, known) })
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return err
	}
	t.wasStored()
	return nil
}

// takeUp continues what this instance began before a restart.
func (f *Fleet) takeUp(ctx context.Context, db *store.Store, now time.Time) error {
	rows, err := db.OpenCommands(ctx, f.cfg.Name, now.Add(-goBack))
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		f.log.Info("unfinished commands taken up", "commands", len(rows))
		f.driver.post(event{kind: postTicket, ticket: newTicket(command.Batch{}, rows, true)})
	}
	return nil
}
