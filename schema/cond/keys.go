package cond

import "cel.dev/cel-go/cel"

// Type is the type of a key's value.
type Type string

// The types. In [Facts] their values are bool, int64, float64, string and
// map[string]string.
const (
	Bool   Type = "bool"
	Int    Type = "int"
	Double Type = "double"
	String Type = "string"
	Labels Type = "map(string, string)"
)

func (t Type) cel() *cel.Type {
	switch t {
	case Bool:
		return cel.BoolType
	case Int:
		return cel.IntType
	case Double:
		return cel.DoubleType
	case String:
		return cel.StringType
	}
	return cel.MapType(cel.StringType, cel.StringType)
}

// Key is a fact that a condition may name.
type Key struct {
	Name string
	Type Type
	Doc  string // what it says, with its unit and range
}

// Keys lists the facts that a condition may name, in the order of the documentation.
// The function since_s("name") stands beside them: the seconds since the robot's
// event or signal of that name, or since the end of the activity NAME if it is
// activity:NAME; missing if there was none since robotd started.
var Keys = []Key{
	{"people", Int, "people that the robot sees"},
	{"touch", Bool, "someone touches the robot"},
	{"touch_area", String, "where the robot is touched: the name of the area, as its body calls it"},
	{"sound", Bool, "someone speaks, or another sound stands out"},
	{"noise_db", Double, "the level of sound, in decibels"},
	{"dark", Bool, "it is too dark to see people"},
	{"battery", Double, "the battery's charge, 0 to 1"},
	{"charging", Bool, "the battery is charging"},
	{"hour", Int, "the hour of the day where the robot is, 0 to 23"},
	{"weekday", String, "the day of the week where the robot is: mon, tue, wed, thu, fri, sat or sun"},
	{"mode", String, "the active mode, such as ato or mnl"},
	{"safety", String, "the state of the safety core, such as ENABLED"},
	{"story", String, "the story that is performed; missing if there is none"},
	{"act", String, "the act that is performed; missing if there is none"},
	{"location", String, "the point at which the robot stands; missing if it stands at none"},
	{"labels", Labels, `the robot's labels: labels.site == "museum"`},
	{"intent", String, "the newest intent of which the robot was confident, as intent.newest of the state"},
}

// Facts has the values of keys at one time. A key that is absent is missing.
type Facts map[string]any

// Since is the key in [Facts] under which since_s finds its values: a
// map[string]float64 from the name of an event or signal to the seconds since then.
const Since = "@since"

// SinceActivity precedes the id of an activity in since_s: the seconds since its end.
const SinceActivity = "activity:"
