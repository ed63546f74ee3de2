package request

import "troupe/schema"

// Unmet returns the refusal of a command whose precondition does not hold in the robot's
// current state, and whether it does not.
func Unmet(when, current schema.Precondition) (schema.Verdict, bool) {
	unmet, fails := when.Unmet(current)
	return schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition, Pointer: unmet.Pointer, Detail: unmet.Detail}, fails
}
