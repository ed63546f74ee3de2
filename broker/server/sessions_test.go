package server_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
	"troupe/schema/bubble"
)

// waitForClients waits until at most n clients are connected.
func waitForClients(b *brokertest.Broker, n int64) {
	for b.Status()["clients"] > n {
		runtime.Gosched()
	}
}

func TestSessionEndsWithItsConnection(t *testing.T) {
	b := start(t)
	connect := brokertest.ConnectPacket{Name: "op1", ClientID: "op1", Keep: true}
	op, robot := brokertest.Connect(t, b.Dial, connect), b.Client(t, "r1")
	op.Subscribe(r1 + "event")
	op.Cut()
	waitForClients(b, 1)
	if n := b.Status()["subscriptions"]; n != 0 {
		t.Errorf("%d subscriptions of clients that are gone", n)
	}
	robot.Publish(r1+"event", "old")
	op = brokertest.Connect(t, b.Dial, connect)
	op.Subscribe(r1 + "event")
	robot.Publish(r1+"event", "new")
	if m := op.Expect(r1 + "event"); string(m.Payload) != "new" {
		t.Errorf("a message from while op1 was away is replayed: %v", m)
	}
}

// The library would send unacknowledged deliveries of the old connection to the new one,
// without checking its rights.
func TestTakeOverDeliversNothingOfTheOldSession(t *testing.T) {
	b := start(t)
	connect := brokertest.ConnectPacket{Name: "op1", ClientID: "op1", Keep: true}
	old, robot := brokertest.Connect(t, b.Dial, connect), b.Client(t, "r1")
	old.StopAcknowledging()
	old.Subscribe(r1 + "event")
	robot.Publish(r1+"event", "old")
	old.Expect(r1 + "event")
	op := brokertest.Connect(t, b.Dial, connect)
	old.Lost()
	op.Subscribe(r1 + "event")
	robot.Publish(r1+"event", "new")
	if m := op.Expect("#"); string(m.Payload) != "new" {
		t.Errorf("the old message is sent again: %v", m)
	}
}

// The library has one map for the packet ids of both directions.
func TestSubscribeWithPacketIDOfADeliveryIsGranted(t *testing.T) {
	b := start(t)
	robot, fleetd := b.Client(t, "r1"), b.Client(t, "fleetd")
	robot.StopAcknowledging()
	robot.Subscribe(r1 + "cmd/#")
	const deliveries = 20 // with ids from 1 on, all unacknowledged
	for range deliveries {
		fleetd.Publish(r1+"cmd/fleetd/sys/ping", "")
		robot.Expect(r1 + "cmd/#")
	}
	for range deliveries { // the robot's packet ids also begin at 1
		if got := robot.TrySubscribe(1, "troupe/v1/fleet/#"); got[0] != 1 {
			t.Fatalf("granted %d", got[0])
		}
	}
	fleetd.Retain("troupe/v1/fleet/presence", online)
	robot.Expect("troupe/v1/fleet/presence")
}

func TestRobotConnectRateIsLimited(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := start(t, brokertest.InProcess)
		connect := brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}
		for i := range 14 {
			if c, code := brokertest.TryConnect(t, b.Dial, connect); code != 0 {
				t.Fatalf("connect %d: code %d", i, code)
			} else {
				c.Cut()
			}
		}
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1 + "cmd/#")
		for i := range 100 { // fifty seconds
			c, code := brokertest.TryConnect(t, b.Dial, connect)
			if code == 0 {
				robot = c // taken over, at most once in three seconds
				robot.Subscribe(r1 + "cmd/#")
			} else if code != 3 {
				t.Fatalf("attempt %d: code %d", i, code)
			}
			op.Publish(r1+"cmd/op1/safety/stop", "")
			robot.Expect(r1 + "cmd/#")
			time.Sleep(time.Second / 2)
		}
		if n := b.Status()["connects_too_often"]; n < 82 || n > 84 {
			t.Errorf("%d of 100 connects refused, want one taken every three seconds", n)
		}
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}); code != 0 {
			t.Errorf("another robot: code %d", code)
		}
		for i := range 50 { // a tool that connects for each message
			b.Client(t, "op2", brokertest.WithID(fmt.Sprintf("op2.%d", i%2))).Close()
		}
	})
}

func TestRobotRetainsOnlyItsDocuments(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotRate = 10000 })
	robot := b.Client(t, "r1")
	before := b.Status()["retained"]
	rows := 0
	for _, row := range schema.Topics {
		rows++
		topic := strings.NewReplacer("{rid}", "r1", "{cid}", "op1").Replace(row.Pattern)
		for _, end := range []string{"", "1", "/1"} { // not more, or the robot is disconnected for abuse
			robot.Retain("troupe/v1/"+topic+end, "x")
		}
	}
	if n := b.Status()["retained"] - before; n > int64(rows) {
		t.Errorf("%d documents retained, there are %d topics", n, rows)
	}
}

func TestRetainedBytesAreLimited(t *testing.T) {
	const room = 1 << 20
	b := start(t, func(c *server.Config) { c.MaxRetainedBytes = room })
	fleetd := b.Client(t, "fleetd")
	fleetd.Subscribe("troupe/v1/clients/fleetd/notice")
	blob := func(i int) string { return fmt.Sprintf("troupe/v1/blobs/%064x", i) }
	for i := range 8 {
		fleetd.Retain(blob(i), strings.Repeat("b", 200<<10))
	}
	late := b.Client(t, "admin")
	late.Subscribe("troupe/v1/blobs/+", r1+"cmd/#")
	fleetd.Publish(r1+"cmd/fleetd/sys/ping", "")
	late.Expect(r1 + "cmd/#") // comes after all retained messages
	if ms := late.Inbox("#"); len(ms) != 5 {
		t.Errorf("%d blobs of 200 KiB are retained in 1 MiB", len(ms))
	}
	if n := notice(t, fleetd); n.Reason != schema.ReasonNoSpace || n.Topic != blob(5) {
		t.Errorf("notice %+v", n)
	}
	// Documents that latch stops are retained even if there is no room: a robot that is
	// offline learns of the stop only from them.
	stops := func(payload string) {
		for i := range 4 {
			fleetd.Retain(fmt.Sprintf("troupe/v1/robots/r%d/desired/stop", i), payload)
		}
		fleetd.Retain("troupe/v1/fleet/stop", payload[:min(len(payload), 1<<10)])
	}
	stops(strings.Repeat("s", 8<<10))
	absent := b.Client(t, "admin", brokertest.WithID("admin.absent"))
	absent.Subscribe("troupe/v1/robots/+/desired/stop", "troupe/v1/fleet/stop", r1+"cmd/#")
	fleetd.Publish(r1+"cmd/fleetd/sys/ping", "")
	absent.Expect(r1 + "cmd/#")
	if ms := absent.Inbox("#"); len(ms) != 5 {
		t.Errorf("%d of 5 documents that latch stops are retained", len(ms))
	}
	stops("")
	// So is the list of revocations: it takes effect when it arrives, so a reader must find
	// it.
	list := `{"rev":1,"fleet_id":"fleetd","names":["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 60)+`","`, 600), `","`) +
		`"],"serials":[],"ts":"2026-05-17T09:30:00.000Z"}`
	fleetd.Retain("troupe/v1/fleet/revoked", list)
	asks := b.Client(t, "admin", brokertest.WithID("admin.asks"))
	asks.Subscribe("troupe/v1/fleet/revoked")
	if m := asks.Expect("troupe/v1/fleet/revoked"); string(m.Payload) != list {
		t.Errorf("retained list %s", m.Payload)
	}
	// Presence is retained even if there is no room, and deletions make room.
	b.Client(t, "r1").Retain(r1+"presence", online)
	fleetd.Retain("troupe/v1/fleet/presence", online)
	fleetd.Retain(blob(0), "")
	fleetd.Retain(blob(7), "again")
	if s := b.Status(); s["retained_bytes"] != int64(4*200<<10+len(list)+2*len(online)+len("again")) {
		t.Errorf("retained_bytes is %d", s["retained_bytes"])
	}
}

// Each topic is published on a connection of its own.
func TestInvalidTopicsAreNotRouted(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "admin")
	watcher.TrySubscribe(1, "#", "$SYS/#", "/#", "+/+/#")
	for name, topic := range map[string]string{
		"empty": "", "a NUL": "troupe/v1/\x00", "invalid UTF-8": "troupe/v1/\xff\xfe", "a surrogate": "troupe/v1/\xed\xa0\x80",
		"a wildcard":       r1 + "cmd/+/safety/stop",
		"a filter for all": "#", "a broker topic": "$SYS/broker/version", "a shared subscription": "$share/g/troupe/v1/robots/r1/event",
		"a leading slash":  "/troupe/v1/robots/r1/event",
		"a trailing slash": r1 + "event/", "empty levels": "troupe/v1/robots//event", "too deep": strings.Repeat("a/", 5000) + "a",
		"too long":   strings.Repeat("a", 65000),
		"upper case": "troupe/v1/robots/R1/event", "a control character": r1 + "event\n",
	} {
		for _, qos := range []byte{0, 1} {
			for _, retain := range []byte{0, 1} {
				c, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "op1", ClientID: "op1"})
				if code != 0 {
					t.Fatalf("%s: connect: %d", name, code)
				}
				body := append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...)
				if qos > 0 {
					body = append(body, 0, 9)
				}
				_ = c.Raw(brokertest.Packet(0x30|qos<<1|retain, append(body, 'x')))
				_ = c.Raw(brokertest.Packet(0xe0, nil))
				c.Lost() // by then the broker has processed everything
			}
		}
	}
	b.Client(t, "r1").Publish(r1+"event", "end")
	watcher.Expect(r1 + "event")
	for _, m := range append(append(watcher.Inbox("#"), watcher.Inbox("$SYS/#")...), watcher.Inbox("$share/#")...) {
		if string(m.Payload) == "x" { // all others are notices or messages of the library
			t.Errorf("routed: %v", m)
		}
	}
}

func TestDuplicateQoS2MessageIsDeliveredOnce(t *testing.T) {
	b := start(t)
	robot, op := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe(r1 + "cmd/#")
	topic := r1 + "cmd/op1/sys/ping"
	first := append(append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...), 0x77, 0x77)
	for i := range 5 {
		_ = op.Raw(brokertest.Packet(0x34|byte(min(i, 1))<<3, first))
	}
	op.Ping()
	op.Publish(topic, "end")
	robot.ExpectThat("#", func(m brokertest.Message) bool { return string(m.Payload) == "end" })
	if n := len(robot.Inbox("#")); n != 1 {
		t.Errorf("delivered %d times", n)
	}
}

// A sender that never sends PUBREL must not fill the broker's memory.
func TestUnreleasedQoS2MessagesEndTheConnection(t *testing.T) {
	b := start(t)
	op := b.Client(t, "op1")
	topic := r1 + "cmd/op1/safety/stop" // stops are not rate-limited
	for i := range 5000 {
		body := append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...)
		if op.Raw(brokertest.Packet(0x34, binary.BigEndian.AppendUint16(body, uint16(i+1)))) != nil {
			break
		}
	}
	op.Lost()
	waitForClients(b, 0)
	if n := b.Status()["inflight"]; n != 0 {
		t.Errorf("%d packets in flight of a client that is gone", n)
	}
}
