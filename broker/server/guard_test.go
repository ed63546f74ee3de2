package server_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

const r1 = "troupe/v1/robots/r1/"

const online = `{"state":"online","session":"s","boot":"b"}`

func notice(t *testing.T, c *brokertest.Client) schema.Notice {
	t.Helper()
	m := c.Expect("troupe/v1/clients/+/notice")
	n, ps := schema.DecodeStrict[schema.Notice](m.Payload)
	if len(ps) > 0 {
		t.Fatalf("notice %s: %v", m.Payload, ps)
	}
	return n
}

func TestCommandAndAnswerAreRouted(t *testing.T) {
	b := start(t)
	robot, op, other := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "op2")
	robot.Subscribe(r1 + "cmd/#")
	op.Subscribe(r1 + "ack/op1")
	other.Subscribe("troupe/v1/#")
	op.Publish(r1+"cmd/op1/mode/set", "ato")
	if m := robot.Expect("#"); m.Topic != r1+"cmd/op1/mode/set" || string(m.Payload) != "ato" {
		t.Fatalf("robot got %v", m)
	}
	robot.Publish(r1+"ack/op1", `{}`)
	op.Expect(r1 + "ack/op1")
	robot.Publish(r1+"event", `{}`)
	other.Expect(r1 + "event")
	if ms := other.Inbox("#"); len(ms) > 0 {
		t.Fatalf("op2 subscribed to everything and received messages for op1: %v", ms)
	}
}

// BenchmarkCommand measures the broker's work for one command of QoS 0 to one robot,
// together with that of both clients.
func BenchmarkCommand(b *testing.B) {
	broker := start(b, brokertest.InProcess, func(c *server.Config) { c.CommandRate = 1 << 30 })
	robot, op := broker.Client(b, "r1"), broker.Client(b, "op1")
	robot.TrySubscribe(0, r1+"cmd/#")
	const burst = 500
	commands := bytes.Repeat(packet(r1+"cmd/op1/mode/set", "ato"), burst)
	for b.Loop() {
		if err := op.Raw(commands); err != nil {
			b.Fatal(err)
		}
		op.Ping()
		for len(robot.Inbox("#")) > 0 {
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/burst, "ns/command")
}

// A verb that no table lists reaches the robot, which answers it, unless it might be an
// administrator's verb.
func TestUnknownVerbReachesTheRobot(t *testing.T) {
	b := start(t)
	robot, op, admin := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "admin")
	robot.Subscribe(r1 + "cmd/#")
	op.Publish(r1+"cmd/op1/mode/sing", "")
	robot.Expect(r1 + "cmd/op1/mode/sing")
	admin.Publish(r1+"cmd/admin/sys/sing", "")
	robot.Expect(r1 + "cmd/admin/sys/sing")
}

func TestRefusedPublishIsAcknowledgedAndNotified(t *testing.T) {
	b := start(t)
	robot, op := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe(r1 + "cmd/#")
	op.Subscribe("troupe/v1/clients/op1/notice")
	op.Publish(r1+"cmd/op2/mode/set", "ato") // in the name of op2; returns when acknowledged
	op.Publish(r1+"cmd/op1/sys/ping", "")    // still connected
	if m := robot.Expect("#"); !strings.HasSuffix(m.Topic, "sys/ping") {
		t.Fatalf("robot got %v", m)
	}
	if n := notice(t, op); n.Reason != schema.ReasonForbidden || n.Topic != r1+"cmd/op2/mode/set" {
		t.Fatalf("notice %+v", n)
	}
}

// Each is refused with its reason, and the sender stays connected.
func TestRefusedPublishes(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "admin")
	watcher.Subscribe("troupe/v1/robots/#", "troupe/v1/blobs/+", "troupe/v1/fleet/#")
	robot, op, stop, obs := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "stop1"), b.Client(t, "obs")
	for _, c := range []*brokertest.Client{robot, op, stop, obs} {
		c.Subscribe("troupe/v1/clients/+/notice")
	}
	robot.Subscribe(r1 + "cmd/#") // otherwise the last command is undelivered, which is a notice of its own
	big := strings.Repeat("x", 9<<10)
	cases := []struct {
		name   string
		by     *brokertest.Client
		m      brokertest.Message
		reason schema.Reason
	}{
		{"a retained command", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte("ato"), QoS: 1, Retain: true},
			schema.ReasonRetainedCommand},
		{"a command of QoS 2 that is retained", op,
			brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte("ato"), QoS: 2, Retain: true}, schema.ReasonRetainedCommand},
		{"a command of 9 KiB", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte(big), QoS: 1}, schema.ReasonTooBig},
		{"a verb for admins", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/enable", Payload: []byte("ato"), QoS: 1}, schema.ReasonForbidden},
		{"a verb that no table lists and that may be for admins", op, brokertest.Message{Topic: r1 + "cmd/op1/sys/sing", QoS: 1},
			schema.ReasonUnknownVerb},
		{"a stop client with a verb that no table lists", stop, brokertest.Message{Topic: r1 + "cmd/stop1/safety/sing", QoS: 1},
			schema.ReasonUnknownVerb},
		{"a stop client that enables", stop, brokertest.Message{Topic: r1 + "cmd/stop1/safety/enable", QoS: 1}, schema.ReasonForbidden},
		{"an observer that commands", obs, brokertest.Message{Topic: r1 + "cmd/obs/safety/stop", QoS: 1}, schema.ReasonForbidden},
		{"a robot that commands", robot, brokertest.Message{Topic: "troupe/v1/robots/r2/cmd/r1/mode/set", QoS: 1}, schema.ReasonForbidden},
		{"a robot with another robot's presence", robot, brokertest.Message{Topic: "troupe/v1/robots/r2/presence", QoS: 1, Retain: true},
			schema.ReasonForbidden},
		{"a robot that deletes the fleet's story", robot, brokertest.Message{Topic: r1 + "desired/story", QoS: 1, Retain: true},
			schema.ReasonForbidden},
		{"a robot that publishes a blob", robot, brokertest.Message{Topic: "troupe/v1/blobs/" + strings.Repeat("a", 64), QoS: 1, Retain: true},
			schema.ReasonForbidden},
		{"a document that is not retained", robot, brokertest.Message{Topic: r1 + "presence", Payload: []byte(online), QoS: 1},
			schema.ReasonBadRequest},
		{"a topic that is not in the table", robot, brokertest.Message{Topic: r1 + "mood", QoS: 1}, schema.ReasonForbidden},
		{"a topic outside the namespace", op, brokertest.Message{Topic: "x", QoS: 1}, schema.ReasonForbidden},
	}
	for _, c := range cases {
		c.by.Send(c.m)
	}
	op.Publish(r1+"cmd/op1/sys/ping", "end")
	watcher.ExpectThat("#", func(m brokertest.Message) bool { return string(m.Payload) == "end" })
	if ms := watcher.Inbox("#"); len(ms) > 0 {
		t.Errorf("routed: %v", ms)
	}
	late := b.Client(t, "admin", brokertest.WithID("admin.late"))
	late.Subscribe("troupe/v1/#")
	op.Publish(r1+"cmd/op1/sys/ping", "end")
	late.Expect(r1 + "cmd/op1/sys/ping")
	if ms := late.Inbox("#"); len(ms) > 0 {
		t.Errorf("retained: %v", ms)
	}
	for _, c := range cases {
		if n := notice(t, c.by); n.Reason != c.reason || n.Topic != c.m.Topic || n.Detail == "" {
			t.Errorf("%s: notice %+v, want %s", c.name, n, c.reason)
		}
	}
}

func TestStopPassesWithAnyPayloadAndIsNeverRetained(t *testing.T) {
	b := start(t)
	robot, stop := b.Client(t, "r1"), b.Client(t, "stop1")
	robot.Subscribe(r1 + "cmd/#")
	stop.Subscribe("troupe/v1/clients/+/notice")
	for _, m := range []brokertest.Message{
		{Payload: []byte("{{{"), QoS: 1}, {QoS: 1}, {Payload: []byte("x"), QoS: 0}, {Payload: []byte("x"), QoS: 2},
		{Payload: []byte("x"), QoS: 1, Retain: true},
		{Payload: bytes.Repeat([]byte("x"), 100<<10), QoS: 1}, {Payload: []byte("again"), QoS: 1, Duplicate: true},
	} {
		m.Topic = r1 + "cmd/stop1/safety/stop"
		stop.Send(m)
		if got := robot.Expect(m.Topic); !bytes.Equal(got.Payload, m.Payload) {
			t.Fatalf("sent %v, received %v", m, got)
		}
	}
	late := b.Client(t, "admin")
	late.Subscribe(r1 + "cmd/#")
	stop.Publish(r1+"cmd/stop1/safety/halt", "")
	if m := late.Expect("#"); m.Retain || !strings.HasSuffix(m.Topic, "halt") {
		t.Fatalf("a stop was retained: %v", m)
	}
	if n := notice(t, stop); n.Reason != schema.ReasonRetainedCommand {
		t.Fatalf("notice %+v", n)
	}
}

func TestRetainedEventIsPassedOnButNotRetained(t *testing.T) {
	b := start(t)
	robot, watcher := b.Client(t, "r1"), b.Client(t, "obs")
	watcher.Subscribe(r1 + "event")
	robot.Subscribe("troupe/v1/clients/+/notice")
	robot.Retain(r1+"event", "{}")
	watcher.Expect(r1 + "event")
	late := b.Client(t, "obs", brokertest.WithID("obs.late"))
	late.Subscribe(r1 + "#")
	robot.Publish(r1+"event", "second")
	if m := late.Expect("#"); string(m.Payload) != "second" {
		t.Fatalf("retained: %v", m)
	}
	if n := notice(t, robot); n.Reason != schema.ReasonBadRequest {
		t.Fatalf("notice %+v", n)
	}
}

func TestFleetdMayDeleteDocumentsOfRobots(t *testing.T) {
	b := start(t)
	b.Client(t, "r1").Retain(r1+"presence", online)
	b.Client(t, "fleetd").Retain(r1+"presence", "")
	b.Client(t, "r2").Retain("troupe/v1/robots/r2/presence", online)
	late := b.Client(t, "obs")
	late.Subscribe("troupe/v1/robots/+/presence")
	if m := late.Expect("#"); !strings.Contains(m.Topic, "r2") {
		t.Fatalf("retained: %v", m)
	}
}

func TestSubscriptionIsGrantedIfSomethingMayBeRead(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name, filter string
		want         byte
	}{
		{"obs", "#", 0}, {"obs", r1 + "state", 0}, {"obs", r1 + "#", 0}, // lowered to QoS 0
		{"op1", "troupe/v1/#", 1}, {"op1", r1 + "ack/op1", 1}, {"op1", r1 + "ack/+", 1}, {"op1", "+/+/robots/+/state", 1},
		{"r1", r1 + "cmd/#", 1}, {"r1", "troupe/v1/blobs/+", 1}, {"admin", "$SYS/#", 1},

		{"op1", r1 + "ack/op2", 128}, {"op1", "$SYS/#", 128}, {"op1", r1 + "desired/story", 128}, {"obs", r1 + "ack/obs", 128},
		{"r1", "troupe/v1/robots/r2/#", 128}, {"r1", r1 + "ack/#", 128}, {"r1", "other/#", 128},
		{"admin", "$share/g/troupe/v1/#", 128}, {"admin", "a/#/b", 128}, {"admin", "troupe/v1/a+", 128}, {"admin", "", 128},
	} {
		client := b.Client(t, c.name)
		if got := client.TrySubscribe(1, c.filter); got[0] != c.want {
			t.Errorf("%s subscribes to %q: %d, want %d", c.name, c.filter, got[0], c.want)
		}
		client.Close()
	}
}

func TestBlobConnectionOnlyReadsBlobs(t *testing.T) {
	b := start(t)
	c := b.Client(t, "r1", brokertest.WithID("r1.blob"))
	blob := "troupe/v1/blobs/" + strings.Repeat("a", 64)
	if got := c.TrySubscribe(1, "troupe/v1/blobs/+", r1+"cmd/#"); !slices.Equal(got, []byte{0, 128}) {
		t.Fatalf("granted %v", got)
	}
	c.Retain(r1+"presence", online) // acknowledged and dropped
	b.Client(t, "fleetd").Retain(blob, strings.Repeat("b", 250<<10))
	if m := c.Expect(blob); len(m.Payload) != 250<<10 {
		t.Fatalf("%d bytes", len(m.Payload))
	}
	late := b.Client(t, "obs")
	late.Subscribe(r1 + "#")
	b.Client(t, "r1").Retain(r1+"presence", "mine")
	if m := late.Expect("#"); string(m.Payload) != "mine" {
		t.Fatalf("the blob connection published: %v", m)
	}
}

// Each subscription costs the broker memory, and time with every message.
func TestNumberOfSubscriptionsIsLimited(t *testing.T) {
	b := start(t)
	for name, most := range map[string]int{"r1": 32, "op1": 256} {
		c, granted := b.Client(t, name), 0
		filters := make([]string, most+40)
		for i := range filters {
			filters[i] = fmt.Sprintf("troupe/v1/robots/r1/cmd/op%d/#", i)
			if name == "op1" {
				filters[i] = fmt.Sprintf("troupe/v1/robots/r%d/state", i)
			}
		}
		for range 2 { // existing subscriptions are not counted again
			for i := 0; i < len(filters); i += 8 {
				for _, code := range c.TrySubscribe(1, filters[i:i+8]...) {
					if code <= 2 {
						granted++
					}
				}
			}
		}
		if granted != 2*most {
			t.Errorf("%s: %d of twice %d filters granted, want twice %d", name, granted, most+40, most)
		}
		c.Ping()
	}
}
