// Package wire is a robot's side of the MQTT contract: what it subscribes to, which event of its
// step a received message is, and which message a publication is. It keeps no state and opens no connection.
package wire

import (
	"log/slog"
	"time"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// Subscriptions lists the subscriptions of robot id. A robot whose subscription the broker lost
// would look healthy and obey no command, so it renews its subscriptions to commands and to
// the documents that latch stops every minute. Frames of manual driving come with the commands;
// who connects also subscribes to the robot's own presence, as package link does. inputs: also to
// inputs for a simulated body.
func Subscriptions(ns schema.Namespace, id string, inputs bool) (all []link.Subscription) {
	type topics struct {
		kind   schema.TopicKind
		params []string
	}
	wanted := []topics{
		{schema.TopicCmd, []string{id, "+", "+", "+"}},
		{schema.TopicDesiredStop, []string{id}},
		{schema.TopicFleetStop, nil},
		{schema.TopicFleetStopCmd, []string{"+"}},
		{schema.TopicDesiredStory, []string{id}},
		{schema.TopicDesiredConfig, []string{id}},
		{schema.TopicDesiredMode, []string{id}},
		{schema.TopicDesiredActivities, []string{id}},
		{schema.TopicDesiredPlaces, []string{id}},
		{schema.TopicFleetPresence, nil},
		{schema.TopicFleetHeartbeat, []string{"+"}},
		{schema.TopicLocalHeartbeat, []string{id, "+"}},
		{schema.TopicNotice, []string{id}},
	}
	if inputs {
		wanted = append(wanted, topics{schema.TopicSim, []string{id, "+"}})
	}
	for _, t := range wanted {
		row := schema.TopicOf(t.kind)
		all = append(all, link.Subscription{
			Filter: ns.Topic(t.kind, t.params...), QoS: row.QoS,
			Optional: t.kind == schema.TopicLocalHeartbeat || t.kind == schema.TopicSim, // brokers of earlier releases do not know them
			Renew:    !row.Retain || t.kind == schema.TopicDesiredStop || t.kind == schema.TopicFleetStop,
		})
	}
	return all
}

// StopSubscriptions lists the subscriptions of a connection that is for stops of robot id only. Documents that latch stops are none of
// them: they are retained, so the robot's own connection gets them when it is up again.
func StopSubscriptions(ns schema.Namespace, id string) []link.Subscription {
	qos := schema.TopicOf(schema.TopicCmd).QoS
	all := []link.Subscription{{Filter: ns.Topic(schema.TopicFleetStopCmd, "+"), QoS: qos, Renew: true}}
	for _, v := range verb.All {
		if v.Class == verb.ClassStop {
			all = append(all, link.Subscription{Filter: ns.Topic(schema.TopicCmd, id, "+", v.Group, v.Name), QoS: qos, Renew: true})
		}
	}
	return all
}

// Message makes a message of topic kind k about robot id. param is the second parameter of the topic, if it has one.
func Message(ns schema.Namespace, id string, k schema.TopicKind, param string, payload []byte) link.Message {
	row := schema.TopicOf(k)
	params := []string{id}
	if param != "" {
		params = append(params, param)
	}
	return link.Message{Topic: ns.Topic(k, params...), Payload: payload, QoS: row.QoS, Retain: row.Retain}
}

// Urgent reports whether a message on a topic is a stop, which overtakes everything.
func Urgent(ns schema.Namespace, topic string) bool {
	row, at, ok := ns.Match(topic)
	if !ok {
		return false
	}
	switch row.Kind {
	case schema.TopicCmd:
		v, ok := verb.Of(at.Group, at.Verb)
		return ok && v.Class == verb.ClassStop
	case schema.TopicDesiredStop, schema.TopicFleetStop, schema.TopicFleetStopCmd:
		return true
	}
	return false
}

// Event turns a message, received by a robot that was started at start, into an event of its step; nil for one that changes
// nothing. A message of which Urgent is true is such a stop, or the release of one, or the
// deletion of a document that latches stops, which changes nothing.
func Event(ns schema.Namespace, m link.Message, start time.Time, log *slog.Logger) event.Event {
	row, at, ok := ns.Match(m.Topic)
	if !ok {
		log.Debug("message on a topic that is not in the table", "topic", m.Topic)
		return nil
	}
	switch row.Kind {
	case schema.TopicCmd:
		return event.Command{
			Client: sender(at.CID), Group: at.Group, Verb: at.Verb, Payload: m.Payload, Retained: m.Retain, N: m.N, Read: m.At.Sub(start),
		}
	case schema.TopicFleetStopCmd:
		return event.LiveStop{Client: sender(at.CID), Payload: m.Payload, Retained: m.Retain, N: m.N}
	case schema.TopicDesiredStop, schema.TopicFleetStop:
		if len(m.Payload) == 0 {
			log.Warn("document that latches stops was deleted at the broker; this releases no stop", "topic", m.Topic)
			return nil
		}
		ev := event.ReadStops(row.Kind, m.Payload)
		ev.N = m.N
		return ev
	case schema.TopicTeleop:
		ev := event.Frame{Client: sender(at.CID), Retained: m.Retain, N: m.N}
		ev.Frame, ev.Problems = schema.DecodeFrame(m.Payload)
		return ev
	case schema.TopicPresence:
		ev := event.PresenceSeen{}
		if len(m.Payload) > 0 {
			ev.Presence, _ = schema.Decode[schema.Presence](m.Payload)
		}
		return ev
	case schema.TopicFleetPresence:
		ev := event.FleetdPresence{}
		if len(m.Payload) > 0 {
			ev.Presence, _ = schema.Decode[schema.Presence](m.Payload)
		}
		return ev
	case schema.TopicFleetHeartbeat, schema.TopicLocalHeartbeat:
		beat, problems := schema.Decode[schema.FleetHeartbeat](m.Payload)
		if len(problems) > 0 || m.Retain {
			log.Warn("heartbeat ignored: it is retained or cannot be read", "client", at.CID, "retained", m.Retain, "problems", problems)
			return nil
		}
		return event.Heartbeat{Client: sender(at.CID), Beat: beat, FromConsole: row.Kind == schema.TopicLocalHeartbeat}
	case schema.TopicDesiredStory, schema.TopicDesiredConfig, schema.TopicDesiredMode, schema.TopicDesiredActivities,
		schema.TopicDesiredPlaces:
		ev := event.ReadDesired(row.Kind, m.Payload)
		if mode, ok := ev.(event.DesiredMode); ok {
			mode.Retained, ev = m.Retain, mode
		}
		return ev
	case schema.TopicNotice:
		log.Warn("notice from the broker", "notice", string(m.Payload))
		if n, problems := schema.Decode[schema.Notice](m.Payload); len(problems) == 0 && dropped(n) {
			row, _, _ := ns.Match(n.Topic)
			return event.MessageDropped{Kind: row.Kind, Reason: n.Reason}
		}
	}
	return nil
}

// dropped reports whether a notice says that the broker dropped a message of this robot. The others
// say that another client used the robot's name: taken_over, and forbidden without a topic.
func dropped(n schema.Notice) bool {
	return n.Reason != schema.ReasonTakenOver && (n.Topic != "" || n.Reason != schema.ReasonForbidden)
}

// sender returns the name of a client of the broker. A client that has the name of the robot's own
// page gets another one, so that none has the rights of the page.
func sender(cid string) string {
	if cid == schema.LocalClient {
		return cid + ".mqtt"
	}
	return cid
}
