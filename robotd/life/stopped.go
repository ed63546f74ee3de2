package life

import (
	"troupe/robotd/auto"
	"troupe/robotd/safety"
	"troupe/schema"
)

// StopReason is why a stop keeps the robot from living: one of the safety core, a latched one,
// one after which only auto/continue lets it go on, or that somebody stopped the story: then
// neither activity nor ability begins before auto/start; handlers of interrupts do.
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
	case ato.StoppedByRequest():
		return schema.ReasonNeedsStart
	}
	return ""
}
