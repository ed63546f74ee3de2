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
