package report

import (
	"time"

	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// events is the history of this boot.
type events struct {
	seq        int64
	room       float64 // how many more may come at once
	routine    float64 // how many of them may be routine
	filled     time.Duration
	dropped    int64
	missing    int64         // dropped, and no event says so yet
	reportedAt time.Duration // when an event said so last
}

type dropped struct {
	Count int64 `json:"count"`
}

const (
	// routineShare is the share of the events that may be routine.
	routineShare = 0.25
	// droppedEvery is how often an event says that others were dropped.
	droppedEvery = time.Second
)

// Event adds to the history: it is saved on the disk, and published if there is a session.
func (t Step) Event(kind, source, cause, req string, data any) {
	t.event(schema.EventOf(kind), source, cause, req, data)
}

func (t Step) event(row schema.EventRow, source, cause, req string, data any) {
	t.refill()
	full := t.events.room < 1 || row.Routine && t.events.routine < 1
	if full && row.Level != schema.EventSafety {
		t.events.dropped++
		t.events.missing++
		t.Changed(effect.FlushSoon)
		return
	}
	if row.Routine {
		t.events.routine--
	}
	if n := t.events.missing; n > 0 && (t.events.reportedAt == 0 || t.Now.Mono >= t.events.reportedAt+droppedEvery) {
		t.events.missing, t.events.reportedAt = 0, t.Now.Mono
		t.emit(schema.EventOf("events_dropped"), "robotd", "", "", dropped{n})
	}
	t.emit(row, source, cause, req, data)
}

func (t Step) emit(row schema.EventRow, source, cause, req string, data any) {
	t.events.room = max(0, t.events.room-1)
	t.events.seq++
	e := schema.Event{TS: t.Now.Wall, Boot: t.boot, Seq: t.events.seq, Type: row.Type, Level: row.Level, Source: source, Cause: cause, ReqID: req}
	if data != nil {
		e.Data = effect.Encode(data)
	}
	payload := within(schema.TopicEvent, &e)
	t.Out.Do(effect.SaveEvent{Payload: payload})
	if t.session.id != "" {
		t.Out.Do(effect.Publish{Topic: schema.TopicEvent, Payload: payload})
	}
}

func (t Step) refill() {
	passed := (t.Now.Mono - t.events.filled).Seconds()
	t.events.filled = t.Now.Mono
	t.events.room = min(config.EventBurst, t.events.room+t.cfg.EventRate*passed)
	t.events.routine = min(routineShare*config.EventBurst, t.events.routine+routineShare*t.cfg.EventRate*passed)
}
