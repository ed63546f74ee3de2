package dispatch

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/store"
	"troupe/schema/verb"
)

const (
	// othersEvery is how often the dispatcher reads the states of other instances' commands
	// that are ahead of its own.
	othersEvery = 250 * time.Millisecond
	// othersAtOnce bounds how many of them one query reads.
	othersAtOnce = 500
	// aheadFor is the age up to which a command holds up another one: none is sent after
	// an hour.
	aheadFor = time.Hour
)

// ahead reads other instances' unfinished commands for the same robots, in the transaction
// that persists commands. Two such transactions do not overlap, so of two instances'
// commands to one robot exactly one comes first, and there is no deadlock.
func (d *Dispatcher) ahead(ctx context.Context, db Store, tx *store.Tx, commands []command.Command) (map[string][]command.Command, error) {
	if db.SingleInstance() || len(commands) == 0 {
		return nil, nil
	}
	rows, err := tx.OpenCommandsOfOthers(ctx, d.deps.Name, commands[0].CreatedAt.Add(-aheadFor))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	all := map[string][]command.Command{}
	for _, c := range commands {
		all[c.Robot] = nil
	}
	for _, c := range rows {
		if _, meant := all[c.Robot]; meant && c.State != command.Unknown && classOf(c.Verb) != verb.ClassStop {
			all[c.Robot] = append(all[c.Robot], c)
		}
	}
	return all, nil
}

func classOf(id string) verb.Class {
	group, name, _ := strings.Cut(id, "/")
	v, _ := verb.Of(group, name)
	return v.Class
}

// ordering keeps the commands of other instances that are ahead of this instance's. The
// dispatcher's loop owns it.
type ordering struct {
	known map[string]command.Command // by id: as last read from the database
	next  time.Time                  // when they are read again; zero = no command waits
}

// queueBehind records which commands are ahead of one.
func (o *ordering) queueBehind(c *activeCommand, ahead []command.Command) {
	for _, a := range ahead {
		o.known[a.ID] = a
		c.ahead = append(c.ahead, a.ID)
	}
	if len(c.ahead) > 0 && o.next.IsZero() {
		o.next = c.CreatedAt
	}
}

// busy counts other instances' commands that the robot works on, and reports whether the
// command may overtake the rest. Commands of an instance that is gone hold up none.
func (o *ordering) busy(c *activeCommand, gone func(owner string) bool) (n int, mayGo bool) {
	for _, id := range c.ahead {
		a, there := o.known[id]
		switch {
		case !there || gone(a.Owner):
		case c.class == verb.ClassMode && classOf(a.Verb) == verb.ClassMode && (a.State == command.Queued || a.State == command.Sent):
			return n, false
		case a.State == command.Sent || a.State == command.Acked || a.State == command.Running:
			n++
		}
	}
	return n, true
}

// readAhead reads the states of the commands ahead from the database, while a command waits for them.
func (d *Dispatcher) readAhead(ctx context.Context, now time.Time) {
	o := &d.others
	if o.next.IsZero() || now.Before(o.next) {
		return
	}
	o.next = time.Time{}
	waited := map[string]bool{}
	robots := map[string]bool{}
	for _, c := range d.open {
		if c.State == command.Queued && len(c.ahead) > 0 {
			robots[c.Robot] = true
			for _, id := range c.ahead {
				waited[id] = true
			}
		}
	}
	maps.DeleteFunc(o.known, func(id string, _ command.Command) bool { return !waited[id] })
	if len(o.known) == 0 {
		return
	}
	o.next = now.Add(othersEvery)
	db, err := d.deps.Store()
	if err != nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, saveWithin)
	defer cancel()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(o.known)), othersAtOnce) {
		rows, err := db.CommandsByID(within, ids)
		if err != nil {
			d.deps.Failed("commands of other fleetd instances not read", err)
			return
		}
		for _, c := range rows {
			if o.known[c.ID] = c; c.State.Settled() {
				delete(o.known, c.ID)
			}
		}
	}
	for robot := range robots {
		d.wakeQueued(ctx, now, robot)
	}
}
