package view

import (
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// makeSummary makes the row of the robot, as lists and the stream show it.
func (e *entry) makeSummary(id, fleetID string) Robot {
	r := e.summaryOfDocuments(id, fleetID)
	r.Doing = r.doing()
	return r
}

// summaryOfDocuments makes the row without Doing, which follows from its other fields.
func (e *entry) summaryOfDocuments(id, fleetID string) Robot {
	r := Robot{
		ID: id, Labels: maps.Clone(e.dbRow.Labels), Adopted: e.adopted,
		Presence: Presence{
			Status: string(e.assessment.Status), Why: e.assessment.Why, Cause: string(e.assessment.Cause), At: wireTime(e.assessment.At),
			Since: wireTime(e.assessment.Since), LastSeen: wireTime(e.lastSeen()),
			RoundTripMS: e.assessment.RoundTrip.Milliseconds(), Disputed: e.assessment.Disputed,
		},
		StateAt: wireTime(e.stateAt), LastEvent: e.event,
		PauseHolders: []schema.Pause{}, Interrupts: []schema.Interrupt{}, Alerts: []schema.Alert{}, Latches: []schema.StopLatch{},
		Desired: e.desiredStory(fleetID), Activities: e.desiredActivities(fleetID),
	}
	if e.caps != nil {
		r.VersionSkew = protocolSkew(e.caps.Software.Protocol)
		for _, u := range e.caps.Units {
			if !slices.Contains(r.Body.Units, u.Kind) {
				r.Body.Units = append(r.Body.Units, u.Kind)
			}
		}
	}
	if e.adopted {
		r.Alerts = append(r.Alerts, e.fleetAlerts(id, fleetID)...)
	}
	s := e.state
	if s == nil {
		return r
	}
	r.Mode, r.Intended, r.ModePhase, r.Calibrated = s.Mode.Active, s.Mode.Intended, s.Mode.Phase, s.Mode.Calibrated
	r.Safety, r.StoppedBy, r.Cause, r.EStopInput = s.Safety.State, s.Safety.StoppedBy, s.Safety.Cause, s.Safety.EStopInput
	r.CauseDetail = s.Safety.CauseDetail
	r.Control = s.Control
	r.Auto, r.AutoReason, r.Story, r.Act, r.ActIndex = s.Auto.Status, s.Auto.Reason, s.Auto.Story, s.Auto.Act, s.Auto.ActIndex
	r.FailedRounds = s.Auto.FailedRounds
	if a := s.Auto; a.Act != "" && a.Status == schema.AutoPerforming && !e.stateAt.IsZero() {
		r.ActBegan = wireTime(e.stateAt.Add(-time.Duration(a.ActMS) * time.Millisecond))
	} else if a.Act != "" {
		r.ActMS = a.ActMS
	}
	r.Body.At = s.At
	for _, u := range s.Units {
		switch schema.UnitKind(u.Kind) {
		case schema.UnitBattery:
			r.Body.Charging = strings.HasSuffix(u.Detail, "charging")
		case schema.UnitSpeaker:
			r.Body.Muted = r.Body.Muted || u.Detail == "volume 0 %"
		}
	}
	r.PauseHolders = append(r.PauseHolders, s.Auto.PauseHolders...)
	r.Interrupts = append(r.Interrupts, s.Interrupts...)
	if l := s.Life; l != nil {
		r.Life = &Life{l.State, l.Reason, l.Focused, l.Stack, l.Next}
	}
	r.Alerts = append(r.Alerts, s.Alerts...)
	r.Latches = append(r.Latches, s.Safety.Latches...)
	if h := e.heartbeat; e.outdated && h != nil { // mode and safety of the heartbeat are newer than the state
		r.StateOutdated = true
		if h.Mode != r.Mode {
			r.Mode, r.Intended, r.ModePhase = h.Mode, "", ""
		}
		if h.Safety != r.Safety {
			r.Safety, r.StoppedBy, r.Cause, r.CauseDetail = h.Safety, "", "", ""
		}
	}
	return r
}

// lastSeen is when the last live message of the robot arrived, or, without any, the newest
// retained presence.
func (e *entry) lastSeen() time.Time {
	return slices.MaxFunc([]time.Time{e.facts.AliveAt, e.facts.MessageAt, e.facts.StateAt}, time.Time.Compare)
}

// desiredStory compares the story that is desired of the robot with what it reports.
func (e *entry) desiredStory(fleetID string) DesiredStory {
	w := DesiredStory{DesiredRev: e.dbRow.DesiredRev}
	if e.dbRow.Story != "" {
		w.Story = &schema.StoryRef{ID: e.dbRow.Story, Rev: e.dbRow.StoryRev, SHA256: e.dbRow.SHA256}
	}
	r := e.reported
	if r == nil {
		w.Converged = w.DesiredRev == 0
		return w
	}
	w.ReportedRev, w.Phase, w.Reason, w.Detail, w.Progress = r.DesiredRev, r.Phase, r.Reason, r.Detail, r.Progress
	if r.Active != nil {
		w.Active = &schema.StoryRef{ID: r.Active.ID, Rev: r.Active.Rev, SHA256: r.Active.SHA256}
		w.Pruned = r.Active.Pruned
	}
	switch h := e.reportedRev(schema.TopicDesiredStory); {
	case w.DesiredRev == 0:
		w.Converged = true // nothing is desired
	case h.MustRenumber(w.DesiredRev):
		w.Reason, w.Detail = schema.ReasonStaleRevision, h.Why(w.DesiredRev)
	case r.FleetID != "" && fleetID != "" && r.FleetID != fleetID:
		w.Reason = schema.ReasonWrongFleet
	case r.DesiredRev != w.DesiredRev:
	case w.Story == nil:
		w.Converged = r.Active == nil
	default:
		w.Converged = r.Active != nil && *w.Active == *w.Story && (r.Phase == schema.DeployActive || r.Phase == schema.DeployIdle)
	}
	return w
}

// desiredActivities compares the activities that are assigned to the robot with the set that
// it reports.
func (e *entry) desiredActivities(fleetID string) *DesiredActivities {
	if e.dbRow.ActivitiesRev == 0 {
		return nil
	}
	w := &DesiredActivities{Assigned: []Activity{}, DesiredRev: e.dbRow.ActivitiesRev}
	for _, p := range e.dbRow.Activities {
		w.Assigned = append(w.Assigned, Activity{p.ID, p.Rev})
	}
	r := e.reportedActivities
	if r == nil {
		return w
	}
	w.ReportedRev, w.Phase, w.Reason, w.Detail, w.Progress = r.DesiredRev, r.Phase, r.Reason, r.Detail, r.Progress
	switch h := e.reportedRev(schema.TopicDesiredActivities); {
	case h.MustRenumber(w.DesiredRev):
		w.Reason, w.Detail = schema.ReasonStaleRevision, h.Why(w.DesiredRev)
	case r.FleetID != "" && fleetID != "" && r.FleetID != fleetID:
		w.Reason = schema.ReasonWrongFleet
	case r.DesiredRev != w.DesiredRev:
	case len(w.Assigned) == 0:
		w.Converged = r.Active == nil
	default:
		w.Converged = r.Active != nil && r.Active.SHA256 == e.dbRow.ActivitiesSHA256 && (r.Phase == schema.DeployActive ||
			r.Phase == schema.DeployIdle)
		w.Refused = r.Refused
	}
	return w
}

// wireTime converts t for the API, which omits the zero time.
func wireTime(t time.Time) schema.Time {
	if t.IsZero() {
		return 0
	}
	return schema.TimeOf(t)
}
