package fleet

import (
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

// seen is what a message of a robot says to others than the view.
type seen struct {
	Change   presenceChange
	Latches  []schema.StopLatch // what the robot holds
	Current  bool               // it holds them now
	Ahead    time.Duration      // this machine's clock, of the robot's
	Last     *schema.LastRequest
	Phase    schema.DeployPhase // of a report; Fetching is what it waits for
	Fetching string
	Event    *schema.Event
	Answer   *schema.Ack
}

// Take takes in one message of one robot.
func (h *view) Take(kind schema.TopicKind, id string, m link.Message, now time.Time) (s seen, problems []schema.Problem) {
	var do func(*entry)
	switch kind {
	case schema.TopicPresence:
		v, ps := schema.Decode[schema.Presence](m.Payload)
		problems, do = ps, func(e *entry) { e.facts = e.facts.Heard(v, m.Retain, now) }
	case schema.TopicHeartbeat:
		v, ps := schema.Decode[schema.Heartbeat](m.Payload)
		problems, do = ps, func(e *entry) {
			e.beat(v, h.trip(v, now), now)
			if still := e.state; still != nil && still.Session == v.Session && still.StateSeq == v.StateSeq { // it is still so
				s.Latches, s.Current = still.Safety.Latches, true
			}
		}
	case schema.TopicState:
		v, ps := schema.Decode[schema.State](m.Payload)
		problems, do = ps, func(e *entry) {
			e.state, e.stateAt = &v, now
			if !m.Retain {
				e.ahead = now.Sub(v.TS.Time())
			}
		}
		s.Last, s.Latches, s.Current = v.LastReq, v.Safety.Latches, !m.Retain // what the broker kept may be long over
	case schema.TopicModes:
		v, ps := schema.Decode[schema.Modes](m.Payload)
		problems, do = ps, func(e *entry) { e.modes = &v }
	case schema.TopicCaps:
		v, ps := schema.Decode[schema.Caps](m.Payload)
		problems, do = ps, func(e *entry) { e.caps = &v }
	case schema.TopicActs:
		v, ps := schema.Decode[schema.Acts](m.Payload)
		problems, do = ps, func(e *entry) { e.acts = &v }
	case schema.TopicReportedStory:
		v, ps := schema.Decode[schema.ReportedStory](m.Payload)
		problems, do = ps, func(e *entry) { e.reported = &v }
		s.Phase, s.Fetching = v.Phase, v.Fetching
	case schema.TopicReportedConfig:
		_, ps := schema.Decode[schema.ReportedConfig](m.Payload)
		problems, do = ps, func(*entry) {}
	case schema.TopicReportedMode:
		_, ps := schema.Decode[schema.ReportedMode](m.Payload)
		problems, do = ps, func(*entry) {}
	case schema.TopicReportedActivities, schema.TopicReportedPlaces:
		v, ps := schema.Decode[schema.ReportedSet](m.Payload)
		problems, do = ps, func(*entry) {}
		s.Phase, s.Fetching = v.Phase, v.Fetching
	case schema.TopicEvent:
		v, ps := schema.Decode[schema.Event](m.Payload)
		problems, do = ps, func(e *entry) { e.event = &v }
		s.Event = &v
	case schema.TopicAck:
		v, ps := schema.Decode[schema.Ack](m.Payload)
		problems, do = ps, func(*entry) {}
		s.Answer = &v
	default:
		return seen{}, nil
	}
	if len(problems) > 0 {
		return seen{}, problems
	}
	s.Change = h.change(id, now, func(e *entry) {
		do(e)
		s.Ahead = e.ahead
		if !m.Retain && kind != schema.TopicPresence && kind != schema.TopicHeartbeat {
			e.facts = e.facts.Spoke(now)
		}
		if schema.TopicOf(kind).Retain {
			e.documents[kind] = store.Document{Robot: id, Kind: kind, Body: m.Payload, ReceivedAt: now}
			e.unsaved[kind] = true
			e.hear(h.fleetID, kind, m.Payload)
		}
	})
	return s, nil
}

// trip is how long a word took from here to the robot and back, zero if its
// heartbeat does not tell. It is called under the lock.
func (h *view) trip(b schema.Heartbeat, now time.Time) time.Duration {
	if b.Link.Client != h.deps.Name {
		return 0
	}
	d, _ := h.sent.took(b.Link, now)
	return d
}

// beat takes in a heartbeat of the robot, and the round trip that it tells of.
func (e *entry) beat(h schema.Heartbeat, trip time.Duration, now time.Time) {
	e.heartbeat, e.facts = &h, e.facts.Beat(h, now)
	if trip > 0 {
		e.facts = e.facts.Trip(trip)
	}
}
