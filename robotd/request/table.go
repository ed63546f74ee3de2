package request

import "troupe/schema/fsm"

// Phase is the state of a command.
type Phase string

// The phases. A command leaves Received within the step of its arrival.
const (
	Received     Phase = "received"
	Saving       Phase = "saving"       // admitted; its record is being written to disk
	Dispatched   Phase = "dispatched"   // handed on with effect.Dispatch; no reply yet
	Working      Phase = "working"      // begun; ACCEPTED has not been sent
	Acknowledged Phase = "acknowledged" // begun, and ACCEPTED was sent
	Done         Phase = "done"         // has its final answer
	Refused      Phase = "refused"      // the disk refused its record; it is forgotten
)

// Event is what happened to a command, after all checks.
type Event string

// The events.
const (
	OnTake        Event = "take"
	OnTakeNow     Event = "take-at-once"
	OnSaved       Event = "saved"
	OnUnsaved     Event = "disk-refused"
	OnExpired     Event = "expired"
	OnStopped     Event = "stopped"
	OnBegun       Event = "begun"
	OnAckDue      Event = "ack-due"
	OnProgressDue Event = "progress-due"
	OnEnded       Event = "ended"
	OnSuperseded  Event = "superseded"
	OnCancelled   Event = "cancelled"
	OnRestart     Event = "restart"
	OnRevoked     Event = "revoked"
)

// Phases lists every phase.
var Phases = []Phase{Received, Saving, Dispatched, Working, Acknowledged, Done, Refused}

// Table is the lifecycle of an admitted command. A command that is refused on
// arrival or that repeats another one never enters it.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Received), On: OnTake, To: Saving, Why: "the record must be on disk before the command takes effect"},
	{From: fsm.In(Received), On: OnTakeNow, To: Dispatched,
		Why: "a stop waits for nothing; a command that changes nothing needs no record before it is performed or answered"},

	{From: fsm.In(Saving), On: OnSaved, To: Dispatched, Why: "the record is on disk; now it may have an effect"},
	{From: fsm.In(Saving), On: OnUnsaved, To: Refused, Why: "without a record a restart could do it twice"},
	{From: fsm.In(Saving), On: OnExpired, To: Done, Why: "its time to live ended while it waited for the disk"},
	{From: fsm.In(Saving), On: OnStopped, To: Done, Why: "no command older than a stop takes effect after it"},

	{From: fsm.In(Saving), On: OnCancelled, To: Done, Why: "its sender cancelled it before it was performed"},

	{From: fsm.In(Dispatched), On: OnBegun, To: Working, Why: "it takes a while; ACCEPTED is sent only if it takes longer than half a second"},
	{From: fsm.In(Working), On: OnAckDue, To: Acknowledged, Why: "the sender is notified within half a second that it was accepted"},
	{From: fsm.In(Acknowledged), On: OnProgressDue, To: Acknowledged, Why: "the sender is notified that it is still in progress"},
	{From: fsm.In(Dispatched, Working, Acknowledged), On: OnEnded, To: Done, Why: "this is the final answer"},
	{From: fsm.In(Working, Acknowledged), On: OnSuperseded, To: Done, Why: "a newer command of the mode class took over"},

	{From: fsm.In(Done), On: OnRevoked, To: Done, Why: "what it granted was taken away; the sender is notified under the same id"},

	{From: fsm.In(Saving, Dispatched, Working, Acknowledged), On: OnRestart, To: Done,
		Why: "it is unknown how far it got; the robot starts from rest"},
}
