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
	// maxUnconfirmedAhead bounds the queue of a target for documents without a row in the outbox: if
	// that many of its documents are unconfirmed, a further one is dropped.
	maxUnconfirmedAhead = 8
	// ackTimeout is how long the broker may take to acknowledge one document.
	ackTimeout = 5 * time.Second
	// outboxLook is how often the outbox is read without a wake-up: another instance may
	// have written there.
	outboxLook = time.Second
	// markEvery is how long confirmed rows are gathered to be marked in one statement.
	markEvery = 100 * time.Millisecond
	// logEvery is the pause between log lines about documents that were not published.
	logEvery = time.Second
	// markWithin bounds the last mark of a shutdown.
	markWithin = time.Second
)

// outboxPublisher publishes the rows of the database's outbox while this instance leads, many at
// once; its window decides in which order. After every connect it publishes all retained
// documents that fleetd owns, since the broker may have lost them. A row is marked as sent
// only after the broker has acknowledged it, so after a crash it may be published twice. That
// is harmless: robots compare desired documents by revision and blobs by digest.
type outboxPublisher struct {
	deps        Deps
	wake        chan struct{}
	reconnected chan struct{}     // the leader's connection is new
	extra       chan link.Message // documents that are published once and have no row in the outbox
	results     chan result

	// Owned by run.
	window  *window
	ctx     context.Context // of the documents in flight
	abandon context.CancelFunc
	fresh   bool // all that fleetd owns is in the window, or was published on this connection
	filler
	confirmed []int64 // rows that are not marked yet
	markAt    time.Time
	unlogged  int // documents that were not published since loggedAt
	loggedAt  time.Time
}

// result is how the publication of a document ended.
type result struct {
	document document
	window   *window // to which it belongs
	err      error
}

func newOutboxPublisher(d Deps) *outboxPublisher {
	return &outboxPublisher{
		deps: d, wake: make(chan struct{}, 1), reconnected: make(chan struct{}, 1), extra: make(chan link.Message, 64),
		results: make(chan result, maxInFlight+maxStopsInFlight), window: newWindow(), filler: newFiller(),
	}
}

// enqueue queues one more document. It drops the document if the queue is full: the reason to
// publish it comes again.
func (o *outboxPublisher) enqueue(m link.Message) {
	select {
	case o.extra <- m:
	default:
		o.deps.Log.Warn("document not published again: the queue is full", "topic", m.Topic)
	}
}

func (o *outboxPublisher) run(ctx context.Context, db Store) {
	look := time.NewTicker(outboxLook)
	defer look.Stop()
	timer := time.NewTimer(outboxLook)
	defer timer.Stop()
	o.ctx, o.abandon = context.WithCancel(ctx)
	defer func() { o.abandon() }()
	for {
		read := false // now, even if the window is rather full
		select {
		case <-ctx.Done():
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), markWithin)
			defer cancel()
			o.mark(within, db)
			return
		case m := <-o.extra:
			o.addMessage(m)
		case <-o.reconnected:
			o.reset(ctx)
			read = true
		case <-o.wake:
			read = true
		case <-look.C:
			read = true
		case r := <-o.results:
			o.takeResult(r)
			o.takeResults()
		case <-timer.C:
		}
		if len(o.confirmed) > 0 && !o.deps.Now().Before(o.markAt) {
			o.mark(ctx, db)
		}
		if o.writer() == nil {
			o.reset(ctx)
		} else {
			if read || o.readsOn() {
				o.read(ctx, db)
			}
			o.refillTargets(ctx, db, read)
			o.send(db)
		}
		timer.Reset(o.untilNextWork())
	}
}

// writer is the connection to publish on; nil if this instance is not the leader now, or is not
// connected.
func (o *outboxPublisher) writer() Writer {
	if p := o.deps.Writer(); p != nil && p.Up() {
		return p
	}
	return nil
}

// readsOn reports whether there is room in the window for rows that were not read yet.
func (o *outboxPublisher) readsOn() bool { return o.unread && o.window.len() <= maxRows/2 }

// untilNextWork is how long nothing has to be done if nothing happens.
func (o *outboxPublisher) untilNextWork() time.Duration {
	now, wait := o.deps.Now(), outboxLook
	if o.readsOn() || len(o.refillable) > 0 && !o.stalled {
		return 0
	}
	if len(o.confirmed) > 0 {
		wait = min(wait, o.markAt.Sub(now))
	}
	if due := o.window.due(); !due.IsZero() {
		wait = min(wait, due.Sub(now))
	}
	return max(wait, 0)
}

// reset forgets what waits and what is in flight: the next connection, or the next leader,
// publishes it.
func (o *outboxPublisher) reset(ctx context.Context) {
	if !o.fresh && !o.unread && o.window.len() == 0 && o.lastStop == 0 {
		return
	}
	o.abandon()
	o.ctx, o.abandon = context.WithCancel(ctx)
	o.window, o.fresh, o.filler = newWindow(), false, newFiller()
}

// addMessage adds a document without a row in the outbox. It is sent once.
func (o *outboxPublisher) addMessage(m link.Message) {
	row, params, ok := o.deps.Namespace.Match(m.Topic)
	if !ok {
		o.deps.Log.Error("document on an unknown topic not published", "topic", m.Topic)
		return
	}
	out := store.Outgoing{Topic: row.Kind, Payload: m.Payload, Target: params.RID}
	if row.Kind == schema.TopicBlob {
		out.Target = params.SHA256
	}
	if _, more := o.unreadFrom[targetOf(out)]; more || o.window.queued(out) >= maxUnconfirmedAhead {
		o.deps.Log.Warn("document not published again: others of its target are unconfirmed", "topic", m.Topic)
		return
	}
	o.window.add(out, true)
}

// send publishes what the window allows now.
func (o *outboxPublisher) send(db Store) {
	for {
		p := o.writer() // a lost lead stops the sending at once
		if p == nil {
			return
		}
		d, ok := o.window.next(o.deps.Now())
		if !ok {
			return
		}
		r := result{document: d, window: o.window}
		running := o.ctx
		ctx, cancel := context.WithTimeout(running, ackTimeout)
		if d.PayloadInBlob { // its order among others is the window's: they wait until it is confirmed
			go func() {
				defer cancel()
				o.report(running, r, o.publishBlob(ctx, db, d.Outgoing))
			}()
			continue
		}
		wait, err := p.PublishAsync(ctx, o.message(d.Outgoing))
		if err != nil {
			cancel()
			r.err = err
			o.takeResult(r)
			continue
		}
		go func() {
			defer cancel()
			o.report(running, r, wait(ctx))
		}()
		o.takeResults()
	}
}

// report hands the result of a publication to the owner of the window, unless the owner has reset
// the window meanwhile.
func (o *outboxPublisher) report(running context.Context, r result, err error) {
	r.err = err
	select {
	case o.results <- r:
	case <-running.Done():
	}
}

// publishBlob reads the body of a blob and publishes it. A blob that was deleted meanwhile is
// removed from the broker.
func (o *outboxPublisher) publishBlob(ctx context.Context, db Store, out store.Outgoing) error {
	body, err := db.Blob(ctx, out.Target)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		o.deps.Failed("blob not read", err)
		return err
	}
	out.Payload = body
	p := o.writer()
	if p == nil {
		return link.ErrNotReady
	}
	wait, err := p.PublishAsync(ctx, o.message(out))
	if err != nil {
		return err
	}
	return wait(ctx)
}

// takeResults takes all results that have arrived.
func (o *outboxPublisher) takeResults() {
	for {
		select {
		case r := <-o.results:
			o.takeResult(r)
		default:
			return
		}
	}
}

// takeResult records how the publication of a document ended.
func (o *outboxPublisher) takeResult(r result) {
	if r.window != o.window {
		return // of an earlier connection: published again
	}
	now := o.deps.Now()
	if r.err != nil {
		o.window.failed(r.document.id, now)
		if errors.Is(r.err, link.ErrNotReady) || o.ctx.Err() != nil {
			return
		}
		if o.unlogged++; now.Sub(o.loggedAt) >= logEvery {
			o.deps.Log.Warn("document not published", "topic", r.document.Topic, "target", r.document.Target, "error", r.err, "documents",
				o.unlogged)
			o.unlogged, o.loggedAt = 0, now
		}
		return
	}
	o.window.confirmed(r.document.id)
	o.noteRoom(r.document)
	if r.document.Seq == 0 {
		return
	}
	if len(o.confirmed) == 0 {
		o.markAt = now.Add(markEvery)
	}
	o.confirmed = append(o.confirmed, r.document.Seq)
}

func (o *outboxPublisher) message(out store.Outgoing) link.Message {
	var params []string
	if out.Target != "" {
		params = append(params, out.Target)
	}
	return link.Message{Topic: o.deps.Namespace.Topic(out.Topic, params...), Payload: out.Payload, QoS: schema.TopicOf(out.Topic).QoS,
		Retain: true}
}
