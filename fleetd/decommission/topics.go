package decommission

import (
	"slices"
	"strings"

	"troupe/schema"
)

// DesiredTopics returns the retained topics with a robot's desired documents, from the
// topic table.
func DesiredTopics() []schema.TopicKind { return retained(desiredPattern) }

// Documents returns the retained topics that a robot publishes, the presence first: a
// client that sees it deleted does not take the others for those of a live robot.
func Documents() []schema.TopicKind {
	all := retained(robotPattern)
	desired := DesiredTopics()
	all = slices.DeleteFunc(all, func(k schema.TopicKind) bool { return k == schema.TopicPresence || slices.Contains(desired, k) })
	return slices.Insert(all, 0, schema.TopicPresence)
}

const (
	robotPattern   = "robots/{rid}/"
	desiredPattern = robotPattern + "desired/"
)

func retained(below string) (out []schema.TopicKind) {
	for _, row := range schema.Topics {
		if row.Retain && strings.HasPrefix(row.Pattern, below) {
			out = append(out, row.Kind)
		}
	}
	return out
}
