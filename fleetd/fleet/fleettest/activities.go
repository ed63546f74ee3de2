package fleettest

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// acceptSet takes the desired activities if their bytes are there.
func (r *Robot) acceptSet() {
	var report schema.ReportedSet
	r.with(func() {
		d := r.desiredSet
		if d == nil {
			return
		}
		report = schema.ReportedSet{TS: schema.TimeOf(time.Now()), Session: r.session, FleetID: d.FleetID, DesiredRev: d.Rev,
			Phase: schema.DeployWithdrawn}
		if d.Set == nil {
			r.activities = nil
			return
		}
		set, problems := score.ParseActivities(r.blobs[d.Set.SHA256])
		if len(problems) > 0 {
			report.Phase, report.Fetching = schema.DeployFetching, d.Set.SHA256
			return
		}
		r.activities = &set
		report.Phase, report.Active = schema.DeployActive, &schema.StoryRef{ID: d.Set.ID, Rev: d.Set.Rev, SHA256: d.Set.SHA256}
	})
	if report.Phase != "" {
		r.publish(schema.TopicReportedActivities, report)
	}
}

// Activities returns the set that the robot has; nil = none.
func (r *Robot) Activities() (set *score.Activities) {
	r.with(func() { set = r.activities })
	return set
}
