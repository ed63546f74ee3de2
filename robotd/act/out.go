package act

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Kind is the kind of an Effect.
type Kind string

// The kinds. Start and Stop must reach the unit in this order.
const (
	Start  Kind = "start"
	Stop   Kind = "stop"
	Began  Kind = "began"
	Ended  Kind = "ended"
	Warned Kind = "warned"
)

// Outcome is how an entry ended.
type Outcome string

// The outcomes.
const (
	EntryCompleted Outcome = "completed"
	EntryCancelled Outcome = "cancelled"
	EntryFailed    Outcome = "failed"
)

// Warning is a problem that did not end the act, for authors and operators.
type Warning string

// The warnings.
const (
	WarnDeferred Warning = "deferred"  // an action waits
	WarnMissed   Warning = "missed"    // a suspended action was not resumed
	WarnTimedOut Warning = "timed_out" // an action was cut off at its timeout
	WarnLeftOut  Warning = "left_out"  // the robot cannot perform an action now, and performs the rest
	WarnLate     Warning = "late"      // ticks came so late that the act stood still
)

// Effect is one result of a call: a command to a unit, or a message about an entry.
type Effect struct {
	Kind   Kind
	Lane   Lane
	Entry  string // the entry's id
	Req    string // of the entry
	Act    string
	Action string // the action's id, or its path in the act, such as actions/0/actions/2

	// Start, Stop
	Key  uint64 // identifies this start of the action; never reused
	Unit string

	// Start
	Do   *score.Action // shared and immutable
	Text string        // of the action, in the entry's language, with its parameters filled in
	// Choices are the texts of the action's choices, like Text.
	Choices []string
	From    time.Duration // how much of it was done before it was suspended
	Holds   bool          // it lasts until its Stop or the unit's report; false: it is complete at once, and no Stop follows

	// Ended
	Outcome Outcome
	Begun   bool          // Began was returned for the entry
	Lasted  time.Duration // how long it was performed, without pauses

	// Warned
	Warning Warning

	Reason schema.Reason // of Ended and Warned
	Detail string
}
