package fleet

import (
	"time"

	"troupe/broker/link"
	"troupe/fleetd/desired"
	"troupe/fleetd/measure"
	"troupe/fleetd/store"
	"troupe/fleetd/view"
	"troupe/schema"
)

// subscriptions is all that fleetd's first connection subscribes to; the leader's, the sweeper's
// and the one for manual driving subscribe by themselves.
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
		{schema.TopicAck, []string{"+", "+"}}, // of other instances, too: they may be gone
		{schema.TopicCmd, []string{"+", "+", "+", "+"}},
		{schema.TopicFleetStopCmd, []string{"+"}},
		{schema.TopicRevoked, nil},
		{schema.TopicNotice, []string{name}},
		{schema.TopicStopHeartbeat, []string{"+"}},
	} {
		row := schema.TopicOf(t.kind)
		// Each renewed subscription would deliver all retained documents again.
		out = append(out, link.Subscription{Filter: ns.Topic(t.kind, t.params...), QoS: row.QoS, Renew: !row.Retain,
			Optional: t.kind == schema.TopicStopHeartbeat}) // brokers of earlier releases do not know it
	}
	return out
}

// receive routes one message. The link's goroutine calls it. What comes from robots goes to the intake; nothing else waits.
func (f *Fleet) receive(m link.Message) {
	f.received.Add(1)
	row, params, ok := f.ns.Match(m.Topic)
	if !ok {
		return
	}
	now := time.Now()
	switch row.Kind {
	case schema.TopicFleetHeartbeat:
		f.view.NoteClient(params.CID)
		beat, _ := schema.Decode[schema.FleetHeartbeat](m.Payload) // also one that says nothing of itself shows that it is there
		f.instances.ReceiveHeartbeat(params.CID, beat.Instance, now)
		return
	case schema.TopicFleetStopCmd:
		f.view.NoteClient(params.CID)
		f.stops.ReceiveLiveStop(params.CID, m.Payload, now)
		return
	case schema.TopicAck:
		if params.CID != f.cfg.Name {
			f.orphanEnder.Observe(params, m.Payload, now)
			f.auditor.Answered(params, m.Payload, now)
			return
		}
	case schema.TopicStopHeartbeat:
		f.view.NoteClient(params.CID)
		if !m.Retain { // the broker delivers a retained one to each new connection, also if the button is gone
			f.notify.buttons.Heard(params.CID, now)
		}
		return
	case schema.TopicRevoked:
		f.revocations.Observe(m.Payload, now)
		return
	case schema.TopicCmd:
		f.auditor.Note(params, m, now)
		return
	case schema.TopicTeleop: // velocity frames are not audited
		return
	case schema.TopicNotice:
		f.log.Warn("notice from the broker", "notice", string(m.Payload))
		return
	}
	f.intake.add(robotMessage{kind: row.Kind, robot: params.RID, Message: m, at: now})
}

// readRobot reads one message of a robot. A goroutine of the intake calls it, and it does not block: documents replace each other in the
// view, events and answers go into bounded queues.
func (f *Fleet) readRobot(m robotMessage) {
	if len(m.Payload) == 0 {
		f.view.DocumentDeleted(m.robot, m.kind)
		return
	}
	seen, problems := f.view.Take(m.kind, m.robot, m.Message, m.at)
	if len(problems) > 0 {
		f.metrics.MessageRefused()
		f.log.Warn("message of a robot cannot be read", "robot", m.robot, "topic", m.Topic, "problem", problems[0].String())
		return
	}
	f.route(m.kind, m.robot, m.Message, seen, m.at)
}

// route gives each part what a robot's message means for it.
func (f *Fleet) route(kind schema.TopicKind, id string, m link.Message, s view.Effects, now time.Time) {
	if s.LastRequest != nil && s.LastRequest.Client == f.cfg.Name {
		f.dispatcher.ReceiveLastRequest(id, *s.LastRequest)
	}
	if s.Report != nil {
		f.publisher.Reported(id, kind, s.Report.Phase, s.Report.Fetching, now)
	}
	if isReport(kind) {
		f.rollouts.Wake()
	}
	if e := s.Event; e != nil {
		f.persister.Event(store.Event{Robot: id, Boot: e.Boot, Seq: e.Seq, Type: e.Type, Level: string(e.Level),
			Routine: schema.EventOf(e.Type).Routine, Body: m.Payload, ReceivedAt: now})
		f.teleop.ReceiveEvent(id, e)
	}
	if s.Answer != nil {
		f.teleop.ReceiveAnswer(id, *s.Answer) // before the person who asked for control can know it
		f.questions.Answered(id, *s.Answer)
		f.dispatcher.ReceiveAnswer(id, *s.Answer)
	}
	if s.State != nil {
		f.teleop.ReceiveState(id, s.State)
	}
	if s.Current {
		f.stops.ReceiveLatches(id, s.Latches, s.Ahead, now)
	}
	f.measure(id, m.Retain, s, now)
	f.presenceChanged(s.Change)
}

// measure gives the measurer what a robot reported just now. Its settings may have been reported earlier.
func (f *Fleet) measure(id string, retained bool, s view.Effects, now time.Time) {
	if s.Config != nil {
		f.measurer.Observe(measure.Config{Robot: id, Config: s.Config}, now)
	}
	if retained {
		return
	}
	if s.Heartbeat != nil {
		f.measurer.Observe(measure.Beat{Robot: id, Heartbeat: *s.Heartbeat, RoundTrip: s.RoundTrip}, now)
	}
	if s.State != nil {
		f.measurer.Observe(measure.Report{Robot: id, State: s.State}, now)
	}
}

// isReport reports whether a message says how far a robot is with a desired document.
func isReport(kind schema.TopicKind) bool {
	for _, report := range desired.ReportOn {
		if kind == report {
			return true
		}
	}
	return false
}

// presenceChanged reports robots that became reachable or unreachable.
func (f *Fleet) presenceChanged(changes ...view.PresenceChange) {
	for _, c := range changes {
		if c.BecameReachable() || c.BecameUnreachable() {
			f.rollouts.Wake()
		}
		switch {
		case c.BecameReachable():
			f.dispatcher.RobotOnline(c.Robot)
			f.stops.RobotOnline(c.Robot)
		case c.BecameUnreachable():
			f.dispatcher.RobotOffline(c.Robot)
		}
	}
}
