package manual

import (
	"troupe/schema"
	"troupe/schema/verb"
)

// byFrames is the verb of those who drive manually: it has a topic and a form of its
// own, and no row in the table.
const byFrames = "manual/velocity"

// Verbs are those that a body has units for.
func Verbs(b Body) []string {
	var known []string
	for _, v := range verb.All {
		if _, has := b.First(v.Unit); v.Unit == "" || has {
			known = append(known, v.ID())
		}
	}
	if _, drives := b.First(schema.UnitDrive); drives {
		known = append(known, byFrames)
	}
	return known
}
