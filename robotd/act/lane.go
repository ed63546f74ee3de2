package act

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Lane names an occupant of the robot.
type Lane string

// LaneConfig is one lane.
type LaneConfig struct {
	Lane Lane
	// FailsClosed: an act of this lane fails with needs_enable as soon as it has
	// to move and may not. Without it the lane waits: fit for a story, which is
	// paused then anyway.
	FailsClosed bool
	// Occupant names lanes that belong together: they share units, and none takes
	// one from another. Empty = the lane alone.
	Occupant string
	// Attends: an act of this lane is over when its units have said of each command
	// that it was done, also of those that take no time.
	Attends bool
}

// Entry is one act in a lane's queue.
type Entry struct {
	ID        string     // told unchanged with everything about the entry
	Act       *score.Act // not changed any more by anybody
	With      map[string]string
	Languages []string       // wanted for texts, best first
	OnResume  score.OnResume // overrides what the actions say, when given
	// FinishBeforePause: a pause AfterAct waits for this entry's end.
	FinishBeforePause bool
	// Clear: everything the lane has is cancelled as superseded, but only when
	// this entry is taken.
	Clear bool
}

// Refusal is why an entry was not taken; nothing was touched.
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

// Gate is what may be started now. An empty reason is an open gate.
type Gate struct {
	Moves  schema.Reason // why drive and head must not move
	Sounds schema.Reason // why acts must be silent
}

// shuts answers why a unit of this kind may not be used.
func (g Gate) shuts(k schema.UnitKind) schema.Reason {
	switch {
	case k.Moves():
		return g.Moves
	case k == schema.UnitSpeaker:
		return g.Sounds
	}
	return ""
}

// lane is a queue and what it performs now. at is the instant up to which time
// was performed; while the lane is paused, owed is what it lacked then.
type lane struct {
	LaneConfig
	queue     []*performance
	now       *performance
	at        time.Duration
	paused    bool
	finishing bool // pauses when the current entry has ended
	owed      time.Duration
}

// unit is one device and the lane that has commands on it.
type unit struct {
	id       string
	kind     schema.UnitKind
	owner    int // lane index, nobody when free
	commands int // that the owner has running there
	revoked  bool
}

const nobody = -1
