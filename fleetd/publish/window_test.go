package publish

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/fleetd/store"
	"troupe/schema"
)

// windowModel says by searching lists what a window decides by its heaps.
type windowModel struct {
	all      []*modelled // that are not confirmed, in order
	inFlight int         // stops excepted
	stops    int         // in flight
	confirms int         // documents that were confirmed
}

type modelled struct {
	seq      int64
	target   target
	once     bool
	flying   bool
	attempts int
	settled  bool // no document waits for this blob
	retryAt  time.Time
	confirms int // of the model when it was sent
}

// blocked reports why a document must not be sent now; empty if it may be.
func (m *windowModel) blocked(d *modelled, now time.Time) string {
	blobs := 0
	for _, o := range m.all {
		if o.flying && o.target.class == blob {
			blobs++
		}
	}
	switch {
	case d.flying:
		return "it is in flight"
	case now.Before(d.retryAt):
		return "it failed a moment ago"
	case d.target.class != urgent && m.inFlight >= maxInFlight, d.target.class == urgent && m.stops >= maxStopsInFlight:
		return "too many are in flight"
	case d.target.class == blob && blobs >= maxBlobsInFlight:
		return "too many blobs are in flight"
	}
	for _, o := range m.all {
		switch {
		case o == d:
			return ""
		case o.target == d.target:
			return "an older document of its target is not confirmed"
		case d.target.class == ordinary && o.target.class == blob && !o.settled:
			return "an older blob has neither been confirmed nor failed"
		}
	}
	panic("not in the model")
}

// next is the document that has to be sent: the oldest urgent one that may be, or else the
// oldest of all.
func (m *windowModel) next(now time.Time) *modelled {
	var best *modelled
	blobs := 0
	for _, d := range m.all {
		if d.flying && d.target.class == blob {
			blobs++
		}
	}
	seen, unsettled := map[target]bool{}, false // among older documents
	for _, d := range m.all {
		c := d.target.class
		blocked := d.flying || now.Before(d.retryAt) || seen[d.target] || c == urgent && m.stops >= maxStopsInFlight ||
			c != urgent && m.inFlight >= maxInFlight || c == blob && blobs >= maxBlobsInFlight || c == ordinary && unsettled
		if !blocked && (best == nil || c == urgent && best.target.class != urgent) {
			best = d
		}
		seen[d.target] = true
		unsettled = unsettled || c == blob && !d.settled
	}
	return best
}

func (m *windowModel) find(seq int64) *modelled {
	return m.all[slices.IndexFunc(m.all, func(d *modelled) bool { return d.seq == seq })]
}

// count is the counter of what is in flight beside d.
func (m *windowModel) count(d *modelled) *int {
	if d.target.class == urgent {
		return &m.stops
	}
	return &m.inFlight
}

func (m *windowModel) end(d *modelled, failed bool, now time.Time) {
	d.flying = false
	*m.count(d)--
	if failed && !d.once {
		longest := retryMax
		if d.confirms == m.confirms {
			longest = silentMax
		}
		d.retryAt = now.Add(min(retryMin<<d.attempts, longest))
		d.attempts++
		for _, o := range m.all {
			o.settled = o.settled || o.target == d.target
		}
		return
	}
	if !failed {
		m.confirms++
	}
	m.all = slices.DeleteFunc(m.all, func(o *modelled) bool { return o == d })
}

func TestWindowSendsAsItsModel(t *testing.T) {
	kinds := []schema.TopicKind{schema.TopicDesiredStory, schema.TopicDesiredConfig, schema.TopicDesiredStop, schema.TopicFleetStop,
		schema.TopicRevoked, schema.TopicBlob}
	rapid.Check(t, func(t *rapid.T) {
		w, m, now, seq := newWindow(), &windowModel{}, time.Unix(0, 0), int64(0)
		var flying []document
		robots := rapid.SampledFrom([]int{2, 3, 5, 8, 300}).Draw(t, "robots")
		add := func(kind schema.TopicKind, robot int, once bool) {
			seq++
			o := store.Outgoing{Seq: seq, Topic: kind, Target: fmt.Sprintf("r%d", robot)}
			if kind == schema.TopicFleetStop || kind == schema.TopicRevoked {
				o.Target = ""
			}
			w.add(o, once)
			d := &modelled{seq: seq, target: targetOf(o), once: once}
			d.settled = slices.ContainsFunc(m.all, func(o *modelled) bool { return o.target == d.target && o.attempts > 0 })
			m.all = append(m.all, d)
		}
		send := func() bool {
			d, ok := w.next(now)
			want := m.next(now)
			switch {
			case ok && want == nil:
				t.Fatalf("sent %d (%s), though %s", d.Seq, d.Topic, m.blocked(m.find(d.Seq), now))
			case !ok && want != nil:
				t.Fatalf("sent nothing, though nothing blocks %d", want.seq)
			case ok && want.seq != d.Seq:
				t.Fatalf("sent %d (%s) before %d; what blocks it: %q", d.Seq, d.Topic, want.seq, m.blocked(m.find(d.Seq), now))
			}
			if ok {
				want.flying, want.confirms = true, m.confirms
				*m.count(want)++
				flying = append(flying, d)
			}
			return ok
		}
		end := func(failed bool) {
			if len(flying) == 0 {
				t.Skip("nothing is in flight")
			}
			i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
			d := flying[i]
			flying = slices.Delete(flying, i, i+1)
			if failed {
				w.failed(d.id, now)
			} else {
				w.confirmed(d.id)
			}
			m.end(m.find(d.Seq), failed, now)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				add(rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(1, robots).Draw(t, "robot"), rapid.Bool().Draw(t, "once"))
			},
			"add many": func(t *rapid.T) {
				if len(m.all) > robots {
					t.Skip("there are many")
				}
				kind := rapid.SampledFrom([]schema.TopicKind{schema.TopicDesiredStory, schema.TopicDesiredStop, schema.TopicBlob}).Draw(t, "kind")
				for i := range robots {
					add(kind, i, false)
				}
			},
			"blob twice, then a story": func(t *rapid.T) {
				robot := rapid.IntRange(1, robots).Draw(t, "robot")
				add(schema.TopicBlob, robot, false)
				add(schema.TopicBlob, robot, false)
				add(schema.TopicDesiredStory, robot, false)
			},
			"send": func(*rapid.T) { send() },
			"send all": func(*rapid.T) {
				for send() {
				}
			},
			"confirmed": func(*rapid.T) { end(false) },
			"failed":    func(*rapid.T) { end(true) },
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
			},
			"unknown": func(*rapid.T) { w.confirmed(-1); w.failed(-1, now) },
			"": func(t *rapid.T) {
				if w.len() != len(m.all) {
					t.Fatalf("%d documents, want %d", w.len(), len(m.all))
				}
				if len(w.inFlight) != m.inFlight+m.stops || w.stops != m.stops || m.inFlight > maxInFlight || m.stops > maxStopsInFlight {
					t.Fatalf("%d documents in flight, %d of them stops; want %d, %d", len(w.inFlight), w.stops, m.inFlight+m.stops, m.stops)
				}
			},
		})
		for now = now.Add(retryMax); len(m.all) > 0; { // everything is sent in the end
			for send() {
			}
			if len(flying) == 0 {
				t.Fatalf("%d documents are never sent", len(m.all))
			}
			for _, d := range flying {
				w.confirmed(d.id)
				m.end(m.find(d.Seq), false, now)
			}
			flying = nil
		}
		if w.len() != 0 || len(w.queues) != 0 || len(w.unsettled) != 0 || len(w.oldest) != 0 || w.blobs != 0 || w.stops != 0 {
			t.Errorf("left: %+v", w)
		}
	})
}

func TestWindowOfStuckDocumentsSendsStops(t *testing.T) {
	w := newWindow()
	for i := range 10_000 {
		w.add(store.Outgoing{Topic: schema.TopicDesiredStory, Target: fmt.Sprint(i)}, false)
	}
	sent := 0
	for _, ok := w.next(time.Time{}); ok; _, ok = w.next(time.Time{}) {
		sent++
	}
	if sent != maxInFlight {
		t.Errorf("%d documents in flight, want %d", sent, maxInFlight)
	}
	for _, urgent := range []store.Outgoing{{Topic: schema.TopicDesiredStop, Target: "3"}, {Topic: schema.TopicFleetStop},
		{Topic: schema.TopicRevoked}} {
		w.add(urgent, false)
		if d, ok := w.next(time.Time{}); !ok || d.Topic != urgent.Topic {
			t.Errorf("sent %+v, want %s", d, urgent.Topic)
		}
	}
}

// A broker that acknowledges nothing, such as a cluster while it elects a leader, may deliver all the same: no stop
// waits for the acknowledgement of another robot's.
func TestMissingAcknowledgementsHoldBackNoStop(t *testing.T) {
	w := newWindow()
	for i := range maxStopsInFlight - 1 {
		w.add(store.Outgoing{Topic: schema.TopicDesiredStory, Target: fmt.Sprint(i)}, false)
		w.add(store.Outgoing{Topic: schema.TopicDesiredStop, Target: fmt.Sprint(i)}, false)
	}
	w.add(store.Outgoing{Topic: schema.TopicFleetStop}, false)
	stops := 0
	for d, ok := w.next(time.Time{}); ok; d, ok = w.next(time.Time{}) {
		if isStop(d.Topic) {
			stops++
		}
	}
	if stops != maxStopsInFlight {
		t.Errorf("%d of %d stops were sent while none was acknowledged", stops, maxStopsInFlight)
	}
}
