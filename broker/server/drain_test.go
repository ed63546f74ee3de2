package server_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/bubble"
)

// pausable is a connection whose client stops reading when the test says so.
type pausable struct {
	net.Conn
	pause, goOn chan struct{} // closed by the test
}

func (c *pausable) Read(b []byte) (int, error) {
	select {
	case <-c.pause:
		<-c.goOn
	default:
	}
	return c.Conn.Read(b)
}

// slowSubscriber returns a subscriber to documents that does not read, with more documents
// queued than a connection holds, all acknowledged to their sender. It subscribes with QoS
// 0, since with QoS 1 the sender would have to wait as well.
func slowSubscriber(t *testing.T, b *brokertest.Broker, documents int) (subscriber *brokertest.Client, reads func()) {
	t.Helper()
	c := &pausable{pause: make(chan struct{}), goOn: make(chan struct{})}
	subscriber = brokertest.Connect(t, func(ctx context.Context) (net.Conn, error) {
		conn, err := b.Dial(ctx)
		c.Conn = conn
		return c, err
	}, brokertest.ConnectPacket{Name: "obs", ClientID: "obs.slow"})
	subscriber.Subscribe("troupe/v1/robots/+/acts")
	close(c.pause)
	robot := b.Client(t, "r1")
	for i := range documents {
		robot.Retain("troupe/v1/robots/r1/acts", fmt.Sprintf("%d %s", i, strings.Repeat(".", 60<<10)))
	}
	return subscriber, func() { close(c.goOn) }
}

func TestAcknowledgedMessagesAreDeliveredAtClose(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		const documents = 40
		subscriber, reads := slowSubscriber(t, b, documents)
		closed := make(chan error, 1)
		began := time.Now()
		go func() { closed <- b.Close() }()
		synctest.Wait()
		reads()
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the broker closed %v after the last document was written", took)
		}
		subscriber.Lost()
		if got := len(subscriber.Inbox("#")); got != documents {
			t.Errorf("%d documents were acknowledged and %d delivered", documents, got)
		}
	}, withoutRobotRates)
}

// If a socket is closed while its client still writes to it, the system discards what the
// client has not read.
func TestAcknowledgingClientReadsEverythingAtClose(t *testing.T) {
	b := brokertest.Start(t)
	c := &pausable{pause: make(chan struct{}), goOn: make(chan struct{})}
	subscriber := brokertest.Connect(t, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", b.Addr())
		c.Conn = conn
		return c, err
	}, brokertest.ConnectPacket{Name: "op1", ClientID: "op1.slow"})
	subscriber.Subscribe("troupe/v1/robots/+/event")
	close(c.pause)
	const events = 90
	robot := b.Client(t, "r1")
	for i := range events {
		robot.Publish("troupe/v1/robots/r1/event", fmt.Sprintf("%d %s", i, strings.Repeat(".", 2<<10)))
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	select {
	case err := <-closed: // too early: the client has read nothing yet
		closed <- err
	case <-time.After(hangUpTimeout / 3):
	}
	close(c.goOn)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	subscriber.Lost()
	if got := len(subscriber.Inbox("#")); got != events {
		t.Errorf("%d events were acknowledged to their sender and %d delivered", events, got)
	}
}

// hangUpTimeout is the timeout of the same name in the broker.
const hangUpTimeout = time.Second

func TestCloseWaitsAtMostDrainTimeout(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := brokertest.Start(t, brokertest.InProcess, withoutRobotRates,
			func(c *server.Config) { c.WriteTimeout, c.DrainTimeout = time.Hour, 3*time.Second })
		_, reads := slowSubscriber(t, b, 40)
		defer reads()
		began := time.Now()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}

func TestClosingBrokerAcceptsNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := brokertest.Start(t, brokertest.InProcess, withoutRobotRates, func(c *server.Config) { c.WriteTimeout = time.Hour })
		_, reads := slowSubscriber(t, b, 40)
		defer reads()
		late := b.Client(t, "r2")
		closed := make(chan error, 1)
		go func() { closed <- b.Close() }()
		synctest.Wait()
		before := b.Status()["messages_received"]
		if err := late.Raw(packet("troupe/v1/robots/r2/event", "{}")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if after := b.Status()["messages_received"]; after != before {
			t.Error("the closing broker accepted a message")
		}
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
	})
}

func TestIdleBrokerClosesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		for _, name := range []string{"r1", "obs", "op1"} {
			b.Client(t, name).Subscribe("troupe/v1/robots/r1/presence")
		}
		gone := b.Client(t, "op2", func(h *brokertest.ConnectPacket) { h.Keep = true })
		gone.Subscribe("troupe/v1/robots/#")
		gone.Cut() // it asked for a persistent session, which must not delay the close
		waiting, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer waiting.Close()
		began := time.Now()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("closed after %v", took)
		}
	})
}
