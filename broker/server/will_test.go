package server_test

import (
	"fmt"
	"strings"
	"testing"

	"troupe/broker/brokertest"
)

// lost is the presence that a will publishes.
func lost(session string) string {
	return fmt.Sprintf(`{"state":"lost","session":%q,"boot":"b"}`, session)
}

func TestForbiddenWillsAreRefused(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name string
		will brokertest.Message
		ok   bool
	}{
		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true}, true},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/presence", QoS: 1, Retain: true}, true},
		// a stop button that stops the robot when its connection is lost
		{"op1", brokertest.Message{Topic: r1 + "cmd/op1/safety/stop", QoS: 1}, true},

		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true, Payload: []byte(online)}, false},
		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true, Payload: []byte("gone")}, false},
		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true, Payload: []byte(strings.Replace(lost("s"), "s", "S", 1))}, false},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/presence", QoS: 1, Retain: true, Payload: []byte(online)}, false},
		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1}, false},
		{"r1", brokertest.Message{Topic: r1 + "event", QoS: 1}, false},
		{"r1", brokertest.Message{Topic: "troupe/v1/robots/r2/presence", QoS: 1, Retain: true}, false},
		{"r1", brokertest.Message{Topic: "troupe/v1/robots/r2/cmd/r1/mode/set", QoS: 1}, false},
		{"r1", brokertest.Message{Topic: "troupe/v1/robots/#", QoS: 1, Retain: true}, false},
		{"r1", brokertest.Message{Topic: "$SYS/broker/version", QoS: 1, Retain: true}, false},
		{"obs", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true}, false},
		{"op1", brokertest.Message{Topic: r1 + "cmd/op2/safety/stop", QoS: 1}, false},
		{"op1", brokertest.Message{Topic: r1 + "cmd/op1/safety/stop", QoS: 1, Retain: true}, false},
		{"op1", brokertest.Message{Topic: r1 + "cmd/op1/mode/set", QoS: 1, Retain: true}, false},
		{"op1", brokertest.Message{Topic: r1 + "cmd/op1/safety/enable", QoS: 1}, false},
		{"admin", brokertest.Message{Topic: r1 + "cmd/admin/mode/set", QoS: 1}, false},
		{"op1", brokertest.Message{Topic: "troupe/v1/fleet/cmd/op1/stop", QoS: 1}, true},
		{"admin", brokertest.Message{Topic: r1 + "desired/mode", QoS: 1, Retain: true}, false},
		{"fleetd", brokertest.Message{Topic: r1 + "desired/story", QoS: 1, Retain: true}, false},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/stop", QoS: 1, Retain: true}, false}, // the document could also release stops
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/revoked", QoS: 1, Retain: true}, false},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/heartbeat/fleetd"}, false},
	} {
		if c.will.Payload == nil {
			c.will.Payload = []byte(lost("s"))
		}
		got, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: c.name, ClientID: c.name, Will: &c.will})
		if (code == 0) != c.ok || !c.ok && code != 5 {
			t.Errorf("%s with will %v: code %d", c.name, c.will, code)
		}
		if got != nil {
			got.Close()
		}
	}
}

func TestWillIsSentOnlyForLostClients(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "obs")
	watcher.Subscribe("troupe/v1/robots/+/presence")
	// Ten robots, because the library alone does not send every will that it should not send.
	for i := range 10 {
		name := fmt.Sprintf("r%d", i)
		topic := "troupe/v1/robots/" + name + "/presence"
		robot := func(session string) *brokertest.Client {
			return b.Client(t, name, brokertest.WithWill(brokertest.Message{Topic: topic, Payload: []byte(lost(session)), QoS: 1, Retain: true}))
		}
		robot("goodbye").Close()
		first := robot("taken over")
		second := robot("lost")
		first.Lost()
		second.Cut()
		if m := watcher.Expect("#"); m.Topic != topic || string(m.Payload) != lost("lost") {
			t.Fatalf("will: %v", m)
		}
	}
	b.Client(t, "r99").Retain("troupe/v1/robots/r99/presence", online)
	if m := watcher.Expect("#"); !strings.Contains(m.Topic, "r99") {
		t.Fatalf("another will: %v", m)
	}
}

func TestClosingBrokerSendsNoWills(t *testing.T) {
	b := start(t)
	watcher := brokertest.Connect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: "obs", ClientID: "obs"})
	watcher.Subscribe("troupe/v1/robots/+/presence")
	for i := range 20 {
		name := fmt.Sprintf("r%d", i)
		will := brokertest.Message{Topic: "troupe/v1/robots/" + name + "/presence", Payload: []byte(lost("s")), QoS: 1, Retain: true}
		brokertest.Connect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: name, ClientID: name, Will: &will})
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	watcher.Lost()
	if ms := watcher.Inbox("#"); len(ms) > 0 {
		t.Fatalf("wills: %v", ms)
	}
	if n := b.Status()["wills_suppressed"]; n != 20 {
		t.Fatalf("%d wills suppressed, want 20", n)
	}
}
