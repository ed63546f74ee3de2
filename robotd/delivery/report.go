package delivery

import (
	"fmt"

	"troupe/schema"
)

// Report is the state of a delivery, for people and for fleetd.
type Report struct {
	FleetID    string
	DesiredRev int64
	Phase      schema.DeployPhase
	Reason     schema.Reason
	Retry      schema.Retry
	Detail     string
	Pointer    string
	Attempts   int
	Fetching   string // digest
	Progress   *int   // per cent
	Damaged    string // what is wrong with what arrives, after it was damaged twice
	Active     *Accepted
	Names      []string // the parts of the active content that are used
	Pruned     []string // the parts that are left out
	Refused    []schema.RefusedPart
	Unusable   bool // there is an active content, but no part of it can be used
	Previous   *Accepted
	Staged     *Accepted          // on disk, waiting to become active
	Rejected   *schema.ContentPin // of the newest accepted desired document, in this phase
	ActsDigest string
}

// Report returns the state of the delivery. A refused desired document is reported
// until a newer one is accepted or the accepted one comes again, although the delivery of the accepted one goes on.
func (s *State[C]) Report() Report {
	r := Report{
		FleetID: s.fleetID, DesiredRev: s.desired.Rev, Phase: s.phase, Attempts: s.attempts,
		Reason: s.why.reason, Pointer: s.why.pointer, Detail: s.why.detail, ActsDigest: s.actsDigest, Previous: s.previous,
		Damaged: s.load.damaged,
	}
	if s.phase == schema.DeployFetching {
		r.Fetching, r.Progress = s.load.current.SHA256, s.load.progress()
	}
	if refused := s.refused; refused != nil {
		r.DesiredRev, r.Phase, r.Attempts, r.Fetching, r.Progress = refused.rev, schema.DeployRejected, 0, "", nil
		r.Reason, r.Pointer, r.Detail = refused.why.reason, refused.why.pointer, refused.why.detail
	}
	if s.foreign != nil && r.Reason == "" {
		r.Reason = schema.ReasonWrongFleet
		r.Detail = fmt.Sprintf("revision %d of fleet %s is not obeyed", s.foreign.Desired.Rev, s.foreign.Desired.FleetID)
	}
	if r.Reason != "" {
		r.Retry = r.Reason.Describe().Retry
	}
	// These phases are final for their revision, whatever the reason's usual retry.
	if (r.Phase == schema.DeployRejected || r.Phase == schema.DeployRolledBack) && r.Retry == schema.RetryLater {
		r.Retry = schema.RetryNever
	}
	if s.phase == schema.DeployRejected && s.refused == nil {
		r.Rejected = s.desired.Pin
	}
	if s.staged != nil {
		r.Staged = &s.staged.Accepted
	}
	if a := s.active; a != nil && a.Fit.Reason == "" {
		r.Active, r.Names, r.Pruned, r.Refused = &a.Accepted, a.Fit.Names, a.Fit.Pruned, a.Fit.Refused
	} else {
		r.Unusable = a != nil
	}
	return r
}

// Story converts the report on a default story. The self-check passed if the
// judge, which checks every act against the robot's units, found a usable part.
func (r Report) Story() schema.ReportedStory {
	d := schema.ReportedStory{
		FleetID: r.FleetID, DesiredRev: r.DesiredRev, Phase: r.Phase, Reason: r.Reason, Retry: r.Retry, Detail: r.Detail, Pointer: r.Pointer,
		Attempts: r.Attempts, Fetching: r.Fetching, Progress: r.Progress, Previous: ref(r.Previous), Staged: ref(r.Staged),
		ActsDigest: r.ActsDigest,
	}
	if p := r.Rejected; p != nil {
		d.Rejected = &schema.StoryRef{ID: p.ID, Rev: p.Rev, SHA256: p.SHA256}
	}
	if a := r.Active; a != nil {
		d.SelfCheck = schema.SelfCheckPassed
		d.Active = &schema.ActiveStory{ID: a.Pin.ID, Rev: a.Pin.Rev, SHA256: a.Pin.SHA256, Since: a.Since,
			EffectiveActs: append([]string{}, r.Names...), Pruned: append([]string{}, r.Pruned...)}
	} else if r.Unusable {
		d.SelfCheck = schema.SelfCheckFailed
	}
	return d
}

// Set converts the report on activities or places.
func (r Report) Set() schema.ReportedSet {
	return schema.ReportedSet{
		FleetID: r.FleetID, DesiredRev: r.DesiredRev, Phase: r.Phase, Reason: r.Reason, Retry: r.Retry, Detail: r.Detail, Pointer: r.Pointer,
		Attempts: r.Attempts, Fetching: r.Fetching, Progress: r.Progress, Active: ref(r.Active), Previous: ref(r.Previous), Refused: r.Refused,
	}
}

func ref(a *Accepted) *schema.StoryRef {
	if a == nil {
		return nil
	}
	return &schema.StoryRef{ID: a.Pin.ID, Rev: a.Pin.Rev, SHA256: a.Pin.SHA256}
}
