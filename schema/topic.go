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
	TopicStopHeartbeat  TopicKind = "stop_heartbeat"
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
	everybody = []Grant{{Role: RoleFleetd}, {Role: RoleAdmin}, {Role: RoleOperator}, {Role: RoleResponder}, {Role: RoleObserver},
		{Role: RoleConsole}}
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
	{Kind: TopicPresence, Pattern: "robots/{rid}/presence", QoS: 1, Retain: true, MaxBytes: 512, Message: "Presence",
		Publish: thisRobot, Read: plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, "rid"}),
		Purpose: "whether the robot is online", Rate: "per connection; will = lost"},
	{Kind: TopicHeartbeat, Pattern: "robots/{rid}/heartbeat", MaxBytes: 512, Message: "Heartbeat",
		Publish: thisRobot, Read: everybody,
		Purpose: "the control loop is alive", Rate: "every 2 s, see `heartbeat_ms`; every 10 s at rest"},
	{Kind: TopicState, Pattern: "robots/{rid}/state", QoS: 1, Retain: true, MaxBytes: 16 << 10, Message: "State",
		Publish: thisRobot, Read: plus(everybody, Grant{RoleStop, ""}),
		Purpose: "the whole state, one consistent picture", Rate: "on change, at the latest every 10 s; every 55 s at rest"},
	{Kind: TopicModes, Pattern: "robots/{rid}/modes", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "Modes",
		Publish: thisRobot, Read: everybody,
		Purpose: "the modes and why each cannot be selected now", Rate: "on change"},
	{Kind: TopicCaps, Pattern: "robots/{rid}/caps", QoS: 1, Retain: true, MaxBytes: 16 << 10, Message: "Caps",
		Publish: thisRobot, Read: everybody,
		Purpose: "what the robot is and can do", Rate: "per boot and on change"},
	{Kind: TopicActs, Pattern: "robots/{rid}/acts", QoS: 1, Retain: true, MaxBytes: 64 << 10, Message: "Acts",
		Publish: thisRobot, Read: everybody,
		Purpose: "acts taught on the robot", Rate: "per boot and on change"},
	{Kind: TopicReportedStory, Pattern: "robots/{rid}/reported/story", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "ReportedStory",
		Publish: thisRobot, Read: everybody,
		Purpose: "how far the robot is with the desired story", Rate: "when its phase changes; of changes at once only the last"},
	{Kind: TopicReportedConfig, Pattern: "robots/{rid}/reported/config", QoS: 1, Retain: true, MaxBytes: 32 << 10, Message: "ReportedConfig",
		Publish: thisRobot, Read: everybody,
		Purpose: "which values of the desired configuration are applied", Rate: "on change"},
	{Kind: TopicReportedMode, Pattern: "robots/{rid}/reported/mode", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "ReportedMode",
		Publish: thisRobot, Read: everybody,
		Purpose: "how far the robot is with the desired mode", Rate: "on change"},
	{Kind: TopicReportedActivities, Pattern: "robots/{rid}/reported/activities", QoS: 1, Retain: true, MaxBytes: 8 << 10,
		Message: "ReportedSet",
		Publish: thisRobot, Read: everybody,
		Purpose: "how far the robot is with the desired activities", Rate: "when its phase changes; of changes at once only the last"},
	{Kind: TopicReportedPlaces, Pattern: "robots/{rid}/reported/places", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "ReportedSet",
		Publish: thisRobot, Read: everybody,
		Purpose: "how far the robot is with the desired places", Rate: "when its phase changes; of changes at once only the last"},
	{Kind: TopicTelemetry, Pattern: "robots/{rid}/telemetry/{name}", MaxBytes: 2 << 10, Message: "Telemetry",
		Publish: thisRobot, Read: everybody,
		Purpose: "measurements as they change; the only name is drive", Rate: "at most 10/s per name"},
	{Kind: TopicEvent, Pattern: "robots/{rid}/event", QoS: 1, MaxBytes: 4 << 10, Message: "Event",
		Publish: thisRobot, Read: everybody,
		Purpose: "what happened, once", Rate: "20/s, see `event_rate`"},
	{Kind: TopicIntent, Pattern: "robots/{rid}/intent", QoS: 1, MaxBytes: 16 << 10, Message: "Intent",
		Publish: thisRobot, Read: listeners,
		Purpose: "an intent that the robot received, and its reaction; for responders", Rate: "per intent"},
	{Kind: TopicAck, Pattern: "robots/{rid}/ack/{cid}", QoS: 1, MaxBytes: 4 << 10, Message: "Ack",
		Publish: thisRobot, Read: append(plus(fleetSide, ownCID...), Grant{RoleConsole, ""}),
		Purpose: "answers to one client's commands", Rate: "per command"},
	{Kind: TopicLocalHeartbeat, Pattern: "robots/{rid}/heartbeat/{cid}", MaxBytes: 256, Message: "FleetHeartbeat",
		Publish: []Grant{{RoleConsole, "cid"}}, Read: toRobot,
		Purpose: "a console at the robot is connected to it; the robot does not learn the time from it", Rate: "every 1 s"},
	{Kind: TopicTeleop, Pattern: "robots/{rid}/cmd/{cid}/manual/velocity", MaxBytes: 512, Message: "VelocityFrame",
		Publish: []Grant{{RoleOperator, "cid"}, {RoleConsole, "cid"}, {RoleFleetd, "cid"}, {RoleAdmin, "cid"}}, Read: toRobot,
		Purpose: "one frame of manual driving; unanswered", Rate: "5 to 20/s per client and robot; the broker drops those beyond 50/s"},
	{Kind: TopicCmd, Pattern: "robots/{rid}/cmd/{cid}/{group}/{verb}", QoS: 1, MaxBytes: 8 << 10, Message: "Request",
		Publish: plus(senders, Grant{RoleConsole, "cid"}), Read: toRobot,
		Purpose: "a command; never retained; the sender is part of the topic", Rate: "at most 20/s per client and robot"},
	{Kind: TopicDesiredStory, Pattern: "robots/{rid}/desired/story", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "DesiredStory",
		Publish: fleetSide, Read: toRobot,
		Purpose: "which story the robot shall perform by default", Rate: "on change"},
	{Kind: TopicDesiredConfig, Pattern: "robots/{rid}/desired/config", QoS: 1, Retain: true, MaxBytes: 32 << 10, Message: "DesiredConfig",
		Publish: fleetSide, Read: toRobot,
		Purpose: "the robot's settings, all of them", Rate: "on change"},
	{Kind: TopicDesiredMode, Pattern: "robots/{rid}/desired/mode", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "DesiredMode",
		Publish: fleetSide, Read: toRobot,
		Purpose: "the mode to take after start-up, or once now", Rate: "on change"},
	{Kind: TopicDesiredStop, Pattern: "robots/{rid}/desired/stop", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "DesiredStop",
		Publish: fleetSide, Read: toRobot,
		Purpose: "the stops that people latched on this robot", Rate: "on change"},
	{Kind: TopicDesiredActivities, Pattern: "robots/{rid}/desired/activities", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "DesiredSet",
		Publish: fleetSide, Read: toRobot,
		Purpose: "the set of activities for autonomous life", Rate: "on change"},
	{Kind: TopicDesiredPlaces, Pattern: "robots/{rid}/desired/places", QoS: 1, Retain: true, MaxBytes: 8 << 10, Message: "DesiredSet",
		Publish: fleetSide, Read: toRobot,
		Purpose: "the map and the named points", Rate: "on change"},
	{Kind: TopicSim, Pattern: "robots/{rid}/sim/{name}", QoS: 1, MaxBytes: 512, Message: "SimInput",
		Publish: []Grant{{Role: RoleAdmin}}, Read: plus(thisRobot, Grant{RoleAdmin, ""}),
		Purpose: "a fault or signal for a simulated body, see below; a robot without `--sim-faults` does not subscribe",
		Rate:    "for tests and demonstrations"},
	{Kind: TopicBlob, Pattern: "blobs/{sha256}", QoS: 1, Retain: true, MaxBytes: 256 << 10,
		Publish: fleetSide, Read: plus(fleetSide, Grant{RoleRobot, ""}),
		Purpose: "immutable bytes named by their digest", Rate: "while wanted"},
	{Kind: TopicFleetPresence, Pattern: "fleet/presence", QoS: 1, Retain: true, MaxBytes: 512, Message: "Presence",
		Publish: fleetSide, Read: plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, ""}),
		Purpose: "whether the leading fleetd is online", Rate: "per connection; will = lost"},
	{Kind: TopicFleetHeartbeat, Pattern: "fleet/heartbeat/{cid}", MaxBytes: 256, Message: "FleetHeartbeat",
		Publish: []Grant{{RoleFleetd, "cid"}, {RoleAdmin, "cid"}}, Read: plus(everybody, Grant{RoleRobot, ""}),
		Purpose: "fleetd is connected to the robots; the fleet's time; from every instance", Rate: "every 1 s"},
	{Kind: TopicFleetStop, Pattern: "fleet/stop", QoS: 1, Retain: true, MaxBytes: 1 << 10, Message: "FleetStop",
		Publish: fleetSide, Read: plus(everybody, Grant{RoleStop, ""}, Grant{RoleRobot, ""}),
		Purpose: "the newest software stop that is latched on all robots; earlier ones are in desired/stop of each robot", Rate: "on change"},
	{Kind: TopicFleetStopCmd, Pattern: "fleet/cmd/{cid}/stop", QoS: 1, MaxBytes: 1 << 10, Message: "StopRequest",
		Publish: senders, Read: plus(fleetSide, Grant{RoleRobot, ""}),
		Purpose: "a live software stop of all or some robots, without fleetd, received by robots and fleetd", Rate: "urgent"},
	{Kind: TopicFleetAck, Pattern: "fleet/ack/{cid}", QoS: 1, MaxBytes: 4 << 10, Message: "Ack",
		Publish: fleetSide, Read: plus(fleetSide, ownCID...),
		Purpose: "fleetd's answers to one client's stops", Rate: "per stop"},
	{Kind: TopicRevoked, Pattern: "fleet/revoked", QoS: 1, Retain: true, MaxBytes: 256 << 10, Message: "Revoked",
		Publish: fleetSide, Read: fleetSide,
		Purpose: "names and certificates that the broker no longer accepts", Rate: "on change"},
	{Kind: TopicNotice, Pattern: "clients/{cid}/notice", QoS: 1, MaxBytes: 1 << 10, Message: "Notice",
		Publish: []Grant{{RoleBroker, ""}, {RoleFleetd, ""}},
		Read:    append(plus(fleetSide, ownCID...), Grant{RoleObserver, "cid"}, Grant{RoleConsole, "cid"}, Grant{RoleRobot, "cid"}),
		Purpose: "a message of the client was rejected, a command of it reached no robot, or a newer connection replaced its connection; from " +
			"fleetd: it removed a retained command or stop of the client", Rate: "per refusal, combined"},
	{Kind: TopicStopHeartbeat, Pattern: "clients/{cid}/heartbeat", MaxBytes: 256,
		Publish: []Grant{{RoleStop, "cid"}}, Read: fleetSide,
		Purpose: "a stop button works: it would send a stop over the same connection; what the payload says is not read", Rate: "every 2 s"},
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
