package server_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// metered is a connection from which only a limited number of bytes can be read.
type metered struct {
	net.Conn
	mu     sync.Mutex
	more   sync.Cond
	budget int
}

func (m *metered) Read(b []byte) (int, error) {
	m.mu.Lock()
	for m.budget == 0 {
		m.more.Wait()
	}
	b = b[:min(len(b), m.budget)]
	m.mu.Unlock()
	n, err := m.Conn.Read(b)
	m.mu.Lock()
	m.budget -= min(n, m.budget)
	m.mu.Unlock()
	return n, err
}

func (m *metered) may(bytes int) {
	m.mu.Lock()
	m.budget = bytes
	m.more.Broadcast()
	m.mu.Unlock()
}

const unlimited = 1 << 62

// A document that was dropped is sent again from its placeholder's place in the queue. What was
// queued behind that place is newer than what was dropped, and older than what is retained
// by then.
func TestPostponedDocumentDoesNotGoBackwards(t *testing.T) {
	for qos := range byte(2) {
		checkGoesForward(t, qos)
	}
}

func checkGoesForward(t *testing.T, qos byte) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		m := &metered{budget: unlimited}
		m.more.L = &m.mu
		slow := brokertest.Connect(t, func(ctx context.Context) (net.Conn, error) {
			conn, err := b.Dial(ctx)
			m.Conn = conn
			return m, err
		}, brokertest.ConnectPacket{Name: "op1", ClientID: "op1.slow"})
		const noise = "troupe/v1/robots/r2/event"
		slow.TrySubscribe(qos, r1+"state", noise)
		robot, noisy := b.Client(t, "r1"), b.Client(t, "r2")
		synctest.Wait()
		m.may(0)
		defer m.may(unlimited)

		event := brokertest.Message{Topic: noise, Payload: []byte(strings.Repeat("x", 4<<10))}
		for b.Status()["deliveries_dropped"] == 0 {
			noisy.Send(event)
			synctest.Wait()
		}
		robot.Retain(r1+"state", "1")
		if n := b.Status()["deliveries_dropped"]; n != 2 {
			t.Fatalf("%d deliveries are dropped: the queue was not full", n)
		}
		for _, state := range []string{"", "2", "3"} { // makes room for the placeholder, and for two states behind it
			m.may(len(packet(noise, string(event.Payload))))
			synctest.Wait()
			if state != "" {
				robot.Retain(r1+"state", state)
			}
		}
		m.may(unlimited)
		synctest.Wait()
		var states []string
		for _, m := range slow.Inbox(r1 + "state") {
			states = append(states, string(m.Payload))
		}
		if !slices.Equal(states, []string{"2", "3"}) {
			t.Errorf("QoS %d: after the first state was dropped, the states arrive as %v", qos, states)
		}
		synctest.Wait()
		if n := b.Status()["deliveries_dropped"]; n != 2 {
			t.Errorf("%d deliveries are dropped", n)
		}
		for _, c := range server.Connected(b.Backend.(*server.Server)) {
			if c.Pending != 0 || c.Unacknowledged != 0 {
				t.Errorf("at the end %s has %d queued and %d unacknowledged deliveries", c.ClientID, c.Pending, c.Unacknowledged)
			}
		}
	}, withoutTimeouts, func(c *server.Config) { c.MaxQueued = 4 })
}
