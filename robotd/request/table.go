package request

import "troupe/schema/fsm"

// Phase is where a command stands.
type Phase string

// The phases. The first is left within the step of the arrival.
const (
	Received Phase = "received"
	Saving   Phase = "saving"  // taken; its record is on the way to the disk
	Handed   Phase = "handed"  // being performed; nothing came back yet
	Working  Phase = "working" // begun; nobody was told yet
	Told     Phase = "told"    // begun, and ACCEPTED was told
	Done     Phase = "done"    // the final answer stands
	Refused  Phase = "refused" // after all, without a trace
)

// Event is what happened to a command, after every question was asked.
type Event string

// The events.
const (
	OnTake      Event = "take"
	OnTakeNow   Event = "take-at-once"
	OnSaved     Event = "saved"
	OnUnsaved   Event = "disk-refused"
	OnStale     Event = "too-old"
	OnStopped   Event = "stop-came"
	OnBegun     Event = "begun"
	OnPatience  Event = "half-a-second"
	OnProgress  Event = "still-working"
	OnEnded     Event = "ended"
	OnOvertaken Event = "overtaken"
	OnCancelled Event = "called-off"
	OnRestart   Event = "restart"
	OnRevoked   Event = "revoked"
)

// Phases lists every phase.
var Phases = []Phase{Received, Saving, Handed, Working, Told, Done, Refused}

// Table is the way of a command that passed the door. One that was refused
// there, or that only repeats another, never enters it.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Received), On: OnTake, To: Saving, Why: "what is promised is on disk before it is done"},
	{From: fsm.In(Received), On: OnTakeNow, To: Handed, Why: "a stop waits for nothing; what changes nothing needs no record"},

	{From: fsm.In(Saving), On: OnSaved, To: Handed, Why: "the record is on disk; now it may have an effect"},
	{From: fsm.In(Saving), On: OnUnsaved, To: Refused, Why: "without a record a restart could do it twice"},
	{From: fsm.In(Saving), On: OnStale, To: Done, Why: "its time to live ended while it waited"},
	{From: fsm.In(Saving), On: OnStopped, To: Done, Why: "nothing older than a stop happens after it"},

	{From: fsm.In(Saving), On: OnCancelled, To: Done, Why: "its sender called it off, and nothing was done"},

	{From: fsm.In(Handed), On: OnBegun, To: Working, Why: "it takes a while; perhaps less than anybody wants to be told about"},
	{From: fsm.In(Working), On: OnPatience, To: Told, Why: "the sender hears within half a second that it was taken"},
	{From: fsm.In(Told), On: OnProgress, To: Told, Why: "the sender hears that it is still being worked on"},
	{From: fsm.In(Handed, Working, Told), On: OnEnded, To: Done, Why: "the final answer stands from now on"},
	{From: fsm.In(Working, Told), On: OnOvertaken, To: Done, Why: "a newer command of the mode class took over"},

	{From: fsm.In(Done), On: OnRevoked, To: Done, Why: "what it had given was taken away; the sender hears it under the same id"},

	{From: fsm.In(Saving, Handed, Working, Told), On: OnRestart, To: Done, Why: "nobody knows how far it came; the robot starts from rest"},
}
