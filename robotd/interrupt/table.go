package interrupt

import "troupe/schema/fsm"

// Stage is where one interrupt stands.
type Stage string

// The stages; the last four are ends, each removes the interrupt once.
const (
	Requested Stage = "requested"
	Rejected  Stage = "rejected"
	Running   Stage = "running"
	Finished  Stage = "finished"
	Failed    Stage = "failed"
	TimedOut  Stage = "timed_out"
	Cancelled Stage = "cancelled"
)

// Stages lists them all.
var Stages = []Stage{Requested, Rejected, Running, Finished, Failed, TimedOut, Cancelled}

// Ends are the stages that nothing leaves.
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
)

// Table is the life of one interrupt.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Requested), On: OnRefused, To: Rejected, Why: "a check failed; nothing was touched"},
	{From: fsm.In(Requested), On: OnAccepted, To: Running, Why: "it runs and holds its pause from the same moment"},
	{From: fsm.In(Running), On: OnDone, To: Finished, Why: "the handler says that it is through"},
	{From: fsm.In(Running), On: OnError, To: Failed, Why: "the handler failed or died"},
	{From: fsm.In(Running), On: OnDeadline, To: TimedOut, Why: "the handler took longer than it may"},
	{From: fsm.In(Running), On: OnCancel, To: Cancelled, Why: "a person, a stop or another mode ended it"},
}

// Switch is the state of one interrupter, with what it returns to after ato was
// away.
type Switch string

// The states of an interrupter.
const (
	SwitchOn  Switch = "running"
	SwitchOff Switch = "stopped"
	HaltedOn  Switch = "halted-running"
	HaltedOff Switch = "halted-stopped"
)

// Turn is what happens to an interrupter.
type Turn string

// The turns.
const (
	TurnRun   Turn = "run"
	TurnStop  Turn = "stop"
	TurnEnter Turn = "ato-starts"
	TurnLeave Turn = "ato-is-left"
)

// Switches lists every state of an interrupter.
var Switches = []Switch{SwitchOn, SwitchOff, HaltedOn, HaltedOff}

// SwitchTable is one interrupter.
var SwitchTable = fsm.Table[Switch, Turn]{
	{From: fsm.In(SwitchOn), On: TurnStop, To: SwitchOff, Why: "an operator does not want its requests"},
	{From: fsm.In(SwitchOff), On: TurnRun, To: SwitchOn, Why: "an operator wants its requests again"},
	{From: fsm.In(HaltedOn), On: TurnStop, To: HaltedOff, Why: "it will be stopped when ato is in charge again"},
	{From: fsm.In(HaltedOff), On: TurnRun, To: HaltedOn, Why: "it will run when ato is in charge again"},
	{From: fsm.In(SwitchOn), On: TurnLeave, To: HaltedOn, Why: "there is nothing to interrupt"},
	{From: fsm.In(SwitchOff), On: TurnLeave, To: HaltedOff, Why: "there is nothing to interrupt"},
	{From: fsm.In(HaltedOn), On: TurnEnter, To: SwitchOn, Why: "it is as it was"},
	{From: fsm.In(HaltedOff), On: TurnEnter, To: SwitchOff, Why: "it is as it was"},
}
