package desired

import (
	"fmt"
	"strings"

	"troupe/schema"
)

// Outcome is what a robot did with the newest revision of a desired document.
type Outcome string

const (
	Undecided Outcome = "undecided" // it has not decided, or has not received it
	Accepted  Outcome = "accepted"  // it has it, or uses it from its next start on
	Refused   Outcome = "refused"   // also in part, or it could not get or save it, which it tries again
)

// Progress is how far a robot is with the newest revision of a desired document.
type Progress struct {
	DesiredRev  int64              `json:"desired_rev" doc:"newest revision; 0 = there is none"`
	ReportedRev int64              `json:"reported_rev,omitempty" doc:"revision that the robot reports about"`
	Phase       schema.DeployPhase `json:"phase,omitempty"`
	Outcome     Outcome            `json:"outcome" enum:"undecided,accepted,refused" doc:"what the robot did with the newest revision; refused: also in part, or it could not get or save it, which it tries again"`
	Detail      string             `json:"detail,omitempty" doc:"why, and which parts it refused or uses only from its next start on"`
}

// Ignored says why the robot of a report ignores a document of the revision rev of a fleet; empty if it
// does not. Each fleet numbers its documents by itself.
func Ignored(fleetID string, rev int64, report []byte) string {
	r, _ := schema.Decode[struct {
		FleetID string `json:"fleet_id"`
	}](report)
	if r.FleetID != "" && r.FleetID != fleetID {
		return "the robot obeys fleet " + r.FleetID + ", not this one; fleetd adopt changes that"
	}
	if h := schema.ReportedRevIn(fleetID, report); h.MustRenumber(rev) {
		return h.Why(rev)
	}
	return ""
}

// ProgressOf compares a document of the revision rev of a fleet with the robot's report. overtaken says
// why the robot ignores this revision, empty if it does not.
func ProgressOf(fleetID string, rev int64, report []byte, overtaken string) Progress {
	p := Progress{DesiredRev: rev, Outcome: Undecided, Detail: overtaken}
	type common struct {
		FleetID       string               `json:"fleet_id"`
		DesiredRev    int64                `json:"desired_rev"`
		Phase         schema.DeployPhase   `json:"phase"`
		Reason        schema.Reason        `json:"reason"`
		Detail        string               `json:"detail"`
		Rejected      []schema.RejectedKey `json:"rejected"`
		Refused       []schema.RefusedPart `json:"refused"`
		RestartNeeded []string             `json:"restart_needed"`
	}
	r, problems := schema.Decode[common](report)
	if r.FleetID != "" && r.FleetID != fleetID {
		p.Outcome, p.Detail = Refused, strings.TrimSpace(string(schema.ReasonWrongFleet)+" "+overtaken)
		return p
	}
	p.ReportedRev, p.Phase = r.DesiredRev, r.Phase
	switch {
	case r.Reason == schema.ReasonWrongFleet: // it reports no revision of this fleet
		p.Outcome, p.Detail = Refused, string(r.Reason)
		return p
	case overtaken != "" || len(problems) > 0 || r.DesiredRev != rev:
		return p
	}
	parts := []string{strings.TrimSpace(string(r.Reason) + " " + r.Detail)}
	for _, k := range r.Rejected {
		parts = append(parts, fmt.Sprintf("%s refused: %s", k.Key, strings.TrimSpace(string(k.Reason)+" "+k.Detail)))
	}
	for _, k := range r.Refused {
		parts = append(parts, fmt.Sprintf("without %s: %s", k.ID, strings.TrimSpace(string(k.Reason)+" "+k.Detail)))
	}
	if len(r.RestartNeeded) > 0 {
		parts = append(parts, "after its next start: "+strings.Join(r.RestartNeeded, " "))
	}
	p.Detail = strings.TrimPrefix(strings.Join(parts, "; "), "; ")
	if len(r.Rejected)+len(r.Refused) > 0 {
		p.Outcome = Refused
		return p
	}
	switch r.Phase {
	case schema.DeployActive, schema.DeployIdle, schema.DeployWithdrawn, schema.DeployHeld,
		schema.DeployWaiting: // it has it, and uses it at its next start
		p.Outcome = Accepted
	case schema.DeployRejected, schema.DeployFailed, schema.DeployRolledBack:
		p.Outcome = Refused
	}
	return p
}
