package driver

import "troupe/schema/fsm"

// State is where a unit stands. Units that cannot move are idle or in error.
type State string

// The states of a unit.
const (
	Idle  State = "idle"
	Run   State = "run"
	Halt  State = "halt" // braking by its own means
	Error State = "error"
)

// States lists every state of a unit.
var States = []State{Idle, Run, Halt, Error}

// Happening is what can happen to a unit that moves.
type Happening string

// What can happen.
const (
	Enabled Happening = "enabled" // ordered to run, and sound; one that is not faults instead
	AtRest  Happening = "at-rest" // ordered to stop or to be idle, and standing
	Halted  Happening = "halted"  // ordered to halt, or at its own limit
	Unfed   Happening = "unfed"   // moving, and nobody fed it
	Settled Happening = "settled" // stands, and the hold time is over
	Faulted Happening = "faulted" // broken, ordered to error, or a stop input
	Cleared Happening = "cleared" // ordered to reset, cause gone, settled
)

// Table is the life of every unit that moves.
var Table = fsm.Table[State, Happening]{
	{From: fsm.In(Idle), On: Enabled, To: Run, Why: "the safety core lets it move"},
	{From: fsm.In(Run), On: AtRest, To: Idle, Why: "it was told to stop and stands"},
	{From: fsm.In(Run), On: Halted, To: Halt, Why: "it brakes at once by its own means"},
	{From: fsm.In(Run), On: Unfed, To: Error, Why: "whoever moves it has gone silent"},
	{From: fsm.In(Halt), On: Settled, To: Error, Why: "a halt always ends in error: a person looks before it moves again"},
	{From: fsm.In(Idle, Run, Halt), On: Faulted, To: Error, Why: "broken, or told to be off"},
	{From: fsm.In(Error), On: Cleared, To: Idle, Why: "the cause is gone and a person asked"},
}
