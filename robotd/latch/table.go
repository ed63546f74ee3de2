package latch

import "troupe/schema/fsm"

// Event is what happened to one latch, after all conditions were checked.
type Event string

// The events.
const (
	OnAsked        Event = "asked"         // a stop with this id was requested
	OnNewStop      Event = "asked-anew"    // a stop was requested under an id that is used for one stop after the other
	OnRecorded     Event = "recorded"      // a document of the robot's fleet names it
	OnReleased     Event = "released"      // no document of the robot's fleet names it any more
	OnForeign      Event = "other-fleet"   // the robot belongs to another fleet now
	OnUnreadable   Event = "unreadable"    // its document cannot be decoded
	OnReadable     Event = "readable"      // a newer revision of that document can be decoded
	OnLocalRelease Event = "local-release" // a person at the robot released it
)

// Table is the state table of one latch. Three transitions lead to free: a document of
// the fleet, a readable revision, and a release at the robot.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Free), On: OnAsked, To: Unrecorded, Why: "a stop was requested; fleetd has not recorded it yet"},
	{From: fsm.In(Free), On: OnNewStop, To: Unrecorded, Why: "a stop was requested; fleetd has not recorded it yet"},
	{From: fsm.In(Free), On: OnRecorded, To: Recorded, Why: "a document of the fleet latches this stop"},
	{From: fsm.In(Free), On: OnUnreadable, To: Unreadable, Why: "a stop document that cannot be decoded counts as a stop"},

	{From: fsm.In(Unrecorded, Unreadable), On: OnRecorded, To: Recorded, Why: "fleetd has recorded it, and may release it"},
	{From: fsm.In(Recorded), On: OnNewStop, To: Unrecorded,
		Why: "stopped again: fleetd's release of the earlier stop does not release this one"},
	{From: fsm.In(Recorded), On: OnForeign, To: Unrecorded, Why: "the fleet that recorded it is no longer the robot's"},

	{From: fsm.In(Recorded), On: OnReleased, To: Free, Why: "the fleet released it"},
	{From: fsm.In(Unreadable), On: OnReadable, To: Free, Why: "a newer revision can be decoded, and does not latch it"},
	{From: fsm.In(Unrecorded, Unreadable), On: OnLocalRelease, To: Free,
		Why: "fleetd has not recorded it, and a person at the robot released it"},
}
