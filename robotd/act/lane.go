package act

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Lane names a queue of acts.
type Lane string

// LaneConfig configures one lane.
type LaneConfig struct {
	Lane Lane
	// Occupant groups lanes that share units instead of taking them from one
	// another. Empty = this lane alone.
	Occupant string
	// Single: an entry of this lane is one action, not an act; its begin is not returned.
	Single bool
	// AwaitsReports: an act of this lane ends only when its units have reported every
	// command done, including those that take no time.
	AwaitsReports bool
}

// Entry is one act in a lane's queue.
type Entry struct {
	ID        string     // included unchanged in all results about the entry
	Act       *score.Act // immutable
	Req       string     // of the request for it; empty for what the robot does by itself
	With      map[string]string
	Languages []string       // preferred for texts, best first
	OnResume  score.OnResume // overrides that of the actions if not empty
	// FinishBeforePause: a pause with AfterAct waits for this entry to end.
	FinishBeforePause bool
	// Clear: all other entries of the lane are cancelled as superseded, unless
	// this entry is refused.
	Clear bool
}

// Refusal is why an entry was not accepted; nothing was changed.
type Refusal struct {
	Reason  schema.Reason
	Pointer string // into the act
	Detail  string
}

// Pausing is how urgent a pause is.
type Pausing string

// The ways to pause.
const (
	AtOnce   Pausing = "at-once"
	AfterAct Pausing = "after-act" // entries with FinishBeforePause are performed to their end first
)

// Gate says which units may be used. An empty reason is an open gate.
type Gate struct {
	Moves  schema.Reason // why drive and head must not move
	Sounds schema.Reason // why acts must be silent
	// Mover and Speaker are the lanes that may move and make sounds nevertheless.
	Mover, Speaker Lane
}

// blocks returns why a lane must not use a unit of this kind, or "".
func (g Gate) blocks(l Lane, k schema.UnitKind) schema.Reason {
	switch {
	case k.Moves() && l != g.Mover:
		return g.Moves
	case k.Sounds() && l != g.Speaker:
		return g.Sounds
	}
	return ""
}

// lane is a queue and the entry being performed. at is the time up to which it has
// been performed; while the lane is paused, lag is by how much it was behind.
type lane struct {
	LaneConfig
	queue     []*performance
	current   *performance
	at        time.Duration
	paused    bool
	finishing bool // pauses when the current entry has ended
	lag       time.Duration
}

// unit is one unit of the body and the lane that owns it.
type unit struct {
	id       string
	kind     schema.UnitKind
	owner    int // lane index; nobody if free
	commands int // running on it for the owner
	disabled bool
}

const nobody = -1
