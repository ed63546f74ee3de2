// Package verb is the table of the commands that a robot understands. A row has a verb's
// typed arguments, its class, the roles that may send it, its time to live, and the part of
// the robot that carries it out. The broker's access rules, the command line, the
// documentation and robotd's dispatch read that row: a new verb is one row here, the struct
// of its arguments, and the code that carries it out.
package verb

import (
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Class groups verbs by what they concern. Within the mode class a newer command supersedes an
// older one that has not ended; in other classes what a command does decides. Stops come first,
// always.
type Class string

// The classes.
const (
	ClassStop      Class = "stop"
	ClassSafety    Class = "safety"
	ClassMode      Class = "mode"
	ClassAuto      Class = "auto"
	ClassInterrupt Class = "interrupt"
	ClassLife      Class = "life"    // activities and abilities
	ClassControl   Class = "control" // who drives manually
	ClassManual    Class = "manual"  // needs control
	ClassSys       Class = "sys"
)

// LiveStop is the verb that robots write into their answers to live stops, which clients send to
// robots without fleetd. The table has no row for it: nobody can send it as a command, because
// live stops have a topic of their own.
const LiveStop = "fleet/stop"

// Journaled says when a robot writes a command to its disk: before it begins it,
// after the effect (a stop does not wait for a disk), or never.
type Journaled string

// When a command is written.
const (
	JournalBefore Journaled = "before"
	JournalAfter  Journaled = "after"
	JournalNever  Journaled = "never"
)

// Part is the part of a robot that carries a verb out.
type Part string

// The parts.
const (
	PartRequests  Part = "requests" // commands about commands
	PartSafety    Part = "safety"
	PartMode      Part = "mode"
	PartStory     Part = "story" // the story, its pauses and interrupts
	PartLife      Part = "life"  // autonomous life
	PartControl   Part = "control"
	PartManual    Part = "manual" // manual control, and act/perform, which in ato becomes an interrupt of the story
	PartIntent    Part = "intent" // what people want, and the robot's emotion
	PartReport    Part = "report" // what the robot publishes
	PartDesired   Part = "desired"
	PartRobot     Part = "robot" // robotd itself
	PartDiagnosis Part = "diagnosis"
)

// Need says what control a verb requires. Control is the lease that one holder at a time
// has of a robot.
type Need string

// The needs, from least to most.
const (
	NeedNone          Need = ""
	NeedNoOtherHolder Need = "not-others" // refused while there is another holder
	NeedModes         Need = "modes"      // the command changes the mode
	NeedManual        Need = "manual"     // the command is a manual verb
)

// Verb is one row of the table.
type Verb struct {
	Group, Name string
	Class       Class
	Roles       []schema.Role // the roles that may send it, besides fleetd and admin, which may send every verb
	TTL         time.Duration // its time to live if the command has none; NoTTL = for ever
	Journal     Journaled
	Part        Part
	Need        Need
	Unit        schema.UnitKind // a robot has the verb only with such a unit; empty = every robot
	Does        score.Do        // the type of action that it performs once, without values; nil = none, or a whole act
	Within      time.Duration   // how long the unit may take for that action; 0 = it takes effect at once
	Purpose     string
	Examples    []string // payloads that are accepted, as people write them
	shape       *shape
}

// NoTTL marks verbs that never expire.
const NoTTL time.Duration = 0

// ID is the name of v as in a topic: group/verb.
func (v Verb) ID() string { return v.Group + "/" + v.Name }

// Allows reports whether role may send v.
func (v Verb) Allows(role schema.Role) bool {
	return role == schema.RoleFleetd || role == schema.RoleAdmin || slices.Contains(v.Roles, role)
}

// Of finds a verb by its group and name.
func Of(group, name string) (Verb, bool) {
	for i := range All {
		if All[i].Group == group && All[i].Name == name {
			return All[i], true
		}
	}
	return Verb{}, false
}

// Must is Of for a verb that is in the table; it panics for any other.
func Must(group, name string) Verb {
	v, ok := Of(group, name)
	if !ok {
		panic("no verb " + group + "/" + name)
	}
	return v
}

// NamesOf lists the names of a group's verbs, in table order.
func NamesOf(group string) []string {
	var names []string
	for _, v := range All {
		if v.Group == group {
			names = append(names, v.Name)
		}
	}
	return names
}

// IDs lists every verb as group/verb, in table order.
func IDs() []string {
	ids := make([]string, len(All))
	for i, v := range All {
		ids[i] = v.ID()
	}
	return ids
}

// ArgumentsOf lists the names of the arguments of those verbs, by verb, in table
// order; verbs that take none are left out.
func ArgumentsOf(verbs []string) map[string][]string {
	names := map[string][]string{}
	for _, v := range All {
		if !slices.Contains(verbs, v.ID()) {
			continue
		}
		for _, a := range v.Args() {
			names[v.ID()] = append(names[v.ID()], a.Name)
		}
	}
	return names
}

// OpenGroups are the groups whose verbs operators may send, including verbs of later
// releases: an older broker passes on such a command, and the robot answers it. A verb for
// administrators only must be in another group, from which an older broker keeps operators
// out although it does not know the verb. (mode/enable and mode/disable are exceptions: no
// broker without them exists.)
var OpenGroups = []string{"safety", "mode", "auto", "interrupt", "interrupter", "life", "act", IntentGroup, "control", "manual"}

// IntentGroup is the group of commands that say what a person wants; the robot's setting intents
// decides what it does. Responders may send all of its verbs, including those of later releases.
const IntentGroup = "intent"

// AllowsUnknown reports whether role may send verbs of group that are in no table
// of this release.
func AllowsUnknown(group string, role schema.Role) bool {
	switch role {
	case schema.RoleFleetd, schema.RoleAdmin:
		return true
	case schema.RoleOperator, schema.RoleConsole:
		return slices.Contains(OpenGroups, group)
	case schema.RoleResponder:
		return group == IntentGroup
	}
	return false
}
