package command

import (
	"time"

	"troupe/schema"
)

// Command is one request to one robot as fleetd sees it. Payload is what goes
// over the wire, the same bytes each time, so that a repeat is known as one.
type Command struct {
	ID        string
	Batch     string
	Owner     string // name of fleetd that sends it, and whom its robot answers
	Robot     string
	Verb      string // group/verb
	Payload   []byte
	CreatedAt time.Time
	ExpiresAt time.Time // zero = it never gets too old; only stops and the like

	State   State
	Because string    // why it is in this state, a sentence for people
	Sends   int       // how often it was handed to the broker
	SentAt  time.Time // the last time
	Reached bool      // it was sent at least once while the robot was there
	HeardAt time.Time // the robot's last answer
	Asks    int       // questions in a row that brought no answer
	AskedAt time.Time
	Answer  *schema.Ack // the newest answer, from which State follows; nil = none
	EndedAt time.Time   // zero = not final

	// Shown is the end that the robot's state shows. It lacks the details of the
	// answer, which is given some time to come.
	Shown   *schema.Ack
	ShownAt time.Time
}

// Batch is one request of a person to a selector; every robot got its own
// command of it.
type Batch struct {
	ID        string
	Verb      string
	Args      map[string]any
	Selector  string // as written
	Total     int
	CreatedAt time.Time
	By        string
	Why       string
}

// State is where a command stands for fleetd. Those after Running but for
// Unknown are final.
type State string

const (
	Queued      State = "QUEUED"      // the robot is not there; its time runs
	Sent        State = "SENT"        // handed to the broker
	Acked       State = "ACKED"       // the robot took it
	Running     State = "RUNNING"     // the robot is at it
	Succeeded   State = "SUCCEEDED"   // done, as the robot says
	Failed      State = "FAILED"      // begun, and did not end well
	Rejected    State = "REJECTED"    // refused, nothing was touched
	Cancelled   State = "CANCELLED"   // ended by another request or a stop
	Superseded  State = "SUPERSEDED"  // a newer command took over
	Expired     State = "EXPIRED"     // too old when the robot got to it
	Undelivered State = "UNDELIVERED" // its time was over before the robot could be reached
	Unknown     State = "UNKNOWN"     // sent, and no answer in time: it may or may not have been done
)

// States lists all of them.
var States = []State{Queued, Sent, Acked, Running, Succeeded, Failed, Rejected, Cancelled, Superseded, Expired, Undelivered, Unknown}

// Final reports whether s never changes again. Unknown is not final: a late
// answer resolves it.
func (s State) Final() bool {
	switch s {
	case Queued, Sent, Acked, Running, Unknown:
		return false
	}
	return true
}

// Settled reports whether waiting for s to change is no longer worth it.
func (s State) Settled() bool { return s.Final() || s == Unknown }
