package interrupt

import "troupe/schema/fsm"

// Stage is the state of one interrupt.
type Stage string

// The stages; the last four end the interrupt.
const (
	Requested Stage = "requested"
	Rejected  Stage = "rejected"
	Running   Stage = "running"
	Finished  Stage = "finished"
	Failed    Stage = "failed"
	TimedOut  Stage = "timed_out"
	Cancelled Stage = "cancelled"
)

// Stages lists every stage.
var Stages = []Stage{Requested, Rejected, Running, Finished, Failed, TimedOut, Cancelled}

// Ends are the final stages.
var Ends = []Stage{Rejected, Finished, Failed, TimedOut, Cancelled}

// Event is what happens to an interrupt.
type Event string

// The events.
const (
	OnRefused  Event = "refused"
	OnAccepted Event = "accepted"
	OnDone     Event = "done"
	OnError    Event = "error"
	OnDeadline Event = "deadline"
	OnCancel   Event = "cancel"
	OnPreempt  Event = "preempt"
)

// Table is the lifecycle of one interrupt.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Requested), On: OnRefused, To: Rejected, Why: "a check failed; nothing was changed"},
	{From: fsm.In(Requested), On: OnAccepted, To: Running, Why: "it runs and holds its pause from the same moment"},
	{From: fsm.In(Running), On: OnDone, To: Finished, Why: "the handler reports that it is done"},
	{From: fsm.In(Running), On: OnError, To: Failed, Why: "the handler failed or died"},
	{From: fsm.In(Running), On: OnDeadline, To: TimedOut, Why: "the handler exceeded its deadline"},
	{From: fsm.In(Running), On: OnCancel, To: Cancelled, Why: "a person, a stop or another mode ended it"},
	{From: fsm.In(Running), On: OnPreempt, To: Cancelled, Why: "it performs an activity, and one with a higher priority that preempts began"},
}

// Switch is the state of one interrupter. While ato is not active, it includes the
// state that the interrupter returns to.
type Switch string

// The states of an interrupter.
const (
	Allowed            Switch = "allowed"
	Forbidden          Switch = "forbidden"
	SuspendedAllowed   Switch = "suspended-allowed"
	SuspendedForbidden Switch = "suspended-forbidden"
)

// SwitchEvent is what happens to an interrupter.
type SwitchEvent string

// The events of an interrupter.
const (
	OnRun   SwitchEvent = "run"
	OnStop  SwitchEvent = "stop"
	OnEnter SwitchEvent = "ato-starts"
	OnLeave SwitchEvent = "ato-is-left"
)

// Switches lists every state of an interrupter.
var Switches = []Switch{Allowed, Forbidden, SuspendedAllowed, SuspendedForbidden}

// SwitchTable lists the transitions of one interrupter.
var SwitchTable = fsm.Table[Switch, SwitchEvent]{
	{From: fsm.In(Allowed), On: OnStop, To: Forbidden, Why: "an operator forbade it to interrupt"},
	{From: fsm.In(Forbidden), On: OnRun, To: Allowed, Why: "an operator allowed it to interrupt again"},
	{From: fsm.In(SuspendedAllowed), On: OnStop, To: SuspendedForbidden, Why: "it will be forbidden when ato is active again"},
	{From: fsm.In(SuspendedForbidden), On: OnRun, To: SuspendedAllowed, Why: "it will be allowed when ato is active again"},
	{From: fsm.In(Allowed), On: OnLeave, To: SuspendedAllowed, Why: "there is nothing to interrupt"},
	{From: fsm.In(Forbidden), On: OnLeave, To: SuspendedForbidden, Why: "there is nothing to interrupt"},
	{From: fsm.In(SuspendedAllowed), On: OnEnter, To: Allowed, Why: "it returns to the state it had"},
	{From: fsm.In(SuspendedForbidden), On: OnEnter, To: Forbidden, Why: "it returns to the state it had"},
}
