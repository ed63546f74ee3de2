package driver

import "troupe/schema/fsm"

// State is the state of a unit. Units that cannot move are only idle or in error.
type State string

// The states of a unit.
const (
	Idle  State = "idle"
	Run   State = "run"
	Halt  State = "halt" // the unit brakes by its own means
	Error State = "error"
)

// States lists every state of a unit.
var States = []State{Idle, Run, Halt, Error}

// Trigger is what makes a unit that moves change its state.
type Trigger string

// The triggers.
const (
	Enabled Trigger = "enabled" // ordered to run; a unit with a fault is already in error
	AtRest  Trigger = "at-rest" // ordered to stop or to be idle, and at standstill
	Halted  Trigger = "halted"  // ordered to halt, or at its own limit
	Unfed   Trigger = "unfed"   // moving, and robotd did not feed it
	Settled Trigger = "settled" // at standstill, and the hold time is over
	Faulted Trigger = "faulted" // broken, ordered to error, or a stop input is pressed
	Cleared Trigger = "cleared" // ordered to reset, cause gone, settling time over
)

// Table is the state table of every unit that moves.
var Table = fsm.Table[State, Trigger]{
	{From: fsm.In(Idle), On: Enabled, To: Run, Why: "the safety core lets it move"},
	{From: fsm.In(Run), On: AtRest, To: Idle, Why: "it was ordered to stop and is at rest"},
	{From: fsm.In(Run), On: Halted, To: Halt, Why: "it brakes at once by its own means"},
	{From: fsm.In(Run), On: Unfed, To: Error, Why: "robotd stopped feeding it while it moved"},
	{From: fsm.In(Halt), On: Settled, To: Error, Why: "a halt always ends in error: a person looks before it moves again"},
	{From: fsm.In(Idle, Run, Halt), On: Faulted, To: Error, Why: "broken, or ordered to be off"},
	{From: fsm.In(Error), On: Cleared, To: Idle, Why: "the cause is gone and a person asked"},
}
