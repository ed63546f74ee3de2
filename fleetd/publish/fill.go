package publish

import (
	"context"

	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// maxRows bounds the rows of the outbox that wait in memory.
	maxRows = 10_000
	// rowsAtOnce bounds the rows that are read from the outbox at once.
	rowsAtOnce = 1000
	// maxOfTarget bounds the rows of one target that wait in memory, so that a robot that
	// confirms nothing leaves room for others.
	maxOfTarget = 32
)

// filler remembers which rows of the outbox are in a window.
type filler struct {
	unread   bool  // the outbox may have rows that are not in the window
	last     int64 // number of the last row that was read
	lastStop int64 // number of the last row with a stop that was read
	// unreadFrom has the targets with more rows than the window takes: the number after which
	// the next unread row comes.
	unreadFrom map[target]int64
	// refillable are targets of unreadFrom whose rows in the window are nearly used up.
	refillable map[target]bool
	stalled    bool // the last read for them failed
}

func newFiller() filler { return filler{unreadFrom: map[target]int64{}, refillable: map[target]bool{}} }

// read fills the window from the database. It reads no more than maxRows at once.
func (o *outboxPublisher) read(ctx context.Context, db Store) {
	if len(o.confirmed) > 0 && o.last == 0 { // a new window would send them again
		o.mark(ctx, db)
	}
	if !o.fresh {
		o.fresh = o.readAll(ctx, db)
	}
	o.unread = o.fresh
	for n := 0; o.fresh && o.window.len() < maxRows && n < maxRows; n += rowsAtOnce {
		rows, err := db.Unsent(ctx, o.last, rowsAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			o.unread = false // it is tried again when the outbox is looked at next
			return
		}
		for _, row := range rows {
			o.last = row.Seq
			if !isStop(row.Topic) {
				o.add(row)
			} else if row.Seq > o.lastStop {
				o.lastStop = row.Seq
				o.add(row)
			}
		}
		if len(rows) < rowsAtOnce {
			o.unread = false
			return
		}
	}
	if o.fresh {
		o.readStops(ctx, db) // they do not wait for room
	}
}

// readAll adds every retained document that fleetd owns. Stops and releases that wait in the
// outbox go first, in their order: a robot that holds a stop by a live message releases it
// only if it has seen that stop in a document before.
func (o *outboxPublisher) readAll(ctx context.Context, db Store) bool {
	if !o.readStops(ctx, db) {
		return false
	}
	all, err := db.RetainedDocuments(ctx)
	if err != nil {
		o.deps.Failed("desired documents not read", err)
		return false
	}
	for _, d := range all {
		o.window.add(d, false)
	}
	if len(all) > 0 {
		o.deps.Log.Info("desired documents are to be published anew", "documents", len(all))
	}
	return true
}

// readStops adds the stops and releases that wait in the outbox.
func (o *outboxPublisher) readStops(ctx context.Context, db Store) bool {
	for {
		rows, err := db.UnsentStops(ctx, o.lastStop, rowsAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			return false
		}
		for _, row := range rows {
			o.lastStop = row.Seq
			o.add(row)
		}
		if len(rows) < rowsAtOnce {
			return true
		}
	}
}

func isStop(kind schema.TopicKind) bool {
	return kind == schema.TopicDesiredStop || kind == schema.TopicFleetStop
}

// add puts a row of the outbox into the window, unless its target has many there: then this
// row and all later ones of the target are read again when there is room.
func (o *outboxPublisher) add(row store.Outgoing) {
	at := targetOf(row)
	if _, more := o.unreadFrom[at]; more {
		return
	}
	if n := o.window.queued(row); n >= maxOfTarget {
		o.unreadFrom[at] = row.Seq - 1
		return
	}
	o.window.add(row, false)
}

// noteRoom records that a document of a target has left the window.
func (o *outboxPublisher) noteRoom(d document) {
	at := targetOf(d.Outgoing)
	if _, more := o.unreadFrom[at]; more && o.window.queued(d.Outgoing) <= maxOfTarget/2 {
		o.refillable[at] = true
	}
}

// refillTargets adds rows of targets that have room in the window again. After a failure it waits
// for the next look at the outbox.
func (o *outboxPublisher) refillTargets(ctx context.Context, db Store, scheduled bool) {
	if o.stalled && !scheduled {
		return
	}
	o.stalled = false
	for at := range o.refillable {
		if o.stalled = !o.readTarget(ctx, db, at); o.stalled {
			return
		}
		delete(o.refillable, at)
	}
}

// readTarget adds the next rows of one target.
func (o *outboxPublisher) readTarget(ctx context.Context, db Store, at target) bool {
	upTo := o.last // later rows are read with those of all targets
	if at.class == urgent {
		upTo = max(o.last, o.lastStop)
	}
	for added := 0; added == 0; {
		rows, err := db.UnsentOf(ctx, at.id, o.unreadFrom[at], upTo, maxOfTarget/2)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			return false
		}
		for _, row := range rows {
			o.unreadFrom[at] = row.Seq
			if targetOf(row) == at {
				o.window.add(row, false)
				added++
			}
		}
		if len(rows) < maxOfTarget/2 {
			delete(o.unreadFrom, at)
			return true
		}
	}
	return true
}

// mark marks the rows that the broker acknowledged.
func (o *outboxPublisher) mark(ctx context.Context, db Store) {
	if len(o.confirmed) == 0 {
		return
	}
	if err := db.MarkSent(ctx, o.confirmed, o.deps.Now()); err != nil {
		o.deps.Failed("outbox rows not marked as sent", err)
		o.markAt = o.deps.Now().Add(outboxLook)
		return
	}
	o.confirmed = o.confirmed[:0]
}
