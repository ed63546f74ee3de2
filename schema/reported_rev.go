package schema

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxRev is the highest revision. A reader with float64 can tell it from the next number, but
// not maxInt from maxInt+1.
const maxRev = maxInt - 1

// ReportedRev is the revision that a robot has reported for one kind of desired document.
// fleetd's own revision may be lower: its database was restored from an older copy, or
// somebody published a document manually.
type ReportedRev struct {
	Rev         int64 // the highest revision that the robot has received from this fleet; 0 = none
	Conflicting bool  // the robot has received another document under the same revision before
	InEffect    bool  // the robot has something of this kind in effect
	Unfulfilled bool  // the robot gave up what this revision asks for, or its last attempt failed
}

// ReportedRevIn reads the revision from a report of a robot to the fleet fleetID. It returns
// the zero value for a report that cannot be decoded, that is for another fleet, in which the
// robot rejected the document for its signature, or whose revision is maxRev or higher: fleetd
// could not publish the document under a higher one that every reader takes exactly.
func ReportedRevIn(fleetID string, report []byte) ReportedRev {
	r, problems := Decode[struct {
		FleetID    string      `json:"fleet_id"`
		DesiredRev int64       `json:"desired_rev"`
		Phase      DeployPhase `json:"phase"`
		Reason     Reason      `json:"reason"`
		InEffect
	}](report)
	if len(problems) > 0 || fleetID == "" || r.FleetID != fleetID || r.DesiredRev >= maxRev {
		return ReportedRev{}
	}
	if r.Phase == DeployRejected && (r.Reason == ReasonBadSignature || r.Reason == ReasonEquivocation) {
		return ReportedRev{}
	}
	out := ReportedRev{Rev: r.DesiredRev, InEffect: r.Any(), Conflicting: r.Phase == DeployRejected && r.Reason == ReasonStaleRevision}
	switch r.Phase {
	case DeployRejected, DeployRolledBack, DeployFailed:
		out.Unfulfilled = !out.Conflicting
	}
	return out
}

// HasSettled reports whether the robot needs no document of the same content as that of rev: to ask for
// what a robot rejected is a new attempt.
func (h ReportedRev) HasSettled(rev int64) bool {
	return !h.Overtook(rev) && !(h.Unfulfilled && h.Rev == rev)
}

// InEffect is what a report of any kind says that the robot obeys or has.
type InEffect struct {
	Active  *StoryRef                 `json:"active"`  // a story, or a set of activities or places
	Applied map[string]jsontext.Value `json:"applied"` // settings
	Mode    ModeID                    `json:"mode"`
}

// Any reports whether anything is in effect.
func (e InEffect) Any() bool { return e.Active != nil || len(e.Applied) > 0 || e.Mode != "" }

// MustRenumber reports whether the robot ignores a document that was published under rev,
// so that fleetd has to publish it again under a higher revision. Rev 0 means that
// nothing was published.
func (h ReportedRev) MustRenumber(rev int64) bool { return rev > 0 && h.Overtook(rev) }

// Overtook reports whether the robot has received a document that is not fleetd's of rev. With rev 0
// fleetd has none: a request for nothing then still has something to clear on the robot, also what
// the robot has of an earlier fleet.
func (h ReportedRev) Overtook(rev int64) bool {
	return h.Rev > rev || h.Rev == rev && h.Conflicting || rev == 0 && h.InEffect
}

// Why explains to people why the robot ignores a document published under rev.
func (h ReportedRev) Why(rev int64) string {
	if h.Rev > rev {
		return fmt.Sprintf(
			"the robot has received revision %d, which is not in this database; the document is published again under a higher revision", h.Rev)
	}
	return fmt.Sprintf("the robot has received another document under revision %d before; this one is published again under a higher revision",
		rev)
}

// NextRev returns the revision for a document that follows rev.
func (h ReportedRev) NextRev(rev int64) int64 { return max(rev, h.Rev) + 1 }
