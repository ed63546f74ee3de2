// Package latch remembers which stops people hold on the robot, and decides
// which of them somebody has release.
//
// Everybody may add one: the fleet's documents, a live stop that anybody sends
// who may stop, another fleet's documents, even a document that nobody can read.
// Only two can take one away. The fleet that the robot obeys releases what it has
// written down, by a newer revision of the document that leaves it out. And
// somebody who stands at the robot may reset what no such document holds, so that
// no robot is stuck for ever when fleetd is gone. What fleetd holds cannot be
// reset at the robot, and what nobody wrote down cannot be released by a
// document that never knew of it.
//
// Documents may come late, twice, out of order or not at all. Of each stop the
// newest document decides that has spoken of it: one that names it holds it, until
// a newer one leaves it out. So no stop is lost because something newer came first,
// and none that was release is held again by an old copy.
//
// It does not stop anything: what is held is a fact to the safety core, which
// goes down at once and grants no enable while anything is held.
package latch

import (
	"slices"

	"troupe/schema"
)

// Phase is where one latch stands.
type Phase string

// The phases.
const (
	Free      Phase = "free"      // not held
	Loose     Phase = "loose"     // held, and no document that could release it has it
	Written   Phase = "written"   // held by a document of the robot's own fleet
	Illegible Phase = "illegible" // held because a document cannot be read
)

// Phases lists every phase.
var Phases = []Phase{Free, Loose, Written, Illegible}

// Source is a document that holds latches.
type Source string

// The documents.
const (
	Robot Source = "robot" // desired/stop: those of this robot
	Fleet Source = "fleet" // fleet/stop: the one of all robots
)

// illegibleID names the latch of a document that cannot be read.
func illegibleID(s Source) string { return "unreadable-" + string(s) + "-stop" }

// MoreID names the latch into which loose ones go beyond MaxLoose.
const MoreID = schema.MoreStops

// MaxLoose bounds the latches that nobody has written down: senders may make up
// any number of ids.
const MaxLoose = 32

// MaxLet bounds the released stops that are remembered of each document.
const MaxLet = 64

// Latch is one latched stop.
type Latch struct {
	schema.StopLatch
	Phase Phase `json:"phase"`
	// The newest revisions, of this robot's document and of that of all robots, that
	// name it; 0 = none holds it.
	ByRobot int64 `json:"by_robot,omitzero"`
	ByFleet int64 `json:"by_fleet,omitzero"`
	// The newest revisions when it was asked for under an id that names many stops, one
	// after the other: what they and older ones say is of one before.
	PastRobot int64 `json:"past_robot,omitzero"`
	PastFleet int64 `json:"past_fleet,omitzero"`
}

// by is the newest revision of the document that names the latch.
func (l *Latch) by(s Source) *int64 {
	if s == Robot {
		return &l.ByRobot
	}
	return &l.ByFleet
}

// past is the newest revision that is older than the latch.
func (l *Latch) past(s Source) int64 {
	if s == Robot {
		return l.PastRobot
	}
	return l.PastFleet
}

// Let is a stop that a document release.
type Let struct {
	ID   string `json:"id"`
	From Source `json:"from"`
	Rev  int64  `json:"rev"` // the newest that left it out
}

// State is what is kept on the disk, whole. The zero value holds nothing and
// trusts the first fleet that writes a document.
type State struct {
	FleetID  string  `json:"fleet_id,omitempty"` // whose documents release
	RobotRev int64   `json:"robot_rev,omitzero"` // newest taken, of that fleet id
	FleetRev int64   `json:"fleet_rev,omitzero"`
	Latches  []Latch `json:"latches"`       // in the order of their arrival
	Let      []Let   `json:"let,omitempty"` // at most MaxLet of each document
	// Documents below these revisions hold nothing that is not held: which stops were
	// release in their time is forgotten.
	RobotFloor int64 `json:"robot_floor,omitzero"`
	FleetFloor int64 `json:"fleet_floor,omitzero"`
}

func (s *State) rev(of Source) *int64 {
	if of == Robot {
		return &s.RobotRev
	}
	return &s.FleetRev
}

func (s *State) floor(of Source) *int64 {
	if of == Robot {
		return &s.RobotFloor
	}
	return &s.FleetFloor
}

// Facts are what the robot knows of itself.
type Facts struct {
	Robot    string
	FleetID  string            // the fleet it obeys in everything else; empty = none yet
	Labels   map[string]string // as its fleet told
	Labelled bool              // Labels are known
}

// Input is something that may add or release latches.
type Input interface{ input() }

// Weight is what a document may do.
type Weight int

// The weights.
const (
	Word     Weight = iota // it is its fleet's word: it holds and releases
	Repeated               // it was its fleet's word: it holds what was not release since, and releases nothing
	Claimed                // nobody vouches for it: it holds as anybody's stop does, and releases nothing
)

// The inputs.
type (
	// Document is desired/stop or fleet/stop as it came.
	Document struct {
		From    Source
		Problem string // why it cannot be read; then the rest says nothing
		Rev     int64
		FleetID string
		Stops   []schema.StopLatch // of fleet/stop none or one
		Weight  Weight
	}
	// Asked is a live stop, or one that came as a command.
	Asked struct {
		schema.StopLatch
		// Anew: the id is no stop's own, such as a wall button's name, so that this
		// one is another one than any before.
		Anew bool
	}
	// Reset is somebody at the robot.
	Reset struct{}
)

func (Document) input() {}
func (Asked) input()    {}
func (Reset) input()    {}

// Move is one edge that a latch took.
type Move struct {
	Latch Latch
	From  Phase
	To    Phase
	Why   string
}

// Held and Let report whether the latch began or ceased to be held.
func (m Move) Held() bool { return m.From == Free }
func (m Move) Let() bool  { return m.To == Free }

// Alteration is a latch that is held otherwise than before: its level, by whom,
// through which client or why.
type Alteration struct{ From, To schema.StopLatch }

// Decision is what an input came to.
type Decision struct {
	Moves   []Move
	Altered []Alteration
	Changed bool          // what is kept is another than before
	Ignored schema.Reason // stale_revision, wrong_fleet: why a document is not taken for the newest
	Detail  string
}

// Applies reports whether a live stop means this robot: it is named, or its
// labels match, or nobody is named at all. A robot that does not know its labels
// takes itself to be meant.
func Applies(r schema.StopRequest, f Facts) bool {
	if len(r.Robots) == 0 && len(r.Labels) == 0 {
		return true
	}
	if slices.Contains(r.Robots, f.Robot) {
		return true
	}
	if len(r.Labels) == 0 {
		return false
	}
	for k, v := range r.Labels {
		if f.Labelled && f.Labels[k] != v {
			return false
		}
	}
	return true
}

// stronger is the level that permits less.
func stronger(a, b schema.StopLevel) schema.StopLevel {
	rank := map[schema.StopLevel]int{schema.StopSoft: 0, schema.StopStop: 1, schema.StopHalt: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
