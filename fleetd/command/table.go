package command

import "troupe/schema/fsm"

// Trigger is a cause of a transition.
type Trigger string

const (
	SendIt         Trigger = "send"
	CancelIt       Trigger = "cancel"
	StopReleased   Trigger = "stop_released"
	NotPersisted   Trigger = "not_persisted"
	DeadlinePassed Trigger = "deadline_passed"
	NoAnswers      Trigger = "no_answers"
	NeverArrived   Trigger = "never_arrived"
	RecordLost     Trigger = "record_lost"
	OwnerGone      Trigger = "owner_gone"
	SaysAccepted   Trigger = "accepted"
	SaysProgress   Trigger = "in_progress"
	SaysDone       Trigger = "succeeded"
	SaysFailed     Trigger = "failed"
	SaysRejected   Trigger = "rejected"
	SaysCancel     Trigger = "cancelled"
	SaysNewer      Trigger = "superseded"
	SaysTooOld     Trigger = "expired"
)

// open are the states in which an answer can arrive: also Queued, because fleetd may have
// died after sending the command and before persisting that.
var open = fsm.In(Queued, Sent, Acked, Running, Unknown)

// Table is the state machine of a command.
var Table = fsm.Table[State, Trigger]{
	{From: fsm.In(Queued), On: SendIt, To: Sent, Why: "published to the broker"},
	{From: fsm.In(Sent), On: SendIt, To: Sent, Why: "no acknowledgement yet, so it was sent again"},
	{From: fsm.In(Queued), On: CancelIt, To: Cancelled, Why: "cancelled before it was sent"},
	{From: fsm.In(Queued), On: NotPersisted, To: Cancelled, Why: "not sent: the database did not say whether it was recorded"},
	{From: fsm.In(Queued), On: StopReleased, To: Cancelled, Why: "its latched stop was released before it was sent"},
	{From: fsm.In(Sent), On: StopReleased, To: Unknown,
		Why: "its latched stop was released, so it is not sent again; it may or may not have been executed"},
	{From: fsm.In(Queued), On: DeadlinePassed, To: Undelivered, Why: "it expired before it was sent"},
	{From: fsm.In(Sent), On: DeadlinePassed, To: Unknown, Why: "sent, but not answered in time; it may or may not have been executed"},
	{From: fsm.In(Acked, Running), On: NoAnswers, To: Unknown, Why: "the robot accepted it and then did not answer queries about it"},
	{From: fsm.In(Unknown), On: NeverArrived, To: Undelivered, Why: "the robot has no record of it, and it is not sent again"},
	{From: fsm.In(Acked, Running, Unknown), On: RecordLost, To: Unknown, Why: "the robot accepted it, but no longer has a record of it"},
	{From: fsm.In(Queued, Sent, Acked, Running), On: OwnerGone, To: Unknown,
		Why: "the fleetd instance that sent it is gone; it may or may not have been executed"},
	{From: fsm.In(Queued, Sent, Acked, Unknown), On: SaysAccepted, To: Acked, Why: "the robot accepted it"},
	{From: open, On: SaysProgress, To: Running, Why: "the robot is executing it"},
	{From: open, On: SaysDone, To: Succeeded, Why: "the robot reports success"},
	{From: open, On: SaysFailed, To: Failed, Why: "the robot started it and failed"},
	{From: open, On: SaysRejected, To: Rejected, Why: "the robot refused it and did nothing"},
	{From: open, On: SaysCancel, To: Cancelled, Why: "ended by another request or a stop"},
	{From: open, On: SaysNewer, To: Superseded, Why: "replaced by a newer command of the same kind"},
	{From: open, On: SaysTooOld, To: Expired, Why: "it was too old when the robot wanted to start it"},
}
