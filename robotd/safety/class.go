package safety

import "troupe/schema"

// ClassOf says what a unit of a kind does, as far as the core permits and forbids it.
func ClassOf(k schema.UnitKind) Class {
	switch {
	case k.Moves():
		return Moves
	case k == schema.UnitSpeaker:
		return Sounds
	}
	return Shows
}

// Halts reports whether what was performed begins anew after s, on request, instead of
// continuing by itself.
func Halts(s schema.SafetyState) bool {
	return s == schema.SafetyHalt || s == schema.SafetyEStop
}

// NeedsReset reports whether only a reset leads out of s.
func NeedsReset(s schema.SafetyState) bool {
	return Halts(s) || s == schema.SafetyReset
}
