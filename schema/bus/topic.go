package bus

import (
	"strings"

	"troupe/schema"
)

// RobotPresenceTopic is where robotd publishes its presence. It subscribes to it as well: what
// it receives there shows that the bus delivers.
const RobotPresenceTopic = "bus/robotd/presence"

// What follows in/ or out/ in a topic of an adapter.
const (
	InTick      = "tick"
	InStart     = "start"
	InStop      = "stop"
	InVelocity  = "velocity"
	InCalibrate = "calibrate"
	InHealth    = "health"
	OutPresence = "presence"
	OutState    = "state"
	OutEvent    = "event"
)

// In is a topic on which robotd sends to an adapter.
func In(adapter, what string) string { return "bus/" + adapter + "/in/" + what }

// Out is a topic on which an adapter reports.
func Out(adapter, what string) string { return "bus/" + adapter + "/out/" + what }

// FromAdapter splits a topic on which an adapter reports.
func FromAdapter(topic string) (adapter, what string, ok bool) {
	rest, ok := strings.CutPrefix(topic, "bus/")
	if !ok {
		return "", "", false
	}
	adapter, what, ok = strings.Cut(rest, "/out/")
	return adapter, what, ok && ValidName(adapter)
}

// ValidName reports whether s may be the name of an adapter or a session.
func ValidName(s string) bool {
	if s == "" || len(s) > 32 || s == "robotd" {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) < 0
}

// ValidUnitID reports whether s may be the id of a unit. Such an id also stands in the robot's
// caps, which are refused as a whole if one of their ids is not valid.
func ValidUnitID(s string) bool { return len(s) <= 32 && schema.ValidID(s) }

// Topic is a row of the table of topics.
type Topic struct {
	Pattern  string
	From     string
	QoS      byte
	Retained bool
	Message  any // its zero value
	Purpose  string
	Rate     string
}

// Topics are all topics.
var Topics = []Topic{
	{RobotPresenceTopic, "robotd", 1, true, RobotPresence{}, "robotd is there, or gone", "at its start, its end, and as its will"},
	{"bus/{adapter}/in/" + InTick, "robotd", 0, false, Tick{}, "feeds the adapter, and repeats the order in force",
		"every 20 ms while robotd feeds; at once, with QoS 1, when the order changes"},
	{"bus/{adapter}/in/" + InStart, "robotd", 1, false, Start{}, "begins an action of a unit", "as the story has it"},
	{"bus/{adapter}/in/" + InStop, "robotd", 1, false, Stop{}, "ends an action or a calibration", "as the story has it"},
	{"bus/{adapter}/in/" + InVelocity, "robotd", 0, false, Velocity{}, "drives manually", "up to 50 a second while somebody drives"},
	{"bus/{adapter}/in/" + InCalibrate, "robotd", 1, false, Calibrate{}, "homes the units and loads the map",
		"in str; only if the adapter calibrates"},
	{"bus/{adapter}/in/" + InHealth, "robotd", 0, false, Health{}, "whether robotd uses the adapter, and why not",
		"every second, and when it changes"},
	{"bus/{adapter}/out/" + OutPresence, "adapter", 1, true, Presence{}, "the adapter is there, and what it has; or it is gone",
		"at its start, its end, and as its will"},
	{"bus/{adapter}/out/" + OutState, "adapter", 0, false, State{}, "the state of every unit",
		"every state_ms; at once when a unit's state or fault changes"},
	{"bus/{adapter}/out/" + OutEvent, "adapter", 1, false, Event{}, "answers and signals", "with the states at most 500 a second"},
}
