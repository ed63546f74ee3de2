package publish

import (
	"container/heap"
	"time"

	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// maxInFlight is how many documents may wait for the broker's acknowledgement at once, stops excepted.
	maxInFlight = 224
	// maxStopsInFlight is how many stops may, because a broker that acknowledges nothing, such as a cluster while it elects a
	// leader, may deliver all the same. Both together are less than the 1024 at which nats-server reads no more of a connection.
	maxStopsInFlight = 768
	// maxBlobsInFlight bounds their bytes: a blob has up to 256 KiB.
	maxBlobsInFlight = 16
	// The pause before an unconfirmed document is sent again begins with retryMin, and
	// doubles with each attempt up to retryMax, or up to silentMax while the broker confirms nothing at all,
	// such as a node of a cluster without a majority: once it confirms again, no document waits for long. The
	// bounds above keep that from being many messages.
	retryMin  = time.Second
	retryMax  = 30 * time.Second
	silentMax = 4 * time.Second
)

// window decides which document is published next. Documents of one target are published in
// the order in which they were added, one at a time. Other targets do not wait for it:
//
//   - Stops, releases and the document fleet/revoked overtake everything, also the other documents
//     of their target, and do not wait for what is unconfirmed of others.
//   - A desired document waits for each blob that was added before it until the blob is
//     confirmed or has failed once: a robot should find the blobs that a document names. A
//     blob that is queued behind a failed one of the same digest counts as failed, too.
//   - A document that failed is sent again later, and holds up only its own target.
//
// A window has no lock: one goroutine owns it.
type window struct {
	queues    map[target]*queue
	ready     [3]queues // by class: queues whose first document may be sent, oldest first
	waiting   queues    // queues whose first document failed, the next to be sent first
	inFlight  map[int64]*queue
	stops     int            // in flight: documents of the class urgent
	blobs     int            // in flight
	unsettled map[int64]bool // blobs for which documents wait
	oldest    []int64        // unsettled blobs in order; those that are settled are removed from the front
	rows      int
	lastID    int64
	confirms  int64 // counts the confirmed documents
}

// document is a document in the window.
type document struct {
	store.Outgoing
	id       int64 // orders the documents of a window
	once     bool  // not sent again if it fails
	confirms int64 // of the window when it was sent
}

// class is what a document waits for.
type class int

const (
	urgent class = iota // for nothing
	blob
	ordinary // for older blobs
)

func classOf(kind schema.TopicKind) class {
	switch kind {
	case schema.TopicDesiredStop, schema.TopicFleetStop, schema.TopicRevoked:
		return urgent
	case schema.TopicBlob:
		return blob
	}
	return ordinary
}

// target is what is published in order: all ordinary documents of one robot, its stops, one
// blob, or a topic of the fleet.
type target struct {
	class
	id    string
	topic schema.TopicKind // of a document that belongs to no robot
}

func targetOf(o store.Outgoing) target {
	t := target{class: classOf(o.Topic), id: o.Target}
	if o.Target == "" {
		t.topic = o.Topic
	}
	return t
}

// queue has the documents of one target, oldest first. It is ready, waiting or in flight.
type queue struct {
	target   target
	pending  []document // that the broker has not confirmed
	attempts int        // failed ones of the first document
	retryAt  time.Time
}

func newWindow() *window {
	w := &window{queues: map[target]*queue{}, inFlight: map[int64]*queue{}, unsettled: map[int64]bool{}}
	older := func(a, b *queue) bool { return a.pending[0].id < b.pending[0].id }
	for c := range w.ready {
		w.ready[c].less = older
	}
	w.waiting.less = func(a, b *queue) bool { return a.retryAt.Before(b.retryAt) }
	return w
}

// len is the number of documents that are not confirmed.
func (w *window) len() int { return w.rows }

// queued counts the documents that a new one to the target of o would wait for.
func (w *window) queued(o store.Outgoing) int {
	if q := w.queues[targetOf(o)]; q != nil {
		return len(q.pending)
	}
	return 0
}

// add puts a document behind those of its target. once means that it is dropped if it fails.
func (w *window) add(o store.Outgoing, once bool) {
	w.lastID++
	w.rows++
	at := targetOf(o)
	q := w.queues[at]
	if q == nil {
		q = &queue{target: at}
		w.queues[at] = q
	}
	if at.class == blob && q.attempts == 0 {
		w.unsettled[w.lastID] = true
		w.oldest = append(w.oldest, w.lastID)
	}
	q.pending = append(q.pending, document{Outgoing: o, id: w.lastID, once: once})
	if len(q.pending) == 1 {
		heap.Push(&w.ready[at.class], q)
	}
}

// next returns the document to send now. It is in flight until it is confirmed or has failed.
func (w *window) next(now time.Time) (document, bool) {
	for w.waiting.Len() > 0 && !now.Before(w.waiting.of[0].retryAt) {
		q := heap.Pop(&w.waiting).(*queue)
		heap.Push(&w.ready[q.target.class], q)
	}
	c, ok := w.nextClass()
	if !ok {
		return document{}, false
	}
	q := heap.Pop(&w.ready[c]).(*queue)
	q.pending[0].confirms = w.confirms
	d := q.pending[0]
	w.inFlight[d.id] = q
	switch c {
	case urgent:
		w.stops++
	case blob:
		w.blobs++
	}
	return d, true
}

// nextClass is the class of the document to send next.
func (w *window) nextClass() (c class, ok bool) {
	if w.ready[urgent].Len() > 0 && w.stops < maxStopsInFlight {
		return urgent, true
	}
	if len(w.inFlight)-w.stops >= maxInFlight {
		return 0, false
	}
	if w.ready[blob].Len() > 0 && w.blobs < maxBlobsInFlight {
		c, ok = blob, true
	}
	if w.ready[ordinary].Len() == 0 {
		return c, ok
	}
	first := w.ready[ordinary].first()
	if len(w.oldest) > 0 && first > w.oldest[0] || ok && first > w.ready[blob].first() {
		return c, ok
	}
	return ordinary, true
}

// confirmed removes a document that the broker has acknowledged.
func (w *window) confirmed(id int64) {
	if q := w.endFlight(id); q != nil {
		w.confirms++
		w.drop(q)
	}
}

// failed lets a document be sent again later, or drops it if it is sent only once.
func (w *window) failed(id int64, now time.Time) {
	q := w.endFlight(id)
	switch {
	case q == nil:
	case q.pending[0].once:
		w.drop(q)
	default:
		longest := retryMax
		if q.pending[0].confirms == w.confirms { // nothing was confirmed since it was sent
			longest = silentMax
		}
		q.retryAt = now.Add(min(retryMin<<min(q.attempts, 16), longest))
		q.attempts++
		w.settle(q.pending)
		heap.Push(&w.waiting, q)
	}
}

// due is when the next document that failed may be sent again; zero if there is none.
func (w *window) due() time.Time {
	if w.waiting.Len() == 0 {
		return time.Time{}
	}
	return w.waiting.of[0].retryAt
}

// endFlight ends the flight of a document. It returns nil if the document is not in flight.
func (w *window) endFlight(id int64) *queue {
	q := w.inFlight[id]
	if q == nil {
		return nil
	}
	delete(w.inFlight, id)
	switch q.target.class {
	case urgent:
		w.stops--
	case blob:
		w.blobs--
		w.settle(q.pending[:1])
	}
	return q
}

// settle lets desired documents go that waited for these blobs.
func (w *window) settle(blobs []document) {
	for _, d := range blobs {
		delete(w.unsettled, d.id)
	}
	for len(w.oldest) > 0 && !w.unsettled[w.oldest[0]] {
		w.oldest = w.oldest[1:]
	}
}

// drop removes the first document of a queue.
func (w *window) drop(q *queue) {
	w.rows--
	q.attempts = 0
	q.pending[0] = document{}
	if q.pending = q.pending[1:]; len(q.pending) == 0 {
		delete(w.queues, q.target)
		return
	}
	heap.Push(&w.ready[q.target.class], q)
}

// queues is a heap of queues.
type queues struct {
	of   []*queue
	less func(a, b *queue) bool
}

func (h *queues) Len() int           { return len(h.of) }
func (h *queues) Less(i, j int) bool { return h.less(h.of[i], h.of[j]) }
func (h *queues) Swap(i, j int)      { h.of[i], h.of[j] = h.of[j], h.of[i] }
func (h *queues) Push(q any)         { h.of = append(h.of, q.(*queue)) }
func (h *queues) Pop() any {
	last := len(h.of) - 1
	q := h.of[last]
	h.of[last] = nil
	h.of = h.of[:last]
	return q
}

// first is the id of the oldest document.
func (h *queues) first() int64 { return h.of[0].pending[0].id }
