package schema

import "fmt"

// maxRev is the highest revision that every reader of JSON has whole.
const maxRev = maxInt - 1

// Heard is how far the numbers of one kind of desired state are, by a robot's own report.
// Fleetd's numbers may lie behind: its database was set back to an older copy, or
// somebody put a desired state manually.
type Heard struct {
	Rev   int64 // the highest that the robot was desired by this fleet; 0 = none
	Other bool  // under that very number it was desired something else before
}

// HeardIn reads a report on a desired state, for the fleet of that fleet id. What cannot be
// read, what is of another fleet, and what the robot refused because nobody vouched
// for it, say nothing.
func HeardIn(fleetID string, report []byte) Heard {
	r, problems := Decode[struct {
		FleetID    string      `json:"fleet_id"`
		DesiredRev int64       `json:"desired_rev"`
		Phase      DeployPhase `json:"phase"`
		Reason     Reason      `json:"reason"`
	}](report)
	if len(problems) > 0 || fleetID == "" || r.FleetID != fleetID || r.DesiredRev >= maxRev {
		return Heard{}
	}
	if r.Phase == DeployRejected && (r.Reason == ReasonBadSignature || r.Reason == ReasonEquivocation) {
		return Heard{}
	}
	return Heard{Rev: r.DesiredRev, Other: r.Phase == DeployRejected && r.Reason == ReasonStaleRevision}
}

// Overtakes reports whether a desired state that was told under rev is not heeded, whatever
// it says: it must be told again. Where nothing was ever told, nothing is.
func (h Heard) Overtakes(rev int64) bool {
	return rev > 0 && (h.Rev > rev || h.Rev == rev && h.Other)
}

// Why says to people why a desired state that was told under rev is not heeded.
func (h Heard) Why(rev int64) string {
	if h.Rev > rev {
		return fmt.Sprintf("the robot was desired something under revision %d, which is not in this database; it is told again under a higher one", h.Rev)
	}
	return fmt.Sprintf("the robot was desired something else under revision %d before; it is told again under a higher one", rev)
}

// Next is the number for a desired state after rev.
func (h Heard) Next(rev int64) int64 { return max(rev, h.Rev) + 1 }
