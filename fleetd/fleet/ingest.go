package fleet

import (
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

// subscriptions is all that fleetd listens to.
func subscriptions(ns schema.Namespace, name string) []link.Subscription {
	var out []link.Subscription
	for _, t := range []struct {
		kind   schema.TopicKind
		params []string
	}{
		{schema.TopicFleetHeartbeat, []string{"+"}},
		{schema.TopicPresence, []string{"+"}},
		{schema.TopicHeartbeat, []string{"+"}},
		{schema.TopicState, []string{"+"}},
		{schema.TopicModes, []string{"+"}},
		{schema.TopicCaps, []string{"+"}},
		{schema.TopicActs, []string{"+"}},
		{schema.TopicReportedStory, []string{"+"}},
		{schema.TopicReportedConfig, []string{"+"}},
		{schema.TopicReportedMode, []string{"+"}},
		{schema.TopicReportedActivities, []string{"+"}},
		{schema.TopicReportedPlaces, []string{"+"}},
		{schema.TopicEvent, []string{"+"}},
		{schema.TopicAck, []string{"+", "+"}}, // other fleetd instances' too: they may be gone
		{schema.TopicCmd, []string{"+", "+", "+", "+"}},
		{schema.TopicFleetStopCmd, []string{"+"}},
		{schema.TopicRevoked, nil},
		{schema.TopicNotice, []string{name}},
	} {
		row := schema.TopicOf(t.kind)
		// Documents are many, and brought again with each asking.
		out = append(out, link.Subscription{Filter: ns.Topic(t.kind, t.params...), QoS: row.QoS, Renew: !row.Retain})
	}
	return out
}

// hear takes in one message. It runs on the link's own goroutine and waits for
// nothing: documents replace each other in the hub, events and answers wait in
// bounded queues.
func (f *Fleet) hear(m link.Message) {
	row, params, ok := f.ns.Match(m.Topic)
	if !ok {
		return
	}
	now := time.Now()
	switch row.Kind {
	case schema.TopicFleetHeartbeat:
		f.clients.heard(params.CID)
		f.instances.beat(params.CID, now)
		return
	case schema.TopicFleetStopCmd:
		f.clients.heard(params.CID)
		f.stops.listen(params.CID, m.Payload, now)
		return
	case schema.TopicAck:
		if params.CID != f.cfg.Name {
			f.overhear(params, m.Payload, now)
			return
		}
	case schema.TopicRevoked:
		f.warden.hear(m.Payload, now)
		return
	case schema.TopicCmd:
		f.witness.command(params, m, now)
		return
	case schema.TopicTeleop: // no command
		return
	case schema.TopicNotice:
		f.log.Warn("notice of the broker", "notice", string(m.Payload))
		return
	}
	if len(m.Payload) == 0 {
		f.hub.emptied(params.RID, row.Kind)
		return
	}
	turned, problems := f.hearRobot(row.Kind, params.RID, m, now)
	if len(problems) > 0 {
		f.log.Warn("message of a robot cannot be read", "robot", params.RID, "topic", m.Topic, "problem", problems[0].String())
		return
	}
	f.turned(turned)
}

// hearRobot takes in one message of one robot.
func (f *Fleet) hearRobot(kind schema.TopicKind, id string, m link.Message, now time.Time) (turned presenceChange, problems []schema.Problem) {
	var do func(*entry)
	var shown []schema.StopLatch // what the robot holds as of now
	current := false
	switch kind {
	case schema.TopicPresence:
		v, ps := schema.Decode[schema.Presence](m.Payload)
		problems, do = ps, func(e *entry) { e.facts = e.facts.Heard(v, m.Retain, now) }
	case schema.TopicHeartbeat:
		v, ps := schema.Decode[schema.Heartbeat](m.Payload)
		problems, do = ps, func(e *entry) {
			e.beat(v, f.trip(v, now), now)
			if s := e.state; s != nil && s.Session == v.Session && s.StateSeq == v.StateSeq { // it is still so
				shown, current = s.Safety.Latches, true
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
		if len(ps) == 0 && v.LastReq != nil && v.LastReq.Client == f.cfg.Name {
			f.driver.post(event{kind: postShown, robot: id, last: *v.LastReq})
		}
		shown, current = v.Safety.Latches, !m.Retain // what the broker kept may be long over
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
		if len(ps) == 0 {
			f.blobs.reported(waiting{id, kind}, v.Phase, v.Fetching, now)
		}
	case schema.TopicReportedConfig:
		_, ps := schema.Decode[schema.ReportedConfig](m.Payload)
		problems, do = ps, func(*entry) {}
	case schema.TopicReportedMode:
		_, ps := schema.Decode[schema.ReportedMode](m.Payload)
		problems, do = ps, func(*entry) {}
	case schema.TopicReportedActivities, schema.TopicReportedPlaces:
		v, ps := schema.Decode[schema.ReportedSet](m.Payload)
		problems, do = ps, func(*entry) {}
		if len(ps) == 0 {
			f.blobs.reported(waiting{id, kind}, v.Phase, v.Fetching, now)
		}
	case schema.TopicEvent:
		v, ps := schema.Decode[schema.Event](m.Payload)
		problems, do = ps, func(e *entry) { e.event = &v }
		if len(ps) == 0 {
			f.keeper.event(store.Event{Robot: id, Boot: v.Boot, Seq: v.Seq, Type: v.Type, Body: m.Payload, ReceivedAt: now})
		}
	case schema.TopicAck:
		v, ps := schema.Decode[schema.Ack](m.Payload)
		problems, do = ps, func(*entry) {}
		if len(ps) == 0 {
			f.driver.post(event{kind: postAnswer, robot: id, ack: v})
		}
	default:
		return
	}
	if len(problems) > 0 {
		return presenceChange{}, problems
	}
	var ahead time.Duration
	turned = f.hub.change(id, now, func(e *entry) {
		do(e)
		ahead = e.ahead
		if !m.Retain && kind != schema.TopicPresence && kind != schema.TopicHeartbeat {
			e.facts = e.facts.Spoke(now)
		}
		if schema.TopicOf(kind).Retain {
			e.documents[kind] = store.Document{Robot: id, Kind: kind, Body: m.Payload, ReceivedAt: now}
			e.unsaved[kind] = true
			e.hear(f.hub.fleetID, kind, m.Payload)
		}
	})
	if current {
		f.stops.shows(id, shown, ahead, now)
	}
	return turned, nil
}

// trip is how long a word took from here to the robot and back, zero if its
// heartbeat does not tell.
func (f *Fleet) trip(h schema.Heartbeat, now time.Time) time.Duration {
	if h.Link.Client != f.cfg.Name {
		return 0
	}
	d, _ := f.trips.took(h.Link, now)
	return d
}

// beat takes in a heartbeat of the robot, and the round trip that it tells of.
func (e *entry) beat(h schema.Heartbeat, trip time.Duration, now time.Time) {
	e.heartbeat, e.facts = &h, e.facts.Beat(h, now)
	if trip > 0 {
		e.facts = e.facts.Trip(trip)
	}
}

// turned tells the driver of commands which robots came or went.
func (f *Fleet) turned(turns ...presenceChange) {
	for _, t := range turns {
		switch {
		case t.after.Reachable() && !t.before.Reachable():
			f.driver.post(event{kind: postCame, robot: t.robot})
			f.stops.came(t.robot)
		case t.before.Reachable() && !t.after.Reachable():
			f.driver.post(event{kind: postLeft, robot: t.robot})
		}
	}
}
