package robot

import (
	"slices"
	"sync"
	"time"

	"troupe/robotd/command"
	"troupe/robotd/disk"
	"troupe/robotd/effect"
	"troupe/schema"
)

const (
	batchesMost = 256  // maximum number of waiting batches; further ones are merged into the last
	batchesFull = 128  // from this number on the robot takes no more commands
	unsavedMost = 1000 // maximum number of waiting messages of one kind that depend on no save
)

// batch is what the steps of one event save and then publish.
type batch struct {
	saves     []effect.Save
	publish   []numberedPublish
	reads     []command.Key // commands that replay events, including the events of this batch
	compactAt int           // size at which it is compacted again
}

// numberedPublish is a publication with its sequence number, so that a retained document is
// never replaced by an older one, although urgent ones overtake. One that needsSave is
// published only after the saves of its batch, and dropped if they failed.
type numberedPublish struct {
	effect.Publish
	n         int64
	needsSave bool
}

// saveQueue holds the batches that wait for the disk, however long the disk hangs. It is
// bounded without losing anything that was promised, because newer values replace older
// ones, as on the disk itself.
type saveQueue struct {
	mu      sync.Mutex
	batches []batch
	closed  bool
	wake    chan struct{} // capacity 1: a batch was added, or the queue was closed
}

func newSaveQueue() *saveQueue { return &saveQueue{wake: make(chan struct{}, 1)} }

// put adds a batch. It never blocks.
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

// markNeedsSave marks the publications of a step that depend on what the same step saves.
func (b *batch) markNeedsSave() {
	for i := range b.publish {
		b.publish[i].needsSave = b.dependsOnSave(b.publish[i])
	}
}

func (b *batch) empty() bool { return len(b.saves)+len(b.publish)+len(b.reads) == 0 }

// dependsOnSave reports whether p depends on a save of b: p is the final answer to an accepted
// command, or the report on a desired document. Otherwise p is published even if the save
// fails, because it would not be published again.
func (b *batch) dependsOnSave(p numberedPublish) bool {
	switch p.Topic {
	case schema.TopicReportedStory, schema.TopicReportedActivities, schema.TopicReportedPlaces, schema.TopicReportedConfig,
		schema.TopicReportedMode:
		return slices.ContainsFunc(b.saves, func(e effect.Save) bool {
			switch e.(type) {
			case effect.SaveContent, effect.SaveValue:
				return true
			}
			return false
		})
	}
	return p.Confirm != "" && slices.ContainsFunc(b.saves, func(e effect.Save) bool {
		save, ok := e.(effect.SaveRequests)
		return ok && slices.ContainsFunc(save.Put, func(r command.Record) bool { return r.Key() == p.Confirm })
	})
}

// close makes wait report the end once everything was taken.
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

// full reports whether the disk is so far behind that the robot takes no more commands.
func (l *saveQueue) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.batches) >= batchesFull
}

// wait waits for a batch, or until limit, and reports false after the end.
func (l *saveQueue) wait(limit <-chan time.Time) bool {
	for {
		l.mu.Lock()
		some, closed := len(l.batches) > 0, l.closed
		l.mu.Unlock()
		if some || closed {
			return some
		}
		select {
		case <-l.wake:
		case <-limit:
			return true
		}
	}
}

// take returns the oldest batches, at most so many.
func (l *saveQueue) take(most int) []batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(most, len(l.batches))
	taken := slices.Clone(l.batches[:n])
	l.batches = slices.Delete(l.batches, 0, n)
	return taken
}

func (b *batch) join(c batch) {
	b.saves = append(b.saves, c.saves...)
	b.publish = append(b.publish, c.publish...)
	b.reads = append(b.reads, c.reads...)
	if size := len(b.saves) + len(b.publish); size > max(b.compactAt, 2*unsavedMost) {
		b.compact()
		b.compactAt = 2 * (len(b.saves) + len(b.publish))
	}
}

// compact drops what newer values replace: older records of a command, older versions of a
// document, events beyond the number that the disk keeps, and all but the newest of the
// answers that depend on no save.
func (b *batch) compact() {
	var records effect.SaveRequests
	at := map[command.Key]int{}
	var forgotten []command.Key
	events, values := 0, map[string]bool{}
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
		case effect.SaveValue:
			if values[e.Name] {
				continue
			}
			values[e.Name] = true
		}
		saves = append(saves, e)
	}
	slices.Reverse(records.Put)
	if records.Forget = forgotten; len(at) > 0 {
		saves = append(saves, records)
	}
	slices.Reverse(saves)
	b.saves = saves

	type name struct {
		topic schema.TopicKind
		param string
		key   command.Key
	}
	seen := map[name]int{}
	publish := b.publish[:0:0]
	for _, p := range slices.Backward(b.publish) {
		k, most := name{p.Topic, "", p.Confirm}, 1
		if retained := schema.TopicOf(p.Topic).Retain; retained {
			k.param = p.Param
		} else if p.Confirm == "" {
			most = unsavedMost
		}
		if seen[k]++; seen[k] <= most {
			publish = append(publish, p)
		}
	}
	slices.Reverse(publish)
	b.publish = publish
}
