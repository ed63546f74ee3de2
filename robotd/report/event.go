package report

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// events is the history of this boot. Three token buckets bound how many it has a second. What
// comes of one level never takes the room of a more important one.
type events struct {
	seq        int64
	urgent     float64 // how many of level warn and error may come at once
	room       float64 // how many others may; below 0 until these have made up for more important ones
	routine    float64 // how many of the others may be routine
	filled     time.Duration
	dropped    int64
	missing    map[string]int64 // dropped, by type, and no event says so yet
	reportedAt time.Duration    // when an event said so last
}

// newEvents is a history without events.
func newEvents(now time.Duration) events {
	return events{
		urgent: config.EventBurst, room: config.EventBurst, routine: routineBurst,
		filled: now, missing: map[string]int64{},
	}
}

// dropped is the data of events_dropped. Count is the sum of Types.
type dropped struct {
	Count int64            `json:"count"`
	Types map[string]int64 `json:"types"`
}

const (
	// routineShare is the share of the events that may be routine, and routineBurst how many may be
	// so at once: acts end and begin just when something happens to a simulated body.
	routineShare = 0.25
	routineBurst = config.EventBurst / 2
	// droppedEvery is how often an event says that others were dropped.
	droppedEvery = time.Second
	// maxDroppedTypes bounds the types in such an event, which has to fit its topic. The other types
	// are in the next one.
	maxDroppedTypes = 32
)

// Event adds to the history: it is saved on the disk, and published if there is a session.
func (t Step) Event(kind, source, cause, req string, data any) {
	t.event(schema.EventOf(kind), source, cause, req, data)
}

func (t Step) event(row schema.EventRow, source, cause, req string, data any) {
	t.refill()
	if !t.events.admit(row) {
		t.events.dropped++
		t.events.missing[row.Type]++
		t.Changed(effect.FlushSoon)
		return
	}
	if len(t.events.missing) > 0 && (t.events.reportedAt == 0 || t.Now.Mono >= t.events.reportedAt+droppedEvery) {
		t.events.reportedAt = t.Now.Mono
		t.events.charge()
		t.emit(schema.EventOf("events_dropped"), "robotd", "", "", t.events.takeMissing())
	}
	t.emit(row, source, cause, req, data)
}

// admit reports whether there is room for an event, and takes it. Safety needs none.
func (e *events) admit(row schema.EventRow) bool {
	switch {
	case row.Level == schema.EventSafety:
	case row.Level == schema.EventWarn || row.Level == schema.EventError:
		if e.urgent < 1 {
			return false
		}
		e.urgent--
	case e.room < 1 || row.Routine && e.routine < 1:
		return false
	case row.Routine:
		e.routine--
	}
	e.charge()
	return true
}

// charge takes the room of one event. A more important event takes that of later ones of level
// info, so that the robot keeps its rate in the long run.
func (e *events) charge() { e.room = max(-config.EventBurst, e.room-1) }

// takeMissing takes the types of which most were dropped.
func (e *events) takeMissing() dropped {
	types := slices.SortedFunc(maps.Keys(e.missing), func(a, b string) int {
		return cmp.Or(cmp.Compare(e.missing[b], e.missing[a]), cmp.Compare(a, b))
	})
	d := dropped{Types: map[string]int64{}}
	for _, kind := range types[:min(len(types), maxDroppedTypes)] {
		d.Types[kind] = e.missing[kind]
		d.Count += e.missing[kind]
		delete(e.missing, kind)
	}
	return d
}

func (t Step) emit(row schema.EventRow, source, cause, req string, data any) {
	t.events.seq++
	e := schema.Event{TS: t.Now.Wall, Boot: t.boot, Seq: t.events.seq, Type: row.Type, Level: row.Level, Source: source, Cause: cause,
		ReqID: req}
	if data != nil {
		e.Data = effect.Encode(data)
	}
	payload := within(schema.TopicEvent, &e)
	t.Out.Do(effect.SaveEvent{Payload: payload, Routine: row.Routine})
	if t.session.id != "" {
		// What stopped the robot is published before the answer to the stop, which waits for no disk.
		t.Out.Do(effect.Publish{Topic: schema.TopicEvent, Payload: payload, First: row.Level == schema.EventSafety && !t.AfterAnswer})
	}
}

func (t Step) refill() {
	more := t.cfg.EventRate * (t.Now.Mono - t.events.filled).Seconds()
	t.events.filled = t.Now.Mono
	t.events.urgent = min(config.EventBurst, t.events.urgent+more)
	t.events.room = min(config.EventBurst, t.events.room+more)
	t.events.routine = min(routineBurst, t.events.routine+routineShare*more)
}
