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

// Table is the life of one interrupt.
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
	SwitchOn  Switch = "running"
	SwitchOff Switch = "stopped"
	HaltedOn  Switch = "halted-running"
	HaltedOff Switch = "halted-stopped"
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
var Switches = []Switch{SwitchOn, SwitchOff, HaltedOn, HaltedOff}

// SwitchTable lists the transitions of one interrupter.
var SwitchTable = fsm.Table[Switch, SwitchEvent]{
	{From: fsm.In(SwitchOn), On: OnStop, To: SwitchOff, Why: "an operator disabled its requests"},
	{From: fsm.In(SwitchOff), On: OnRun, To: SwitchOn, Why: "an operator enabled its requests again"},
	{From: fsm.In(HaltedOn), On: OnStop, To: HaltedOff, Why: "it will be stopped when ato is active again"},
	{From: fsm.In(HaltedOff), On: OnRun, To: HaltedOn, Why: "it will run when ato is active again"},
	{From: fsm.In(SwitchOn), On: OnLeave, To: HaltedOn, Why: "there is nothing to interrupt"},
	{From: fsm.In(SwitchOff), On: OnLeave, To: HaltedOff, Why: "there is nothing to interrupt"},
	{From: fsm.In(HaltedOn), On: OnEnter, To: SwitchOn, Why: "it returns to the state it had"},
	{From: fsm.In(HaltedOff), On: OnEnter, To: SwitchOff, Why: "it returns to the state it had"},
}
