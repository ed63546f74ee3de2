package decommission

import (
	"slices"
	"strings"

	"troupe/schema"
)

// DesiredTopics are the retained topics by which the fleet tells one robot what it
// desired documents, as the topic table has them.
func DesiredTopics() []schema.TopicKind { return retained(desiredPattern) }

// Documents are the retained topics that one robot writes, the presence first: a
// reader who sees it empty takes nothing else for a robot that lives.
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
