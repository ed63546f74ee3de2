package link_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// A broker that acknowledges nothing, such as a cluster that elects a leader, may deliver all the same: no robot's stop
// waits for the acknowledgement of another one's.
func TestMissingAcknowledgementsHoldBackNoStop(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		var silent atomic.Bool
		l := open(t, link.Config{Name: "fleetd", Dial: func(ctx context.Context) (net.Conn, error) {
			c, err := b.Dial(ctx)
			return &silentConn{Conn: c, silent: &silent}, err
		}})
		waitUp(t, l)
		ear := b.Client(t, "fleetd", brokertest.WithID("fleetd.ear"))
		ear.Subscribe("troupe/v1/robots/+/cmd/fleetd/safety/stop")
		silent.Store(true)
		const robots = 1000 // more than the outbox has room for
		stopOf := func(robot int) string { return fmt.Sprintf("troupe/v1/robots/r%d/cmd/fleetd/safety/stop", robot) }
		for i := range robots {
			if err := l.Publish(t.Context(), link.Message{Topic: stopOf(i), QoS: 1}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range robots {
			ear.Expect(stopOf(i))
		}
	})
}

// silentConn discards what the broker sends, such as acknowledgements, from a moment on.
type silentConn struct {
	net.Conn
	silent *atomic.Bool
}

func (c *silentConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err != nil || !c.silent.Load() {
			return n, err
		}
	}
}
