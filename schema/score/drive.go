package score

import (
	"fmt"

	"troupe/schema"
)

// How long a drive action lasts.
const (
	MinDriveMS = 200
	MaxDriveMS = 10_000

	// DriveRestMS is the last part of a drive action, in which its velocity is zero, so that
	// the robot is at rest or braking when the next action begins.
	DriveRestMS = 100
)

// drive is what a drive does.
var drive = Kind{Unit: schema.UnitDrive, Actions: []ActionRow{
	{Do: Pose{}, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, EstimateMS: 2000,
		Ends:    "when reached",
		Example: `{type: pose, start_ms: 0, timeout_ms: 4000, pitch_rad: 0.1}`,
		Begin:   "timeout_ms: 4000, pitch_rad: 0.1",
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Reach: yawOf, Doc: "the body turns to the left", Default: "as it is", Example: `0.1`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Reach: pitchOf,
				Doc: "the body leans back; less than 0: forward, as in a bow", Default: "as it is", Example: `0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Reach: rollOf, Doc: "the body leans to the side", Default: "as it is", Example: `0.1`},
			{Name: "height_m", Min: 0, Max: 2, Reach: heightOf, Doc: "height of the body", Default: "as it is", Example: `1.1`},
			unitField,
		}},
	{Do: Goto{}, Class: ClassBody, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeContinue, EstimateMS: 15_000, UsualMS: 60_000, Drives: true,
		Ends:    "on arrival, when it fails, or at end_ms",
		Example: `{type: goto, start_ms: 0, timeout_ms: 60000, point: entrance}`,
		Begin:   "timeout_ms: 60_000, point: ''",
		Fields: []Field{
			{Name: "point", Form: FormName, Doc: "a named point; this, or x_m and y_m", Example: `entrance`},
			{Name: "x_m", Min: -10_000, Max: 10_000, Reach: anywhere, Doc: "a place on the map, with y_m", Example: `2.5`},
			{Name: "y_m", Min: -10_000, Max: 10_000, Reach: anywhere, Doc: "a place on the map, with x_m", Example: `-1`},
			{Name: "theta_rad", Min: -3.2, Max: 3.2, Reach: anywhere, Doc: "heading at the end", Default: "as it arrives", Example: `1.57`},
			{Name: "speed_mps", Min: 0.05, Max: 3, Reach: (*schema.Unit).Forward,
				Doc: "the greatest speed on the way", Default: "the robot's own", Example: `0.4`},
			unitField,
		}},
	{Do: Drive{}, Class: ClassBody, Method: MethodNoSameType,
		End: true, OnResume: ResumeSkip, Drives: true, RestMS: DriveRestMS,
		Ends:    "at end_ms; its velocity is zero in the last 100 ms before",
		Example: `{type: drive, start_ms: 0, end_ms: 2000, vx_mps: 0.2}`,
		Begin:   "end_ms: 2000, vx_mps: 0.2",
		Fields: []Field{
			{Name: "vx_mps", Min: -3, Max: 3, Reach: (*schema.Unit).Forward, Doc: "forward", Default: "0", Example: `0.3`},
			{Name: "vy_mps", Min: -3, Max: 3, Reach: sideways, Doc: "to the left, for a drive that can", Default: "0", Example: `0.1`},
			{Name: "wz_radps", Min: -6.4, Max: 6.4, Reach: (*schema.Unit).Turning, Doc: "turns to the left", Default: "0", Example: `0.5`},
			unitField,
		}},
},
	RestAct: "poses-to-rest",
	Rest: func(u *schema.Unit) Do {
		if u.PitchRad == nil && u.RollRad == nil {
			return nil
		}
		return Pose{Axes{PitchRad: zeroIf(u.PitchRad), RollRad: zeroIf(u.RollRad)}}
	},
	Gentle: func(*schema.Unit) Action {
		return Action{EndMS: &gentleMS, Do: Drive{VXMPS: new(float64), WZRadPS: new(float64)}}
	},
	Impossible: func(*schema.Unit) []Action { return []Action{speech} },
}

// Pose leans, turns and raises the body.
type Pose struct {
	Axes
}

func (Pose) Type() ActionType { return TypePose }

// Goto goes to a named point, or to a place, with a final heading if given.
type Goto struct {
	Point    string   `json:"point,omitempty"`
	XM       *float64 `json:"x_m,omitzero"`
	YM       *float64 `json:"y_m,omitzero"`
	ThetaRad *float64 `json:"theta_rad,omitzero"`
	SpeedMPS *float64 `json:"speed_mps,omitzero"`
}

func (Goto) Type() ActionType { return TypeGoto }

// Drive drives with a velocity.
type Drive struct {
	VXMPS   *float64 `json:"vx_mps,omitzero"`   // forward
	VYMPS   *float64 `json:"vy_mps,omitzero"`   // to the left
	WZRadPS *float64 `json:"wz_radps,omitzero"` // to the left
}

func (Drive) Type() ActionType { return TypeDrive }

func (d Pose) shown([]string) string { return d.inWords() }

func (d Pose) check(c *checks, p string, _ *Action, given map[string]bool) {
	if !given["yaw_rad"] && !given["pitch_rad"] && !given["roll_rad"] && !given["height_m"] {
		c.add(p, CodeMissing, "the pose has no angle and no height", "add yaw_rad, pitch_rad, roll_rad or height_m")
	}
}

// A pose needs a range; without one for any axis the drive takes no poses.
func (d Pose) fit(c *checks, p string, _ *Action, _ schema.Caps, u schema.Unit) {
	if !describesAxes(&u) {
		c.add(at(p, "type"), CodeNoUnit, "this robot takes no poses", "leave the action out for this robot")
		return
	}
	c.fitAxes(p, "the poses of this robot have", d.Axes, &u)
}

func (d Goto) shown([]string) string {
	if d.Point != "" {
		return "to " + d.Point
	}
	return numbers(number{"x", " m", 1, d.XM}, number{"y", " m", 1, d.YM}, number{"theta", "°", degree, d.ThetaRad})
}

func (d Goto) check(c *checks, p string, _ *Action, given map[string]bool) {
	switch place := given["x_m"] && given["y_m"]; {
	case given["point"] && (given["x_m"] || given["y_m"]):
		c.add(at(p, "point"), CodeWrongField, "goto has a point and coordinates, which are two places to go to",
			fmt.Sprintf("keep point: %s and leave x_m and y_m out, or keep x_m with y_m and leave point out", d.Point))
	case !given["point"] && !place:
		c.add(p, CodeMissing, "goto does not say where", "add point, or x_m with y_m")
	}
}

// A robot without a map has no points and no places.
func (d Goto) fit(c *checks, p string, _ *Action, caps schema.Caps, u schema.Unit) {
	switch {
	case len(caps.Points) == 0 && !caps.Truncated:
		c.add(at(p, "type"), CodeNotInCatalogue, "this robot has no map, so it cannot go to a point or a place",
			"assign it places with a map (fleetd desired places), or leave goto out")
	case d.Point != "":
		c.catalogue(at(p, "point"), "point", d.Point, caps.Points, caps)
	}
	if d.SpeedMPS != nil && u.MaxSpeedMPS > 0 && *d.SpeedMPS > u.MaxSpeedMPS {
		c.warn(at(p, "speed_mps"), CodeBeyondUnit, fmt.Sprintf("this robot drives at most %v m/s", u.MaxSpeedMPS), "it will drive slower")
	}
}

func (d Drive) shown([]string) string {
	return numbers(number{"vx", " m/s", 1, d.VXMPS}, number{"vy", " m/s", 1, d.VYMPS}, number{"wz", "°/s", degree, d.WZRadPS})
}

func sideways(u *schema.Unit) schema.Range {
	return schema.Range{Min: -u.MaxSideMPS, Max: u.MaxSideMPS}
}

// check checks the velocities and how long it lasts.
func (d Drive) check(c *checks, p string, x *Action, given map[string]bool) {
	if !given["vx_mps"] && !given["vy_mps"] && !given["wz_radps"] {
		c.add(p, CodeMissing, "drive has no velocity", "add vx_mps, vy_mps or wz_radps")
	}
	if x.EndMS != nil && x.TimeoutMS == nil {
		if n := *x.EndMS - x.StartMS; n < MinDriveMS || n > MaxDriveMS {
			c.add(at(p, "end_ms"), CodeOutOfRange,
				fmt.Sprintf("it drives for %d ms, which is not between %d and %d", n, MinDriveMS, MaxDriveMS), "go to a point for a longer way")
		}
	}
}

// fit checks velocities against the drive, which may not state its limits.
func (d Drive) fit(c *checks, p string, _ *Action, _ schema.Caps, u schema.Unit) {
	within := func(name, unit string, v *float64, most float64) {
		if v != nil && (*v > most || *v < -most) {
			c.add(at(p, name), CodeBeyondUnit, fmt.Sprintf("%v %s is outside this robot's %v to %v", *v, unit, -most, most), "stay within it")
		}
	}
	if u.MaxSpeedMPS > 0 {
		within("vx_mps", "m/s", d.VXMPS, u.MaxSpeedMPS)
	}
	if d.VYMPS != nil && *d.VYMPS != 0 && u.MaxSideMPS == 0 {
		c.add(at(p, "vy_mps"), CodeBeyondUnit, "this robot does not drive sideways", "leave vy_mps out, and turn first")
	} else {
		within("vy_mps", "m/s", d.VYMPS, u.MaxSideMPS)
	}
	if u.MaxTurnRadPS > 0 {
		within("wz_radps", "rad/s", d.WZRadPS, u.MaxTurnRadPS)
	}
}
