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
	// outboxAtOnce bounds what is read from the outbox in one go.
	outboxAtOnce = 256
	// stopsAtOnce bounds the rows among which stops are looked for before all that
	// is owned is published anew.
	stopsAtOnce = 4096
	// ackPatience is how long the broker may take to acknowledge one document.
	ackPatience = 5 * time.Second
	// outboxLook is how often the outbox is looked at without being told: another
	// writer of the same database may have put something there.
	outboxLook = time.Second
)

// outbox tells the broker what the database wants told, as long as this instance leads:
// after every change the rows of the outbox, in order, and after every connect all
// that the fleetd instances own there, since the broker may have forgotten. A row is marked only when the
// broker has acknowledged it, so a crash in between tells it twice, which harms
// nobody: desired documents are compared by revision and blobs by digest.
type outbox struct {
	deps  Deps
	wake  chan struct{}
	again chan struct{}     // connected anew
	extra chan link.Message // documents of fleetd's own to be told soon
}

func newOutbox(d Deps) *outbox {
	return &outbox{deps: d, wake: make(chan struct{}, 1), again: make(chan struct{}, 1), extra: make(chan link.Message, 64)}
}

// say queues one more document; when the queue is full it is left out: its
// reason to be said comes again.
func (o *outbox) say(m link.Message) {
	select {
	case o.extra <- m:
	default:
		o.deps.Log.Warn("document not repeated: too many wait", "topic", m.Topic)
	}
}

func (o *outbox) run(ctx context.Context, db Store) {
	look := time.NewTicker(outboxLook)
	defer look.Stop()
	fresh := false // all that is ours was told to this connection
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-o.extra:
			o.tell(ctx, m)
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

// repeatAll publishes every retained document that fleetd owns. What was held and
// released while nothing went out is told in that order first: a robot releases a
// stop that it holds by itself only after it has seen it written down.
func (o *outbox) repeatAll(ctx context.Context, db Store) bool {
	waiting, err := db.Unsent(ctx, stopsAtOnce)
	if err != nil {
		o.deps.Failed("outbox not read", err)
		return false
	}
	for _, row := range waiting {
		if (row.Topic == schema.TopicDesiredStop || row.Topic == schema.TopicFleetStop) && !o.tell(ctx, o.message(row)) {
			return false
		}
	}
	all, err := db.Desired(ctx)
	if err != nil {
		o.deps.Failed("desired documents not read", err)
		return false
	}
	for _, out := range all {
		if !o.tell(ctx, o.message(out)) {
			return false
		}
	}
	if len(all) > 0 {
		o.deps.Log.Info("desired documents published anew", "documents", len(all))
	}
	return true
}

// send empties the outbox.
func (o *outbox) send(ctx context.Context, db Store) {
	for {
		rows, err := db.Unsent(ctx, outboxAtOnce)
		if err != nil {
			o.deps.Failed("outbox not read", err)
			return
		}
		var sent []int64
		for _, row := range rows {
			if !o.tell(ctx, o.message(row)) {
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

// tell publishes one document and waits for the broker's word. A fleetd instance that does not
// lead at this moment tells nothing.
func (o *outbox) tell(ctx context.Context, m link.Message) bool {
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
