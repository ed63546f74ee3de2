package schema

import "fmt"

// maxRev is the highest revision that every JSON reader represents exactly.
const maxRev = maxInt - 1

// Heard is the revision that a robot has reported for one kind of desired document.
// fleetd's own revision may be lower: its database was restored from an older copy, or
// somebody published a document manually.
type Heard struct {
	Rev   int64 // the highest revision that the robot has received from this fleet; 0 = none
	Other bool  // the robot has received another document under the same revision before
}

// HeardIn reads the revision from a report of a robot to the fleet fleetID. It returns
// the zero value for a report that cannot be decoded, that is for another fleet, or in
// which the robot rejected the document for its signature.
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

// Overtakes reports whether the robot ignores a document that was published under rev,
// so that fleetd has to publish it again under a higher revision. Rev 0 means that
// nothing was published.
func (h Heard) Overtakes(rev int64) bool {
	return rev > 0 && (h.Rev > rev || h.Rev == rev && h.Other)
}

// Why explains to people why the robot ignores a document published under rev.
func (h Heard) Why(rev int64) string {
	if h.Rev > rev {
		return fmt.Sprintf("the robot has received revision %d, which is not in this database; the document is published again under a higher revision", h.Rev)
	}
	return fmt.Sprintf("the robot has received another document under revision %d before; this one is published again under a higher revision", rev)
}

// Next returns the revision for a document that follows rev.
func (h Heard) Next(rev int64) int64 { return max(rev, h.Rev) + 1 }
