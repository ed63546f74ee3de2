package bus

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"troupe/schema"
)

// The codes of problems. CodeWrongUnit is about a unit of measure: the number cannot be meant in
// the unit that its field has, such as degrees for radians. CodeUnknown is about a unit of the
// body: the adapter has not described it.
const (
	CodeVersion   = "unsupported_version"
	CodeBadValue  = "bad_value"
	CodeMissing   = "required"
	CodeWrongUnit = "wrong_unit"
	CodeUnknown   = "unknown_unit"
)

type checks []schema.Problem

func (c *checks) add(pointer, code, detail, hint string) {
	*c = append(*c, schema.NewProblem(pointer, code, detail, hint))
}

func (c *checks) version(v int64) {
	if v != Version {
		c.add("/v", CodeVersion, fmt.Sprintf("version %d of the bus", v), fmt.Sprintf("write \"v\":%d", Version))
	}
}

func (c *checks) session(s string) {
	if !ValidName(s) {
		c.add("/session", CodeBadValue, fmt.Sprintf("%q is not a session", s), "choose 1 to 32 of a-z, 0-9 and hyphens when the process starts")
	}
}

func (c *checks) present(pointer string, ok bool) {
	if !ok {
		c.add(pointer, CodeMissing, "it is missing", "")
	}
}

// within checks a number that may be left out. hint says which unit of measure was probably
// meant.
func (c *checks) within(pointer string, v *float64, low, high float64, hint string) {
	if v != nil && !(*v >= low && *v <= high) {
		c.add(pointer, CodeWrongUnit, fmt.Sprintf("%g is not between %g and %g", *v, low, high), hint)
	}
}

// angle checks an angle of a description.
func (c *checks) angle(pointer, what string, v float64) {
	if math.Abs(v) > 2*math.Pi {
		c.add(pointer, CodeWrongUnit, fmt.Sprintf("%s is %g: radians, not degrees", what, v), fmt.Sprintf("%g degrees are %.3f radians", v,
			v*math.Pi/180))
	}
}

// Validate reports missing or invalid fields.
func (p *Presence) Validate() []schema.Problem {
	var c checks
	c.version(p.V)
	c.session(p.Session)
	if p.Present && p.Describe == nil {
		c.add("/describe", CodeMissing, "it is missing", "a presence says what the adapter has")
	}
	if p.Present && p.Describe != nil {
		p.Describe.check(&c)
	}
	return c
}

func (d *Describe) check(c *checks) {
	c.present("/describe/model", d.Model != "")
	c.present("/describe/units", len(d.Units) > 0)
	moves, seen := false, map[string]bool{}
	for i, u := range d.Units {
		at := fmt.Sprintf("/describe/units/%d", i)
		if !ValidUnitID(u.ID) {
			c.add(at+"/id", CodeBadValue, fmt.Sprintf("%q is not an id", u.ID), "1 to 32 of a-z, 0-9 and hyphens, not beginning with a hyphen")
		}
		if seen[u.ID] {
			c.add(at+"/id", CodeBadValue, "two units have the id "+u.ID, "give each unit its own")
		}
		if !slices.Contains(schema.UnitKinds, u.Kind) {
			c.add(at+"/kind", CodeBadValue, fmt.Sprintf("there is no kind %q", u.Kind), fmt.Sprint("want one of ", schema.UnitKinds))
		}
		if u.Kind == schema.UnitHead && u.YawRad == nil && u.PitchRad == nil && u.RollRad == nil {
			// Robots would accept every story for it, and the head would fail each action.
			c.add(at, CodeMissing, "unit "+u.ID+" is a head and describes no angles that it reaches", `describe those of its axes, such as "yaw_rad":{"min":-1,"max":1}`)
		}
		if u.FixedVolume && !u.Kind.Sounds() {
			c.add(at+"/fixed_volume", CodeBadValue, "unit "+u.ID+" is a "+string(u.Kind), "only a speaker has a volume")
		}
		for _, axis := range []struct {
			name  string
			reach *schema.Range
		}{{"yaw_rad", u.YawRad}, {"pitch_rad", u.PitchRad}, {"roll_rad", u.RollRad}} {
			if axis.reach != nil {
				c.angle(at+"/"+axis.name, axis.name+" min", axis.reach.Min)
				c.angle(at+"/"+axis.name, axis.name+" max", axis.reach.Max)
			}
		}
		seen[u.ID], moves = true, moves || u.Kind.Moves()
	}
	for i, id := range d.Homing {
		if !seen[id] {
			c.add(fmt.Sprintf("/describe/homing/%d", i), CodeUnknown, "there is no unit "+id, "")
		}
	}
	switch {
	case moves && d.StateMS != MinStateMS:
		c.add("/describe/state_ms", CodeBadValue, fmt.Sprintf("%d ms", d.StateMS),
			fmt.Sprintf("an adapter with a unit that moves sends a state every %d ms", MinStateMS))
	case d.StateMS < MinStateMS || d.StateMS > MaxStateMS:
		c.add("/describe/state_ms", CodeBadValue, fmt.Sprintf("%d ms", d.StateMS), fmt.Sprintf("want %d to %d", MinStateMS, MaxStateMS))
	}
}

// Validate reports missing or invalid fields. What depends on the units is in Fits.
func (s *State) Validate() []schema.Problem {
	var c checks
	c.version(s.V)
	c.session(s.Session)
	return c
}

// Fits reports whether s is a state of these units: each has one that it can have, and each
// number is in its unit of measure.
func (s *State) Fits(units []schema.Unit) []schema.Problem {
	var c checks
	for _, u := range units {
		at := "/units/" + u.ID
		now, ok := s.Units[u.ID]
		if !ok {
			c.add(at, CodeMissing, "it is missing", "a state has every unit of the adapter")
			continue
		}
		now.fits(&c, at, u)
	}
	if len(s.Units) > len(units) && len(c) == 0 {
		for _, id := range slices.Sorted(maps.Keys(s.Units)) {
			if !slices.ContainsFunc(units, func(u schema.Unit) bool { return u.ID == id }) {
				c.add("/units/"+id, CodeUnknown, "the presence has no unit "+id, "")
			}
		}
	}
	return c
}

// MaxPlaceM is how far from the origin of its map a drive may be, in metres.
const MaxPlaceM = 1000

// overSpeed is how many times its own limits a drive may measure: beyond it the number is in
// another unit of measure.
const overSpeed = 2

func (n *UnitState) fits(c *checks, at string, u schema.Unit) {
	known := n.State == "idle" || n.State == "error" || u.Kind.Moves() && (n.State == "run" || n.State == "halt")
	if !known {
		c.add(at+"/state", CodeBadValue, fmt.Sprintf("%q is not a state of a %s", n.State, u.Kind),
			"want idle or error, and of a unit that moves also run or halt")
	}
	if n.State == "error" && n.Fault == "" && !u.Kind.Moves() {
		c.add(at+"/fault", CodeMissing, "it is missing", "a unit that does not move is in error only with a fault")
	}
	c.within(at+"/celsius", n.Celsius, -50, 200, "write degrees Celsius")
	if u.Kind == schema.UnitDrive {
		c.present(at+"/vx_mps", n.VXMPS != nil)
		c.present(at+"/wz_radps", n.WZRadPS != nil)
		mps, radps := u.Speeds()
		c.within(at+"/vx_mps", n.VXMPS, -overSpeed*mps, overSpeed*mps, "write metres per second")
		c.within(at+"/set_vx_mps", n.SetVXMPS, -overSpeed*mps, overSpeed*mps, "write metres per second")
		c.within(at+"/wz_radps", n.WZRadPS, -overSpeed*radps, overSpeed*radps, "write radians per second")
		c.within(at+"/set_wz_radps", n.SetWZRadPS, -overSpeed*radps, overSpeed*radps, "write radians per second")
		c.within(at+"/x_m", n.XM, -MaxPlaceM, MaxPlaceM, "write metres")
		c.within(at+"/y_m", n.YM, -MaxPlaceM, MaxPlaceM, "write metres")
		c.within(at+"/theta_rad", n.ThetaRad, -2*math.Pi, 2*math.Pi, "write radians, not degrees")
		if (n.XM == nil) != (n.YM == nil) || (n.XM == nil) != (n.ThetaRad == nil) {
			c.add(at, CodeMissing, "x_m, y_m and theta_rad go together", "send all or none")
		}
	} else if n.VXMPS != nil || n.WZRadPS != nil || n.SetVXMPS != nil || n.SetWZRadPS != nil || n.XM != nil || n.YM != nil ||
		n.ThetaRad != nil {
		c.add(at, CodeBadValue, fmt.Sprintf("a %s has no speed and no place", u.Kind), "only a drive has")
	}
	for i, angle := range n.Angles() {
		axis := [3]string{"yaw_rad", "pitch_rad", "roll_rad"}[i]
		if u.Kind == schema.UnitHead {
			c.within(at+"/"+axis, angle, -2*math.Pi, 2*math.Pi, "write radians, not degrees")
		} else if angle != nil {
			c.add(at+"/"+axis, CodeBadValue, fmt.Sprintf("a %s has no %s", u.Kind, axis), "only a head has")
		}
	}
	if u.Kind == schema.UnitBattery {
		c.present(at+"/level", n.Level != nil)
		c.within(at+"/level", n.Level, 0, 1, "write a share of 1, not percent")
	} else if n.Level != nil || n.Charging {
		c.add(at, CodeBadValue, fmt.Sprintf("a %s has no level", u.Kind), "only a battery has")
	}
}

// FailReasons are the reasons with which an adapter may fail an action.
var FailReasons = []schema.Reason{
	schema.ReasonBadRequest, schema.ReasonOutOfRange, schema.ReasonSafetyDisabled, schema.ReasonNotCalibrated, schema.ReasonUnitError,
	schema.ReasonSuperseded, schema.ReasonObstructed, schema.ReasonPrecondition, schema.ReasonOverloaded, schema.ReasonStopped,
}

// Signals are the signals of sensed.
var Signals = []string{"touch", "press", "estop-input", "people", "sound", "dark", "push", "lift", "fall"}

// Stops are the stops for which a unit may ask.
var Stops = []string{"soft-stop", "stop", "halt", "estop"}

// Validate reports missing or invalid fields.
func (e *Event) Validate() []schema.Problem {
	var c checks
	c.version(e.V)
	c.session(e.Session)
	switch e.Kind {
	case Done:
		c.present("/key", e.Key != 0)
	case Failed:
		c.present("/key", e.Key != 0)
		c.present("/detail", e.Detail != "")
		if !slices.Contains(FailReasons, e.Reason) {
			c.add("/reason", CodeBadValue, fmt.Sprintf("%q is not a reason that an adapter may give", e.Reason),
				fmt.Sprint("want one of ", FailReasons))
		}
	case Sensed:
		e.sensed(&c)
	case Asks:
		c.present("/unit", e.Unit != "")
		if !slices.Contains(Stops, e.Stop) {
			c.add("/stop", CodeBadValue, fmt.Sprintf("there is no stop %q", e.Stop), fmt.Sprint("want one of ", Stops))
		}
	case Heard:
		if c.present("/heard", e.Heard != nil); e.Heard != nil {
			c = append(c, e.Heard.Problems("/heard")...)
		}
	case Waits:
		c.present("/unit", e.Unit != "")
		if e.Reason != schema.ReasonNeedsEnable {
			c.add("/reason", CodeBadValue, fmt.Sprintf("calibration does not wait for %q", e.Reason), "want "+string(schema.ReasonNeedsEnable))
		}
	case Calibrating:
		c.within("/level", &e.Level, 0, 1, "write a share of 1, not percent")
	case CalibrationDone:
		c.present("/key", e.Key != 0)
		if e.Map != nil && e.Map.Reason != "" && e.Map.Reason != schema.ReasonBadMap {
			c.add("/map/reason", CodeBadValue, fmt.Sprintf("%q", e.Map.Reason), "want "+string(schema.ReasonBadMap))
		}
	default:
		c.add("/kind", CodeBadValue, fmt.Sprintf("there is no event %q", e.Kind),
			"want done, failed, sensed, asks, heard, waits, calibrating or calibrated")
	}
	return c
}

func (e *Event) sensed(c *checks) {
	if !slices.Contains(Signals, e.Signal) {
		c.add("/signal", CodeBadValue, fmt.Sprintf("there is no signal %q", e.Signal), fmt.Sprint("want one of ", Signals))
		return
	}
	switch e.Signal {
	case "touch", "press", "estop-input":
		c.present("/name", e.Name != "")
	case "people":
		count := float64(e.Count)
		c.within("/count", &count, 0, 1000, "")
		c.within("/bearing_rad", &e.BearingRad, -math.Pi, math.Pi, "write radians, not degrees")
	case "sound":
		c.within("/level_dba", &e.LevelDBA, 0, 200, "write dB(A)")
	}
}
