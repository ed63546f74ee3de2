package schema

import (
	"fmt"
	"strings"
)

// TopicKind names a row of the topic table.
type TopicKind string

const (
	TopicPresence       TopicKind = "presence"
	TopicHeartbeat      TopicKind = "heartbeat"
	TopicState          TopicKind = "state"
	TopicModes          TopicKind = "modes"
	TopicCaps           TopicKind = "caps"
	TopicActs           TopicKind = "acts"
	TopicReportedStory  TopicKind = "reported_story"
	TopicEvent          TopicKind = "event"
	TopicAck            TopicKind = "ack"
	TopicCmd            TopicKind = "cmd"
	TopicDesiredStory   TopicKind = "desired_story"
	TopicBlob           TopicKind = "blob"
	TopicFleetPresence  TopicKind = "fleet_presence"
	TopicFleetHeartbeat TopicKind = "fleet_heartbeat"
	TopicNotice         TopicKind = "notice"
)

// Grant lets a role use a topic. With Own set, only where that parameter of the
// topic equals the name of the identity: rid for a robot, cid for a client.
type Grant struct {
	Role Role
	Own  string
}

// Topic is one row of the topic table: who says what to whom, how.
type Topic struct {
	Kind TopicKind
	// Pattern lies below the name space and v1; {rid} is a robot, {cid} a
	// client, {sha256} a digest, {group} and {verb} a command.
	Pattern  string
	QoS      byte
	Retain   bool
	MaxBytes int
	Publish  []Grant // for cmd the verb table decides further
	Read     []Grant
	Message  string // type of the payload; empty = raw bytes
	Purpose  string
	Rate     string
}

var (
	fleetSide = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}}
	everybody = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}, {Role: RoleOperator}, {Role: RoleResponder}, {Role: RoleObserver}}
	thisRobot = []Grant{{Role: RoleRobot, Own: "rid"}}
)

func and(grants []Grant, more ...Grant) []Grant {
	return append(append([]Grant(nil), grants...), more...)
}

// Topics is the topic table. One topic has one writer role; a topic that is not
// listed does not exist.
var Topics = []Topic{
	{TopicPresence, "robots/{rid}/presence", 1, true, 512, thisRobot, and(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, "rid"}), "Presence", "the robot is there, or is not", "per connection; will = lost"},
	{TopicHeartbeat, "robots/{rid}/heartbeat", 0, false, 512, thisRobot, everybody, "Heartbeat", "the control loop lives", "every 2 s"},
	{TopicState, "robots/{rid}/state", 1, true, 16 << 10, thisRobot, and(everybody, Grant{RoleStop, ""}), "State", "the whole state, one consistent picture", "on change, at the latest every 10 s"},
	{TopicModes, "robots/{rid}/modes", 1, true, 8 << 10, thisRobot, everybody, "Modes", "the modes and why each cannot be selected now", "on change"},
	{TopicCaps, "robots/{rid}/caps", 1, true, 16 << 10, thisRobot, everybody, "Caps", "what the robot is and can do", "per boot and on change"},
	{TopicActs, "robots/{rid}/acts", 1, true, 64 << 10, thisRobot, everybody, "Acts", "acts taught on the robot", "per boot and on change"},
	{TopicReportedStory, "robots/{rid}/reported/story", 1, true, 8 << 10, thisRobot, everybody, "ReportedStory", "how far the robot is with the desired story", "on each phase"},
	{TopicEvent, "robots/{rid}/event", 1, false, 4 << 10, thisRobot, everybody, "Event", "what happened, once", "at most 20/s"},
	{TopicAck, "robots/{rid}/ack/{cid}", 1, false, 4 << 10, thisRobot, append(and(fleetSide), Grant{RoleOperator, "cid"}, Grant{RoleResponder, "cid"}, Grant{RoleStop, "cid"}), "Ack", "answers to one client's commands", "per command"},
	{TopicCmd, "robots/{rid}/cmd/{cid}/{group}/{verb}", 1, false, 8 << 10, []Grant{{RoleFleetd, "cid"}, {RoleAdmin, "cid"}, {RoleOperator, "cid"}, {RoleResponder, "cid"}, {RoleStop, "cid"}}, and(fleetSide, Grant{RoleRobot, "rid"}), "Request", "a command; never retained; the sender is part of the topic", "at most 20/s per client"},
	{TopicDesiredStory, "robots/{rid}/desired/story", 1, true, 8 << 10, fleetSide, and(fleetSide, Grant{RoleRobot, "rid"}), "DesiredStory", "which story the robot shall perform by default", "on change"},
	{TopicBlob, "blobs/{sha256}", 1, true, 256 << 10, fleetSide, and(fleetSide, Grant{RoleRobot, ""}), "", "immutable bytes named by their digest", "while wanted"},
	{TopicFleetPresence, "fleet/presence", 1, true, 512, fleetSide, and(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, ""}), "Presence", "the desk is there, or is not", "per connection; will = lost"},
	{TopicFleetHeartbeat, "fleet/heartbeat/{cid}", 0, false, 256, []Grant{{RoleFleetd, "cid"}, {RoleAdmin, "cid"}}, and(everybody, Grant{RoleRobot, ""}), "FleetHeartbeat", "an operator can reach the robots; the fleet's time", "every 1 s"},
	{TopicNotice, "clients/{cid}/notice", 1, false, 1 << 10, []Grant{{RoleBroker, ""}, {RoleFleetd, ""}}, append(and(fleetSide), Grant{RoleOperator, "cid"}, Grant{RoleResponder, "cid"}, Grant{RoleStop, "cid"}, Grant{RoleObserver, "cid"}, Grant{RoleRobot, "cid"}), "Notice", "something the client sent was not taken", "per refusal, gathered"},
}

// MaxTopicLevels and MaxTopicBytes bound every topic.
const (
	MaxTopicLevels = 8
	MaxTopicBytes  = 200
)

// TopicOf returns the row of kind k, which must be one of the constants above.
func TopicOf(k TopicKind) Topic {
	for _, t := range Topics {
		if t.Kind == k {
			return t
		}
	}
	panic("schema: no topic of kind " + string(k))
}

// Namespace is the first level of every topic, "troupe" unless configured; the
// second is the major version of the contract.
type Namespace string

// DefaultNamespace is used where none is configured.
const DefaultNamespace Namespace = "troupe"

// Root is what every topic starts with.
func (n Namespace) Root() string { return string(n) + "/v1/" }

// Topic fills the pattern of kind k with params in the order of its braces. A
// parameter may be a wildcard: then the result is a filter.
func (n Namespace) Topic(k TopicKind, params ...string) string {
	levels := strings.Split(TopicOf(k).Pattern, "/")
	for i, l := range levels {
		if l[0] == '{' {
			if len(params) == 0 {
				panic(fmt.Sprintf("schema: topic %s lacks %s", k, l))
			}
			levels[i], params = params[0], params[1:]
		}
	}
	if len(params) != 0 {
		panic(fmt.Sprintf("schema: topic %s has no place for %q", k, params))
	}
	return n.Root() + strings.Join(levels, "/")
}

// TopicParams are the parameters found in a topic; those its pattern lacks are
// empty.
type TopicParams struct {
	RID, CID, Group, Verb, SHA256 string
}

// Get returns a parameter by the name it has in a pattern.
func (p TopicParams) Get(name string) string {
	switch name {
	case "rid":
		return p.RID
	case "cid":
		return p.CID
	case "group":
		return p.Group
	case "verb":
		return p.Verb
	case "sha256":
		return p.SHA256
	}
	return ""
}

// Match finds the row of a concrete topic. It fails for a topic that is not in
// the table, and for one whose parameters are not well-formed ids.
func (n Namespace) Match(topic string) (Topic, TopicParams, bool) {
	rest, ok := strings.CutPrefix(topic, n.Root())
	if !ok || len(topic) > MaxTopicBytes {
		return Topic{}, TopicParams{}, false
	}
	for i := range Topics {
		if p, ok := matchPattern(Topics[i].Pattern, rest); ok {
			return Topics[i], p, true
		}
	}
	return Topic{}, TopicParams{}, false
}

func matchPattern(pattern, topic string) (p TopicParams, ok bool) {
	for {
		pl, prest, pmore := strings.Cut(pattern, "/")
		tl, trest, tmore := strings.Cut(topic, "/")
		if pl[0] == '{' {
			switch name := pl[1 : len(pl)-1]; {
			case name == "sha256":
				if !ValidSHA256(tl) {
					return p, false
				}
				p.SHA256 = tl
			case !ValidID(tl):
				return p, false
			case name == "rid":
				p.RID = tl
			case name == "cid":
				p.CID = tl
			case name == "group":
				p.Group = tl
			case name == "verb":
				p.Verb = tl
			}
		} else if pl != tl {
			return p, false
		}
		if pmore != tmore {
			return p, false
		}
		if !pmore {
			return p, true
		}
		pattern, topic = prest, trest
	}
}
