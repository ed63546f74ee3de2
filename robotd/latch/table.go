package latch

import "troupe/schema/fsm"

// Event is what happened to one latch, after all conditions were checked.
type Event string

// The events.
const (
	OnAsked   Event = "asked"       // a stop with this id was requested
	OnAnew    Event = "asked-anew"  // a stop was requested under an id that is used for one stop after the other
	OnWritten Event = "written"     // a document of the robot's fleet names it
	OnDropped Event = "left-out"    // no document of the robot's fleet names it any more
	OnForeign Event = "other-fleet" // the robot belongs to another fleet now
	OnIllegib Event = "unreadable"  // its document cannot be decoded
	OnLegible Event = "readable"    // a newer revision of that document can be decoded
	OnReset   Event = "local-reset" // a person at the robot reset it
)

// Table is the state table of one latch. Three transitions lead to free: a document of
// the fleet, a readable revision, and a reset at the robot.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Free), On: OnAsked, To: Loose, Why: "a stop was requested; fleetd has not recorded it yet"},
	{From: fsm.In(Free), On: OnAnew, To: Loose, Why: "a stop was requested; fleetd has not recorded it yet"},
	{From: fsm.In(Free), On: OnWritten, To: Written, Why: "a document of the fleet latches this stop"},
	{From: fsm.In(Free), On: OnIllegib, To: Illegible, Why: "a stop document that cannot be decoded counts as a stop"},

	{From: fsm.In(Loose, Illegible), On: OnWritten, To: Written, Why: "fleetd has recorded it, and may release it"},
	{From: fsm.In(Written), On: OnAnew, To: Loose, Why: "stopped again: fleetd's release of the earlier stop does not release this one"},
	{From: fsm.In(Written), On: OnForeign, To: Loose, Why: "the fleet that recorded it is no longer the robot's"},

	{From: fsm.In(Written), On: OnDropped, To: Free, Why: "the fleet released it"},
	{From: fsm.In(Illegible), On: OnLegible, To: Free, Why: "a newer revision can be decoded, and does not latch it"},
	{From: fsm.In(Loose, Illegible), On: OnReset, To: Free, Why: "fleetd does not latch it, and a person at the robot reset it"},
}
