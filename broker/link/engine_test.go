package link

import "testing"

func TestClientIDAndQoSFitTheEngine(t *testing.T) {
	for engine, want := range map[Engine]struct {
		id  string
		qos byte
	}{Troupe: {"r1.blob", 1}, Mosquitto: {"r1.blob", 1}, NATS: {"r1_blob", 0}} {
		e, err := ParseEngine(string(engine))
		if err != nil || e.clientID("r1", "blob") != want.id || e.clientID("r1", "") != "r1" || e.subscribeQoS(1) != want.qos {
			t.Errorf("%s: %s and QoS %d, %v", engine, e.clientID("r1", "blob"), e.subscribeQoS(1), err)
		}
	}
	if e, err := ParseEngine("emqx"); err == nil {
		t.Errorf("%q is an engine", e)
	}
}
