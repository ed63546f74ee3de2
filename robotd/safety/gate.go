package safety

import "troupe/schema"

// Class says how a command to a unit can affect people nearby.
type Class uint8

// The classes of commands.
const (
	Moves  Class = iota // drive, head: needs permission
	Sounds              // speaker
	Shows               // face, led, screen
)

// Issuer is the origin of a command to a unit.
type Issuer uint8

// The issuers.
const (
	Act  Issuer = iota // a story, a handler, or an operator
	Core               // the safety core: it performs the shutdown act in SOFT_STOP, and says the sentence estop_text in E_STOP
)

// Gate returns why a command may not pass to its unit now; an empty reason lets it
// pass. A robot that must not move may still say and show why. In E_STOP, stories and
// other acts may not make sounds. SOFT_STOP permits the motion of the shutdown act alone.
func Gate(at schema.SafetyState, c Class, by Issuer) (closed schema.Reason) {
	if c == Shows || c == Sounds && (at != schema.SafetyEStop || by == Core) {
		return ""
	}
	switch at {
	case schema.SafetyEnabled:
		return ""
	case schema.SafetySoftStop:
		if by == Core {
			return ""
		}
		return schema.ReasonStopped
	case schema.SafetyStop:
		return schema.ReasonStopped
	case schema.SafetyDisabled:
		return schema.ReasonSafetyDisabled
	}
	return schema.ReasonNeedsReset
}

// Feeds reports whether robotd feeds the units in the state at. One that may be in motion goes to
// error by itself if it is not fed. A reset needs no feeding, but each feed also repeats the order,
// so that a unit which missed it is reset, too.
func Feeds(at schema.SafetyState) bool {
	return at != schema.SafetyDisabled && at != schema.SafetyEStop
}

// Order is the order to every unit that moves.
type Order string

// The orders.
const (
	ToIdle  Order = "idle"
	ToRun   Order = "run"
	ToStop  Order = "stop" // brake to standstill, then idle
	ToHalt  Order = "halt" // brake at once by the unit's own means, then error
	ToError Order = "error"
	ToReset Order = "reset"
)

// Orders returns the order to the units in the state at. While a mode calibrates, brain asks for the
// order of STOP in SOFT_STOP.
func Orders(at schema.SafetyState, units []Unit) Order {
	switch at {
	case schema.SafetyDisabled:
		return ToIdle
	case schema.SafetyEnabled, schema.SafetySoftStop:
		return ToRun
	case schema.SafetyStop:
		if allIdle(units) {
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

// StoryWaits reports whether a story has to wait for the core. A story without motion
// needs no permission and is performed in DISABLED too.
func StoryWaits(at schema.SafetyState, containsMotion bool) bool {
	switch at {
	case schema.SafetyEnabled:
		return false
	case schema.SafetyDisabled:
		return containsMotion
	}
	return true
}
