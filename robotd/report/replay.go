package report

import (
	"fmt"
	"time"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// ReplayEvery is the time between two events of a replay: what happens meanwhile has to
// come through beside them.
const ReplayEvery = 100 * time.Millisecond

// replay is the replay of events that is under way; without a key there is none. The
// events that are still to be published are kept here; the ring on the disk bounds them.
type replay struct {
	key      command.Key
	boot     string
	from, to int64
	events   [][]byte
	total    int
	missing  string // what is gone, for people
	begun    bool   // the disk has brought them
	due      time.Duration
}

type gone struct {
	Boot string `json:"boot"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
}

// replayEvents begins to publish events again, once the disk has brought them. There is one replay
// at a time, because ReplayEvery bounds their rate together.
func (t Step) replayEvents(o effect.Dispatch, a verb.Replay) {
	no := func(r schema.Reason, pointer, detail string) {
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusRejected, Reason: r, Pointer: pointer, Detail: detail})
	}
	switch {
	case a.To != 0 && a.To < a.From:
		no(schema.ReasonBadRequest, "/args/to", fmt.Sprintf("%d comes before %d", a.To, a.From))
	case t.replay.key != "":
		no(schema.ReasonBusy, "", "events are being published again for "+t.replay.key.Client()+" already")
	default:
		t.replay = replay{key: o.Key, boot: a.Boot, from: a.From, to: a.To}
		if a.Boot == "" {
			t.replay.boot = t.boot
		}
		t.Out.Do(effect.ReadHistory{Key: o.Key})
	}
}

// HistoryRead takes what the disk kept. An event names those that were asked for and are
// gone: a client that looks for a gap has to know that it stays.
func (t Step) HistoryRead(ev event.HistoryRead) {
	r := &t.replay
	if ev.Key != r.key {
		return // it was cancelled
	}
	if ev.Refused != "" {
		t.endReplay(schema.Verdict{Status: schema.StatusFailed, Reason: ev.Refused, Detail: "the disk did not bring the events"})
		return
	}
	var first, last int64
	for _, payload := range ev.Events {
		e, problems := schema.Decode[schema.Event](payload)
		if len(problems) > 0 || e.Boot != r.boot {
			continue
		}
		if first == 0 {
			first = e.Seq
		}
		if last = e.Seq; e.Seq >= r.from && (r.to == 0 || e.Seq <= r.to) {
			if len(payload) > schema.TopicOf(schema.TopicEvent).MaxBytes { // as an older release kept them
				payload = within(schema.TopicEvent, &e)
			}
			r.events = append(r.events, payload)
		}
	}
	if first == 0 {
		t.endReplay(schema.Verdict{Status: schema.StatusFailed, Reason: schema.ReasonUnknownID, Pointer: "/args/boot",
			Detail: "no event of boot " + r.boot + " is kept"})
		return
	}
	if r.from < first {
		until := first - 1
		if r.to != 0 {
			until = min(until, r.to)
		}
		r.missing = fmt.Sprintf("; %d to %d are no longer kept", r.from, until)
		t.Event("events_gone", "robotd", "", string(r.key), gone{r.boot, r.from, until})
	}
	if max(r.from, r.to) > last {
		r.missing += fmt.Sprintf("; the newest is %d", last)
	}
	r.total, r.due, r.begun = len(r.events), t.Now.Mono, true
	t.Out.Reply(r.key, schema.Verdict{Status: schema.StatusAccepted})
}

// ContinueReplay publishes the next event when its time has come. Without a session it
// waits.
func (t Step) ContinueReplay() {
	r := &t.replay
	if !r.begun || t.session.id == "" || t.Now.Mono < r.due && len(r.events) > 0 {
		return
	}
	if len(r.events) > 0 {
		t.Out.Do(effect.Publish{Topic: schema.TopicEvent, Payload: r.events[0]})
		r.events, r.due = r.events[1:], t.Now.Mono+ReplayEvery
		left := time.Duration(len(r.events)) * ReplayEvery
		t.Out.Do(effect.Progress{Of: r.key, Percent: 100 * (r.total - len(r.events)) / r.total, Remaining: left})
	}
	if len(r.events) == 0 {
		t.endReplay(schema.Verdict{Status: schema.StatusSucceeded, Detail: t.replayed()})
	}
}

// replayed says how far the replay came.
func (t Step) replayed() string {
	n := t.replay.total - len(t.replay.events)
	return fmt.Sprintf("events published again: %d%s", n, t.replay.missing)
}

// CancelReplay ends the replay that a command asked for, if it is under way, because the command by
// cancelled it.
func (t Step) CancelReplay(of, by command.Key) bool {
	if t.replay.key != of {
		return false
	}
	t.endReplay(schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonCancelled, Detail: t.replayed(), Refs: by.Refs()})
	return true
}

// ReplayLeft is how many events are still to be published again.
func (s *State) ReplayLeft() int { return len(s.replay.events) }

func (t Step) endReplay(r schema.Verdict) {
	t.Out.Reply(t.replay.key, r)
	t.replay = replay{}
}
