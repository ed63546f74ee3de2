// Package interrupts has the settings of a robot's interrupts: rules, which say what of
// the body's signals asks for a handler, and handlers, which say what a robot does then.
// fleetd checks them before they are published, and robotd before they apply.
package interrupts

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/cond"
)

// Limits of the settings.
const (
	MaxRules    = 32
	MaxHandlers = 8

	maxName     = 64
	maxDuration = 24 * time.Hour
)

// Interrupters are those on whose behalf a rule may ask.
var Interrupters = []string{"ai", "touch", "screen", "power"}

// Signal is a signal of the body.
type Signal string

// The signals.
const (
	Touch  Signal = "touch"
	Press  Signal = "press"
	Choice Signal = "choice"
	People Signal = "people"
	Sound  Signal = "sound"
	Push   Signal = "push"
	Lift   Signal = "lift"
	Fall   Signal = "fall"
	Heat   Signal = "heat"
	Dark   Signal = "dark"
)

// SignalRow describes a signal.
type SignalRow struct {
	Signal Signal
	Pulse  bool   // it happens, and does not last
	Level  bool   // it has a level, which a rule compares with above
	Named  string // what its name is; empty = it has none
	// A change counts when it has lasted so long: On to begin, Off to end. Between two
	// pulses of one name On passes at least.
	On, Off time.Duration
	Doc     string
	Why     string // the reason for On and Off
}

// Signals lists the signals in the order of the documentation.
var Signals = []SignalRow{
	{Signal: Touch, Named: "area", On: 50 * time.Millisecond, Off: 200 * time.Millisecond, Doc: "someone touches the robot",
		Why: "a finger loses contact for moments"},
	{Signal: Press, Pulse: true, Named: "button", On: 200 * time.Millisecond, Doc: "someone presses a button of the robot or of its screen",
		Why: "a contact bounces"},
	{Signal: Choice, Pulse: true, Named: "choice", Doc: "someone chooses what an act offers on the screen"},
	{Signal: People, Level: true, On: 200 * time.Millisecond, Off: time.Second, Doc: "the robot sees people; its level is how many",
		Why: "a detector loses a face for moments"},
	{Signal: Sound, Level: true, On: 200 * time.Millisecond, Off: 500 * time.Millisecond,
		Doc: "the robot hears something while it makes no sound itself; its level is in dB(A)", Why: "speech has pauses"},
	{Signal: Push, Off: time.Second, Doc: "someone pushes the robot", Why: "it sways afterwards"},
	{Signal: Lift, Off: time.Second, Doc: "someone lifts or rolls the robot", Why: "it is set down more than once"},
	{Signal: Fall, Off: time.Second, Doc: "the robot has fallen or is about to fall", Why: "it rocks"},
	{Signal: Dark, On: 2 * time.Second, Off: 2 * time.Second, Doc: "it is too dark to see people",
		Why: "someone stands before the lamp for a moment"},
	{Signal: Heat, Level: true, Named: "unit", On: time.Second, Off: time.Second,
		Doc: "a unit is hot; its level is its temperature in degrees Celsius", Why: "a single reading proves nothing"},
}

// RowOf returns the row of a signal.
func RowOf(s Signal) (SignalRow, bool) {
	i := slices.IndexFunc(Signals, func(r SignalRow) bool { return r.Signal == s })
	if i < 0 {
		return SignalRow{}, false
	}
	return Signals[i], true
}

// Rule says what asks for a handler, and on whose behalf. It asks once when its signal is
// on and its condition true, and again after that has ended. Durations are written as 3s
// or 2m.
type Rule struct {
	ID          string   `json:"rule"`
	On          Signal   `json:"on,omitempty"`
	Name        string   `json:"name,omitempty"` // of the signal; empty = any
	Above       *float64 `json:"above,omitzero"` // its level
	When        string   `json:"when,omitempty"` // a condition, as package cond has them
	For         string   `json:"for,omitempty"`  // how long both have to hold
	Cooldown    string   `json:"cooldown,omitempty"`
	Interrupter string   `json:"interrupter"`
	Handler     string   `json:"handler"`
}

// DefaultRules are the rules of a robot whose fleet sets none.
func DefaultRules() []Rule {
	return []Rule{
		{ID: "touched", On: Touch, For: "300ms", Cooldown: "10s", Interrupter: "touch", Handler: "attend"},
		{ID: "pressed", On: Press, Interrupter: "screen", Handler: "service"},
		{ID: "spoken-to", On: Sound, When: "people > 0", For: "1s", Cooldown: "30s", Interrupter: "ai", Handler: "attend"},
	}
}

// ParseRules reads the value of the setting interrupts.rules.
func ParseRules(value jsontext.Value) ([]Rule, []schema.Problem) {
	rules, problems := parseList[Rule](value, MaxRules, "rules")
	if len(problems) > 0 {
		return nil, problems
	}
	var c checks
	for i, r := range rules {
		p := fmt.Sprintf("/%d", i)
		c.id(p+"/rule", r.ID, slices.ContainsFunc(rules[:i], func(o Rule) bool { return o.ID == r.ID }))
		c.signal(p, r)
		c.condition(p+"/when", r.When)
		c.duration(p+"/for", r.For, maxDuration)
		c.duration(p+"/cooldown", r.Cooldown, maxDuration)
		if !slices.Contains(Interrupters, r.Interrupter) {
			c.add(p+"/interrupter", fmt.Sprintf("%q is not an interrupter", r.Interrupter), "one of "+strings.Join(Interrupters, ", "))
		}
		c.id(p+"/handler", r.Handler, false)
	}
	return rules, c.found
}

func (c *checks) signal(p string, r Rule) {
	row, known := RowOf(r.On)
	switch {
	case r.On == "" && r.When == "":
		c.add(p+"/on", "nothing says when the rule asks", `name a signal ("on": "touch"), a condition ("when": "people > 0"), or both`)
	case r.On == "" && (r.Name != "" || r.Above != nil):
		c.add(p+"/on", "a name or a level is that of a signal, and there is none", "name the signal")
	case r.On != "" && !known:
		c.add(p+"/on", fmt.Sprintf("%q is not a signal", r.On), "one of "+strings.Join(signalNames(), ", "))
	case row.Pulse && r.For != "":
		c.add(p+"/for", string(r.On)+" happens at one moment, it cannot last", "leave it out")
	case r.Above != nil && !row.Level:
		c.add(p+"/above", string(r.On)+" has no level", "leave it out")
	case r.On == Heat && r.Above == nil:
		c.add(p+"/above", "nothing says above which temperature", `such as "above": 70`)
	case r.Name != "" && row.Named == "":
		c.add(p+"/name", string(r.On)+" has no name", "leave it out")
	case utf8.RuneCountInString(r.Name) > maxName:
		c.add(p+"/name", "the name is too long", fmt.Sprintf("at most %d characters", maxName))
	}
}

func signalNames() []string {
	names := make([]string, len(Signals))
	for i, r := range Signals {
		names[i] = string(r.Signal)
	}
	return names
}

// Duration is a duration that was checked; 0 if it is left out.
func Duration(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}

// checks collects problems.
type checks struct{ found []schema.Problem }

func (c *checks) add(pointer, detail, hint string) {
	c.found = append(c.found, schema.NewProblem(pointer, "bad_value", detail, hint))
}

func (c *checks) under(pointer string, problems []schema.Problem) {
	for _, p := range schema.Errors(problems) {
		p.Pointer = pointer + p.Pointer
		c.found = append(c.found, p)
	}
}

func (c *checks) id(pointer, id string, twice bool) {
	switch {
	case !schema.ValidID(id):
		c.add(pointer, fmt.Sprintf("%q is not a name", id), "a-z, 0-9 and hyphens, at most 63")
	case twice:
		c.add(pointer, id+" is there twice", "names are unique")
	}
}

func (c *checks) condition(pointer, text string) {
	if text == "" {
		return
	}
	condition, problems := cond.Parse(text)
	if c.under(pointer, problems); condition == nil {
		return
	}
	for _, use := range condition.Sinces() {
		if use.Name != "" && !happens(use.Name) {
			c.add(pointer, fmt.Sprintf("there is no event and no signal %q", use.Name), "the signals are "+strings.Join(signalNames(), ", ")+
				"; topics.md lists the events; "+cond.SinceActivity+"NAME is the end of an activity")
		}
	}
}

// happens reports whether name is a signal, an event of robots, or the end of an activity.
func happens(name string) bool {
	if id, ok := strings.CutPrefix(name, cond.SinceActivity); ok {
		return schema.ValidID(id)
	}
	_, signal := RowOf(Signal(name))
	return signal || slices.ContainsFunc(schema.Events, func(r schema.EventRow) bool { return r.Type == name })
}

func (c *checks) duration(pointer, s string, most time.Duration) {
	if s == "" {
		return
	}
	if d, err := time.ParseDuration(s); err != nil || d <= 0 || d > most {
		c.add(pointer, fmt.Sprintf("%q is not a duration of at most %v", s, most), "such as 3s or 2m")
	}
}

// parseList reads a list; the pointers of problems refer to it.
func parseList[T any](value jsontext.Value, most int, what string) ([]T, []schema.Problem) {
	type list struct {
		List []T `json:"list"`
	}
	l, problems := schema.DecodeStrictWithin[list](slices.Concat([]byte(`{"list":`), value, []byte(`}`)), MaxNesting)
	for i := range problems {
		problems[i].Pointer = strings.TrimPrefix(problems[i].Pointer, "/list")
	}
	if len(problems) == 0 && (string(value) == "null" || len(l.List) > most) {
		problems = append(problems, schema.NewProblem("", "bad_value", fmt.Sprintf("want a list of at most %d %s", most, what), ""))
	}
	return l.List, problems
}

// MaxNesting is the nesting depth of a handler with actions of the greatest depth.
const MaxNesting = 24
