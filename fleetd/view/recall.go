package view

import (
	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
)

// LoadDocument puts a document of the database into the view, unless the robot has published a
// newer one. It does not make the robot present.
func (v *View) LoadDocument(d store.Document) {
	v.change(d.Robot, v.deps.Now(), func(e *entry) {
		if _, newer := e.documents[d.Kind]; newer {
			return
		}
		if e.recall(d, &v.shared) {
			e.documents[d.Kind] = d
			e.noteReportedRevs(v.fleetID, d.Kind, d.Body)
		}
	})
}

// recall decodes a document of the database. It ignores one in an older format.
func (e *entry) recall(d store.Document, shared *sharedParts) bool {
	switch d.Kind {
	case schema.TopicPresence:
		return recall(d, func(v *schema.Presence) { e.facts = presence.Facts{}.ApplyPresence(*v, true, d.ReceivedAt) })
	case schema.TopicState:
		return recall(d, func(v *schema.State) { e.state, e.stateAt = v, d.ReceivedAt })
	case schema.TopicModes:
		return recall(d, func(v *schema.Modes) { shared.modes(v); e.modes = v })
	case schema.TopicCaps:
		return recall(d, func(v *schema.Caps) { shared.caps(v); e.caps = v })
	case schema.TopicActs:
		return recall(d, func(v *schema.Acts) { e.acts = v })
	case schema.TopicReportedStory:
		return recall(d, func(v *schema.ReportedStory) { e.reported = v })
	case schema.TopicReportedConfig:
		return recall(d, func(*schema.ReportedConfig) {})
	case schema.TopicReportedMode:
		return recall(d, func(*schema.ReportedMode) {})
	case schema.TopicReportedPlaces:
		return recall(d, func(*schema.ReportedSet) {})
	case schema.TopicReportedActivities:
		return recall(d, func(v *schema.ReportedSet) { e.reportedActivities = v })
	}
	return false
}

func recall[T any](d store.Document, use func(*T)) bool {
	v, problems := schema.Decode[T](d.Body)
	if len(problems) > 0 {
		return false
	}
	use(&v)
	return true
}
