package command

import (
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// Command is one request to one robot as fleetd sees it. Payload is the MQTT payload, the
// same bytes each time, so that the robot recognises a repeat.
type Command struct {
	ID        string
	Batch     string
	Owner     string // name of the fleetd instance that sends it and gets the answer
	Robot     string
	Verb      string // group/verb
	Payload   []byte
	CreatedAt time.Time
	ExpiresAt time.Time // zero = never; for stops and similar commands

	State      State
	Because    string      // why it is in this state, for people
	Sends      int         // how often it was published
	SentAt     time.Time   // when it was last published
	Reached    bool        // it was published at least once while the robot was connected
	AnsweredAt time.Time   // when the robot last answered
	Queries    int         // queries in a row without an answer
	QueriedAt  time.Time   // when the robot was last queried
	Answer     *schema.Ack // the newest answer, which determines State; nil = none
	EndedAt    time.Time   // zero = not final

	// Shown is the final status in the robot's state document. It lacks the details of
	// the answer, for which Step waits AnswerGrace.
	Shown   *schema.Ack
	ShownAt time.Time
}

// Batch is one request for the robots of a selector; each robot gets its own command.
type Batch struct {
	ID        string
	Verb      string
	Args      map[string]any
	Selector  string // as written
	Total     int
	CreatedAt time.Time
	By        string
	Why       string

	audit.Source // who made the request; By is the name that they gave
}

// State is the state of a command in fleetd. Those after Running are final, except
// Unknown.
type State string

const (
	Queued      State = "QUEUED"      // not sent yet; ExpiresAt applies
	Sent        State = "SENT"        // published, no answer yet
	Acked       State = "ACKED"       // the robot accepted it
	Running     State = "RUNNING"     // the robot is executing it
	Succeeded   State = "SUCCEEDED"   // the robot reports success
	Failed      State = "FAILED"      // the robot started it and failed
	Rejected    State = "REJECTED"    // the robot refused it and did nothing
	Cancelled   State = "CANCELLED"   // ended by another request or a stop
	Superseded  State = "SUPERSEDED"  // replaced by a newer command
	Expired     State = "EXPIRED"     // too old when the robot wanted to start it
	Undelivered State = "UNDELIVERED" // it expired before it was sent, or it was sent and the robot has no record of it
	Unknown     State = "UNKNOWN"     // sent, and no answer in time: it may or may not have been executed
)

// States lists all states.
var States = []State{Queued, Sent, Acked, Running, Succeeded, Failed, Rejected, Cancelled, Superseded, Expired, Undelivered, Unknown}

// Final reports whether s never changes. Unknown can: a late answer resolves it.
func (s State) Final() bool {
	switch s {
	case Queued, Sent, Acked, Running, Unknown:
		return false
	}
	return true
}

// Settled reports whether a change of s is no longer to be expected.
func (s State) Settled() bool { return s.Final() || s == Unknown }
