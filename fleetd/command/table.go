package command

import "troupe/schema/fsm"

// Trigger is what can happen to a command that is not final.
type Trigger string

const (
	SendIt       Trigger = "send"
	CallItOff    Trigger = "call_off"
	LetGo        Trigger = "let_go"
	NotRecorded  Trigger = "not_recorded"
	TimeOver     Trigger = "time_over"
	NoAnswers    Trigger = "no_answers"
	NeverArrived Trigger = "never_arrived"
	RecordGone   Trigger = "record_gone"
	OwnerGone    Trigger = "owner_gone"
	SaysAccepted Trigger = "accepted"
	SaysProgress Trigger = "in_progress"
	SaysDone     Trigger = "succeeded"
	SaysFailed   Trigger = "failed"
	SaysRejected Trigger = "rejected"
	SaysCancel   Trigger = "cancelled"
	SaysNewer    Trigger = "superseded"
	SaysTooOld   Trigger = "expired"
)

// open are the states that an answer can find a command in: also Queued, since
// fleetd may have died between sending and noting it.
var open = fsm.In(Queued, Sent, Acked, Running, Unknown)

// Table is the life of a command at fleetd.
var Table = fsm.Table[State, Trigger]{
	{From: fsm.In(Queued), On: SendIt, To: Sent, Why: "handed to the broker"},
	{From: fsm.In(Sent), On: SendIt, To: Sent, Why: "no acknowledgement yet, so the same bytes were sent again"},
	{From: fsm.In(Queued), On: CallItOff, To: Cancelled, Why: "called off before it was sent"},
	{From: fsm.In(Queued), On: NotRecorded, To: Cancelled, Why: "not sent: the database did not say whether it was recorded"},
	{From: fsm.In(Queued), On: LetGo, To: Cancelled, Why: "the stop that it was to hold was released before it was sent"},
	{From: fsm.In(Sent), On: LetGo, To: Unknown, Why: "the stop that it was to hold was released, so it is not sent again; it may or may not have been done"},
	{From: fsm.In(Queued), On: TimeOver, To: Undelivered, Why: "its time was over before the robot could be reached"},
	{From: fsm.In(Sent), On: TimeOver, To: Unknown, Why: "sent, but never answered in its time; it may or may not have been done"},
	{From: fsm.In(Acked, Running), On: NoAnswers, To: Unknown, Why: "the robot took it and then no longer answered questions about it"},
	{From: fsm.In(Unknown), On: NeverArrived, To: Undelivered, Why: "the robot has no record of it, and its time is over"},
	{From: fsm.In(Acked, Running, Unknown), On: RecordGone, To: Unknown, Why: "the robot took it, but has no record of it any more"},
	{From: fsm.In(Queued, Sent, Acked, Running), On: OwnerGone, To: Unknown, Why: "fleetd that was asked for it is gone; it may or may not have been done"},
	{From: fsm.In(Queued, Sent, Acked, Unknown), On: SaysAccepted, To: Acked, Why: "the robot took it"},
	{From: fsm.In(Running), On: SaysAccepted, To: Running, Why: "an earlier answer that came late"},
	{From: open, On: SaysProgress, To: Running, Why: "the robot is at it"},
	{From: open, On: SaysDone, To: Succeeded, Why: "done, as the robot says"},
	{From: open, On: SaysFailed, To: Failed, Why: "begun, and did not end well"},
	{From: open, On: SaysRejected, To: Rejected, Why: "the robot refused it; nothing was touched"},
	{From: open, On: SaysCancel, To: Cancelled, Why: "ended by another request or a stop"},
	{From: open, On: SaysNewer, To: Superseded, Why: "a newer command of its class took over"},
	{From: open, On: SaysTooOld, To: Expired, Why: "it was too old when the robot got to it"},
}
