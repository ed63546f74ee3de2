package view

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// skew says to people how the protocol that a robot speaks differs from fleetd's,
// or nothing. Within a major version each understands what both have; what is newer
// on one side the other does not show, or does not ask for.
func skew(protocol []string) string {
	if len(protocol) == 0 || slices.Contains(protocol, schema.Protocol) {
		return ""
	}
	major, _, _ := strings.Cut(schema.Protocol, ".")
	said := fmt.Sprintf("the robot speaks protocol %s, this instance %s", strings.Join(protocol, ", "), schema.Protocol)
	if !slices.ContainsFunc(protocol, func(p string) bool { m, _, _ := strings.Cut(p, "."); return m == major }) {
		return said + ": they do not understand each other; bring one of them up to date"
	}
	return said + ": what is newer on one side is not seen on the other"
}
