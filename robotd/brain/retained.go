package brain

import (
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/robotd/stops"
	"troupe/schema"
)

// Commands that a broker keeps, which it should not. Each session begins with them:
// they are refused, stops are obeyed, and an alert names the topic below the robot,
// so that fleetd, which can, takes them from the broker. It can do so in one way
// only, with an empty message, which the broker passes on like any other; and an
// empty message is a command too. So the robot takes an empty one on such a topic
// for the end of what was kept there. A stop is a stop all the same.

// retainedMost bounds the topics that are remembered; beyond it an empty message is
// the command that it is.
const retainedMost = 256

// retainedOn is where a command was kept, as alerts say it.
func retainedOn(client, group, verb string) string { return "cmd/" + client + "/" + group + "/" + verb }

// isRemoval reports whether a command is no command but the end of one that was
// kept on the broker.
func (t *step) isRemoval(ev event.Command) bool {
	return !ev.Retained && len(ev.Payload) == 0 && t.retained[retainedOn(ev.Client, ev.Group, ev.Verb)]
}

// noteRetained remembers where a command was kept, for this session.
func (t *step) noteRetained(ev event.Command) {
	if ev.Retained && len(t.retained) < retainedMost {
		if t.retained == nil {
			t.retained = map[string]bool{}
		}
		t.retained[retainedOn(ev.Client, ev.Group, ev.Verb)] = true
	}
}

// removed notes that what was kept there is kept no more.
func (t *step) removed(ev event.Command) {
	topic := retainedOn(ev.Client, ev.Group, ev.Verb)
	delete(t.retained, topic)
	t.clear(string(schema.ReasonRetainedCommand), topic)
	t.recordEvent("retained_command_removed", topic, "", "", nil)
}

// alarmed names where the command was kept that an alarm is about.
func alarmed(a request.Alarm) string {
	if a.Verb == stops.Verb {
		return "fleet/cmd/" + a.Client + "/stop"
	}
	return "cmd/" + a.Client + "/" + a.Verb
}
