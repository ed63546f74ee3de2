package brain

import (
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/robotd/stops"
	"troupe/schema"
)

// Commands that the broker retained, which it should not. Each session begins with them.
// The robot refuses them, obeys stops all the same, and raises an alert that names the
// topic, so that fleetd removes them. Fleetd can do so only with an empty message, which
// the broker forwards like any other; and an empty message is a command too. So the robot
// takes an empty message on such a topic for the removal.

// retainedMost bounds the topics that are remembered; beyond it an empty message counts
// as a command.
const retainedMost = 256

// retainedOn is the topic of a retained command, as alerts name it.
func retainedOn(client, group, verb string) string { return "cmd/" + client + "/" + group + "/" + verb }

// isRemoval reports whether a command only removes one that was retained.
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

// removed notes that the command is retained no longer.
func (t *step) removed(ev event.Command) {
	topic := retainedOn(ev.Client, ev.Group, ev.Verb)
	delete(t.retained, topic)
	t.clear(string(schema.ReasonRetainedCommand), topic)
	t.recordEvent("retained_command_removed", topic, "", "", nil)
}

// alarmed names the topic of the retained command that an alarm is about.
func alarmed(a request.Alert) string {
	if a.Verb == stops.Verb {
		return "fleet/cmd/" + a.Client + "/stop"
	}
	return "cmd/" + a.Client + "/" + a.Verb
}
