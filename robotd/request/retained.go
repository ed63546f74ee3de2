package request

import (
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// Retained commands, which are not allowed. Each session begins with those that the broker
// has. The robot refuses them, except stops, which it obeys, and raises an alert that names
// the topic, so that fleetd removes them. fleetd can remove one only by publishing an empty
// message, which the broker forwards like any other; and an empty message is a command,
// too. So the robot takes an empty message on such a topic as the removal. Not on the topic of a
// stop: there an empty message is obeyed as a stop, and ends the alert.

// retainedMost bounds the number of remembered topics; beyond it, an empty message counts
// as a command.
const retainedMost = 256

// retainedTopic is the end of the topic of a retained command, as in alerts.
func retainedTopic(ev event.Command) string {
	return "cmd/" + ev.Client + "/" + ev.Group + "/" + ev.Verb
}

// IsRemoval reports whether a command only removes a retained one.
func (s *State) IsRemoval(ev event.Command) bool {
	return !ev.Retained && len(ev.Payload) == 0 && s.retained[retainedTopic(ev)]
}

// NoteRetained remembers, for this session, that a command was retained.
func (s *State) NoteRetained(ev event.Command) {
	if ev.Retained && len(s.retained) < retainedMost {
		if s.retained == nil {
			s.retained = map[string]bool{}
		}
		s.retained[retainedTopic(ev)] = true
	}
}

// Removed notes that the command is not retained any more, if ev is its removal.
func (t Step) Removed(ev event.Command) {
	if !t.IsRemoval(ev) {
		return
	}
	topic := retainedTopic(ev)
	delete(t.retained, topic)
	t.Out.Clear(string(schema.ReasonRetainedCommand), topic)
	t.Out.Event("retained_command_removed", topic, "", "", nil)
}

// Disconnected forgets the retained commands of the session.
func (s *State) Disconnected() { clear(s.retained) }

// alert is an alert about a retained command, which RaiseAlerts raises after the safety core has
// decided.
type alert struct{ client, verb, detail string }

// NoteRetainedStop notes that a live stop of a client was retained.
func (s *State) NoteRetainedStop(client string) {
	s.alerts = append(s.alerts, alert{client, verb.LiveStop,
		"a stop was retained on the broker; it was obeyed and holds this robot again at each connection until it is removed"})
}

// RaiseAlerts raises the alerts that were noted.
func (t Step) RaiseAlerts() {
	for _, a := range t.alerts {
		t.Out.Raise(string(schema.ReasonRetainedCommand), schema.AlertWarn, a.topic(), a.verb+": "+a.detail, t.removal(a))
	}
	t.alerts = t.alerts[:0]
}

// removal says how the retained command that an alert is about is removed.
func (t Step) removal(a alert) string {
	const fleetd = "fleetd removes it from the broker. "
	topic := a.topic()
	if a.verb != verb.LiveStop {
		topic = "robots/" + t.Robot + "/" + topic
	}
	publish := "Without fleetd, publish an empty retained message on " + schema.DefaultNamespace.Root() + topic + " (" +
		string(schema.DefaultNamespace) + " is the default of --namespace)"
	switch {
	case a.verb == verb.LiveStop:
		return fleetd + publish + " when all robots may stop: that message is a stop of all of them, too. This alert ends with the connection"
	case IsStop(a.verb):
		return fleetd + publish + ": that message stops this robot once more"
	}
	return fleetd + publish
}

// topic is the end of the topic of the retained command that an alert is about.
func (a alert) topic() string {
	if a.verb == verb.LiveStop {
		return "fleet/cmd/" + a.client + "/stop"
	}
	return "cmd/" + a.client + "/" + a.verb
}
