package view

import (
	"troupe/fleetd/api"
	"troupe/schema"
)

// SetFleetID notes the fleet's name to robots, as soon as the database is open.
func (v *View) SetFleetID(fleetID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fleetID = fleetID
	for id, e := range v.robots {
		for kind, d := range e.documents {
			e.hear(fleetID, kind, d.Body)
		}
		v.mark(id, e)
	}
}

// hear takes a report's word on the numbers of its desired state.
func (e *entry) hear(fleetID string, kind schema.TopicKind, body []byte) {
	for desired, reported := range api.ReportOn {
		if reported == kind {
			if e.numbers == nil {
				e.numbers = map[schema.TopicKind]schema.ReportedRev{}
			}
			e.numbers[desired] = schema.ReportedRevIn(fleetID, body)
		}
	}
}

// LastSeen answers what a robot says of its desired documents of one topic.
func (v *View) Heard(robot string, topic schema.TopicKind) schema.ReportedRev {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e := v.robots[robot]; e != nil {
		return e.number(topic)
	}
	return schema.ReportedRev{}
}

func (e *entry) number(topic schema.TopicKind) schema.ReportedRev {
	heard, r := e.numbers[topic], e.reported
	if topic == schema.TopicDesiredStory && r != nil && r.Phase == schema.DeployActive && r.Active != nil &&
		heard.Rev == e.kept.DesiredRev && e.kept.SHA256 != "" && r.Active.SHA256 != e.kept.SHA256 {
		heard.Conflicting = true // it says what it has, and that is not what this number stands for
	}
	return heard
}

// overtaken lists the robots whose desired documents were overtaken, by topic.
func (v *View) Overtaken(revs map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := map[schema.TopicKind][]string{}
	for id, e := range v.robots {
		if !e.adopted {
			continue
		}
		for topic := range e.numbers {
			if e.number(topic).MustRenumber(revs[id][topic]) {
				found[topic] = append(found[topic], id)
			}
		}
	}
	return found
}
