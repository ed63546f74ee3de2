package safety

import (
	"time"

	"troupe/schema"
)

// UnitState is the state of one unit as its driver reports it.
type UnitState string

// The states of a unit; any other value counts as an error.
const (
	UnitIdle  UnitState = "idle"
	UnitRun   UnitState = "run"
	UnitHalt  UnitState = "halt"  // braking by its own means after a halt or after the unit's own limit; ends in error
	UnitError UnitState = "error" // off; left only by a reset
)

// Unit is one unit that moves. The core does not see units that cannot hurt anybody
// (speaker, face, led, screen); diagnosis covers those.
type Unit struct {
	ID    string
	State UnitState
	Fault string // the present fault; empty as soon as the cause is gone, even if State is still error
}

// Latch is a latched stop. Package latch keeps latches, and the core keeps none: a latch is in
// force in the steps whose Facts contain it.
type Latch struct {
	ID    string
	By    string
	Why   string
	Level Verb // SoftStop, Stop or Halt; any other value counts as Stop
}

// Mode is what the core knows about the mode in charge. It contains nothing of the
// core's own state.
type Mode struct {
	Active bool // a mode is in charge
	Wants  bool // that mode wants to move
	// Switching: a mode that wants to move is being replaced by another that does.
	// ENABLED survives the time between them up to Limits.Switch.
	Switching    bool
	ShutdownDone bool // in SOFT_STOP: the shutdown act has ended
	// Failed is the mode that was in charge until it failed, lost its link or did not end in time, and FailedWhy
	// the reason. Both are empty if somebody ended it or it ended by itself.
	Failed    string
	FailedWhy schema.Reason
}

// Facts is the present situation. The core keeps no facts from step to step: a fact
// that a step does not name is no longer true.
type Facts struct {
	Units      []Unit   // in configuration order, the same in every step; at most MaxUnits
	Inputs     []string // names of the stop inputs that are pressed
	Latches    []Latch
	StopsAsked []Request // stops that the mode in charge, a unit or robotd itself asks for in this step
	// Critical is what keeps a robot at rest without a stop: the faults of units without
	// which it must not move. The Event of each is SoftStopAsked.
	Critical []Cause
	Mode     Mode
	// CurrentState is what the condition of a command refers to, which the core itself ignores.
	CurrentState schema.Precondition
	// SeenSince is the time of the oldest heartbeat that counts as recent although it is older than Limits.Sight,
	// because a robot at rest sends few; 0 = none does.
	SeenSince time.Duration
	// NeedsContinue: ato waits for auto/continue after the stop. Only texts for people name it.
	NeedsContinue bool
}

// stopAsked reports whether the mode, a unit or robotd itself asks for a stop in this step.
func (f *Facts) stopAsked() bool {
	for i := range f.StopsAsked {
		if f.StopsAsked[i].Verb.Stops() {
			return true
		}
	}
	return false
}

// Verb is a request to the core. The values are those of the wire.
type Verb string

// The verbs. A stop is never refused.
const (
	Enable   Verb = "enable"
	Reset    Verb = "reset"
	SoftStop Verb = "soft-stop"
	Stop     Verb = "stop"
	Halt     Verb = "halt"
	EStop    Verb = "estop"
)

// Stops reports whether v requests less permission.
func (v Verb) Stops() bool { return v == SoftStop || v == Stop || v == Halt || v == EStop }

// Level returns the level of the latched stop that the verb asks for.
func (v Verb) Level() schema.StopLevel {
	switch v {
	case SoftStop:
		return schema.StopSoft
	case Halt, EStop:
		return schema.StopHalt
	}
	return schema.StopStop
}

// VerbOf returns the verb that stops at level l.
func VerbOf(l schema.StopLevel) Verb {
	switch l {
	case schema.StopSoft:
		return SoftStop
	case schema.StopHalt:
		return Halt
	}
	return Stop
}

// Request is a one-time request: one step handles it and the core does not keep it. The
// zero value means no request.
type Request struct {
	Verb   Verb
	ID     string // of the command; a second enable or reset with the same id has no effect
	Source string // operator, mode, unit or input
	By     string // client or person
	Key    string // the unit or the mode
	Why    string
	Local  bool // the sender is at the robot

	// AskedAt is when the request arrived, since boot. It may have waited for the disk.
	AskedAt    time.Duration
	HasAskedAt bool

	// Seen is the newest time since boot that the sender has read in the robot's
	// heartbeats.
	Seen    time.Duration
	HasSeen bool
	SeenIn  Run // the run of the robot that sent this heartbeat
}

// Run identifies a run of the robot, from one start to the next. Each run counts its
// own time.
type Run uint8

// The runs that the sender of a request can refer to.
const (
	UnknownRun Run = iota
	ThisRun
	OtherRun
)

// Cause is what led to a state, or what prevents leaving it.
type Cause struct {
	Event  Event         `json:"event,omitempty"`
	Reason schema.Reason `json:"reason,omitempty"`
	Source string        `json:"source,omitempty"` // operator, mode, input, unit, latch, core, disk, boot
	Key    string        `json:"key,omitempty"`    // the input, the unit, the mode or the id of the latch
	By     string        `json:"by,omitempty"`
	Why    string        `json:"why,omitempty"` // explanation of the person or device that caused it
	Req    string        `json:"req,omitempty"` // id of the command
}
