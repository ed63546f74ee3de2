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
	TopicTelemetry      TopicKind = "telemetry"
	TopicEvent          TopicKind = "event"
	TopicIntent         TopicKind = "intent"
	TopicAck            TopicKind = "ack"
	TopicLocalHeartbeat TopicKind = "local_heartbeat"
	TopicCmd            TopicKind = "cmd"
	TopicTeleop         TopicKind = "teleop"
	TopicBlob           TopicKind = "blob"
	TopicFleetPresence  TopicKind = "fleet_presence"
	TopicFleetHeartbeat TopicKind = "fleet_heartbeat"
	TopicFleetStop      TopicKind = "fleet_stop"
	TopicFleetStopCmd   TopicKind = "fleet_stop_cmd"
	TopicFleetAck       TopicKind = "fleet_ack"
	TopicRevoked        TopicKind = "revoked"
	TopicNotice         TopicKind = "notice"
	TopicSim            TopicKind = "sim"
)

// Desired documents of the fleet, and the robot's report on each. There is no report on a
// stop: the robot's state lists its latches.
const (
	TopicDesiredStory       TopicKind = "desired_story"
	TopicDesiredConfig      TopicKind = "desired_config"
	TopicDesiredMode        TopicKind = "desired_mode"
	TopicDesiredStop        TopicKind = "desired_stop"
	TopicDesiredActivities  TopicKind = "desired_activities"
	TopicDesiredPlaces      TopicKind = "desired_places"
	TopicReportedStory      TopicKind = "reported_story"
	TopicReportedConfig     TopicKind = "reported_config"
	TopicReportedMode       TopicKind = "reported_mode"
	TopicReportedActivities TopicKind = "reported_activities"
	TopicReportedPlaces     TopicKind = "reported_places"
)

// Grant lets a role use a topic. If Own is set, that parameter of the topic has to be the
// name of the identity: rid for a robot, cid for a client. A console belongs to one robot
// and may only use topics with the rid of this robot.
type Grant struct {
	Role Role
	Own  string
}

// Topic is one row of the topic table.
type Topic struct {
	Kind TopicKind
	// Pattern is the part after namespace and version; {rid} is a robot, {cid} a
	// client, {sha256} a digest, {name} a stream, {group} and {verb} a command. A row
	// with a literal level precedes the row that has a parameter there.
	Pattern  string
	QoS      byte
	Retain   bool
	MaxBytes int
	Publish  []Grant // for cmd, the verb table restricts it further
	Read     []Grant
	Message  string // type of the payload; empty = raw bytes
	Purpose  string
	Rate     string
}

var (
	fleetSide = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}}
	everybody = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}, {Role: RoleOperator}, {Role: RoleResponder}, {Role: RoleObserver}, {Role: RoleConsole}}
	// Those who answer people. What people said is for nobody else.
	listeners = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}, {Role: RoleOperator}, {Role: RoleResponder}, {Role: RoleConsole}}
	thisRobot = []Grant{{Role: RoleRobot, Own: "rid"}}
	ownCID    = []Grant{{RoleOperator, "cid"}, {RoleResponder, "cid"}, {RoleStop, "cid"}}
	senders   = plus(ownCID, Grant{RoleFleetd, "cid"}, Grant{RoleAdmin, "cid"})
	toRobot   = plus(fleetSide, Grant{RoleRobot, "rid"}, Grant{RoleConsole, ""})
)

func plus(grants []Grant, more ...Grant) []Grant {
	return append(append([]Grant(nil), grants...), more...)
}

// Protocol is the version of the wire contract. Every topic contains the major version;
// within a major version there are only additions.
const Protocol = "1.0"

// Topics is the topic table. A topic that is not listed does not exist.
var Topics = []Topic{
	{TopicPresence, "robots/{rid}/presence", 1, true, 512, thisRobot, plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, "rid"}), "Presence", "whether the robot is online", "per connection; will = lost"},
	{TopicHeartbeat, "robots/{rid}/heartbeat", 0, false, 512, thisRobot, everybody, "Heartbeat", "the control loop is alive", "every 2 s, see `heartbeat_ms`"},
	{TopicState, "robots/{rid}/state", 1, true, 16 << 10, thisRobot, plus(everybody, Grant{RoleStop, ""}), "State", "the whole state, one consistent picture", "on change, at the latest every 10 s"},
	{TopicModes, "robots/{rid}/modes", 1, true, 8 << 10, thisRobot, everybody, "Modes", "the modes and why each cannot be selected now", "on change"},
	{TopicCaps, "robots/{rid}/caps", 1, true, 16 << 10, thisRobot, everybody, "Caps", "what the robot is and can do", "per boot and on change"},
	{TopicActs, "robots/{rid}/acts", 1, true, 64 << 10, thisRobot, everybody, "Acts", "acts taught on the robot", "per boot and on change"},
	{TopicReportedStory, "robots/{rid}/reported/story", 1, true, 8 << 10, thisRobot, everybody, "ReportedStory", "how far the robot is with the desired story", "on each phase"},
	{TopicReportedConfig, "robots/{rid}/reported/config", 1, true, 32 << 10, thisRobot, everybody, "ReportedConfig", "which values of the desired configuration are applied", "on change"},
	{TopicReportedMode, "robots/{rid}/reported/mode", 1, true, 8 << 10, thisRobot, everybody, "ReportedMode", "how far the robot is with the desired mode", "on change"},
	{TopicReportedActivities, "robots/{rid}/reported/activities", 1, true, 8 << 10, thisRobot, everybody, "ReportedSet", "how far the robot is with the desired activities", "on each phase"},
	{TopicReportedPlaces, "robots/{rid}/reported/places", 1, true, 8 << 10, thisRobot, everybody, "ReportedSet", "how far the robot is with the desired places", "on each phase"},
	{TopicTelemetry, "robots/{rid}/telemetry/{name}", 0, false, 2 << 10, thisRobot, everybody, "Telemetry", "measurements as they change; the only name is drive", "at most 10/s per name"},
	{TopicEvent, "robots/{rid}/event", 1, false, 4 << 10, thisRobot, everybody, "Event", "what happened, once", "20/s, see `event_rate`"},
	{TopicIntent, "robots/{rid}/intent", 1, false, 16 << 10, thisRobot, listeners, "Intent", "an intent that the robot received, and its reaction; for responders", "per intent"},
	{TopicAck, "robots/{rid}/ack/{cid}", 1, false, 4 << 10, thisRobot, append(plus(fleetSide, ownCID...), Grant{RoleConsole, ""}), "Ack", "answers to one client's commands", "per command"},
	{TopicLocalHeartbeat, "robots/{rid}/heartbeat/{cid}", 0, false, 256, []Grant{{RoleConsole, "cid"}}, toRobot, "FleetHeartbeat", "a console at the robot is connected to it; the robot does not learn the time from it", "every 1 s"},
	{TopicTeleop, "robots/{rid}/cmd/{cid}/manual/velocity", 0, false, 512, []Grant{{RoleOperator, "cid"}, {RoleConsole, "cid"}, {RoleFleetd, "cid"}, {RoleAdmin, "cid"}}, toRobot, "VelocityFrame", "one frame of manual driving; unanswered", "5 to 20/s per client and robot; the broker drops those beyond 50/s"},
	{TopicCmd, "robots/{rid}/cmd/{cid}/{group}/{verb}", 1, false, 8 << 10, plus(senders, Grant{RoleConsole, "cid"}), toRobot, "Request", "a command; never retained; the sender is part of the topic", "at most 20/s per client and robot"},
	{TopicDesiredStory, "robots/{rid}/desired/story", 1, true, 8 << 10, fleetSide, toRobot, "DesiredStory", "which story the robot shall perform by default", "on change"},
	{TopicDesiredConfig, "robots/{rid}/desired/config", 1, true, 32 << 10, fleetSide, toRobot, "DesiredConfig", "the robot's settings, all of them", "on change"},
	{TopicDesiredMode, "robots/{rid}/desired/mode", 1, true, 8 << 10, fleetSide, toRobot, "DesiredMode", "the mode to take after start-up, or once now", "on change"},
	{TopicDesiredStop, "robots/{rid}/desired/stop", 1, true, 8 << 10, fleetSide, toRobot, "DesiredStop", "the stops that people latched on this robot", "on change"},
	{TopicDesiredActivities, "robots/{rid}/desired/activities", 1, true, 8 << 10, fleetSide, toRobot, "DesiredSet", "the set of activities for autonomous life", "on change"},
	{TopicDesiredPlaces, "robots/{rid}/desired/places", 1, true, 8 << 10, fleetSide, toRobot, "DesiredSet", "the map and the named points", "on change"},
	{TopicSim, "robots/{rid}/sim/{name}", 1, false, 512, []Grant{{Role: RoleAdmin}}, plus(thisRobot, Grant{RoleAdmin, ""}), "SimInput", "a fault or signal for a simulated body, see below; a robot without `--sim-faults` does not subscribe", "for tests and demonstrations"},
	{TopicBlob, "blobs/{sha256}", 1, true, 256 << 10, fleetSide, plus(fleetSide, Grant{RoleRobot, ""}), "", "immutable bytes named by their digest", "while wanted"},
	{TopicFleetPresence, "fleet/presence", 1, true, 512, fleetSide, plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, ""}), "Presence", "whether the leading fleetd is online", "per connection; will = lost"},
	{TopicFleetHeartbeat, "fleet/heartbeat/{cid}", 0, false, 256, []Grant{{RoleFleetd, "cid"}, {RoleAdmin, "cid"}}, plus(everybody, Grant{RoleRobot, ""}), "FleetHeartbeat", "fleetd is connected to the robots; the fleet's time; from every instance", "every 1 s"},
	{TopicFleetStop, "fleet/stop", 1, true, 1 << 10, fleetSide, plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, ""}), "FleetStop", "the newest software stop that is latched on all robots; earlier ones are in desired/stop of each robot", "on change"},
	{TopicFleetStopCmd, "fleet/cmd/{cid}/stop", 1, false, 1 << 10, senders, plus(fleetSide, Grant{RoleRobot, ""}), "StopRequest", "a live software stop of all or some robots, without fleetd, received by robots and fleetd", "urgent"},
	{TopicFleetAck, "fleet/ack/{cid}", 1, false, 4 << 10, fleetSide, plus(fleetSide, ownCID...), "Ack", "fleetd's answers to one client's stops", "per stop"},
	{TopicRevoked, "fleet/revoked", 1, true, 256 << 10, fleetSide, fleetSide, "Revoked", "names and certificates that the broker no longer accepts", "on change"},
	{TopicNotice, "clients/{cid}/notice", 1, false, 1 << 10, []Grant{{RoleBroker, ""}, {RoleFleetd, ""}}, append(plus(fleetSide, ownCID...), Grant{RoleObserver, "cid"}, Grant{RoleConsole, "cid"}, Grant{RoleRobot, "cid"}), "Notice", "a message of the client was rejected, a command of it reached no robot, or a newer connection replaced its connection; from fleetd: it removed a retained command or stop of the client", "per refusal, combined"},
}

// MaxTopicLevels and MaxTopicBytes are the limits of every topic.
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

// Namespace is the first level of every topic, "troupe" unless configured otherwise. The
// second level is the major version of the wire contract.
type Namespace string

// DefaultNamespace is used if none is configured.
const DefaultNamespace Namespace = "troupe"

// Root returns the prefix of every topic.
func (n Namespace) Root() string { return string(n) + versionLevel }

const versionLevel = "/v1/"

// Topic fills the pattern of kind k with params in order. If a parameter is a wildcard,
// the result is a topic filter.
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

// TopicParams holds the parameters of a topic; those that its pattern does not have are
// empty.
type TopicParams struct {
	RID, CID, Group, Verb, SHA256, Name string
}

// Get returns a parameter by its name in patterns.
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
	case "name":
		return p.Name
	}
	return ""
}

// set is the inverse of Get.
func (p *TopicParams) set(name, value string) {
	switch name {
	case "rid":
		p.RID = value
	case "cid":
		p.CID = value
	case "group":
		p.Group = value
	case "verb":
		p.Verb = value
	case "sha256":
		p.SHA256 = value
	case "name":
		p.Name = value
	}
}

// Match returns the row and the parameters of a concrete topic. It fails for a topic that
// is not in the table or whose parameters are not valid ids.
func (n Namespace) Match(topic string) (Topic, TopicParams, bool) {
	rest, ok := strings.CutPrefix(topic, string(n))
	if ok {
		rest, ok = strings.CutPrefix(rest, versionLevel)
	}
	if !ok || len(topic) > MaxTopicBytes {
		return Topic{}, TopicParams{}, false
	}
	var p TopicParams
	row := topicTree.match(rest, true, &p)
	if row == nil {
		return Topic{}, TopicParams{}, false
	}
	return *row, p, true
}

// topicTree is the topic table by levels. A match takes as many steps as the topic has
// levels, however many rows the table has: brokers and robots match every message.
var topicTree = newTopicNode(Topics)

// topicNode is what may follow the first levels of a topic.
type topicNode struct {
	row     *Topic                // of the pattern that ends here, or nil
	literal map[string]*topicNode // next level
	param   *topicNode            // next level if it is a parameter, or nil
	name    string                // of param
}

func newTopicNode(table []Topic) *topicNode {
	root := &topicNode{}
	for i := range table {
		n := root
		for level := range strings.SplitSeq(table[i].Pattern, "/") {
			n = n.add(level)
		}
		if n.row != nil {
			panic("schema: two rows for topic " + table[i].Pattern)
		}
		n.row = &table[i]
	}
	return root
}

// add returns the child for a level of a pattern.
func (n *topicNode) add(level string) *topicNode {
	if level[0] != '{' {
		if n.literal == nil {
			n.literal = map[string]*topicNode{}
		}
		if n.literal[level] == nil {
			n.literal[level] = &topicNode{}
		}
		return n.literal[level]
	}
	name := level[1 : len(level)-1]
	if n.param == nil {
		n.param, n.name = &topicNode{}, name
	}
	if n.name != name {
		panic("schema: parameters " + n.name + " and " + name + " at the same level")
	}
	return n.param
}

// match returns the row of rest, the levels after those of n; without more there are
// none. A literal level is preferred, as in the order of the table. p is written only
// once the whole topic matches, so a failed branch leaves nothing behind.
func (n *topicNode) match(rest string, more bool, p *TopicParams) *Topic {
	if !more {
		return n.row
	}
	level, rest, more := strings.Cut(rest, "/")
	if child := n.literal[level]; child != nil {
		if row := child.match(rest, more, p); row != nil {
			return row
		}
	}
	if n.param == nil || !validParam(n.name, level) {
		return nil
	}
	row := n.param.match(rest, more, p)
	if row != nil {
		p.set(n.name, level)
	}
	return row
}

func validParam(name, value string) bool {
	if name == "sha256" {
		return ValidSHA256(value)
	}
	return ValidID(value)
}
