package safety

import "troupe/schema"

// Class is what a command to a unit can do to people nearby.
type Class uint8

// The classes of commands.
const (
	Moves  Class = iota // drive, head: needs permission
	Sounds              // speaker
	Shows               // face, led, screen
)

// Issuer is who sends a command to a unit.
type Issuer uint8

// The issuers.
const (
	Act         Issuer = iota // a story, a handler, an operator's hand
	StopRoutine               // the mode's shutdown and the damping that follows
	Announce                  // the robot saying why it stands still
)

// Gate answers whether a command may pass to its unit now, with the reason when
// it may not. A robot that must not move may still speak and show why; in E_STOP
// the acts that were running fall silent.
func Gate(at schema.SafetyState, c Class, by Issuer) (closed schema.Reason) {
	if c == Shows || c == Sounds && (at != schema.SafetyEStop || by == Announce) {
		return ""
	}
	switch at {
	case schema.SafetyEnabled:
		return ""
	case schema.SafetySoftStop, schema.SafetyStop:
		if by == StopRoutine {
			return ""
		}
		return schema.ReasonStopped
	case schema.SafetyDisabled:
		return schema.ReasonSafetyDisabled
	}
	return schema.ReasonSafetyLatched
}

// Order is what every unit that moves is told.
type Order string

// The orders.
const (
	ToIdle  Order = "idle"
	ToRun   Order = "run"
	ToStop  Order = "stop" // damp to standstill, then idle
	ToHalt  Order = "halt" // damp at once by the unit's own means, then error
	ToError Order = "error"
	ToReset Order = "reset"
)

// Orders answers what the units are told in the present state.
func Orders(at schema.SafetyState, units []Unit) Order {
	switch at {
	case schema.SafetyDisabled:
		return ToIdle
	case schema.SafetyEnabled, schema.SafetySoftStop:
		return ToRun
	case schema.SafetyStop:
		if idle(units) {
			return ToIdle
		}
		return ToStop
	case schema.SafetyHalt:
		return ToHalt
	case schema.SafetyReset:
		for _, u := range units {
			if failed(u) || u.State == UnitHalt {
				return ToReset
			}
		}
		return ToIdle
	}
	return ToError
}

// HoldsStory answers whether what ato performs has to wait for the core. A
// story without motion is performed while DISABLED: it needs no permission.
func HoldsStory(at schema.SafetyState, containsMotion bool) bool {
	switch at {
	case schema.SafetyEnabled:
		return false
	case schema.SafetyDisabled:
		return containsMotion
	}
	return true
}
