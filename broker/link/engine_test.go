package link

import "testing"

func TestClientIDAndQoSFitTheEngine(t *testing.T) {
	for engine, want := range map[Engine]struct {
		id  string
		qos byte // of subscriptions, and of commands and live stops
	}{Troupe: {"r1.blob", 1}, Mosquitto: {"r1.blob", 1}, NATS: {"r1_blob", 0}} {
		e, err := ParseEngine(string(engine))
		if err != nil || e.clientID("r1", "blob") != want.id || e.clientID("r1", "") != "r1" || e.subscribeQoS(1) != want.qos || e.liveQoS(1) != want.qos {
			t.Errorf("%s: %s, subscriptions at QoS %d, live stops at %d, %v", engine, e.clientID("r1", "blob"), e.subscribeQoS(1), e.liveQoS(1), err)
		}
	}
	if e, err := ParseEngine("emqx"); err == nil {
		t.Errorf("%q is an engine", e)
	}
}
