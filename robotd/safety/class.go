package safety

import "troupe/schema"

// ClassOf returns the class of the commands to a unit of kind k.
func ClassOf(k schema.UnitKind) Class {
	switch {
	case k.Moves():
		return Moves
	case k.Sounds():
		return Sounds
	}
	return Shows
}

// Halts reports whether s is HALT or E_STOP. What such a state interrupted does not continue by
// itself: it begins again, on request.
func Halts(s schema.SafetyState) bool {
	return s == schema.SafetyHalt || s == schema.SafetyEStop
}

// NeedsReset reports whether only a reset leads out of s.
func NeedsReset(s schema.SafetyState) bool {
	return Halts(s) || s == schema.SafetyReset
}
