package request

import "troupe/schema"

// Unmet is the refusal of an order whose condition does not hold.
func Unmet(when, standing schema.Precondition) (schema.Verdict, bool) {
	unmet, fails := when.Unmet(standing)
	return schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition, Pointer: unmet.Pointer, Detail: unmet.Detail}, fails
}
