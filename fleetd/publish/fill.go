package publish

import (
	"context"

	"troupe/schema"
)

// read fills the window from the database.
func (o *outbox) read(ctx context.Context, db Store) {
	if len(o.confirmed) > 0 && o.last == 0 { // a new window would send them again
		o.mark(ctx, db)
	}
	if !o.fresh {
		o.fresh = o.readAll(ctx, db)
	}
	o.unread = o.fresh
	for o.fresh && o.window.len() < maxRows {
		rows, err := db.Unsent(ctx, o.last, rowsAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			o.unread = false // it is tried again when the outbox is looked at next
			return
		}
		for _, row := range rows {
			o.last = row.Seq
			if !isStop(row.Topic) {
				o.window.add(row, false)
			} else if row.Seq > o.lastStop {
				o.lastStop = row.Seq
				o.window.add(row, false)
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
func (o *outbox) readAll(ctx context.Context, db Store) bool {
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
		o.deps.Log.Info("desired documents published anew", "documents", len(all))
	}
	return true
}

// readStops adds the stops and releases that wait in the outbox.
func (o *outbox) readStops(ctx context.Context, db Store) bool {
	for {
		rows, err := db.UnsentStops(ctx, o.lastStop, rowsAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			return false
		}
		for _, row := range rows {
			o.lastStop = row.Seq
			o.window.add(row, false)
		}
		if len(rows) < rowsAtOnce {
			return true
		}
	}
}

func isStop(kind schema.TopicKind) bool {
	return kind == schema.TopicDesiredStop || kind == schema.TopicFleetStop
}

// mark marks the rows that the broker acknowledged.
func (o *outbox) mark(ctx context.Context, db Store) {
	if len(o.confirmed) == 0 {
		return
	}
	if err := db.MarkSent(ctx, o.confirmed, o.deps.Now()); err != nil {
		o.deps.Failed("outbox not marked", err)
		o.markAt = o.deps.Now().Add(outboxLook)
		return
	}
	o.confirmed = o.confirmed[:0]
}
