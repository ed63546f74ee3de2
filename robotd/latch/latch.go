// Package latch keeps the stops that are latched on the robot and decides which of
// them are released. It keeps them, and the HALT or E_STOP that waits for a reset, on the disk, and
// answers live stops.
//
// Every source may add one: documents of the robot's fleet, a live stop, documents
// of another fleet, even a document that cannot be decoded. Only two can release
// one. The robot's fleet releases a stop that its documents have recorded, by a newer
// revision that leaves the stop out. A person at the robot releases the stops that no such
// document has recorded, with the "reset" button on its body or with "Release the stop" on its
// own page, so that no robot is stuck forever when fleetd is gone; safety/reset releases no latch.
// A stop that fleetd has recorded cannot be released at the robot, and a stop that fleetd has not
// recorded cannot be released by a document that never knew of it.
//
// Documents may arrive late, twice, out of order or not at all. For each stop the
// newest document that mentioned it decides: one that names it latches it, until a
// newer one leaves it out. So no stop is lost because something newer came first,
// and an old copy latches no released stop again.
//
// The package stops nothing itself: a latch is a fact for the safety core, which
// stops at once and grants no enable while one exists. All of a latch decides nothing
// here: the robot reports it, so that fleetd extends the stop to robots that were offline.
package latch

import (
	"slices"

	"troupe/robotd/event"
	"troupe/schema"
)

// Phase is the state of one latch. Recorded means that a document of fleetd names the stop,
// so that fleetd can release it. It does not mean that the stop is on the robot's disk (see
// persistence).
type Phase string

// The phases.
const (
	Free       Phase = "free"       // not latched
	Unrecorded Phase = "unrecorded" // latched, but by no document that could release it
	Recorded   Phase = "recorded"   // latched by a document of the robot's fleet
	Unreadable Phase = "unreadable" // latched because a document cannot be decoded
)

// Phases lists every phase.
var Phases = []Phase{Free, Unrecorded, Recorded, Unreadable}

// storedPhases are the words of the phases on the robot's disk. They stay as the first
// release wrote them, because robots of every release read what the others wrote.
var storedPhases = map[Phase]string{Unrecorded: "loose", Recorded: "written", Unreadable: "illegible"}

// MarshalText returns the word on the disk.
func (p Phase) MarshalText() ([]byte, error) {
	if word, ok := storedPhases[p]; ok {
		return []byte(word), nil
	}
	return []byte(p), nil
}

// UnmarshalText reads the word on the disk.
func (p *Phase) UnmarshalText(b []byte) error {
	*p = Phase(b)
	for phase, word := range storedPhases {
		if word == string(b) {
			*p = phase
		}
	}
	return nil
}

// unreadableID returns the id of the latch for a document that cannot be decoded.
func unreadableID(s event.StopSource) string { return "unreadable-" + string(s) + "-stop" }

// MoreID is the id of the latch for all unrecorded ones beyond MaxUnrecorded.
const MoreID = schema.MoreStops

// MaxUnrecorded bounds the unrecorded latches, because senders may invent any number of ids.
const MaxUnrecorded = 32

// MaxReleases bounds the released stops that are remembered for each document.
const MaxReleases = 64

// maxFromStale is the number of latches from which on older documents latch their new stops
// under MoreID only, so that old documents that are sent again cannot latch any number of stops.
const maxFromStale = 2 * MaxUnrecorded

// Latch is one latched stop.
type Latch struct {
	schema.StopLatch
	Phase Phase `json:"phase"`
	// The newest revision of each document that names the stop; 0 = none does.
	ByRobot int64 `json:"by_robot,omitzero"`
	ByFleet int64 `json:"by_fleet,omitzero"`
	// The newest revision of each document when the stop was requested, for an id that
	// is used for one stop after the other: those and older revisions mean an earlier
	// stop.
	PastRobot int64 `json:"past_robot,omitzero"`
	PastFleet int64 `json:"past_fleet,omitzero"`
}

// namedBy returns the newest revision in which that document names the stop; 0 = none does.
func (l *Latch) namedBy(s event.StopSource) *int64 {
	if s == event.RobotStops {
		return &l.ByRobot
	}
	return &l.ByFleet
}

// before returns the newest revision of that document when the stop was requested.
func (l *Latch) before(s event.StopSource) int64 {
	if s == event.RobotStops {
		return l.PastRobot
	}
	return l.PastFleet
}

// Release is a stop that a document released.
type Release struct {
	ID   string           `json:"id"`
	From event.StopSource `json:"from"`
	Rev  int64            `json:"rev"` // the newest revision that left it out
}

// Latched is the latched stops and what is known of the documents that latch them. It is stored on
// disk as a whole. The zero value latches nothing and trusts the
// first fleet that publishes a document.
type Latched struct {
	FleetID  string    `json:"fleet_id,omitempty"` // the fleet whose documents release stops
	RobotRev int64     `json:"robot_rev,omitzero"` // newest revision accepted from that fleet
	FleetRev int64     `json:"fleet_rev,omitzero"`
	Latches  []Latch   `json:"latches"`       // in order of arrival
	Releases []Release `json:"let,omitempty"` // at most MaxReleases of each document; the name on the disk stays, as storedPhases do
	// Documents below these revisions latch nothing new: which stops were released in
	// their time is forgotten.
	RobotFloor int64 `json:"robot_floor,omitzero"`
	FleetFloor int64 `json:"fleet_floor,omitzero"`
}

func (s *Latched) rev(of event.StopSource) *int64 {
	if of == event.RobotStops {
		return &s.RobotRev
	}
	return &s.FleetRev
}

func (s *Latched) floor(of event.StopSource) *int64 {
	if of == event.RobotStops {
		return &s.RobotFloor
	}
	return &s.FleetFloor
}

// Facts are what the robot knows about itself.
type Facts struct {
	Robot    string
	FleetID  string            // the fleet whose desired documents it accepts; empty = none yet
	Labels   map[string]string // as its fleet published them
	Labelled bool              // Labels are known
}

// Input is something that may add or release latches.
type Input interface{ input() }

// Verification is the result of checking a document against the policy of signatures. It
// decides what the document may do.
type Verification int

// The verifications.
const (
	Verified   Verification = iota // the document satisfies the policy: it latches and releases
	Replayed                       // the document is an earlier one, sent again: it latches what was not released since, and releases nothing
	Unverified                     // the document does not satisfy the policy: it latches like any client's stop, and releases nothing
)

// The inputs.
type (
	// Document is a document that latches stops, with the result of checking its signature.
	Document struct {
		event.StopDocument
		Verification Verification
	}
	// Asked is a live stop or a stop command.
	Asked struct {
		schema.StopLatch
		// Anew means that the sender uses the id for one stop after the other, as a wall
		// button uses its name: this stop is not the earlier one with the same id.
		Anew bool
	}
	// LocalRelease is a release at the robot itself: the button reset on its body, or Release
	// the stop on its page. The verb safety/reset is something else, and releases no latch.
	LocalRelease struct{}
)

func (Document) input()     {}
func (Asked) input()        {}
func (LocalRelease) input() {}

// Transition is a change of the phase of one latch.
type Transition struct {
	Latch Latch
	From  Phase
	To    Phase
	Why   string
}

// Latched reports whether the transition latches the stop.
func (t Transition) Latched() bool { return t.From == Free }

// Released reports whether the transition releases the stop.
func (t Transition) Released() bool { return t.To == Free }

// Alteration is a change of a latch's level, person, client or reason.
type Alteration struct{ From, To schema.StopLatch }

// Decision is the result of an input.
type Decision struct {
	Transitions []Transition
	Altered     []Alteration
	Changed     bool // the state to store has changed
	Shown       bool // so has what the robot reports of its stops, other than since when
	Dated       bool // so has that, or since when they are latched
	// PartlyIgnored is why not everything in the document counts: stale_revision or
	// wrong_fleet. Detail explains it.
	PartlyIgnored schema.Reason
	Detail        string
}

// Applies reports whether a live stop applies to this robot: the stop names it, or its
// labels match, or the stop names no robot at all. A robot that does not know its
// labels obeys a stop by labels.
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
