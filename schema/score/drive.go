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

// driveActions is what a drive does.
var driveActions = []ActionRow{
	{Type: TypePose, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		Timeout: true, OnResume: ResumeRestart, Ends: "when reached", Example: `{type: pose, start_ms: 0, timeout_ms: 4000, pitch_rad: 0.1}`,
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Doc: "the body turns to the left", Default: "as it is", Example: `0.1`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Doc: "the body leans back; less than 0: forward, as in a bow", Default: "as it is", Example: `0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Doc: "the body leans to the side", Default: "as it is", Example: `0.1`},
			{Name: "height_m", Min: 0, Max: 2, Doc: "height of the body", Default: "as it is", Example: `1.1`},
			unitField,
		}},
	{Type: TypeGoto, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "on arrival, when it fails, or at end_ms", Example: `{type: goto, start_ms: 0, timeout_ms: 60000, point: entrance}`,
		Fields: []Field{
			{Name: "point", Form: FormName, Doc: "a named point; this, or x_m and y_m", Example: `entrance`},
			{Name: "x_m", Min: -10_000, Max: 10_000, Doc: "a place on the map, with y_m", Example: `2.5`},
			{Name: "y_m", Min: -10_000, Max: 10_000, Doc: "a place on the map, with x_m", Example: `-1`},
			{Name: "theta_rad", Min: -3.2, Max: 3.2, Doc: "heading at the end", Default: "as it arrives", Example: `1.57`},
			{Name: "speed_mps", Min: 0.05, Max: 3, Doc: "the greatest speed on the way", Default: "the robot's own", Example: `0.4`},
			unitField,
		}},
	{Type: TypeDrive, Unit: schema.UnitDrive, Class: ClassBody, Method: MethodNoSameType,
		End: true, OnResume: ResumeSkip, Ends: "at end_ms; its velocity is zero in the last 100 ms before", Example: `{type: drive, start_ms: 0, end_ms: 2000, vx_mps: 0.2}`,
		Fields: []Field{
			{Name: "vx_mps", Min: -3, Max: 3, Doc: "forward", Default: "0", Example: `0.3`},
			{Name: "vy_mps", Min: -3, Max: 3, Doc: "to the left, for a drive that can", Default: "0", Example: `0.1`},
			{Name: "wz_radps", Min: -6.4, Max: 6.4, Doc: "turns to the left", Default: "0", Example: `0.5`},
			unitField,
		}},
}

// drive checks the velocities of a drive action and how long it lasts.
func (c *checks) drive(p string, x *Action, given map[string]bool) {
	if !given["vx_mps"] && !given["vy_mps"] && !given["wz_radps"] {
		c.add(p, CodeMissing, "drive has no velocity", "add vx_mps, vy_mps or wz_radps")
	}
	if x.EndMS != nil && x.TimeoutMS == nil {
		if n := *x.EndMS - x.StartMS; n < MinDriveMS || n > MaxDriveMS {
			c.add(at(p, "end_ms"), CodeOutOfRange, fmt.Sprintf("it drives for %d ms, which is not between %d and %d", n, MinDriveMS, MaxDriveMS), "go to a point for a longer way")
		}
	}
}

// fitPose checks a pose against the drive. A pose needs a range; without one for any axis
// the drive takes no poses.
func (c *checks) fitPose(p string, x *Action, u schema.Unit) {
	if !describesAxes(&u) {
		c.add(at(p, "type"), CodeNoUnit, "this robot takes no poses", "leave the action out for this robot")
		return
	}
	c.fitAxes(p, "the poses of this robot have", x, &u)
}

// fitDrive checks velocities against the drive, which may not state its limits.
func (c *checks) fitDrive(p string, x *Action, u schema.Unit) {
	within := func(name, unit string, v *float64, most float64) {
		if v != nil && (*v > most || *v < -most) {
			c.add(at(p, name), CodeBeyondUnit, fmt.Sprintf("%v %s is outside this robot's %v to %v", *v, unit, -most, most), "stay within it")
		}
	}
	if u.MaxSpeedMPS > 0 {
		within("vx_mps", "m/s", x.VXMPS, u.MaxSpeedMPS)
	}
	if x.VYMPS != nil && *x.VYMPS != 0 && u.MaxSideMPS == 0 {
		c.add(at(p, "vy_mps"), CodeBeyondUnit, "this robot does not drive sideways", "leave vy_mps out, and turn first")
	} else {
		within("vy_mps", "m/s", x.VYMPS, u.MaxSideMPS)
	}
	if u.MaxTurnRadPS > 0 {
		within("wz_radps", "rad/s", x.WZRadPS, u.MaxTurnRadPS)
	}
}
