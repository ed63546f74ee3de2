package rollout

import (
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/presence"
	"troupe/schema"
)

// Facts are what is known now. Step reads nothing else, so lost, repeated and reordered reports do no harm: what counts
// is the newest one.
type Facts struct {
	// Robot returns what is known of a robot; false if it left the fleet. Step asks about robots that are not over, and
	// about those that got the content when a wave has soaked. Without it nothing is known, and no robot has left.
	Robot func(id string) (RobotFacts, bool)
	// Fleetd is fleetd's own connection to the broker. While there is none, or only for presence.Grace, no robot is
	// judged, and only a rollout of one wave without gates and a rollback offer anything.
	Fleetd presence.Fleetd
	Rest   Health // of the robots for which Run.Updated is false, in the whole fleet; for comparison
}

func (f Facts) robot(id string) (RobotFacts, bool) {
	if f.Robot == nil {
		return RobotFacts{}, true
	}
	return f.Robot(id)
}

// RobotFacts are what are known now of one robot.
type RobotFacts struct {
	Online      bool
	SignedOff   bool          // it disconnected in order, as when it sleeps or is switched off: that is not silence
	SeenAt      time.Time     // when its newest heartbeat arrived; zero = none since fleetd started
	Pause       time.Duration // by how much later than 2 s after its newest heartbeat the next one may come: it is at rest
	Idle        bool          // it performs nothing that the content would interrupt
	InWindow    bool          // a maintenance window of its site is open; true if its site has none
	WindowOpens time.Time     // when the next one opens; zero = never
	Pinned      bool          // a person pinned what it has of this kind
	Newer       string        // a later rollout of this kind that gave this robot something, or will; empty = none
	DesiredRev  int64         // of its newest desired document of this kind; 0 = there is none
	// Same says that the newest desired document asks for the content that this rollout gave it last (what it had, while
	// it is restored), such as after fleetd signed it again under a higher revision. A higher revision that is not the
	// same is something newer.
	Same   bool
	Report Report
	Health Health // counts of this robot alone
}

// Report is what a robot reported last about its desired document of the content's kind.
type Report struct {
	Rev     int64 // the desired revision that it is about
	Phase   schema.DeployPhase
	Reason  schema.Reason
	Retry   schema.Retry // whether the same document may succeed later; empty = as the reason says
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

// Add returns the sums of both.
func (h Health) Add(o Health) Health {
	return Health{
		h.Robots + o.Robots, h.Offline + o.Offline, h.Critical + o.Critical, h.Latched + o.Latched,
		h.Acts + o.Acts, h.ActErrors + o.ActErrors, h.Interrupts + o.Interrupts,
	}
}

// Changes are what Step or Decide decided: new rows to save, and robots to give something in the same transaction.
type Changes struct {
	Rollout Rollout // the new row, with its waves; its Version is that of the row that was read
	Row     bool    // the row of the rollout or of a wave changes, apart from counts and NextAt
	Robots  []Robot // the rows that change
	// Offers and Restore are robots to assign something in the same transaction. Assigned then says what became of it.
	Offers  []string
	Restore []Restore
	Notes   []Note
}

// Empty reports whether nothing changes. A different NextAt alone need not be saved.
func (c Changes) Empty() bool {
	return !c.Row && len(c.Robots)+len(c.Offers)+len(c.Restore)+len(c.Notes) == 0
}

// Restore gives robots back what they had.
type Restore struct {
	Content content.Content
	Robots  []string
}

// Given is what the plan that assigned the content, or what a robot had, did for one robot.
type Given struct {
	Rev       int64            // of its newest desired document
	Unchanged bool             // it was given no new document, because it has this one already
	Had       *content.Content // what it had of this kind before; a content without a story, for example, if it had none
	// Refused says why the robot cannot be given this, in a sentence, and Reason in a word; empty = it was given it.
	Refused string
	Reason  schema.Reason
}

// Note is a decision, for the audit and for alerts.
type Note struct {
	What Event  // of the rollout, or OnWavePassed
	Why  string // such as the threshold that was passed
	By   string // a person; empty = the rollout itself
	Wave int    // the wave that was running
}
