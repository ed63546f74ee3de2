package fleettest

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"troupe/schema"
)

// Silent makes the robot accept stories without reporting, or report again.
func (r *Robot) Silent(silent bool) {
	r.with(func() { r.silent = silent })
	r.publishStory()
}

// Reported is how far the robot is with its story, whether it reports that or not.
func (r *Robot) Reported() (s schema.ReportedStory) {
	r.with(func() { s = r.reported })
	return s
}

// acceptRevision takes a desired story of a higher revision. The same revision with other content
// makes the robot report stale_revision, as a real robot does. It is called under the lock.
func (r *Robot) acceptRevision(d schema.DesiredStory) {
	pin := func(d *schema.DesiredStory) (p schema.ContentPin) {
		if d.Story != nil {
			p = *d.Story
		}
		return p
	}
	switch was := r.desired; {
	case was == nil || d.Rev > was.Rev:
		r.desired, r.stale = &d, false
	case d.Rev == was.Rev:
		r.stale = pin(&d) != pin(was)
	}
}

// accept takes the desired story if its bytes are there, and asks for them if not.
func (r *Robot) accept() {
	r.with(func() {
		d := r.desired
		if d == nil {
			return
		}
		r.reported.FleetID, r.reported.DesiredRev, r.reported.Fetching, r.reported.Reason = d.FleetID, d.Rev, "", ""
		if r.stale {
			r.reported.Phase, r.reported.Reason = schema.DeployRejected, schema.ReasonStaleRevision
			return
		}
		if d.Story == nil {
			r.reported.Phase, r.reported.Active = schema.DeployWithdrawn, nil
			return
		}
		body, there := r.blobs[d.Story.SHA256]
		if sum := sha256.Sum256(body); !there || hex.EncodeToString(sum[:]) != d.Story.SHA256 {
			r.reported.Phase, r.reported.Fetching = schema.DeployFetching, d.Story.SHA256
			return
		}
		r.reported.Phase = schema.DeployActive
		r.reported.Active = &schema.ActiveStory{ID: d.Story.ID, Rev: d.Story.Rev, SHA256: d.Story.SHA256, EffectiveActs: []string{},
			Pruned: []string{}}
	})
	r.publishStory()
}

func (r *Robot) publishStory() {
	var s schema.ReportedStory
	silent := false
	r.with(func() {
		r.reported.TS, r.reported.Session = schema.TimeOf(time.Now()), r.session
		s, silent = r.reported, r.silent
	})
	if silent {
		return
	}
	r.publish(schema.TopicReportedStory, s)
}
