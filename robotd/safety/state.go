// Package safety is the robot's only owner of the permission to move.
//
// It decides in which of seven states the body is (DISABLED, ENABLED,
// SOFT_STOP, STOP, HALT, E_STOP, RESET), what a unit is told in each, whether a
// command may pass the gate, and, for every request, whether it was taken and
// why not. Going to a safer state is always possible and never needs a reason;
// going to a less safe one is earned: an enable or a reset is an edge, asked for
// by somebody, checked against every cause that is present, and used up at once.
//
// It does not know stories, modes' names or messages, it drives no unit, and it
// is no emergency stop: a certified circuit cuts the power whatever runs here.
// Time is counted from boot and is an argument; State is comparable.
package safety

import (
	"time"

	"troupe/schema"
)

// Limits are the times after which the core no longer waits.
type Limits struct {
	SoftStop time.Duration // the mode's own shutdown, then STOP
	Stop     time.Duration // damping to standstill, then HALT
	Halt     time.Duration // units that halt end in error; at the latest then E_STOP
	Reset    time.Duration // units that clear their errors, else E_STOP again
	Settle   time.Duration // from the last cause seen in E_STOP to the first reset taken
	Switch   time.Duration // a change between two modes that both want ENABLED
	Sight    time.Duration // how old the robot's heartbeat may be that an operator judged by
	// RequireSight refuses an enable or a reset that does not say which
	// heartbeat its sender has seen.
	RequireSight bool
}

// Defaults returns the limits of a robot that is configured in nothing.
func Defaults() Limits {
	return Limits{
		SoftStop: 5 * time.Second,
		Stop:     5 * time.Second,
		Halt:     5 * time.Second,
		Reset:    10 * time.Second,
		Settle:   time.Second,
		Switch:   5 * time.Second,
		Sight:    5 * time.Second,
	}
}

// MaxUnits bounds the units that the core watches.
const MaxUnits = 64

// State is what the core remembers between steps. Its owner copies it freely;
// the only way to change it is Step.
type State struct {
	At    schema.SafetyState
	Since time.Duration // when At was entered
	Cause Cause         // what led to At

	// Worse is when the robot last went to a safer state because of a cause: an
	// operator who has not seen a heartbeat since then does not know of it.
	Worse time.Duration
	// Physical: a stop input at the robot was pressed since E_STOP began, so
	// that only somebody who stands there may reset.
	Physical bool
	// Troubled is when a cause was last present in E_STOP.
	Troubled time.Duration
	// Restless: a unit is not idle although the gate is shut, since RestlessSince.
	Restless      bool
	RestlessSince time.Duration
	// Switching is when a change of modes began that ENABLED outlives.
	Switching   time.Duration
	InSwitching bool

	erred uint64    // units, by position, that are in error since before the reset
	taken [8]string // ids of the enables and resets that were used up, newest first
}

// Boot returns the state of a robot that has just started and was not latched: it
// stands still until somebody enables it.
func Boot(now time.Duration) State {
	return State{At: schema.SafetyDisabled, Since: now, Cause: Cause{Reason: schema.ReasonRestarted, Source: "boot"}}
}

// Held is what of a latched stop outlives a restart. The zero value is none.
type Held struct {
	State    schema.SafetyState `json:"state"`
	Cause    Cause              `json:"cause"`
	Physical bool               `json:"physical"`
}

// Hold returns what has to be kept of s, given what was kept before: a reset that
// has not ended releases nothing.
func Hold(s State, before Held) Held {
	switch s.At {
	case schema.SafetyHalt, schema.SafetyEStop:
		return Held{State: s.At, Cause: s.Cause, Physical: s.Physical}
	case schema.SafetyReset:
		return before
	}
	return Held{}
}

// BootHeld returns the state of a robot that has just started and was latched
// before: no restart is a reset.
func BootHeld(now time.Duration, h Held) State {
	return State{At: schema.SafetyEStop, Since: now, Cause: h.Cause, Worse: now, Physical: h.Physical, Troubled: now}
}

// Level orders the states by how little they permit; no fault and no stop ever
// lowers it. Only three edges do: a granted enable, a granted reset, and the end
// of a reset.
func Level(s schema.SafetyState) int {
	switch s {
	case schema.SafetyEnabled:
		return 0
	case schema.SafetySoftStop:
		return 1
	case schema.SafetyStop:
		return 2
	case schema.SafetyDisabled:
		return 3
	case schema.SafetyReset:
		return 4
	case schema.SafetyHalt:
		return 5
	}
	return 6 // E_STOP, and whatever is not a state
}
