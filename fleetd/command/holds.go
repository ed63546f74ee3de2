package command

import (
	"strings"

	"troupe/schema"
)

// Holds is the id of the stop that a robot holds when it obeys the command; empty if
// the command is no stop, or one without a latch.
func Holds(c Command) string {
	group, name, _ := strings.Cut(c.Verb, "/")
	verb, _ := schema.VerbOf(group, name)
	if verb.Class != schema.ClassStop {
		return ""
	}
	r, _ := schema.DecodeRequest(verb, c.Payload)
	return r.Args.Latch
}
