package auth

import (
	"slices"
	"strings"
)

// Role is a named set of rights that a user has.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Author   Role = "author"
	// Releaser releases published content to robots: it assigns what they get. It has not the
	// right ReleaseStops, and no key of its own: fleetd signs with the release key whatever anybody
	// assigns.
	Releaser Role = "releaser"
	Admin    Role = "admin"
	Auditor  Role = "auditor"
)

// RoleRow is a row of the table of roles.
type RoleRow struct {
	Role    Role
	Rights  Rights
	Purpose string
	// FleetWide: what the role may do concerns the whole fleet, so a user with it has no
	// restriction to sites.
	FleetWide bool
}

// Roles is the table of roles. A person who may change what robots do may also stop them.
//
// A flight record has what people said to the robot and what it answered, for up to a day; who
// watches a robot sees only what happens now. So it needs a right of its own, which operators
// have: they stand by the robot, answer for what it did, and need its record before the robot
// overwrites it.
var Roles = []RoleRow{
	{Role: Viewer, Rights: View | Own, Purpose: "sees robots, the library and what happened"},
	{Role: Operator, Rights: View | Own | Command | Manual | Try | Stop | ReleaseStops | Records,
		Purpose: "runs robots: modes, stories, manual control, stops and their release; gets flight records, which have what people " +
			"said to a robot"},
	{Role: Author, Rights: View | Own | Edit | Try | Stop,
		Purpose: "writes and publishes acts, stories, activities and assets, and tries drafts on a robot that an operator has made ready"},
	{Role: Releaser, Rights: View | Own | Assign | Approve | Stop, Purpose: "decides what robots get: assigns stories, activities, " +
		"settings, modes and places, at once or in rollouts, and approves the rollouts of others; cannot release stops, which operators do"},
	{Role: Admin, Rights: All, Purpose: "does everything, also users, labels, enrolment and removal of robots", FleetWide: true},
	{Role: Auditor, Rights: View | Own | Audit, Purpose: "reads the audit", FleetWide: true},
}

func roleNames() []Role {
	var all []Role
	for _, row := range Roles {
		all = append(all, row.Role)
	}
	return all
}

// RoleOf returns the row of a role.
func RoleOf(r Role) (RoleRow, bool) {
	i := slices.IndexFunc(Roles, func(row RoleRow) bool { return row.Role == r })
	if i < 0 {
		return RoleRow{}, false
	}
	return Roles[i], true
}

// RightsOf returns what somebody with all of these roles may do.
func RightsOf(roles []Role) (rights Rights) {
	for _, r := range roles {
		row, _ := RoleOf(r)
		rights |= row.Rights
	}
	return rights
}

// RolesWith names the roles that have one of these rights, for a person.
func RolesWith(rights Rights) string {
	var names []string
	for _, row := range Roles {
		if row.Rights&rights != 0 {
			names = append(names, string(row.Role))
		}
	}
	return strings.Join(names, " or ")
}
