package server_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"troupe/broker/access"
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

func TestACommandReachesTheRobotAndItsAnswerTheAsker(t *testing.T) {
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
		t.Fatalf("op2 subscribed to everything and got what is op1's: %v", ms)
	}
}

// TestAVerbOfANewerReleaseReachesTheRobot: whoever asks for what no table lists is
// answered by the robot, unless it might be an administrator's.
func TestAVerbOfANewerReleaseReachesTheRobot(t *testing.T) {
	b := start(t)
	robot, op, admin := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "admin")
	robot.Subscribe(r1 + "cmd/#")
	op.Publish(r1+"cmd/op1/mode/sing", "")
	robot.Expect(r1 + "cmd/op1/mode/sing")
	admin.Publish(r1+"cmd/admin/sys/sing", "")
	robot.Expect(r1 + "cmd/admin/sys/sing")
}

func TestADeniedPublishIsAcknowledgedNotRoutedAndToldToItsSender(t *testing.T) {
	b := start(t)
	robot, op := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe(r1 + "cmd/#")
	op.Subscribe("troupe/v1/clients/op1/notice")
	op.Publish(r1+"cmd/op2/mode/set", "ato") // in another's name; returns when acknowledged
	op.Publish(r1+"cmd/op1/sys/ping", "")    // still connected
	if m := robot.Expect("#"); !strings.HasSuffix(m.Topic, "sys/ping") {
		t.Fatalf("robot got %v", m)
	}
	if n := notice(t, op); n.Reason != schema.ReasonForbidden || n.Topic != r1+"cmd/op2/mode/set" {
		t.Fatalf("notice %+v", n)
	}
}

// What is refused, with its reason, and leaves its sender connected.
func TestRefusedPublishes(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "admin")
	watcher.Subscribe("troupe/v1/robots/#", "troupe/v1/blobs/+", "troupe/v1/fleet/#")
	robot, op, stop, obs := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "stop1"), b.Client(t, "obs")
	for _, c := range []*brokertest.Client{robot, op, stop, obs} {
		c.Subscribe("troupe/v1/clients/+/notice")
	}
	big := strings.Repeat("x", 9<<10)
	cases := []struct {
		name   string
		by     *brokertest.Client
		m      brokertest.Message
		reason schema.Reason
	}{
		{"a retained command", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte("ato"), QoS: 1, Retain: true}, schema.ReasonRetainedCommand},
		{"a command of QoS 2 that is retained", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte("ato"), QoS: 2, Retain: true}, schema.ReasonRetainedCommand},
		{"a command of 9 KiB", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/set", Payload: []byte(big), QoS: 1}, schema.ReasonTooBig},
		{"a verb for admins", op, brokertest.Message{Topic: r1 + "cmd/op1/mode/enable", Payload: []byte("ato"), QoS: 1}, schema.ReasonForbidden},
		{"a verb that no table lists and that may be for admins", op, brokertest.Message{Topic: r1 + "cmd/op1/sys/sing", QoS: 1}, schema.ReasonUnknownVerb},
		{"a wall button that tries a verb that no table lists", stop, brokertest.Message{Topic: r1 + "cmd/stop1/safety/sing", QoS: 1}, schema.ReasonUnknownVerb},
		{"a wall button that enables", stop, brokertest.Message{Topic: r1 + "cmd/stop1/safety/enable", QoS: 1}, schema.ReasonForbidden},
		{"an observer that commands", obs, brokertest.Message{Topic: r1 + "cmd/obs/safety/stop", QoS: 1}, schema.ReasonForbidden},
		{"a robot that commands", robot, brokertest.Message{Topic: "troupe/v1/robots/r2/cmd/r1/mode/set", QoS: 1}, schema.ReasonForbidden},
		{"a robot that speaks for another", robot, brokertest.Message{Topic: "troupe/v1/robots/r2/presence", QoS: 1, Retain: true}, schema.ReasonForbidden},
		{"a robot that deletes the fleet's story", robot, brokertest.Message{Topic: r1 + "desired/story", QoS: 1, Retain: true}, schema.ReasonForbidden},
		{"a robot that plants a blob", robot, brokertest.Message{Topic: "troupe/v1/blobs/" + strings.Repeat("a", 64), QoS: 1, Retain: true}, schema.ReasonForbidden},
		{"a document that is not retained", robot, brokertest.Message{Topic: r1 + "presence", Payload: []byte(online), QoS: 1}, schema.ReasonBadRequest},
		{"a topic that does not exist", robot, brokertest.Message{Topic: r1 + "mood", QoS: 1}, schema.ReasonForbidden},
		{"a topic outside the tree", op, brokertest.Message{Topic: "x", QoS: 1}, schema.ReasonForbidden},
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
		t.Errorf("kept: %v", ms)
	}
	for _, c := range cases {
		if n := notice(t, c.by); n.Reason != c.reason || n.Topic != c.m.Topic || n.Detail == "" {
			t.Errorf("%s: notice %+v, want %s", c.name, n, c.reason)
		}
	}
}

func TestAStopPassesWhateverItCarriesAndIsNeverKept(t *testing.T) {
	b := start(t)
	robot, stop := b.Client(t, "r1"), b.Client(t, "stop1")
	robot.Subscribe(r1 + "cmd/#")
	stop.Subscribe("troupe/v1/clients/+/notice")
	for _, m := range []brokertest.Message{
		{Payload: []byte("{{{"), QoS: 1}, {QoS: 1}, {Payload: []byte("x"), QoS: 0}, {Payload: []byte("x"), QoS: 2}, {Payload: []byte("x"), QoS: 1, Retain: true},
		{Payload: bytes.Repeat([]byte("x"), 100<<10), QoS: 1}, {Payload: []byte("again"), QoS: 1, Duplicate: true},
	} {
		m.Topic = r1 + "cmd/stop1/safety/stop"
		stop.Send(m)
		if got := robot.Expect(m.Topic); !bytes.Equal(got.Payload, m.Payload) {
			t.Fatalf("sent %v, came %v", m, got)
		}
	}
	late := b.Client(t, "admin")
	late.Subscribe(r1 + "cmd/#")
	stop.Publish(r1+"cmd/stop1/safety/halt", "")
	if m := late.Expect("#"); m.Retain || !strings.HasSuffix(m.Topic, "halt") {
		t.Fatalf("a stop was kept: %v", m)
	}
	if n := notice(t, stop); n.Reason != schema.ReasonRetainedCommand {
		t.Fatalf("notice %+v", n)
	}
}

func TestWhatIsNoDocumentIsPassedOnButNotKept(t *testing.T) {
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
		t.Fatalf("kept: %v", m)
	}
	if n := notice(t, robot); n.Reason != schema.ReasonBadRequest {
		t.Fatalf("notice %+v", n)
	}
}

func TestTheFleetMayEmptyTheDocumentsOfARobotThatIsGone(t *testing.T) {
	b := start(t)
	b.Client(t, "r1").Retain(r1+"presence", online)
	b.Client(t, "fleetd").Retain(r1+"presence", "")
	b.Client(t, "r2").Retain("troupe/v1/robots/r2/presence", online)
	late := b.Client(t, "obs")
	late.Subscribe("troupe/v1/robots/+/presence")
	if m := late.Expect("#"); !strings.Contains(m.Topic, "r2") {
		t.Fatalf("kept: %v", m)
	}
}

func TestWhoMayConnect(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		why   string
		hello brokertest.Hello
		code  byte
	}{
		{"a robot under its name", brokertest.Hello{Name: "r1", ClientID: "r1"}, 0},
		{"a robot's blob connection", brokertest.Hello{Name: "r1", ClientID: "r1.blob"}, 0},
		{"a person under his name", brokertest.Hello{Name: "op1", ClientID: "op1"}, 0},
		{"a person with a suffix", brokertest.Hello{Name: "obs", ClientID: "obs.1"}, 0},
		{"a person without an id", brokertest.Hello{Name: "op1"}, 0},
		{"nobody at all", brokertest.Hello{}, 0},
		{"nobody under a robot's name", brokertest.Hello{ClientID: "r1"}, 0}, // gets an id of his own, see below
		{"a person with a kept session", brokertest.Hello{Name: "op2", ClientID: "op2", Keep: true}, 0},

		{"a person under another's id", brokertest.Hello{Name: "op2", ClientID: "op1"}, 2},
		{"a person under a robot's id", brokertest.Hello{Name: "op2", ClientID: "r1"}, 2},
		{"a name that is only a beginning", brokertest.Hello{Name: "op1", ClientID: "op11"}, 2},
		{"a robot without an id", brokertest.Hello{Name: "r1"}, 2},
		{"a robot with a suffix", brokertest.Hello{Name: "r1", ClientID: "r1.x"}, 2},
		{"a robot with a kept session", brokertest.Hello{Name: "r1", ClientID: "r1", Keep: true}, 2},
		{"an id with a wildcard", brokertest.Hello{Name: "op1", ClientID: "op1.+"}, 2},
		{"an id with upper case", brokertest.Hello{Name: "op1", ClientID: "op1.A"}, 2},
		{"an id with a control character", brokertest.Hello{Name: "op1", ClientID: "op1.\x01"}, 2},
		{"a name with a wildcard", brokertest.Hello{Name: "#", ClientID: "#"}, 4},
		{"a name with a slash", brokertest.Hello{Name: "a/b", ClientID: "a/b"}, 4},
		{"keep-alive off", brokertest.Hello{Name: "r1", ClientID: "r1", NoKeepAlive: true}, 2},
		{"a keep-alive of an hour", brokertest.Hello{Name: "r1", ClientID: "r1", KeepAlive: 3600}, 2},
		{"MQTT 3.1", brokertest.Hello{Name: "r1", ClientID: "r1", Protocol: 3}, 1},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.hello)
		if code != c.code {
			t.Errorf("%s: code %d, want %d", c.why, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
}

func TestNobodyTakesASessionByAnotherName(t *testing.T) {
	b := start(t)
	robot := b.Client(t, "r1")
	for _, h := range []brokertest.Hello{{ClientID: "r1"}, {Name: "op1", ClientID: "r1"}, {Name: "r2", ClientID: "r1"}, {Name: "r1", ClientID: "r1", Protocol: 5}} {
		if c, _ := brokertest.TryConnect(t, b.Dial, h); c != nil {
			c.Ping()
		}
	}
	robot.Ping() // still there
}

func TestWillsThatAreRefused(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name string
		will brokertest.Message
		ok   bool
	}{
		{"r1", brokertest.Message{Topic: r1 + "presence", QoS: 1, Retain: true}, true},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/presence", QoS: 1, Retain: true}, true},
		{"op1", brokertest.Message{Topic: r1 + "cmd/op1/safety/stop", QoS: 1}, true}, // a dead man's button

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
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/stop", QoS: 1, Retain: true}, false}, // it may release as well
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/revoked", QoS: 1, Retain: true}, false},
		{"fleetd", brokertest.Message{Topic: "troupe/v1/fleet/heartbeat/fleetd"}, false},
	} {
		c.will.Payload = []byte("x")
		id := c.name
		got, code := brokertest.TryConnect(t, b.Dial, brokertest.Hello{Name: c.name, ClientID: id, Will: &c.will})
		if (code == 0) != c.ok || !c.ok && code != 5 {
			t.Errorf("%s leaves %v: code %d", c.name, c.will, code)
		}
		if got != nil {
			got.Close()
		}
	}
}

func TestAWillIsSentForWhoIsLostAndForNobodyElse(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "obs")
	watcher.Subscribe("troupe/v1/robots/+/presence")
	robot := func(session string) *brokertest.Client {
		return b.Client(t, "r1", brokertest.WithWill(brokertest.Message{Topic: r1 + "presence", Payload: []byte(session), QoS: 1, Retain: true}))
	}
	robot("goodbye").Close()
	first := robot("taken over")
	second := robot("lost")
	first.Lost()
	second.Cut()
	if m := watcher.Expect("#"); string(m.Payload) != "lost" {
		t.Fatalf("will: %v", m)
	}
	b.Client(t, "r2").Retain("troupe/v1/robots/r2/presence", online)
	if m := watcher.Expect("#"); !strings.Contains(m.Topic, "r2") {
		t.Fatalf("another will: %v", m)
	}
}

func TestAClosingBrokerDeclaresNobodyLost(t *testing.T) {
	b := start(t)
	watcher := brokertest.Connect(t, brokertest.TCP(b.Addr()), brokertest.Hello{Name: "obs", ClientID: "obs"})
	watcher.Subscribe("troupe/v1/robots/+/presence")
	for i := range 20 {
		name := fmt.Sprintf("r%d", i)
		will := brokertest.Message{Topic: "troupe/v1/robots/" + name + "/presence", Payload: []byte("lost"), QoS: 1, Retain: true}
		brokertest.Connect(t, brokertest.TCP(b.Addr()), brokertest.Hello{Name: name, ClientID: name, Will: &will})
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	watcher.Lost()
	if ms := watcher.Inbox("#"); len(ms) > 0 {
		t.Fatalf("wills: %v", ms)
	}
	if n := b.Status()["wills_silenced"]; n != 20 {
		t.Fatalf("%d wills silenced, want 20", n)
	}
}

// One id, many connections at once: the last one to stay must also hear.
func TestOfManyConnectionsOfOneIDOneStaysAndHears(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotConnects = 1000 })
	desk := b.Client(t, "fleetd")
	for round := range 20 {
		var wg sync.WaitGroup
		clients := make([]*brokertest.Client, 8)
		for i := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				clients[i], _ = brokertest.TryConnect(t, b.Dial, brokertest.Hello{Name: "r1", ClientID: "r1"})
				if clients[i] != nil && i%2 == 0 {
					clients[i].Cut()
				}
			}()
		}
		wg.Wait()
		last := b.Client(t, "r1")
		last.Subscribe(r1 + "cmd/#")
		desk.Publish(r1+"cmd/fleetd/safety/stop", fmt.Sprint(round))
		last.Expect(r1 + "cmd/#")
		for _, c := range clients {
			if c != nil {
				c.Lost()
			}
		}
		if n := b.Status()["clients"]; n > 2 {
			t.Fatalf("round %d: %d clients", round, n)
		}
	}
}

func TestSubscriptionsAreGrantedWhereSomethingMayBeRead(t *testing.T) {
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

func TestARobotsBlobConnectionOnlyReadsBlobsAndBlocksNobody(t *testing.T) {
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

func TestARobotThatSpeaksTooOftenIsNotRoutedButStaysConnected(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotRate = 10 })
	robot, op := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe("troupe/v1/clients/+/notice")
	op.Subscribe(r1+"event", r1+"presence")
	for i := range 100 {
		robot.Publish(r1+"event", fmt.Sprint(i))
	}
	robot.Retain(r1+"presence", online) // urgent: is not counted
	op.Expect(r1 + "presence")
	refused := b.Status()["publishes_over_rate"]
	if routed := len(op.Inbox(r1 + "event")); refused < 50 || routed < 20 || routed+int(refused) != 100 {
		t.Fatalf("%d routed, %d refused of 100", routed, refused)
	}
	if n := notice(t, robot); n.Reason != schema.ReasonOverloaded {
		t.Fatalf("notice %+v", n)
	}
}

func TestWhoDoesNothingButBreakTheRulesIsCut(t *testing.T) {
	b := start(t)
	c := b.Client(t, "op1")
	for range 2000 {
		if err := c.Raw(append([]byte{0x30, 4, 0, 2}, "no"...)); err != nil { // QoS 0 to topic "no"
			break
		}
	}
	c.Lost()
	s := b.Status()
	if s["clients_cut_for_abuse"] == 0 || s["notices_sent"] > 40 {
		t.Fatalf("%d cut, %d notices", s["clients_cut_for_abuse"], s["notices_sent"])
	}
}

func TestPasswordsAreAskedForAndChecked(t *testing.T) {
	hash := access.HashPassword("secret", [16]byte{1})
	users, err := access.ParseUsers(strings.NewReader("r1 robot " + hash.String() + "\nop1 operator\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, c := range []struct {
		hello brokertest.Hello
		code  byte
	}{
		{brokertest.Hello{Name: "r1", ClientID: "r1", Password: "secret"}, 0},
		{brokertest.Hello{Name: "op1", ClientID: "op1"}, 0}, // within the process; see TestANameAloneOpensNoDoorBeyondThisMachine
		{brokertest.Hello{Name: "r1", ClientID: "r1", Password: "Secret"}, 4},
		{brokertest.Hello{Name: "r1", ClientID: "r1"}, 4},
		{brokertest.Hello{Name: "r2", ClientID: "r2"}, 4},
		{brokertest.Hello{}, 4},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.hello)
		if code != c.code {
			t.Errorf("%+v: code %d, want %d", c.hello, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
	if n := b.Status()["passwords_wrong"]; n != 2 {
		t.Errorf("%d wrong passwords counted", n)
	}
}

func TestAnEmptyUsersFileIsNobody(t *testing.T) {
	users, err := access.ParseUsers(strings.NewReader("# nobody yet\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, name := range []string{"", "admin", "fleetd", "r1"} {
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.Hello{Name: name, ClientID: name}); code == 0 {
			t.Errorf("%q connects", name)
		}
	}
}
