package teleop

import "troupe/schema/fsm"

// Stage is the state of the joystick.
type Stage string

// The stages. The set-point is zero except in Driving.
const (
	Standing     Stage = "standing"
	Driving      Stage = "driving"
	ReleaseFirst Stage = "release_first" // before it counts again
)

// Stages lists every stage.
var Stages = []Stage{Standing, Driving, ReleaseFirst}

// Event is what happened to the joystick, after all checks.
type Event string

// The events.
const (
	OnPush     Event = "push"           // a valid frame with a velocity
	OnReleased Event = "stick-released" // a valid frame with velocity zero
	OnRunOut   Event = "frame-timeout"  // no valid frame for too long
	OnOther    Event = "other-lease"    // or no lease any more
	OnForbid   Event = "forbidden"
	OnStop     Event = "stop"
)

// Table lists the transitions of the joystick.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Standing, Driving), On: OnPush, To: Driving, Why: "a valid frame with a velocity arrived"},
	{From: fsm.In(Standing, Driving, ReleaseFirst), On: OnReleased, To: Standing, Why: "the stick was released"},
	{From: fsm.In(Driving), On: OnRunOut, To: Standing, Why: "no valid frame came in time"},
	{From: fsm.In(Standing, Driving), On: OnOther, To: ReleaseFirst,
		Why: "control changed to another lease or ended; the stick must be released first"},
	{From: fsm.In(Standing, Driving), On: OnForbid, To: ReleaseFirst,
		Why: "the robot must not be driven; afterwards the stick must be released first"},
	{From: fsm.In(Standing, Driving), On: OnStop, To: ReleaseFirst, Why: "the drive was stopped; the stick must be released first"},
}
