package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Args are the arguments of every verb in one comparable value; a verb fills
// those that its row names and leaves the rest zero.
type Args struct {
	Mode        ModeID
	Restart     bool
	Why         string
	Latch       string // id of a stop that is to hold
	SeenMonoMS  int64  // 0 = not said, as with every integer
	SeenBoot    string // of the same heartbeat
	Token       string
	Handler     string
	Interrupter string
	ID          string
	FleetID     string
	Echo        JSON
	From, To    int64
	Boot        string
	Scope       string
	TTLMS       int64
	Lease       string
	Point       string
	Act         string
	Actions     JSON // a list of actions, as in an act
	With        JSON // values of an act's parameters, by name
	Clear       bool
	Sound       string
	Face        string
	Text        string
	Language    string
	Colour      string
	Pattern     string
	PeriodMS    int64
	LED         string
	View        string
	Motion      string
	Name        string
	XM, YM      Number
	ThetaRad    Number
	SpeedMPS    Number
	Speed       Number // 0..1, a share of what the unit can
	YawRad      Number
	PitchRad    Number
	RollRad     Number
	Volume      Number // 0..1
	Rate        Number // 0.5..2, of the usual speed
	Voice       string
	Loop        bool
}

// JSON is an argument of more than one value, as canonical JSON text; empty = not
// said.
type JSON string

// value is what a sender would write: plain values, which compare with those that
// somebody kept. What is echoed stays as it was written.
func (j JSON) value(arg Arg) (any, bool) {
	if j == "" {
		return nil, false
	}
	if arg.Type == ArgAny {
		return jsontext.Value(j), true
	}
	var plain any
	if err := json.Unmarshal([]byte(j), &plain); err != nil {
		return nil, false
	}
	return plain, true
}

// Texts reads an argument of type ArgObject. The reader of the command has looked
// at it.
func (j JSON) Texts() map[string]string {
	if j == "" {
		return nil
	}
	var texts map[string]string
	if err := json.Unmarshal([]byte(j), &texts); err != nil {
		return nil
	}
	return texts
}

// Number is a number that may be left out: zero is a place, too.
type Number struct {
	Value float64
	Said  bool
}

// field is where the argument of that name lives: a *string, *ModeID, *bool,
// *int64, *Number or *JSON, as its type in the verb table says; nil for no argument.
func (a *Args) field(name string) any {
	switch name {
	case "mode":
		return &a.Mode
	case "restart":
		return &a.Restart
	case "why":
		return &a.Why
	case "latch":
		return &a.Latch
	case "seen_mono_ms":
		return &a.SeenMonoMS
	case "seen_boot":
		return &a.SeenBoot
	case "token":
		return &a.Token
	case "handler":
		return &a.Handler
	case "interrupter":
		return &a.Interrupter
	case "id":
		return &a.ID
	case "fleet_id":
		return &a.FleetID
	case "echo":
		return &a.Echo
	case "from":
		return &a.From
	case "to":
		return &a.To
	case "boot":
		return &a.Boot
	case "scope":
		return &a.Scope
	case "ttl_ms":
		return &a.TTLMS
	case "lease":
		return &a.Lease
	case "point":
		return &a.Point
	case "act":
		return &a.Act
	case "actions":
		return &a.Actions
	case "with":
		return &a.With
	case "clear":
		return &a.Clear
	case "sound":
		return &a.Sound
	case "face":
		return &a.Face
	case "text":
		return &a.Text
	case "language":
		return &a.Language
	case "colour":
		return &a.Colour
	case "pattern":
		return &a.Pattern
	case "period_ms":
		return &a.PeriodMS
	case "led":
		return &a.LED
	case "view":
		return &a.View
	case "motion":
		return &a.Motion
	case "name":
		return &a.Name
	case "x_m":
		return &a.XM
	case "y_m":
		return &a.YM
	case "theta_rad":
		return &a.ThetaRad
	case "speed_mps":
		return &a.SpeedMPS
	case "speed":
		return &a.Speed
	case "yaw_rad":
		return &a.YawRad
	case "pitch_rad":
		return &a.PitchRad
	case "roll_rad":
		return &a.RollRad
	case "volume":
		return &a.Volume
	case "rate":
		return &a.Rate
	case "voice":
		return &a.Voice
	case "loop":
		return &a.Loop
	}
	return nil
}

// set stores one argument of a verb, which may be a stop; the names are those of
// the verb table.
func (a *Args) set(arg Arg, raw jsontext.Value, pointer string, stop bool) (Problem, bool) {
	var c checks
	switch f := a.field(arg.Name).(type) {
	case *Number:
		c.read(raw, pointer, &f.Value)
		f.Said = true
		if math.Abs(f.Value) > maxInt {
			c.add(pointer, "out_of_range", fmt.Sprintf("%v lies beyond 2^53", f.Value), arg.Purpose)
		}
	case *JSON:
		c.values(arg, raw, pointer, f)
	case *bool:
		c.read(raw, pointer, f)
	case *int64:
		c.read(raw, pointer, f)
		if len(c) == 0 && (*f < 1 || *f > maxInt) {
			c.add(pointer, "out_of_range", fmt.Sprintf("%d is not between 1 and 2^53", *f), arg.Purpose)
		}
	case *ModeID:
		c.text(arg.Type, raw, pointer, stop, (*string)(f))
	case *string:
		c.text(arg.Type, raw, pointer, stop, f)
	}
	return c.first()
}

// values reads an argument of more than one value. What the actions of a list
// mean is not looked at here.
func (c *checks) values(arg Arg, raw jsontext.Value, pointer string, into *JSON) {
	*into = JSON(raw)
	switch arg.Type {
	case ArgObject:
		var texts map[string]jsontext.Value
		c.read(raw, pointer, &texts)
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			var text string
			c.read(texts[name], below(pointer, name), &text)
			c.bounded(ArgText, below(pointer, name), text)
		}
	case ArgArray:
		var list []jsontext.Value
		c.read(raw, pointer, &list)
		for i, v := range list {
			if v.Kind() != '{' {
				c.add(below(pointer, strconv.Itoa(i)), "bad_type", "a "+kindWord(v.Kind())+" does not fit here", arg.Purpose)
			}
		}
	default:
		c.bounded(arg.Type, pointer, string(raw))
		return
	}
	own := raw.Clone()
	if err := own.Canonicalize(); err != nil {
		*c = append(*c, problemOf(err))
		return
	}
	*into = JSON(own)
}

// below is a JSON Pointer one level down.
func below(pointer, name string) string { return string(jsontext.Pointer(pointer).AppendToken(name)) }

func (c checks) first() (Problem, bool) {
	if len(c) > 0 {
		return c[0], true
	}
	return Problem{}, false
}

// Values returns the arguments that v takes and a carries, by name, as a sender
// would write them.
func (a Args) Values(v Verb) map[string]any {
	out := map[string]any{}
	for _, arg := range v.Args {
		switch f := a.field(arg.Name).(type) {
		case *Number:
			if f.Said {
				out[arg.Name] = f.Value
			}
		case *JSON:
			if v, ok := f.value(arg); ok {
				out[arg.Name] = v
			}
		case *bool:
			if *f {
				out[arg.Name] = true
			}
		case *int64:
			if *f != 0 {
				out[arg.Name] = *f
			}
		case *ModeID:
			if *f != "" {
				out[arg.Name] = string(*f)
			}
		case *string:
			if *f != "" {
				out[arg.Name] = *f
			}
		}
	}
	return out
}

// Word returns the first argument as text, for one-line displays.
func (a Args) Word(v Verb) string {
	if len(v.Args) == 0 {
		return ""
	}
	switch f := a.field(v.Args[0].Name).(type) {
	case *Number:
		if f.Said {
			return strconv.FormatFloat(f.Value, 'g', -1, 64)
		}
	case *int64:
		if *f != 0 {
			return strconv.FormatInt(*f, 10)
		}
	case *ModeID:
		return string(*f)
	case *string:
		return *f
	}
	return ""
}
