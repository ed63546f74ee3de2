package link

import "fmt"

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
}{
	Troupe:    {".", 2, 2},
	Mosquitto: {".", 2, 2},
	NATS:      {"_", 0, 0},
}

// ParseEngine returns the engine of that name.
func ParseEngine(name string) (Engine, error) {
	if _, known := engines[Engine(name)]; !known {
		return "", fmt.Errorf("%q is no engine of MQTT: want %s, %s or %s", name, Troupe, Mosquitto, NATS)
	}
	return Engine(name), nil
}

// clientID returns the id of a client of that name, whose connection has a suffix or none.
func (e Engine) clientID(name, suffix string) string {
	if suffix == "" {
		return name
	}
	return name + engines[e].separator + suffix
}

// subscribeQoS returns the QoS to ask for where qos is wanted.
func (e Engine) subscribeQoS(qos byte) byte { return min(qos, engines[e].maxSubscribeQoS) }

// liveQoS returns the QoS of a message for those that are connected now.
func (e Engine) liveQoS(qos byte) byte { return min(qos, engines[e].maxLiveQoS) }
