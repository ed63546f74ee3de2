package view

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// protocolSkew says how a robot's protocol version differs from fleetd's; empty if it does
// not. Within a major version both understand what both have; what only one has, the other
// does not show or request.
func protocolSkew(protocol []string) string {
	if len(protocol) == 0 || slices.Contains(protocol, schema.Protocol) {
		return ""
	}
	said := fmt.Sprintf("the robot speaks protocol %s, this instance %s", strings.Join(protocol, ", "), schema.Protocol)
	if understandsNothing(protocol) {
		return said + ": they do not understand each other; bring one of them up to date"
	}
	return said + ": what is newer on one side is not seen on the other"
}

// understandsNothing reports whether a robot with these protocol versions and fleetd do not understand each other.
func understandsNothing(protocol []string) bool {
	major, _, _ := strings.Cut(schema.Protocol, ".")
	return len(protocol) > 0 && !slices.ContainsFunc(protocol, func(p string) bool { m, _, _ := strings.Cut(p, "."); return m == major })
}
