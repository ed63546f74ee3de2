// Package safety alone decides whether the robot may move.
//
// It decides in which of seven states the body is (DISABLED, ENABLED, SOFT_STOP, STOP,
// HALT, E_STOP, RESET), which order the units get in each, whether a command may pass
// to its unit, and, for every request, whether it was taken or why not. A request for a
// safer state is always taken. A less safe state needs an enable or a reset, which is
// checked against every present cause and takes effect at most once.
//
// It takes the requests of people in their order, gathers the stops that parts of the robot ask for,
// and answers the commands. Which stops of people are latched is kept by package latch.
//
// The core (CoreState) does not know stories, names of modes or messages, and the package drives no unit.
// It is not an emergency stop: that is a certified circuit that cuts the power
// regardless of this software. Time is an argument, counted from boot. CoreState is
// comparable.
package safety

import (
	"time"

	"troupe/schema"
)

// Limits holds the time limits of the core.
type Limits struct {
	SoftStop time.Duration // for the shutdown act, then STOP
	Stop     time.Duration // for braking to standstill, then HALT
	Halt     time.Duration // for halting units to end in error, then E_STOP
	Reset    time.Duration // for units to clear their errors, then E_STOP again
	Settle   time.Duration // wait between the last cause in E_STOP and a reset
	Switch   time.Duration // for a switch between two modes that both want ENABLED
	Sight    time.Duration // greatest age of the heartbeat that the sender of a request has seen
	// RequireSight refuses an enable or a reset that does not name the heartbeat
	// that its sender has seen.
	RequireSight bool
}

// Defaults returns the limits of a robot without configuration.
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

// MaxUnits is the highest number of units that the core watches.
const MaxUnits = 64

// CoreState is what the core remembers between steps. It may be copied; only step changes
// it.
type CoreState struct {
	At    schema.SafetyState
	Since time.Duration // when the core entered At
	Cause Cause         // what led to At

	// SaferAt is when a cause last led to a safer state, or anybody asked for a stop, also while the robot stood.
	// An operator who has not seen a heartbeat since then does not know about it.
	SaferAt time.Duration
	// Physical: a stop input at the robot has been pressed since E_STOP began, so
	// that only a person at the robot may reset it.
	Physical bool
	// LastCauseAt is when a cause was last present in E_STOP.
	LastCauseAt time.Duration
	// Restless: in DISABLED, a unit has not been idle since RestlessSince.
	Restless      bool
	RestlessSince time.Duration
	// SwitchingSince is when the present switch between modes began; valid if
	// InSwitching is set.
	SwitchingSince time.Duration
	InSwitching    bool

	erred   uint64    // bit set by unit index: in error since before the reset
	usedIDs [8]string // ids of the last granted enables and resets, newest first
}

// bootSource is the source of the cause of a robot that has just started.
const bootSource = "boot"

// Boot returns the state of a robot that has just started and did not wait for a reset when it
// ended. It stands still until an enable.
func Boot(now time.Duration) CoreState {
	return CoreState{At: schema.SafetyDisabled, Since: now, Cause: Cause{Reason: schema.ReasonRestarted, Source: bootSource}}
}

// PendingReset is the HALT or E_STOP that only a reset ends, as it survives a restart. The zero
// value means that none is pending. It is not a latched stop, which is a Latch.
type PendingReset struct {
	State    schema.SafetyState `json:"state"`
	Cause    Cause              `json:"cause"`
	Physical bool               `json:"physical"`
}

// PendingResetOf returns what to persist for s. before is the persisted one: it stays during a
// reset, because only the end of a reset ends it.
func PendingResetOf(s CoreState, before PendingReset) PendingReset {
	switch s.At {
	case schema.SafetyHalt, schema.SafetyEStop:
		return PendingReset{State: s.At, Cause: s.Cause, Physical: s.Physical}
	case schema.SafetyReset:
		return before
	}
	return PendingReset{}
}

// BootPending returns the state of a robot that has just started and waited for a reset when it
// ended: a restart does not replace a reset.
func BootPending(now time.Duration, h PendingReset) CoreState {
	return CoreState{At: schema.SafetyEStop, Since: now, Cause: h.Cause, SaferAt: now, Physical: h.Physical, LastCauseAt: now}
}

// Restriction orders the states by how little they permit. Faults and stops never lower
// it. Only three transitions do: a granted enable, a granted reset, and the end of a reset.
func Restriction(s schema.SafetyState) int {
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
	return 6 // E_STOP and any value that is not a state
}
