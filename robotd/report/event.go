package report

import (
	"time"

	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// events is the history of this boot.
type events struct {
	seq     int64
	room    float64 // how many more may come at once
	filled  time.Duration
	dropped int64
	missing int64 // dropped, and no event says so yet
}

type dropped struct {
	Count int64 `json:"count"`
}

// Event adds to the history: it is saved on the disk, and published if somebody listens.
func (t Step) Event(kind, source, cause, req string, data any) {
	if t.refill(); t.events.room < 1 && source != "safety" {
		t.events.dropped++
		t.events.missing++
		t.Changed(effect.FlushSoon)
		return
	}
	if t.events.missing > 0 {
		n := t.events.missing
		t.events.missing = 0
		t.emit("events_dropped", "brain", "", "", dropped{n})
	}
	t.emit(kind, source, cause, req, data)
}

func (t Step) emit(kind, source, cause, req string, data any) {
	t.events.room = max(0, t.events.room-1)
	t.events.seq++
	e := schema.Event{TS: t.Now.Wall, Boot: t.boot, Seq: t.events.seq, Type: kind, Source: source, Cause: cause, ReqID: req}
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
	passed := t.Now.Mono - t.events.filled
	t.events.filled = t.Now.Mono
	t.events.room = min(config.EventBurst, t.events.room+t.cfg.EventRate*passed.Seconds())
}
