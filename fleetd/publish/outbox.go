package publish

import (
	"context"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// outboxAtOnce bounds the rows that are read from the outbox at once.
	outboxAtOnce = 256
	// stopsAtOnce bounds the rows that are searched for stops before everything is
	// published anew.
	stopsAtOnce = 4096
	// ackPatience is how long the broker may take to acknowledge one document.
	ackPatience = 5 * time.Second
	// outboxLook is how often the outbox is read without a wake-up: another instance may
	// have written there.
	outboxLook = time.Second
)

// outbox publishes the rows of the database's outbox, in order, while this instance leads.
// After every connect it publishes all retained documents that fleetd owns, since the broker
// may have lost them. A row is marked as sent only after the broker has acknowledged it, so
// after a crash it may be published twice. That is harmless: robots compare desired documents
// by revision and blobs by digest.
type outbox struct {
	deps  Deps
	wake  chan struct{}
	again chan struct{}     // the leader's connection is new
	extra chan link.Message // documents that are not in the outbox
}

func newOutbox(d Deps) *outbox {
	return &outbox{deps: d, wake: make(chan struct{}, 1), again: make(chan struct{}, 1), extra: make(chan link.Message, 64)}
}

// say queues one more document. It drops the document if the queue is full: the reason to
// publish it comes again.
func (o *outbox) say(m link.Message) {
	select {
	case o.extra <- m:
	default:
		o.deps.Log.Warn("document not published again: the queue is full", "topic", m.Topic)
	}
}

func (o *outbox) run(ctx context.Context, db Store) {
	look := time.NewTicker(outboxLook)
	defer look.Stop()
	fresh := false // all that fleetd owns was published on this connection
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-o.extra:
			o.publish(ctx, m)
			continue
		case <-o.again:
			fresh = false
		case <-o.wake:
		case <-look.C:
		}
		if p := o.deps.Writer(); p == nil || !p.Up() {
			fresh = false
			continue
		}
		if !fresh {
			fresh = o.repeatAll(ctx, db)
		}
		if fresh {
			o.send(ctx, db)
		}
	}
}

// repeatAll publishes every retained document that fleetd owns. Stops and releases that
// wait in the outbox go first, in their order: a robot that holds a stop by a live message
// releases it only if it has seen that stop in a document before.
func (o *outbox) repeatAll(ctx context.Context, db Store) bool {
	waiting, err := db.Unsent(ctx, stopsAtOnce)
	if err != nil {
		o.deps.Failed("outbox not read", err)
		return false
	}
	for _, row := range waiting {
		if (row.Topic == schema.TopicDesiredStop || row.Topic == schema.TopicFleetStop) && !o.publish(ctx, o.message(row)) {
			return false
		}
	}
	all, err := db.Desired(ctx)
	if err != nil {
		o.deps.Failed("desired documents not read", err)
		return false
	}
	for _, out := range all {
		if !o.publish(ctx, o.message(out)) {
			return false
		}
	}
	if len(all) > 0 {
		o.deps.Log.Info("desired documents published anew", "documents", len(all))
	}
	return true
}

// send publishes the rows of the outbox, and marks those that the broker acknowledged.
func (o *outbox) send(ctx context.Context, db Store) {
	for {
		rows, err := db.Unsent(ctx, outboxAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			return
		}
		var sent []int64
		for _, row := range rows {
			if !o.publish(ctx, o.message(row)) {
				break
			}
			sent = append(sent, row.Seq)
		}
		if len(sent) > 0 {
			if err := db.MarkSent(ctx, sent, o.deps.Now()); err != nil {
				o.deps.Failed("outbox not marked", err)
				return
			}
		}
		if len(sent) < len(rows) || len(rows) < outboxAtOnce {
			return
		}
	}
}

func (o *outbox) message(out store.Outgoing) link.Message {
	var params []string
	if out.Target != "" {
		params = append(params, out.Target)
	}
	return link.Message{Topic: o.deps.Namespace.Topic(out.Topic, params...), Payload: out.Payload, QoS: schema.TopicOf(out.Topic).QoS, Retain: true}
}

// publish publishes one document and waits for the broker's acknowledgement. It reports
// false if that did not come, or if this instance does not lead now.
func (o *outbox) publish(ctx context.Context, m link.Message) bool {
	p := o.deps.Writer()
	if p == nil {
		return false
	}
	wait, cancel := context.WithTimeout(ctx, ackPatience)
	defer cancel()
	if err := p.PublishWait(wait, m); err != nil {
		if !errors.Is(err, link.ErrNotReady) && ctx.Err() == nil {
			o.deps.Log.Warn("document not published", "topic", m.Topic, "error", err)
		}
		return false
	}
	return true
}
