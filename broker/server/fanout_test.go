package server_test

import (
	"strconv"
	"testing"

	"troupe/broker/brokertest"
)

const heartbeatOfFleetd = "troupe/v1/fleet/heartbeat/fleetd"

// Receivers are remembered; one that comes later receives the next heartbeat, and one that has gone and returned does, too.
func TestHeartbeatOfFleetdReachesThoseThatSubscribeToIt(t *testing.T) {
	b := start(t)
	fleetd := b.Client(t, "fleetd")
	n := 0
	beat := func(to ...*brokertest.Client) {
		t.Helper()
		n++
		fleetd.Send(brokertest.Message{Topic: heartbeatOfFleetd, Payload: []byte(strconv.Itoa(n))})
		for _, c := range to {
			if m := c.Expect(heartbeatOfFleetd); string(m.Payload) != strconv.Itoa(n) || m.QoS != 0 || m.Retain {
				t.Fatalf("received %v, want heartbeat %d", m, n)
			}
		}
	}
	first, second := b.Client(t, "r1"), b.Client(t, "r2")
	first.Subscribe("troupe/v1/fleet/heartbeat/+")
	fleetd.Subscribe(heartbeatOfFleetd) // its own
	beat(first, fleetd)
	second.Subscribe("troupe/v1/fleet/heartbeat/+")
	beat(first, second, fleetd)
	sent := b.Status()["messages_sent"]
	beat(first, second, fleetd)
	if more := b.Status()["messages_sent"] - sent; more != 3 {
		t.Errorf("%d messages are counted as sent, want 3", more)
	}
	first.Close()
	beat(second, fleetd)
	again := b.Client(t, "r1")
	beat(second, fleetd)
	again.Subscribe("troupe/v1/fleet/heartbeat/+")
	beat(again, second, fleetd)
	if m := again.Inbox("#"); len(m) > 0 {
		t.Errorf("r1 received before it subscribed, or twice: %v", m)
	}
}
