package view

import (
	"troupe/fleetd/desired"
	"troupe/schema"
)

// SetFleetID sets the fleet's id, as soon as the database is open.
func (v *View) SetFleetID(fleetID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fleetID = fleetID
	for id, e := range v.robots {
		for kind, d := range e.documents {
			e.noteReportedRevs(fleetID, kind, d.Body)
		}
		v.updateSummary(id, e)
	}
}

// noteReportedRevs records which revisions of a desired document a robot's report names, and what it says of them.
func (e *entry) noteReportedRevs(fleetID string, kind schema.TopicKind, body []byte) {
	for topic, report := range desired.ReportOn {
		if report == kind {
			if e.reportedRevs == nil {
				e.reportedRevs, e.reports = map[schema.TopicKind]schema.ReportedRev{}, map[schema.TopicKind]*reported{}
			}
			e.reportedRevs[topic], e.reports[topic] = schema.ReportedRevIn(fleetID, body), decodeReport(kind, body)
		}
	}
}

// ReportedRevision is what a robot reports of the revisions of one desired document.
func (v *View) ReportedRevision(robot string, topic schema.TopicKind) schema.ReportedRev {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[robot]; e != nil {
		return e.reportedRev(topic)
	}
	return schema.ReportedRev{}
}

func (e *entry) reportedRev(topic schema.TopicKind) schema.ReportedRev {
	reported, r := e.reportedRevs[topic], e.reported
	if topic == schema.TopicDesiredStory && r != nil && r.Phase == schema.DeployActive && r.Active != nil &&
		reported.Rev == e.dbRow.DesiredRev && e.dbRow.SHA256 != "" && r.Active.SHA256 != e.dbRow.SHA256 {
		reported.Conflicting = true // it has other content than this revision
	}
	return reported
}

// Overtaken lists the robots that report a higher revision of a desired document than revs,
// by topic.
func (v *View) Overtaken(revs map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := map[schema.TopicKind][]string{}
	for id, e := range v.robots {
		if !e.adopted {
			continue
		}
		for topic := range e.reportedRevs {
			if e.reportedRev(topic).MustRenumber(revs[id][topic]) {
				found[topic] = append(found[topic], id)
			}
		}
	}
	return found
}
