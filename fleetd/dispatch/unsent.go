package dispatch

import (
	"context"
	"slices"
	"time"

	"troupe/fleetd/command"
)

// unsentFor is how long rows of a commit with an unknown outcome are looked for after the
// database answered again: the commit may still be under way.
const unsentFor = time.Minute

// unsent are commands whose commit had an unknown outcome. They are not sent, and their
// caller got an error. If the database has them, they are ended there: other instances'
// commands would wait behind them for aheadFor.
type unsent struct {
	ids   []string
	until time.Time // zero until the database answered again
}

func newUnsent(commands []command.Command) *unsent {
	u := &unsent{}
	for _, c := range commands {
		u.ids = append(u.ids, c.ID)
	}
	return u
}

// endUnsent ends such commands in the database, and reports whether none is left to look
// for.
func (d *Dispatcher) endUnsent(ctx context.Context, now time.Time) bool {
	if len(d.unsent) == 0 {
		return true
	}
	db, err := d.deps.Store()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, saveWithin)
	defer cancel()
	d.unsent = slices.DeleteFunc(d.unsent, func(u *unsent) bool {
		var ended int
		if ended, err = endPersisted(ctx, db, u.ids, now); err != nil {
			d.deps.Failed("unsent commands not cancelled in the database", err)
			return false
		}
		if ended > 0 {
			d.deps.Log.Warn("commands cancelled: they were saved although their commit failed, and were never sent", "commands", ended)
			return true
		}
		if u.until.IsZero() {
			u.until = now.Add(unsentFor)
		}
		return now.After(u.until)
	})
	return len(d.unsent) == 0
}

// endPersisted ends those of the commands that are persisted and still queued.
func endPersisted(ctx context.Context, db Store, ids []string, now time.Time) (ended int, err error) {
	for some := range slices.Chunk(ids, othersAtOnce) {
		rows, err := db.CommandsByID(ctx, some)
		if err != nil {
			return ended, err
		}
		rows = slices.DeleteFunc(rows, func(c command.Command) bool { return c.State != command.Queued })
		for i, c := range rows {
			rows[i], _ = command.Step(c, now, command.Event{Kind: command.NotSent})
		}
		if len(rows) == 0 {
			continue
		}
		if err := db.SaveCommands(ctx, rows); err != nil {
			return ended, err
		}
		ended += len(rows)
	}
	return ended, nil
}
