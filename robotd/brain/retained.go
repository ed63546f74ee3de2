package brain

import (
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/robotd/stops"
	"troupe/schema"
)

// Retained commands, which are not allowed. Each session begins with those that the broker
// has. The robot refuses them, except stops, which it obeys, and raises an alert that names
// the topic, so that fleetd removes them. fleetd can remove one only by publishing an empty
// message, which the broker forwards like any other; and an empty message is a command,
// too. So the robot takes an empty message on such a topic as the removal.

// retainedMost bounds the number of remembered topics; beyond it, an empty message counts
// as a command.
const retainedMost = 256

// retainedOn is the topic of a retained command, as in alerts.
func retainedOn(client, group, verb string) string { return "cmd/" + client + "/" + group + "/" + verb }

// isRemoval reports whether a command only removes a retained one.
func (t *step) isRemoval(ev event.Command) bool {
	return !ev.Retained && len(ev.Payload) == 0 && t.retained[retainedOn(ev.Client, ev.Group, ev.Verb)]
}

// noteRetained remembers, for this session, that a command was retained.
func (t *step) noteRetained(ev event.Command) {
	if ev.Retained && len(t.retained) < retainedMost {
		if t.retained == nil {
			t.retained = map[string]bool{}
		}
		t.retained[retainedOn(ev.Client, ev.Group, ev.Verb)] = true
	}
}

// removed notes that the command is not retained any more.
func (t *step) removed(ev event.Command) {
	topic := retainedOn(ev.Client, ev.Group, ev.Verb)
	delete(t.retained, topic)
	t.clear(string(schema.ReasonRetainedCommand), topic)
	t.recordEvent("retained_command_removed", topic, "", "", nil)
}

// alarmed is the topic of the retained command that an alert is about.
func alarmed(a request.Alert) string {
	if a.Verb == stops.Verb {
		return "fleet/cmd/" + a.Client + "/stop"
	}
	return "cmd/" + a.Client + "/" + a.Verb
}
