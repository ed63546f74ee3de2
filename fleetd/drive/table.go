package drive

import "troupe/schema/fsm"

// Stage is what a session does.
type Stage string

// The stages. The robot moves in Driving only.
const (
	ReleaseFirst Stage = "release_first" // the stick must be released first
	Standing     Stage = "standing"
	Driving      Stage = "driving"
	Ended        Stage = "ended"
)

// Stages lists every stage.
var Stages = []Stage{ReleaseFirst, Standing, Driving, Ended}

// Cause is what changes the stage of a session.
type Cause string

// The causes. The first two are a person's; those that end a session are the last five.
const (
	Pushed        Cause = "pushed"
	StickReleased Cause = "released"

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
	{From: fsm.In(ReleaseFirst, Standing, Driving), On: StickReleased, To: Standing, Why: "the stick is released"},

	{From: fsm.In(Standing, Driving), On: NoFrames, To: ReleaseFirst, Why: "no frame arrived from the person's device for a moment"},
	{From: fsm.In(Standing, Driving), On: Disconnected, To: ReleaseFirst, Why: "the connection to the person's device ended"},
	{From: fsm.In(Standing, Driving), On: Latency, To: ReleaseFirst, Why: "a frame takes too long from the person's device to the robot"},
	{From: fsm.In(Standing, Driving), On: RobotSilent, To: ReleaseFirst, Why: "the robot reports no speed"},
	{From: fsm.In(Standing, Driving), On: NoBroker, To: ReleaseFirst, Why: "fleetd is not connected to the broker"},

	{From: fsm.In(ReleaseFirst, Standing, Driving), On: Silent, To: Ended, Why: "no frame arrived for so long that control was given back"},
	{From: fsm.In(ReleaseFirst, Standing, Driving), On: LeaseOver, To: Ended, Why: "the lease is over, or another client has control"},
	{From: fsm.In(ReleaseFirst, Standing, Driving), On: RightLost, To: Ended, Why: "the person is signed out or may not drive any more"},
	{From: fsm.In(ReleaseFirst, Standing, Driving), On: FleetdEnding, To: Ended, Why: "fleetd shuts down"},
	{From: fsm.In(ReleaseFirst, Standing, Driving), On: Replaced, To: Ended, Why: "the same person drives from another connection"},
}
