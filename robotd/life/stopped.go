package life

import (
	"troupe/robotd/auto"
	"troupe/robotd/safety"
	"troupe/schema"
)

// StopReason returns which stop keeps autonomous life in safeguard; empty if none does. It is one
// of the safety core, a latched one, or one that waits for auto/continue.
func StopReason(at schema.SafetyState, latched bool, ato *auto.State) schema.Reason {
	switch {
	case safety.NeedsReset(at):
		return schema.ReasonNeedsReset
	case at != schema.SafetyEnabled && at != schema.SafetyDisabled:
		return schema.ReasonStopped
	case latched:
		return schema.ReasonLatched
	case ato.NeedsContinueAfter(auto.BySafety):
		return schema.ReasonNeedsContinue
	}
	return ""
}
