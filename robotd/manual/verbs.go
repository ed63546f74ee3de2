package manual

import (
	"troupe/schema"
	"troupe/schema/verb"
)

// byFrames is the verb of manual driving: it has its own topic and format, and no row in
// the table.
const byFrames = "manual/velocity"

// Verbs lists the verbs that the robot accepts, for caps: all but those whose unit the body
// lacks, and byFrames if it has a drive.
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
