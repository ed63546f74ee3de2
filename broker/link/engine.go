package link

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// Engine is the kind of MQTT server that a link connects to. The zero value is Troupe.
type Engine string

// The engines.
const (
	Troupe    Engine = "troupe"    // our broker
	Mosquitto Engine = "mosquitto" // Eclipse Mosquitto 2
	NATS      Engine = "nats"      // nats-server 2 with JetStream, one node or a cluster
)

// engines says how a client deals with each engine.
var engines = map[Engine]struct {
	// separator stands in a client id between name and suffix. NATS refuses a dot, and brokers of releases
	// before v0.3.0 an underscore.
	separator string
	// maxSubscribeQoS is the most that a subscription asks for. At NATS each subscription of QoS 1 is a consumer
	// that the nodes replicate, which takes a robot's dozen a second; at QoS 0 a message is delivered over the
	// connection only, and the contract shows what is lost with one: answers, state_seq, documents that are read again.
	maxSubscribeQoS byte
	// maxLiveQoS is the most with which Link.PublishLive publishes. A node of NATS delivers a message of QoS 1 and then
	// stores it on most nodes; while these elect a leader it acknowledges nothing, with 1024 unacknowledged messages it
	// reads nothing more of the connection, and after 5 s it closes it.
	maxLiveQoS byte
	// cluster says that the addresses of a link are nodes of one cluster: all of them are equal, and what a client finds at
	// one it finds at each. Otherwise the first address is the preferred broker, and the others are its standbys.
	cluster bool
}{
	Troupe:    {".", 2, 2, false},
	Mosquitto: {".", 2, 2, false},
	NATS:      {"_", 0, 0, true},
}

// ParseEngine returns the engine of that name.
func ParseEngine(name string) (Engine, error) {
	if _, known := engines[Engine(name)]; !known {
		return "", fmt.Errorf("%q is no engine of MQTT: want %s, %s or %s", name, Troupe, Mosquitto, NATS)
	}
	return Engine(name), nil
}

// ClientID returns the id of a client of that name, whose connection has a suffix or none.
func (e Engine) ClientID(name, suffix string) string {
	if suffix == "" {
		return name
	}
	return name + engines[e].separator + suffix
}

// IsCluster reports whether the addresses of a link may be nodes of one cluster, so that a message reaches the clients of all.
func (e Engine) IsCluster() bool { return engines[e].cluster }

// SubscribeQoS returns the QoS to ask for where qos is wanted.
func (e Engine) SubscribeQoS(qos byte) byte { return min(qos, engines[e].maxSubscribeQoS) }

// liveQoS returns the QoS of a message for those that are connected now.
func (e Engine) liveQoS(qos byte) byte { return min(qos, engines[e].maxLiveQoS) }

// orderNodes returns the URLs of a cluster's nodes in the order for a client of that name, whatever their order in its list: clients
// have the same list as a rule, and are to be on all nodes. At an engine without clusters the order stays, because the first URL is
// that of the preferred broker.
//
// All but the last character of a name chooses a node, from which the last one goes on. Names that end in odd characters, such as a
// and 1, go down through the nodes, and the others up. So a pair whose names differ only in that they end in a and b, or in 1 and 2,
// begins at two of three nodes, and whichever loses its node goes to the third; and names with one ending are at all nodes.
func (e Engine) orderNodes(name string, urls []string) []string {
	if !engines[e].cluster || len(urls) < 2 || name == "" {
		return urls
	}
	sorted := slices.Sorted(slices.Values(urls)) // each client may have its own list
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name[:len(name)-1]))
	last, n := int(name[len(name)-1]), len(urls)
	start := int(hash.Sum32()%uint32(n)) + last
	step := 1
	if last%2 == 1 {
		step = n - 1
	}
	ordered := make([]string, n)
	for i := range ordered {
		ordered[i] = sorted[(start+i*step)%n]
	}
	return ordered
}

// ErrOtherEngine: the CONNECT was refused as an engine other than Config.Engine refuses it. No engine says in MQTT 3.1.1 what it
// is before a client is connected.
var ErrOtherEngine = errors.New("the broker may be of another engine")

// otherEngine returns what to do about a refused CONNECT that another engine explains, or nil.
func (e Engine) otherEngine(clientID string, code byte) error {
	const clientIDRefused = 2
	switch {
	case code != clientIDRefused:
		return nil
	case e == NATS && strings.Contains(clientID, "_"):
		return fmt.Errorf("%w: Troupe's broker before v0.3.0 accepts no underscore in a client id; then use --engine troupe", ErrOtherEngine)
	case e != NATS && strings.Contains(clientID, "."):
		return fmt.Errorf("%w: NATS accepts no dot in a client id; then use --engine nats", ErrOtherEngine)
	}
	return nil
}

// Difference is a row of the table of differences between the engines in docs/cluster.md.
type Difference struct{ What, Troupe, Mosquitto, NATS string }

// Differences are what a client, or a person who runs a fleet, notices of the engine. What fleetd and robots rely on is the same
// on all of them: they use MQTT 3.1.1 and answers of their own, and no notice.
var Differences = []Difference{
	{
		What:      "client ids of fleetd and robots",
		Troupe:    "name, or name, dot and suffix; an underscore from v0.3.0 on",
		Mosquitto: "any; the same as at Troupe's",
		NATS:      "name, or name, underscore and suffix: it refuses a dot",
	},
	{
		What:      "whose client id",
		Troupe:    "bound to the user",
		Mosquitto: "any user may use any, and so end another's connection",
		NATS:      "any user may use any, and so end another's connection",
	},
	{
		What:      "QoS of their subscriptions",
		Troupe:    "as the table of topics says",
		Mosquitto: "the same",
		NATS: "0: each of QoS 1 is a consumer that all nodes keep. What is lost with a connection is asked for again after " +
			"it: retained documents, answers",
	},
	{
		What:      "QoS of commands and live stops",
		Troupe:    "1",
		Mosquitto: "1",
		NATS:      "0: at 1 each waits until a majority of the nodes has it. Their senders wait for the answer of the robot, as always",
	},
	{
		What:      "filters of a subscription",
		Troupe:    "any that has a topic that the client may read; it gets these",
		Mosquitto: "any; it gets what it may read",
		NATS:      "only such that the client may read all of: an observer lists its topics instead of `troupe/v1/#`",
	},
	{
		What:      "a refused message",
		Troupe:    "acknowledged, with a notice to the sender",
		Mosquitto: "acknowledged, without a notice",
		NATS:      "acknowledged, without a notice; the log of the node has it",
	},
	{
		What:      "a command to a robot that is away",
		Troupe:    "notice `undelivered`",
		Mosquitto: "no answer",
		NATS:      "no answer",
	},
	{
		What:      "a command or a stop with the retain flag",
		Troupe:    "not retained",
		Mosquitto: "retained; robots refuse the command, fleetd removes it",
		NATS:      "retained; robots refuse the command, fleetd removes it",
	},
	{
		What:      "a newer connection with the same client id",
		Troupe:    "ends the older one, with the notice `taken_over`",
		Mosquitto: "ends the older one; the other's presence or will shows it",
		NATS:      "ends the older one, also on another node; the other's presence or will shows it",
	},
	{
		What:      "rates",
		Troupe:    "limited for each client, stops exempt",
		Mosquitto: "not limited",
		NATS:      "not limited",
	},
	{
		What:      "a subscriber that does not read",
		Troupe:    "disconnected after 1 s",
		Mosquitto: "messages beyond `max_queued_messages` are dropped",
		NATS:      "disconnected after `write_deadline`, 10 s",
	},
	{
		What:      "wills",
		Troupe:    "only to say that the sender is lost, or to stop robots",
		Mosquitto: "on every topic that the client may write",
		NATS: "on every topic that the client may write; the wills of a node die with it, and robots that it had are offline " +
			"once their heartbeats are missed",
	},
	{
		What:      "whom a certificate names",
		Troupe:    "the URI of its holder",
		Mosquitto: "its common name",
		NATS:      "the URI of its holder, or the subject `CN=NAME,OU=ROLE` for roles other than robot and fleetd",
	},
	{
		What:      "certificates and passwords",
		Troupe:    "both at one listener",
		Mosquitto: "a listener for each",
		NATS:      "one of both at a node",
	},
	{
		What:      "a new robot",
		Troupe:    "needs its certificate alone",
		Mosquitto: "needs its line in the users file",
		NATS:      "needs its line in the users file, which may be there before the robot",
	},
	{
		What:      "a revoked robot",
		Troupe:    "disconnected at once",
		Mosquitto: "refused at its next connect, once `crlfile` was read again",
		NATS: "disconnected within seconds by `broker nats-users`; what it retained is deleted. By name alone: not by the " +
			"serial number of a certificate",
	},
	{
		What:      "retained documents after a restart",
		Troupe:    "gone; their writers publish them again",
		Mosquitto: "kept, with `persistence`",
		NATS:      "kept; after a power cut of all nodes as of the last `sync_interval`",
	},
}
