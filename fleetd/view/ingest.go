package view

import (
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Effects is what a robot's message means for other parts of fleetd.
type Effects struct {
	Change      PresenceChange
	Latches     []schema.StopLatch  // stops that the robot holds
	Current     bool                // Latches are of now, not of a retained message
	Ahead       time.Duration       // by how much this machine's clock is ahead of the robot's
	LastRequest *schema.LastRequest // the newest answered command, as the robot's state names it
	Report      *Report
	Event       *schema.Event
	Answer      *schema.Ack
	State       *schema.State
	Heartbeat   *schema.Heartbeat
	RoundTrip   time.Duration // that the heartbeat shows; 0 = none
	Config      *schema.ReportedConfig
}

// Report is how far the robot is with a story or a set, and which blob it fetches.
type Report struct {
	Phase    schema.DeployPhase
	Fetching string
}

// Take updates the view with one message of a robot. The problems say why the message was
// ignored.
func (v *View) Take(kind schema.TopicKind, id string, m link.Message, now time.Time) (s Effects, problems []schema.Problem) {
	var do func(*entry)
	switch kind {
	case schema.TopicPresence:
		doc, ps := schema.Decode[schema.Presence](m.Payload)
		problems, do = ps, func(e *entry) { e.facts = e.facts.ApplyPresence(doc, m.Retain, now) }
	case schema.TopicHeartbeat:
		doc, ps := schema.Decode[schema.Heartbeat](m.Payload)
		s.Heartbeat = &doc
		problems, do = ps, func(e *entry) {
			s.RoundTrip = v.trip(doc, now)
			e.beat(doc, s.RoundTrip, now)
			if still := e.state; still != nil && still.Session == doc.Session && still.StateSeq == doc.StateSeq {
				// the heartbeat confirms that state
				s.Latches, s.Current = still.Safety.Latches, true
			}
		}
	case schema.TopicState:
		doc, ps := schema.Decode[schema.State](m.Payload)
		problems, do = ps, func(e *entry) {
			if !m.Retain {
				e.compareClock(&doc, now)
			}
			e.state, e.stateAt = &doc, now
		}
		s.State = &doc
		s.LastRequest, s.Latches, s.Current = doc.LastReq, doc.Safety.Latches, !m.Retain // a retained state may be long outdated
	case schema.TopicModes:
		doc, ps := schema.Decode[schema.Modes](m.Payload)
		v.shared.modes(&doc)
		problems, do = ps, func(e *entry) { e.modes = &doc }
	case schema.TopicCaps:
		doc, ps := schema.Decode[schema.Caps](m.Payload)
		v.shared.caps(&doc)
		problems, do = ps, func(e *entry) { e.caps = &doc }
	case schema.TopicActs:
		doc, ps := schema.Decode[schema.Acts](m.Payload)
		problems, do = ps, func(e *entry) { e.acts = &doc }
	case schema.TopicReportedStory:
		doc, ps := schema.Decode[schema.ReportedStory](m.Payload)
		problems, do = ps, func(e *entry) { e.reported = &doc }
		s.Report = &Report{doc.Phase, doc.Fetching}
	case schema.TopicReportedConfig:
		doc, ps := schema.Decode[schema.ReportedConfig](m.Payload)
		problems, do = ps, func(*entry) {}
		s.Config = &doc
	case schema.TopicReportedMode:
		_, ps := schema.Decode[schema.ReportedMode](m.Payload)
		problems, do = ps, func(*entry) {}
	case schema.TopicReportedActivities, schema.TopicReportedPlaces:
		doc, ps := schema.Decode[schema.ReportedSet](m.Payload)
		problems, do = ps, func(e *entry) {
			if kind == schema.TopicReportedActivities {
				e.reportedActivities = &doc
			}
		}
		s.Report = &Report{doc.Phase, doc.Fetching}
	case schema.TopicEvent:
		doc, ps := schema.Decode[schema.Event](m.Payload)
		row := schema.EventOf(doc.Type)
		if doc.Level == "" { // an earlier release does not send it
			doc.Level = row.Level
		}
		problems, do = ps, func(e *entry) {
			e.recent.add(doc.Type, now)
			if !row.Routine { // the state has the act, and what an input of a simulated body did
				e.event = &doc
			}
		}
		s.Event = &doc
	case schema.TopicAck:
		doc, ps := schema.Decode[schema.Ack](m.Payload)
		problems, do = ps, func(*entry) {}
		s.Answer = &doc
	default:
		return Effects{}, nil
	}
	if len(problems) > 0 {
		return Effects{}, problems
	}
	s.Change = v.change(id, now, func(e *entry) {
		do(e)
		s.Ahead = e.ahead
		if !m.Retain && kind != schema.TopicPresence && kind != schema.TopicHeartbeat {
			e.facts = e.facts.ApplyMessage(now)
		}
		if schema.TopicOf(kind).Retain {
			d := store.Document{Robot: id, Kind: kind, Body: m.Payload, ReceivedAt: now}
			if !d.Repeats(e.documents[kind]) {
				e.unsaved[kind] = true
			}
			e.documents[kind] = d
			e.noteReportedRevs(v.fleetID, kind, m.Payload)
		}
	})
	return s, nil
}

// trip is the round-trip time that a heartbeat shows; zero if it shows none. It is called
// under the lock.
func (v *View) trip(b schema.Heartbeat, now time.Time) time.Duration {
	if b.Link.Client != v.deps.Name {
		return 0
	}
	d, _ := v.sent.roundTrip(b.Link, now)
	return d
}

// clockSet is the difference from which on a clock was set: no state waits that long on its way.
const clockSet = 2 * time.Minute

// compareClock learns from a state by how much fleetd's clock is ahead of the robot's, unless the robot knows that itself. The way of
// a state, on which it may have waited, seems to make it more: the least difference since the robot started is the nearest one, until
// one of the clocks is set.
func (e *entry) compareClock(s *schema.State, now time.Time) {
	if e.heartbeat != nil && e.heartbeat.Boot == s.Boot && e.heartbeat.Clock.Known {
		return
	}
	ahead := now.Sub(s.TS.Time())
	if e.aheadOf == s.Boot && ahead-e.ahead < clockSet {
		ahead = min(ahead, e.ahead)
	}
	e.ahead, e.aheadOf = ahead, s.Boot
}

// beat records a heartbeat of the robot, and its round-trip time.
func (e *entry) beat(h schema.Heartbeat, trip time.Duration, now time.Time) {
	if h.Clock.Known {
		e.ahead, e.aheadOf = time.Duration(h.Clock.OffsetMS)*time.Millisecond, h.Boot
	}
	e.heartbeat, e.facts = &h, e.facts.ApplyHeartbeat(h, now)
	if trip > 0 {
		e.facts = e.facts.ApplyRoundTrip(trip, now)
	}
}
