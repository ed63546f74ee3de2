package act

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Kind says what an Out is.
type Kind string

// The kinds. Start and Stop go to the unit, in the order given.
const (
	Start  Kind = "start"
	Stop   Kind = "stop"
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

// Warning is something that somebody who writes or watches acts should know,
// and that ended nothing.
type Warning string

// The warnings.
const (
	WarnDeferred Warning = "deferred"  // an action waits for its turn
	WarnMissed   Warning = "missed"    // an interrupted action was not taken up again
	WarnTimedOut Warning = "timed_out" // an action was cut off at its time-out
	WarnLate     Warning = "late"      // ticks came so late that the act stood still
)

// Out is one thing to do or to tell.
type Out struct {
	Kind   Kind
	Lane   Lane
	Entry  string // the entry's id, as it was given
	Act    string
	Action string // the action's id; without one its place in the act, such as actions/0/actions/2

	// Start, Stop
	Key  uint64 // names this start of this action; never used twice
	Unit string

	// Start
	Do    *score.Action // shared and immutable
	Text  string        // say: in the language and with the parameters of the entry
	From  time.Duration // how much of it was already done before it was interrupted
	Holds bool          // it lasts until its Stop or the unit's report; else the unit keeps what it was told

	// Ended
	Outcome Outcome

	// Warned
	Warning Warning

	Reason schema.Reason // why, with Ended and Warned
	Detail string
}
