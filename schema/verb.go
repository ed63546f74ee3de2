package schema

import (
	"fmt"
	"slices"
	"time"
)

// VerbClass groups verbs by what they compete for: within the mode class a
// newer command supersedes an older unfinished one; stops come first, always.
type VerbClass string

const (
	ClassStop      VerbClass = "stop"
	ClassSafety    VerbClass = "safety"
	ClassMode      VerbClass = "mode"
	ClassAuto      VerbClass = "auto"
	ClassInterrupt VerbClass = "interrupt"
	ClassControl   VerbClass = "control" // who drives manually
	ClassManual    VerbClass = "manual"  // needs control
	ClassSys       VerbClass = "sys"
)

// Journaled says when a command is written to the robot's disk: before it is
// answered, after its effect (a stop does not wait for a disk), or never.
type Journaled string

const (
	JournalBefore Journaled = "before"
	JournalAfter  Journaled = "after"
	JournalNever  Journaled = "never"
)

// ArgType is the form of one argument.
type ArgType string

const (
	ArgString  ArgType = "string"
	ArgBoolean ArgType = "boolean"
	ArgInteger ArgType = "integer"
	ArgNumber  ArgType = "number"
	ArgText    ArgType = "text"   // a string of up to MaxText characters
	ArgUUID    ArgType = "uuid"   // a string that is one, in lower case
	ArgObject  ArgType = "object" // texts by name, each of up to MaxText characters
	ArgArray   ArgType = "array"  // a list of objects
	ArgAny     ArgType = "any"
)

// Bound says how long an argument of this type may be, for people; empty for
// those that are not texts.
func (t ArgType) Bound() string {
	switch t {
	case ArgString, ArgAny:
		return fmt.Sprintf("%d bytes", MaxWord)
	case ArgText:
		return fmt.Sprintf("%d characters", MaxText)
	}
	return ""
}

// Arg is one argument of a verb.
type Arg struct {
	Name     string
	Type     ArgType
	Required bool
	Purpose  string
}

// Verb is one row of the verb table.
type Verb struct {
	Group, Name string
	Args        []Arg // a bare word as payload is the first
	Class       VerbClass
	Roles       []Role // who may send it, beside fleetd and admin who may send all
	TTL         time.Duration
	Journal     Journaled
	Purpose     string
}

// ID is the name of v as it stands in a topic: group/verb.
func (v Verb) ID() string { return v.Group + "/" + v.Name }

// Allows reports whether role may send v.
func (v Verb) Allows(role Role) bool {
	return role == RoleFleetd || role == RoleAdmin || slices.Contains(v.Roles, role)
}

const (
	// MaxTTL bounds how long a command may wait.
	MaxTTL = time.Hour
	// NoTTL marks verbs that never expire.
	NoTTL time.Duration = 0
)

var (
	operators  = []Role{RoleOperator, RoleConsole}
	responders = []Role{RoleOperator, RoleConsole, RoleResponder}
	stoppers   = []Role{RoleOperator, RoleConsole, RoleResponder, RoleStop}
	adminsOnly []Role

	argWhy    = Arg{"why", ArgString, false, "shown to people and kept in the event"}
	argLatch  = Arg{"latch", ArgString, false, "hold the stop under this id until it is released by it"}
	argVolume = Arg{"volume", ArgNumber, false, "0 to 1"}
	argWith   = Arg{"with", ArgObject, false, "values of the act's parameters, by name: {\"guest\":\"Ann\"}"}
	argTTL    = Arg{"ttl_ms", ArgInteger, false, "how long, up to 60000; 30000 if left out"}
	argRenew  = Arg{"ttl_ms", ArgInteger, false, "how long, up to 60000; as before if left out"}
	argSeen   = Arg{"seen_mono_ms", ArgInteger, false, "mono_ms of the newest heartbeat that the operator has seen; a stale one is refused"}
	argBoot   = Arg{"seen_boot", ArgString, false, "boot of that heartbeat; one of an earlier start is refused"}
)

// Verbs is the verb table: everything that can be asked of a robot.
var Verbs = []Verb{
	{"safety", "stop", []Arg{argWhy, argLatch}, ClassStop, stoppers, NoTTL, JournalAfter, "damp to standstill, then DISABLED"},
	{"safety", "soft-stop", []Arg{argWhy, argLatch}, ClassStop, stoppers, NoTTL, JournalAfter, "end the running thing gently, then stop"},
	{"safety", "halt", []Arg{argWhy, argLatch}, ClassStop, stoppers, NoTTL, JournalAfter, "halt all units at once; needs reset"},
	{"safety", "estop", []Arg{argWhy, argLatch}, ClassStop, stoppers, NoTTL, JournalAfter, "switch all units off in software; needs reset; not an emergency stop device"},
	{"safety", "enable", []Arg{argSeen, argBoot}, ClassSafety, operators, 5 * time.Second, JournalBefore, "open the gate: what is active may move"},
	{"safety", "reset", []Arg{argSeen, argBoot}, ClassSafety, operators, 5 * time.Second, JournalBefore, "lead out of E_STOP to DISABLED"},
	{"mode", "set", []Arg{{"mode", ArgString, true, "str, mnl or ato"}, {"restart", ArgBoolean, false, "start it anew if it is active already"}}, ClassMode, operators, 30 * time.Second, JournalBefore, "put another mode in charge"},
	{"mode", "pause", nil, ClassMode, operators, 30 * time.Second, JournalBefore, "pause the active mode"},
	{"mode", "resume", nil, ClassMode, operators, 30 * time.Second, JournalBefore, "resume the active mode"},
	{"mode", "kill", nil, ClassMode, operators, 30 * time.Second, JournalBefore, "end the active mode at once and go to mnl"},
	{"mode", "enable", []Arg{{"mode", ArgString, true, "which mode to switch on"}}, ClassMode, adminsOnly, 30 * time.Second, JournalBefore, "make a mode selectable"},
	{"mode", "disable", []Arg{{"mode", ArgString, true, "which mode to switch off"}}, ClassMode, adminsOnly, 30 * time.Second, JournalBefore, "make a mode not selectable"},
	{"auto", "start", nil, ClassAuto, operators, 30 * time.Second, JournalBefore, "begin the stopped story at its first act"},
	{"auto", "stop", nil, ClassAuto, operators, 30 * time.Second, JournalBefore, "cancel the act, rewind the story, hold"},
	{"auto", "pause", []Arg{argWhy}, ClassAuto, operators, 30 * time.Second, JournalBefore, "hold a pause token; each request is its own"},
	{"auto", "continue", []Arg{{"token", ArgText, false, "which operator's token; without it the asker's oldest"}}, ClassAuto, operators, 30 * time.Second, JournalBefore, "release a pause token"},
	{"interrupt", "request", []Arg{{"handler", ArgString, true, "which handler shall run"}, {"interrupter", ArgString, false, "who asks: ai, touch, screen, power; screen if left out"}}, ClassInterrupt, responders, 10 * time.Second, JournalBefore, "ask for an interrupt of the story"},
	{"interrupt", "cancel", []Arg{{"id", ArgString, true, "id of the interrupt, from state"}}, ClassInterrupt, responders, 10 * time.Second, JournalBefore, "end a running interrupt"},
	{"interrupter", "run", []Arg{{"interrupter", ArgString, true, "ai, touch, screen, power"}}, ClassInterrupt, operators, 30 * time.Second, JournalBefore, "let an interrupter ask"},
	{"interrupter", "stop", []Arg{{"interrupter", ArgString, true, "ai, touch, screen, power"}}, ClassInterrupt, operators, 30 * time.Second, JournalBefore, "keep an interrupter from asking"},
	{"control", "acquire", []Arg{{"scope", ArgString, false, "manual: what is done manually; all: its modes too; manual if left out"}, argTTL}, ClassControl, operators, 5 * time.Second, JournalBefore, "take control, which one client has at a time; the answer holds the lease"},
	{"control", "renew", []Arg{{"lease", ArgString, false, "which; the sender's own if left out"}, argRenew}, ClassControl, operators, 5 * time.Second, JournalBefore, "keep control for longer"},
	{"control", "release", []Arg{{"lease", ArgString, false, "which; the sender's own if left out"}}, ClassControl, operators, 5 * time.Second, JournalBefore, "give control back"},
	{"control", "takeover", []Arg{{"scope", ArgString, false, "manual or all; manual if left out"}, argTTL}, ClassControl, operators, 5 * time.Second, JournalBefore, "take control from a holder of no higher rank, who is told"},
	{"manual", "stop", []Arg{argWhy}, ClassStop, operators, NoTTL, JournalAfter, "end what is done manually; whoever drives has to let the stick go first"},
	{"manual", "goto", []Arg{{"point", ArgString, false, "a name that caps lists"}, {"x_m", ArgNumber, false, "instead of a point, with y_m"}, {"y_m", ArgNumber, false, "instead of a point, with x_m"}, {"theta_rad", ArgNumber, false, "which way to look there"}, {"speed_mps", ArgNumber, false, "how fast"}}, ClassManual, operators, 2 * time.Second, JournalBefore, "go to a point or a place"},
	{"manual", "head", []Arg{{"yaw_rad", ArgNumber, false, "to the left"}, {"pitch_rad", ArgNumber, false, "up"}, {"roll_rad", ArgNumber, false, "to the side"}, {"speed", ArgNumber, false, "0 to 1, a share of what it can"}}, ClassManual, operators, 2 * time.Second, JournalBefore, "turn the head"},
	{"manual", "say", []Arg{{"text", ArgText, true, "what to say"}, {"language", ArgString, false, "its BCP 47 tag; the robot's own if left out"}, {"voice", ArgString, false, "whose voice, as the robot calls it"}, argVolume, {"rate", ArgNumber, false, "0.5 to 2: how fast, of the usual speed"}}, ClassManual, operators, 5 * time.Second, JournalBefore, "say something"},
	{"manual", "sound", []Arg{{"sound", ArgString, true, "a name that caps lists"}, argVolume, {"loop", ArgBoolean, false, "again and again, for a minute at most"}}, ClassManual, operators, 5 * time.Second, JournalBefore, "play a sound"},
	{"manual", "volume", []Arg{{"volume", ArgNumber, true, "0 to 1"}}, ClassManual, operators, 5 * time.Second, JournalBefore, "how loud all is from now on"},
	{"manual", "face", []Arg{{"face", ArgString, true, "a name that caps lists"}}, ClassManual, operators, 5 * time.Second, JournalBefore, "show a face"},
	{"manual", "led", []Arg{{"colour", ArgString, false, "#rrggbb"}, {"pattern", ArgString, false, "solid, blink, breathe or rainbow"}, {"period_ms", ArgInteger, false, "100 to 10000"}, {"led", ArgString, false, "which; all if left out"}}, ClassManual, operators, 5 * time.Second, JournalBefore, "light the leds"},
	{"manual", "act", []Arg{{"act", ArgString, true, "an act that the robot has: one of its story"}, argWith}, ClassManual, operators, 5 * time.Second, JournalBefore, "perform a whole act; in mnl"},
	{"act", "perform", []Arg{{"act", ArgString, false, "an act that the robot has: one of its story"}, {"actions", ArgArray, false, "instead of an act: actions, as an act's file lists them"}, argWith, {"clear", ArgBoolean, false, "what is performed or waits of earlier requests is called off for it; never the story"}}, ClassAuto, responders, 30 * time.Second, JournalBefore, "perform a whole act: in mnl manually, in ato as an interrupt of the story"},
	{"sys", "ping", []Arg{{"echo", ArgAny, false, "comes back in detail"}}, ClassSys, operators, 5 * time.Second, JournalNever, "answer"},
	{"sys", "query", []Arg{{"id", ArgString, true, "a command's id"}}, ClassSys, operators, 5 * time.Second, JournalNever, "send the newest answer to that command again"},
	{"sys", "cancel", []Arg{{"id", ArgString, true, "id of a command of one's own that has not ended"}}, ClassSys, operators, 5 * time.Second, JournalNever, "call off a command; its own answer is then CANCELLED"},
	{"sys", "resync", nil, ClassSys, operators, 5 * time.Second, JournalNever, "publish every retained document again"},
	{"sys", "replay", []Arg{{"from", ArgInteger, true, "seq of the first event"}, {"to", ArgInteger, false, "seq of the last one; the newest if left out"}, {"boot", ArgString, false, "of which run of the robot; the present one if left out"}}, ClassSys, operators, 5 * time.Second, JournalNever, "publish events again, at most 10 a second; the newest 1000 are kept"},
	{"sys", "adopt", []Arg{{"fleet_id", ArgUUID, true, "UUID of the fleet's database"}}, ClassSys, adminsOnly, 30 * time.Second, JournalBefore, "obey another fleet's desired documents from now on"},
}

// VerbOf finds a verb by its group and name.
func VerbOf(group, name string) (Verb, bool) {
	for i := range Verbs {
		if Verbs[i].Group == group && Verbs[i].Name == name {
			return Verbs[i], true
		}
	}
	return Verb{}, false
}

// VerbsOf lists the names of a group's verbs, in table order.
func VerbsOf(group string) []string {
	var names []string
	for _, v := range Verbs {
		if v.Group == group {
			names = append(names, v.Name)
		}
	}
	return names
}

// ArgumentsOf lists the names of the arguments of those verbs, by verb, in table
// order; verbs that take none are left out.
func ArgumentsOf(verbs []string) map[string][]string {
	names := map[string][]string{}
	for _, v := range Verbs {
		if !slices.Contains(verbs, v.ID()) {
			continue
		}
		for _, a := range v.Args {
			names[v.ID()] = append(names[v.ID()], a.Name)
		}
	}
	return names
}

// OpenGroups are the groups of what is asked of a robot in everyday work. A verb
// that joins one of them later is for operators too, so that a broker that does
// not know it yet may let an operator's command through and the robot answers. A
// verb for administrators alone joins another group: an older broker keeps
// operators from it without knowing it.
var OpenGroups = []string{"safety", "mode", "auto", "interrupt", "interrupter", "life", "act", IntentGroup, "control", "manual"}

// IntentGroup is of what a story may answer in its own way. All of it is for
// responders, so a verb that joins it later is for them as for operators.
const IntentGroup = "intent"

// MayAskUnknown reports whether role may send verbs of group that are in no table
// of this release.
func MayAskUnknown(group string, role Role) bool {
	switch role {
	case RoleFleetd, RoleAdmin:
		return true
	case RoleOperator, RoleConsole:
		return slices.Contains(OpenGroups, group)
	case RoleResponder:
		return group == IntentGroup
	}
	return false
}

// VerbIDs lists every verb as group/verb, in table order.
func VerbIDs() []string {
	ids := make([]string, len(Verbs))
	for i, v := range Verbs {
		ids[i] = v.ID()
	}
	return ids
}
