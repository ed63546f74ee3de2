package rollout

import (
	"time"

	"troupe/fleetd/content"
	"troupe/schema"
)

// Facts are what is known now. Step reads nothing else, so lost, repeated and reordered reports do no harm: what counts
// is the newest one.
type Facts struct {
	Robots map[string]RobotFacts // of every robot of the rollout that is in the fleet
	Rest   Health                // of the robots that were not updated, for comparison
}

// RobotFacts are what is known now of one robot.
type RobotFacts struct {
	Online      bool
	SeenAt      time.Time // when the newest message of it arrived; zero = none since fleetd started
	Idle        bool      // it performs nothing that the content would interrupt
	InWindow    bool      // a maintenance window of its site is open; true if its site has none
	WindowOpens time.Time // when the next one opens; zero = never
	Pinned      bool      // a person pinned what it has of this kind
	DesiredRev  int64     // of its newest desired document of this kind; 0 = there is none
	Report      Report
	Health      Health // counts of this robot alone
}

// Report is what a robot reported last about its desired document of the content's kind.
type Report struct {
	Rev     int64 // the desired revision that it is about
	Phase   schema.DeployPhase
	Reason  schema.Reason
	Retry   schema.Retry // whether the same document may succeed later
	Detail  string
	Active  bool // the content of Rev is in effect; in ato, it plays and passed its self-check
	Partial bool // parts are refused
}

// Health is what is compared between updated robots and the others: numbers of robots, and of what happened to them
// within the last five minutes.
type Health struct {
	Robots, Offline, Critical, Latched int // robots; with an alert of level critical; with a latched stop
	Acts, ActErrors, Interrupts        int // occurrences
}

// Changes are what Step decided: new rows to save, and robots to give something in the same transaction.
type Changes struct {
	Rollout Rollout // the new row, with its waves; its Version is that of the row that was read
	Robots  []Robot // the rows that change
	Offers  []string
	Restore []Restore
	Notes   []Note
}

// Empty reports whether nothing changes.
func (c Changes) Empty() bool {
	return len(c.Robots)+len(c.Offers)+len(c.Restore)+len(c.Notes) == 0
}

// Restore gives robots back what they had.
type Restore struct {
	Content content.Content
	Robots  []string
}

// Note is a decision, for the audit and for alerts.
type Note struct {
	What string // such as "pause", as the audit says it
	Why  string
	By   string // a person; empty = the rollout itself
}
