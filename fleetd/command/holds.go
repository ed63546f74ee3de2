package command

import (
	"strings"

	"troupe/schema/verb"
)

// StopID is the id of the stop that a robot holds when it obeys the command; empty if
// the command is no stop, or one without a latch.
func StopID(c Command) string {
	group, name, _ := strings.Cut(c.Verb, "/")
	v, _ := verb.Of(group, name)
	if v.Class != verb.ClassStop {
		return ""
	}
	r, _ := verb.Decode(v, c.Payload)
	a, _ := r.Args.(verb.Stop)
	return a.Latch
}
