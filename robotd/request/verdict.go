package request

import "troupe/schema"

// Verdict is what came of an order. Its answer is told once the state that shows
// it is.
type Verdict struct {
	Status schema.Status
	Result schema.Result
	Reason schema.Reason
	// Pointer is the place in the order that is at fault.
	Pointer string
	Detail  string
	// Refs is what it is about; left out, what its reason says stands in the way.
	Refs []schema.Ref
	// Lease is control that was given, or who else has it.
	Lease *schema.Lease
	// StartsMotion: something begins to move. Its ACCEPTED does not wait for the end.
	Moves bool
}

// Unmet is the refusal of an order whose condition does not hold.
func Unmet(when, standing schema.Precondition) (Verdict, bool) {
	unmet, fails := when.Unmet(standing)
	return Verdict{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition, Pointer: unmet.Pointer, Detail: unmet.Detail}, fails
}
