package schema

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// SimInput is a fault or signal for a simulated body. A robot whose body is simulated takes
// it from the topic robots/{rid}/sim/{name}, and from the entries of a scenario file.
type SimInput interface{ check(*checks) }

// The inputs of a simulated body.
type (
	SimPeople struct {
		Count      int64   `json:"count" doc:"how many persons the robot sees near it"`
		BearingRad float64 `json:"bearing_rad,omitzero" doc:"where the nearest one is, to the left of straight ahead"`
	}
	SimTouch struct {
		Area string `json:"area" doc:"the touch area"`
		On   bool   `json:"on" doc:"whether a person touches it"`
	}
	SimPress struct {
		Choice string `json:"choice" doc:"the choice on the screen, or the button on the robot"`
	}
	SimSound struct {
		On      bool    `json:"on" doc:"whether the robot hears something"`
		NoiseDB float64 `json:"noise_db,omitzero" doc:"how loud it is, in dB(A)"`
	}
	SimDark struct {
		On bool `json:"on" doc:"whether it is too dark to see people"`
	}
	SimIntent struct {
		Name       string  `json:"name" doc:"the intent"`
		Text       string  `json:"text,omitzero" doc:"what the person says"`
		Emotion    string  `json:"emotion,omitzero" doc:"the emotion in which the robot shall answer"`
		Confidence float64 `json:"confidence,omitzero" doc:"0 to 1; certain if left out"`
	}
	SimPush struct {
		On bool `json:"on" doc:"whether a person pushes the robot"`
	}
	SimLift struct {
		On bool `json:"on" doc:"whether a person lifts or rolls the robot"`
	}
	SimFall struct {
		On bool `json:"on" doc:"whether the robot has fallen"`
	}
	SimObstacle struct {
		On     bool    `json:"on" doc:"whether something is put in the way; false clears the way"`
		AheadM float64 `json:"ahead_m,omitzero" doc:"how far ahead of the body, in metres"`
	}
	SimHeat struct {
		Unit    string  `json:"unit" doc:"the unit"`
		Celsius float64 `json:"celsius" doc:"its temperature from now on"`
	}
	SimBreak struct {
		Unit string `json:"unit" doc:"the unit"`
		What string `json:"what" doc:"the fault that the unit reports"`
	}
	SimAskStop struct {
		Unit string `json:"unit" doc:"the unit"`
		Stop string `json:"stop" doc:"soft-stop, stop, halt or estop"`
	}
	SimRepair struct {
		Unit string `json:"unit" doc:"the unit"`
	}
	SimHang struct {
		Unit string `json:"unit" doc:"the unit"`
		On   bool   `json:"on" doc:"whether the unit takes commands and never ends one"`
	}
	SimFailNext struct {
		Unit   string `json:"unit" doc:"the unit"`
		Reason Reason `json:"reason" doc:"why its next command fails"`
	}
	SimSlow struct {
		Pace float64 `json:"pace" doc:"share of the normal pace of motion and speech, 0.01 to 1"`
	}
	SimBattery struct {
		Level float64 `json:"level" doc:"charge as a share of 1"`
	}
	SimDock struct {
		Works bool `json:"works" doc:"whether the dock charges"`
	}
	SimStopInput struct {
		Name    string `json:"name" doc:"the stop input"`
		Pressed bool   `json:"pressed" doc:"whether it is pressed"`
	}
	SimModeFails struct {
		Mode ModeID `json:"mode" doc:"the mode of operation that fails when it is called next; a question whether it may be entered does not count"`
	}
)

func (v SimPeople) check(c *checks) {
	c.within("/count", float64(v.Count), 0, 1000)
	c.within("/bearing_rad", v.BearingRad, -math.Pi, math.Pi)
}
func (v SimTouch) check(c *checks)    { c.id("/area", v.Area) }
func (v SimPress) check(c *checks)    { c.id("/choice", v.Choice) }
func (v SimSound) check(c *checks)    { c.within("/noise_db", v.NoiseDB, 0, 200) }
func (v SimDark) check(*checks)       {}
func (v SimIntent) check(c *checks)   { u := v.Utterance(); *c = append(*c, u.Problems("")...) }
func (v SimPush) check(*checks)       {}
func (v SimLift) check(*checks)       {}
func (v SimFall) check(*checks)       {}
func (v SimObstacle) check(c *checks) { c.within("/ahead_m", v.AheadM, 0, 100) }
func (v SimHeat) check(c *checks)     { c.id("/unit", v.Unit); c.within("/celsius", v.Celsius, -50, 200) }
func (v SimAskStop) check(c *checks) {
	c.id("/unit", v.Unit)
	if !slices.Contains([]string{"soft-stop", "stop", "halt", "estop"}, v.Stop) {
		c.add("/stop", "bad_value", fmt.Sprintf("there is no stop %q", v.Stop), "want soft-stop, stop, halt or estop")
	}
}
func (v SimRepair) check(c *checks)    { c.id("/unit", v.Unit) }
func (v SimHang) check(c *checks)      { c.id("/unit", v.Unit) }
func (v SimSlow) check(c *checks)      { c.within("/pace", v.Pace, 0.01, 1) }
func (v SimBattery) check(c *checks)   { c.within("/level", v.Level, 0, 1) }
func (v SimDock) check(*checks)        {}
func (v SimStopInput) check(c *checks) { c.id("/name", v.Name) }
func (v SimModeFails) check(c *checks) { c.id("/mode", string(v.Mode)) }

func (v SimBreak) check(c *checks) {
	c.id("/unit", v.Unit)
	if v.What == "" || SanitizeText(v.What) != v.What {
		c.add("/what", "bad_text", "the fault is empty, too long or not printable", "say what is broken")
	}
}

func (v SimFailNext) check(c *checks) {
	c.id("/unit", v.Unit)
	if !slices.ContainsFunc(Reasons, func(r ReasonText) bool { return r.Reason == v.Reason }) {
		c.add("/reason", "bad_value", fmt.Sprintf("%q is not a reason", v.Reason), "topics.md lists them")
	}
}

// Utterance is what the body hears.
func (v SimIntent) Utterance() Utterance {
	u := Utterance{Name: v.Name, Text: v.Text, Emotion: v.Emotion}
	if v.Confidence != 0 {
		u.Confidence = &v.Confidence
	}
	return u
}

func (c *checks) within(pointer string, v, least, most float64) {
	if math.IsNaN(v) || v < least || v > most {
		c.add(pointer, "out_of_range", fmt.Sprintf("%g is not between %g and %g", v, least, most), "")
	}
}

// SimUnitInput is an input that concerns one unit.
type SimUnitInput interface {
	SimInput
	OnUnit() string
}

func (v SimHeat) OnUnit() string     { return v.Unit }
func (v SimBreak) OnUnit() string    { return v.Unit }
func (v SimRepair) OnUnit() string   { return v.Unit }
func (v SimAskStop) OnUnit() string  { return v.Unit }
func (v SimHang) OnUnit() string     { return v.Unit }
func (v SimFailNext) OnUnit() string { return v.Unit }

// SimInputRow describes one input of a simulated body.
type SimInputRow struct {
	Name    string // the last level of its topic, and its key in a scenario file
	Purpose string
	Example string
	Fields  []SimField
	Zero    SimInput
	decode  func([]byte) (SimInput, []Problem)
}

// SimField is one field of an input.
type SimField struct {
	Name, Type, Purpose string
	Required            bool
}

// SimInputs lists the inputs of a simulated body.
var SimInputs = []SimInputRow{
	simInput[SimPeople]("people", "persons come or go", `{"count":2}`),
	simInput[SimTouch]("touch", "a person touches the robot, or ceases to", `{"area":"head","on":true}`),
	simInput[SimPress]("press", "a person presses a choice on the screen, or a button on the robot; the button `reset` releases a stop of a stop input", `{"choice":"service"}`),
	simInput[SimSound]("sound", "the robot hears something, or it is silent again", `{"on":true,"noise_db":62}`),
	simInput[SimDark]("dark", "it gets dark, or light again", `{"on":true}`),
	simInput[SimIntent]("intent", "the robot hears what a person wants", `{"name":"greet","text":"hello","confidence":0.9}`),
	simInput[SimPush]("push", "a person pushes the robot, or ceases to", `{"on":true}`),
	simInput[SimLift]("lift", "a person lifts the robot, or sets it down", `{"on":true}`),
	simInput[SimFall]("fall", "the robot falls, or is upright again", `{"on":true}`),
	simInput[SimObstacle]("obstacle", "something is in the way of the drive, which stops before it, and halts by its own means if it is too near for that", `{"on":true,"ahead_m":0.8}`),
	simInput[SimHeat]("heat", "a unit is hot; one that moves cools from there", `{"unit":"head","celsius":78}`),
	simInput[SimBreak]("break", "a unit gets a fault, until `repair`", `{"unit":"head","what":"motor stuck"}`),
	simInput[SimRepair]("repair", "the fault of a unit is gone; a unit that moves stays in error until `safety/reset`", `{"unit":"head"}`),
	simInput[SimAskStop]("ask-stop", "a unit meets a limit of its own and asks for a stop of the whole robot", `{"unit":"drive","stop":"stop"}`),
	simInput[SimHang]("hang", "a unit takes commands and never ends one", `{"unit":"drive","on":true}`),
	simInput[SimFailNext]("fail-next", "the next command of a unit fails", `{"unit":"drive","reason":"timeout"}`),
	simInput[SimSlow]("slow", "motion and speech are slower than normal", `{"pace":0.5}`),
	simInput[SimBattery]("battery", "the battery has this charge", `{"level":0.15}`),
	simInput[SimDock]("dock", "the dock ceases to charge, or charges again", `{"works":false}`),
	simInput[SimStopInput]("stop-input", "a person presses or releases a stop input of the body", `{"name":"back","pressed":true}`),
	simInput[SimModeFails]("mode-fails", "a mode of operation fails", `{"mode":"ato"}`),
}

// DecodeSimInput decodes an input strictly: every field that it must have, and no other.
func DecodeSimInput(name string, data []byte) (SimInput, []Problem) {
	names := make([]string, len(SimInputs))
	for i, row := range SimInputs {
		if row.Name == name {
			return row.decode(data)
		}
		names[i] = row.Name
	}
	return nil, []Problem{NewProblem("", "unknown_name", fmt.Sprintf("a simulated body has no %q", name), "it has "+strings.Join(names, ", "))}
}

func simInput[T SimInput](name, purpose, example string) SimInputRow {
	row := SimInputRow{Name: name, Purpose: purpose, Example: example, Zero: *new(T)}
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		row.Fields = append(row.Fields, SimField{key, simTypes[f.Type.Kind()], f.Tag.Get("doc"), options == ""})
	}
	row.decode = func(data []byte) (SimInput, []Problem) {
		v, ps := DecodeStrict[T](data)
		if len(ps) == 0 {
			ps = missingFields(data, t)
		}
		if len(ps) == 0 {
			v.check((*checks)(&ps))
		}
		return v, ps
	}
	return row
}

var simTypes = map[reflect.Kind]string{reflect.Int64: "integer", reflect.Bool: "boolean", reflect.String: "string",
	reflect.Float64: "number"}
