package drive

import "troupe/schema/fsm"

// Stage is what a session does.
type Stage string

// The stages. The robot moves in Driving only.
const (
	Barred   Stage = "barred" // the stick must be released first
	Standing Stage = "standing"
	Driving  Stage = "driving"
	Ended    Stage = "ended"
)

// Stages lists every stage.
var Stages = []Stage{Barred, Standing, Driving, Ended}

// Cause is what changes the stage of a session.
type Cause string

// The causes. The first two are a person's; those that end a session are the last five.
const (
	Pushed   Cause = "pushed"
	Released Cause = "released"

	NoFrames     Cause = "no-frames"
	Disconnected Cause = "disconnected"
	Latency      Cause = "latency"
	RobotSilent  Cause = "robot-silent"
	NoBroker     Cause = "no-broker"

	Silent       Cause = "silent"
	LeaseOver    Cause = "lease-over"
	RightLost    Cause = "right-lost"
	FleetdEnding Cause = "fleetd-ending"
	Replaced     Cause = "replaced"
)

// Table lists the transitions of a session.
var Table = fsm.Table[Stage, Cause]{
	{From: fsm.In(Standing, Driving), On: Pushed, To: Driving, Why: "the stick is deflected"},
	{From: fsm.In(Barred, Standing, Driving), On: Released, To: Standing, Why: "the stick is released"},

	{From: fsm.In(Standing, Driving), On: NoFrames, To: Barred, Why: "no frame arrived from the person's device for a moment"},
	{From: fsm.In(Standing, Driving), On: Disconnected, To: Barred, Why: "the connection to the person's device ended"},
	{From: fsm.In(Standing, Driving), On: Latency, To: Barred, Why: "the connection to the robot is too slow to drive"},
	{From: fsm.In(Standing, Driving), On: RobotSilent, To: Barred, Why: "the robot reports no speed"},
	{From: fsm.In(Standing, Driving), On: NoBroker, To: Barred, Why: "fleetd is not connected to the broker"},

	{From: fsm.In(Barred, Standing, Driving), On: Silent, To: Ended, Why: "no frame arrived for so long that control was given back"},
	{From: fsm.In(Barred, Standing, Driving), On: LeaseOver, To: Ended, Why: "the lease is over, or another client has control"},
	{From: fsm.In(Barred, Standing, Driving), On: RightLost, To: Ended, Why: "the person is signed out or may not drive any more"},
	{From: fsm.In(Barred, Standing, Driving), On: FleetdEnding, To: Ended, Why: "fleetd shuts down"},
	{From: fsm.In(Barred, Standing, Driving), On: Replaced, To: Ended, Why: "the same person drives from another connection"},
}
