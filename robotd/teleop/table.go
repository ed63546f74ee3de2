package teleop

import "troupe/schema/fsm"

// Stage is what the stick means to the drive.
type Stage string

// The stages. The set-point is zero in all but Driving.
const (
	Standing Stage = "standing"
	Driving  Stage = "driving"
	Barred   Stage = "barred" // the stick has to be let go first
)

// Stages lists them all.
var Stages = []Stage{Standing, Driving, Barred}

// Event is what happened to the stick, after every question was asked.
type Event string

// The events.
const (
	OnPush   Event = "push"        // a valid frame with a speed
	OnLetGo  Event = "let-go"      // a valid frame without
	OnRunOut Event = "run-out"     // no valid frame for too long
	OnOther  Event = "other-lease" // or none
	OnForbid Event = "forbidden"
	OnStop   Event = "stop"
)

// Table is the stick.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Standing, Driving), On: OnPush, To: Driving, Why: "its holder says how fast"},
	{From: fsm.In(Standing, Driving, Barred), On: OnLetGo, To: Standing, Why: "its holder lets the stick go"},
	{From: fsm.In(Driving), On: OnRunOut, To: Standing, Why: "no valid frame came in time"},
	{From: fsm.In(Standing, Driving), On: OnOther, To: Barred, Why: "control goes to another hand, or to none; a stick that is pressed already is no desired state"},
	{From: fsm.In(Standing, Driving), On: OnForbid, To: Barred, Why: "the robot may not be driven; a stick that is still pressed then is no desired state"},
	{From: fsm.In(Standing, Driving), On: OnStop, To: Barred, Why: "somebody stopped it; going on is a new desired state"},
}
