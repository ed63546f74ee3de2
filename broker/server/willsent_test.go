package server_test

import (
	"fmt"
	"slices"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// A client that is disconnected for abuse is lost, so its will is sent: the stop of a
// button, or the presence of a robot.
func TestWillIsSentForClientCutForAbuse(t *testing.T) {
	forbidden := map[string][]byte{
		"publishes":     packet("no", ""),
		"subscriptions": brokertest.Packet(0x82, append([]byte{0, 1, 0, 2}, "no\x00"...)),
	}
	for what, p := range forbidden {
		b := start(t)
		robot := b.Client(t, "r1")
		robot.Subscribe(r1 + "cmd/#")
		button := b.Client(t, "op1", brokertest.WithWill(brokertest.Message{Topic: r1 + "cmd/op1/safety/stop", QoS: 1, Payload: []byte(what)}))
		for range 2000 {
			if err := button.Raw(p); err != nil {
				break
			}
		}
		button.Lost()
		if m := robot.Expect("#"); string(m.Payload) != what {
			t.Errorf("forbidden %s: the will arrived as %v", what, m)
		}
		if n := b.Status()["clients_cut_for_abuse"]; n != 1 {
			t.Errorf("forbidden %s: %d clients cut", what, n)
		}
	}
}

// Packets of robots are processed on shared goroutines, those of others on the connection's own.
func TestPanicEndsOnlyItsConnection(t *testing.T) {
	b := start(t, brokertest.InProcess)
	if err := server.PanicsAt(b.Backend.(*server.Server), r1+"event"); err != nil {
		t.Fatal(err)
	}
	if err := server.PanicsAt(b.Backend.(*server.Server), r1+"cmd/op1/sys/ping"); err != nil {
		t.Fatal(err)
	}
	watcher := b.Client(t, "r2")
	for _, name := range []string{"r1", "op1"} {
		for range 3 {
			c := b.Client(t, name)
			_ = c.Raw(slices.Concat(packet(r1+"event", "{}"), packet(r1+"cmd/op1/sys/ping", "{}")))
			c.Lost()
		}
		brokertest.Eventually(t, "the library has forgotten "+name, func() bool { return len(server.Connected(b.Backend.(*server.Server))) == 1 })
	}
	watcher.Ping()
	if n := b.Status()["connections_panicked"]; n != 6 {
		t.Errorf("%d panics", n)
	}
}

func TestWillIsSentAfterPanic(t *testing.T) {
	b := start(t)
	if err := server.PanicsAt(b.Backend.(*server.Server), r1+"event"); err != nil {
		t.Fatal(err)
	}
	watcher := b.Client(t, "obs")
	watcher.Subscribe(r1 + "presence")
	connect := func() *brokertest.Client {
		return b.Client(t, "r1", brokertest.WithWill(
			brokertest.Message{Topic: r1 + "presence", Payload: []byte(lost("s")), QoS: 1, Retain: true}))
	}
	for round := range 3 {
		robot := connect()
		robot.Retain(r1+"presence", online)
		watcher.Expect(r1 + "presence")
		_ = robot.Raw(packet(r1+"event", fmt.Sprint(round)))
		robot.Lost()
		if m := watcher.Expect(r1 + "presence"); string(m.Payload) != lost("s") {
			t.Fatalf("the will arrived as %v", m)
		}
	}
	// The broker counts a will after it has published it.
	brokertest.Eventually(t, "three panics and three wills are counted", func() bool {
		s := b.Status()
		return s["connections_panicked"] == 3 && s["wills_sent"] == 3
	})
	connect().Close()
	if ms := watcher.Inbox("#"); len(ms) > 0 {
		t.Errorf("will of a client that sent DISCONNECT: %v", ms)
	}
}

// The stop of a panel that is lost must not depend on whether another program already uses its id.
func TestStopOfAWillIsSentAtTakeOverUnlessTheNewConnectionArmsIt(t *testing.T) {
	for _, topic := range []string{r1 + "cmd/op1/safety/stop", "troupe/v1/fleet/cmd/op1/stop"} {
		armed := brokertest.WithWill(brokertest.Message{Topic: topic, QoS: 1, Payload: []byte("lost")})
		for what, c := range map[string]struct {
			now  []func(*brokertest.ConnectPacket)
			sent bool
		}{
			"the same will": {now: []func(*brokertest.ConnectPacket){armed}},
			"no will":       {sent: true},
			"another payload": {now: []func(
				*brokertest.ConnectPacket){brokertest.WithWill(brokertest.Message{Topic: topic, QoS: 1, Payload: []byte("x")})}, sent: true},
			"a will for another": {now: []func(
				*brokertest.ConnectPacket){brokertest.WithWill(
				brokertest.Message{Topic: "troupe/v1/robots/r2/cmd/op1/safety/stop", QoS: 1, Payload: []byte("lost")})}, sent: true},
			"a will that is weak": {now: []func(
				*brokertest.ConnectPacket){brokertest.WithWill(brokertest.Message{Topic: topic, QoS: 0, Payload: []byte("lost")})}},
		} {
			b := start(t)
			robot := b.Client(t, "r1")
			robot.Subscribe(r1+"cmd/#", "troupe/v1/fleet/cmd/+/stop")
			old := b.Client(t, "op1", armed)
			now := b.Client(t, "op1", c.now...)
			old.Lost()
			b.Client(t, "op2").Publish(r1+"cmd/op2/sys/ping", "")
			robot.Expect(r1 + "cmd/op2/sys/ping")
			if got := robot.Inbox("#"); (len(got) == 1) != c.sent || c.sent && (got[0].Topic != topic || string(got[0].Payload) != "lost") {
				t.Errorf("%s: a newer connection with %s: the robot received %v", topic, what, got)
			}
			now.Close()
		}
	}
}
