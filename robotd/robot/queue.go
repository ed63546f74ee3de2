package robot

import (
	"slices"
	"sync"

	"troupe/robotd/disk"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

const (
	batchesMost = 256  // that wait one by one; what comes then joins the last of them
	batchesFull = 128  // from here on the robot takes no more commands
	loose       = 1000 // messages of one kind that are kept although nothing needs them
)

// batch is what the steps of one event want saved and then published.
type batch struct {
	saves     []effect.Effect
	publish   []numberedPublish
	reads     []request.Key // who wants the events, those of this batch included
	compactAt int           // how much it may hold before it is compacted again
}

// numberedPublish is a publication with its number among all: a retained document never
// gives way to an older one, though urgent ones overtake. One that is bound came with
// something that has to be on the disk first.
type numberedPublish struct {
	effect.Publish
	n     int64
	bound bool
}

// saveQueue is what waits for the disk, however long that hangs. Nothing that was
// promised to anybody is lost: it is bounded because what is newer makes what is older
// superfluous, as on the disk itself.
type saveQueue struct {
	mu      sync.Mutex
	batches []batch
	closed  bool
	wake    chan struct{} // 1: something came, or the end
}

func newBacklog() *saveQueue { return &saveQueue{wake: make(chan struct{}, 1)} }

// put adds a batch. It never waits.
func (l *saveQueue) put(b batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.batches) < batchesMost {
		l.batches = append(l.batches, b)
	} else {
		l.batches[len(l.batches)-1].join(b)
	}
	l.poke()
}

// bind marks the publications of a step that are bound to what the same step saves.
func (b *batch) bind() {
	for i := range b.publish {
		b.publish[i].bound = b.saving(b.publish[i])
	}
}

func (b *batch) empty() bool { return len(b.saves)+len(b.publish)+len(b.reads) == 0 }

// saving reports whether b saves what p is about: the final answer to a command that was
// taken, or what became of a desired document. What else it saves is no reason to hold p
// back, for nobody would offer p again.
func (b *batch) saving(p numberedPublish) bool {
	switch p.Topic {
	case schema.TopicReportedStory, schema.TopicReportedActivities, schema.TopicReportedPlaces, schema.TopicReportedConfig, schema.TopicReportedMode:
		return slices.ContainsFunc(b.saves, func(e effect.Effect) bool {
			switch e.(type) {
			case effect.SaveContent, effect.SaveSetting:
				return true
			}
			return false
		})
	}
	return p.Confirm != "" && slices.ContainsFunc(b.saves, func(e effect.Effect) bool {
		save, ok := e.(effect.SaveRequests)
		return ok && slices.ContainsFunc(save.Put, func(r request.Record) bool { return r.Key() == p.Confirm })
	})
}

// close lets take end when everything is taken.
func (l *saveQueue) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.poke()
}

func (l *saveQueue) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// full reports whether the disk is so far behind that nothing more may be begun.
func (l *saveQueue) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.batches) >= batchesFull
}

// take waits for batches and returns the oldest, at most so many; none is the end.
func (l *saveQueue) take(most int) []batch {
	for {
		l.mu.Lock()
		if n := min(most, len(l.batches)); n > 0 {
			taken := slices.Clone(l.batches[:n])
			l.batches = slices.Delete(l.batches, 0, n)
			l.mu.Unlock()
			return taken
		}
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return nil
		}
		<-l.wake
	}
}

func (b *batch) join(c batch) {
	b.saves = append(b.saves, c.saves...)
	b.publish = append(b.publish, c.publish...)
	b.reads = append(b.reads, c.reads...)
	if size := len(b.saves) + len(b.publish); size > max(b.compactAt, 2*loose) {
		b.compact()
		b.compactAt = 2 * (len(b.saves) + len(b.publish))
	}
}

// compact leaves out what something newer replaces: an older record of a command, an
// older version of a document, events that would leave the ring anyway, and of the
// answers that nobody saves all but the newest.
func (b *batch) compact() {
	var records request.Save
	at := map[request.Key]int{}
	var forgotten []request.Key
	events, settings := 0, map[string]bool{}
	saves := b.saves[:0:0]
	for _, e := range slices.Backward(b.saves) {
		switch e := e.(type) {
		case effect.SaveRequests: // the newest record of each command counts
			for _, r := range slices.Backward(e.Put) {
				if _, said := at[r.Key()]; !said {
					at[r.Key()] = 0
					records.Put = append(records.Put, r)
				}
			}
			for _, k := range e.Forget {
				if _, said := at[k]; !said {
					at[k] = 0
					forgotten = append(forgotten, k)
				}
			}
			continue
		case effect.SaveEvent:
			if events++; events > disk.MaxEvents {
				continue
			}
		case effect.SaveSetting:
			if settings[e.Name] {
				continue
			}
			settings[e.Name] = true
		}
		saves = append(saves, e)
	}
	slices.Reverse(records.Put)
	if records.Forget = forgotten; len(at) > 0 {
		saves = append(saves, effect.SaveRequests{Save: records})
	}
	slices.Reverse(saves)
	b.saves = saves

	type name struct {
		topic schema.TopicKind
		param string
		key   request.Key
	}
	seen := map[name]int{}
	publish := b.publish[:0:0]
	for _, p := range slices.Backward(b.publish) {
		k, most := name{p.Topic, "", p.Confirm}, 1
		if retained := schema.TopicOf(p.Topic).Retain; retained {
			k.param = p.Param
		} else if p.Confirm == "" {
			most = loose
		}
		if seen[k]++; seen[k] <= most {
			publish = append(publish, p)
		}
	}
	slices.Reverse(publish)
	b.publish = publish
}
