package latch

import "troupe/schema/fsm"

// Event is what happened to one latch, after every question was asked.
type Event string

// The events.
const (
	OnAsked   Event = "asked"       // somebody stopped the robot under this id
	OnAnew    Event = "asked-anew"  // under an id that names many stops, one after the other
	OnWritten Event = "written"     // a document of the robot's own fleet has it
	OnDropped Event = "left-out"    // none of those documents has it any more
	OnForeign Event = "other-fleet" // the robot obeys another fleet now
	OnIllegib Event = "unreadable"  // its document cannot be read
	OnLegible Event = "readable"    // a newer revision of that document can be
	OnReset   Event = "local-reset" // by somebody who stands at the robot
)

// Table is the way of one latch. There are three edges to free, and each needs
// somebody who may.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Free), On: OnAsked, To: Loose, Why: "somebody stopped the robot; fleetd has not written it down yet"},
	{From: fsm.In(Free), On: OnAnew, To: Loose, Why: "somebody stopped the robot; fleetd has not written it down yet"},
	{From: fsm.In(Free), On: OnWritten, To: Written, Why: "the fleet holds this stop"},
	{From: fsm.In(Free), On: OnIllegib, To: Illegible, Why: "a stop that cannot be read is a stop"},

	{From: fsm.In(Loose, Illegible), On: OnWritten, To: Written, Why: "fleetd knows of it now, and may release it"},
	{From: fsm.In(Written), On: OnAnew, To: Loose, Why: "stopped again: what fleetd decides of the time before does not release it"},
	{From: fsm.In(Written), On: OnForeign, To: Loose, Why: "whoever wrote it down is no longer obeyed"},

	{From: fsm.In(Written), On: OnDropped, To: Free, Why: "the fleet that held it release it"},
	{From: fsm.In(Illegible), On: OnLegible, To: Free, Why: "a newer revision can be read, and does not hold it"},
	{From: fsm.In(Loose, Illegible), On: OnReset, To: Free, Why: "fleetd does not hold it, and somebody at the robot saw to it"},
}
