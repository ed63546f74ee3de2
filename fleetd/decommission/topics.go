package decommission

import (
	"slices"
	"strings"

	"troupe/schema"
)

// Wishes are the retained topics by which the fleet tells one robot what it
// wishes, as the topic table has them.
func Wishes() []schema.TopicKind { return retained(wishPattern) }

// Documents are the retained topics that one robot writes, the presence first: a
// reader who sees it empty takes nothing else for a robot that lives.
func Documents() []schema.TopicKind {
	all := retained(robotPattern)
	wishes := Wishes()
	all = slices.DeleteFunc(all, func(k schema.TopicKind) bool { return k == schema.TopicPresence || slices.Contains(wishes, k) })
	return slices.Insert(all, 0, schema.TopicPresence)
}

const (
	robotPattern = "robots/{rid}/"
	wishPattern  = robotPattern + "desired/"
)

func retained(below string) (out []schema.TopicKind) {
	for _, row := range schema.Topics {
		if row.Retain && strings.HasPrefix(row.Pattern, below) {
			out = append(out, row.Kind)
		}
	}
	return out
}
