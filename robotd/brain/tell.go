package brain

import (
	"time"

	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// Data of events, in the words of the wire.
type (
	changed struct {
		From   string        `json:"from,omitempty"`
		To     string        `json:"to"`
		Reason schema.Reason `json:"reason,omitempty"`
	}
	fallback struct {
		From   schema.ModeID `json:"from"`
		Reason schema.Reason `json:"reason"`
	}
	dropped struct {
		Count int64 `json:"count"`
	}
	described struct {
		ID     string        `json:"id,omitempty"`
		Reason schema.Reason `json:"reason,omitempty"`
		Detail string        `json:"detail,omitempty"`
	}
)

// tell makes an event of history: kept on the disk, told if somebody listens.
func (t *step) tell(kind, source, cause, req string, data any) {
	if t.refill(); t.eventRoom < 1 && source != "safety" {
		t.eventsDropped++
		t.eventsMissing++
		t.dirty(effect.FlushSoon)
		return
	}
	if t.eventsMissing > 0 {
		n := t.eventsMissing
		t.eventsMissing = 0
		t.emit("events_dropped", "brain", "", "", dropped{n})
	}
	t.emit(kind, source, cause, req, data)
}

func (t *step) emit(kind, source, cause, req string, data any) {
	t.eventRoom = max(0, t.eventRoom-1)
	t.eventSeq++
	e := schema.Event{TS: t.now.Wall, Boot: t.boot, Seq: t.eventSeq, Type: kind, Source: source, Cause: cause, ReqID: req}
	if data != nil {
		e.Data = encode(data)
	}
	payload := within(schema.TopicEvent, &e)
	t.do(effect.SaveEvent{Payload: payload})
	if t.session != "" {
		t.do(effect.Publish{Topic: schema.TopicEvent, Payload: payload})
	}
}

func (t *step) refill() {
	passed := t.now.Mono - t.eventFilled
	t.eventFilled = t.now.Mono
	t.eventRoom = min(config.EventBurst, t.eventRoom+t.cfg.EventRate*passed.Seconds())
}

// encode writes what goes out. That it fails is a fault of ours, like an event
// that Step does not know.
func encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// note leaves a line for the log: one for each edge that a machine takes.
func (t *step) note(machine, from, to, why, cause string) {
	t.do(effect.Note{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// raise puts an alert on the state, once for the same words. clear takes it off.
func (t *step) raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	for i := range t.alerts {
		a := &t.alerts[i]
		if a.Type == kind && a.Source == source {
			if a.Detail == detail {
				return
			}
			t.clear(kind, source)
			break
		}
	}
	t.alertSeq++
	a := schema.Alert{ID: alertID(t.alertSeq), Type: kind, Level: level, Source: source, FirstTS: t.now.Wall, Detail: detail, Hint: hint}
	if t.body.Has(source) {
		a.Refs = []schema.Ref{{Kind: schema.RefUnit, ID: source}}
	}
	t.alerts = append(t.alerts, a)
	t.dirty(effect.FlushSoon)
	t.do(effect.Alarm{Level: level, Type: kind, Source: source, Detail: detail, Hint: hint})
	t.tell("alert_raised", source, kind, "", described{ID: a.ID, Detail: detail})
}

func (t *step) clear(kind, source string) {
	for i := range t.alerts {
		if a := t.alerts[i]; a.Type == kind && a.Source == source {
			t.alerts = append(t.alerts[:i:i], t.alerts[i+1:]...)
			t.dirty(effect.FlushSoon)
			t.tell("alert_cleared", source, kind, "", described{ID: a.ID})
			return
		}
	}
}

// diskCalmAfter is how long a disk must not have refused until that is believed: on
// one that is full something small fits now and then.
const diskCalmAfter = 10 * time.Second

// disk tells while the robot cannot keep what it promises.
func (t *step) disk(refused schema.Reason) {
	if refused == "" {
		t.diskFits = true
		return
	}
	t.diskFits, t.diskOKAt = false, t.now.Mono+diskCalmAfter
	t.raise("disk_refuses", schema.AlertError, "disk", "the robot's disk refuses to write: "+string(refused), "make room on it; until then no command is begun")
}

// diskCalms takes the alert off a disk that takes what it is given again.
func (t *step) diskCalms() {
	if t.diskOKAt > 0 && t.diskFits && t.now.Mono >= t.diskOKAt {
		t.diskOKAt = 0
		t.clear("disk_refuses", "disk")
	}
}

func alertID(n int64) string {
	const digits = "0123456789"
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = digits[n%10]
		if n /= 10; n == 0 {
			return "alert-" + string(b[i:])
		}
	}
}

func (t *step) dirty(u effect.Urgency) {
	t.changed = max(t.changed, u)
	t.modesDirty = true // why a mode cannot be selected depends on nearly everything
}
