package server_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// connectStalled connects a subscriber to everything that then stops reading. The keep-alive is in
// seconds.
func connectStalled(t testing.TB, b *brokertest.Broker, keepAlive uint16) {
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, p := range [][]byte{brokertest.ConnectPacket{Name: "admin", ClientID: "admin", KeepAlive: keepAlive}.Bytes(), subscribeToAll()} {
		if _, err := conn.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK
		t.Fatal(err)
	}
}

// The subscriber is not disconnected and every buffer is full, and still each publish is
// acknowledged and another subscriber receives it.
func TestStalledSubscriberDelaysNobody(t *testing.T) {
	b := start(t, func(c *server.Config) { c.WriteTimeout, c.MaxQueued = time.Hour, 64 })
	connectStalled(t, b, 300)
	fleetd, robot := b.Client(t, "fleetd"), b.Client(t, "r1")
	robot.Subscribe(r1 + "desired/#")
	story := strings.Repeat("x", 8<<10)
	// Every buffer is full once each delivery is dropped; before, one is dropped while the writer waits for a processor.
	for beyond, dropped := 0, int64(0); beyond < 100; beyond++ {
		fleetd.Retain(r1+"desired/story", story) // waits for its acknowledgement
		robot.Expect(r1 + "desired/story")
		before := dropped
		if dropped = b.Status()["deliveries_dropped"]; dropped == before {
			beyond = 0
		}
	}
	if s := b.Status(); s["clients"] != 3 || s["connections_stalled"] != 0 {
		t.Errorf("status %v", s)
	}
}

// expectSubscriberCut publishes until the broker has disconnected the slow subscriber.
func expectSubscriberCut(t *testing.T, b *brokertest.Broker) {
	t.Helper()
	fleetd, story := b.Client(t, "fleetd"), strings.Repeat("x", 8<<10)
	for began := time.Now(); b.Status()["clients"] == 2; {
		fleetd.Retain(r1+"desired/story", story)
		if time.Since(began) > brokertest.Timeout {
			t.Fatal("the subscriber is still connected")
		}
	}
	if n := b.Status()["connections_stalled"]; n != 1 {
		t.Errorf("%d connections stalled", n)
	}
	fleetd.Ping()
}

// A subscriber that does not read is disconnected after the write timeout.
func TestStalledSubscriberIsCut(t *testing.T) {
	b := start(t, func(c *server.Config) { c.WriteTimeout, c.MaxQueued = 100*time.Millisecond, 64 })
	connectStalled(t, b, 300)
	expectSubscriberCut(t, b)
}

// BenchmarkPublishWithStalledSubscriber measures the longest time of one publish from
// before a subscriber stalls until after it is disconnected: with our broker, and with the
// library alone, where it ends only with the stalled client's keep-alive.
func BenchmarkPublishWithStalledSubscriber(b *testing.B) {
	library := func(testing.TB, ...func(*server.Config)) *brokertest.Broker {
		s, err := newStockBroker(server.Config{MQTT: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		return &brokertest.Broker{Backend: s}
	}
	b.Run("ours", func(b *testing.B) { longestPublish(b, start(b)) })
	b.Run("library", func(b *testing.B) { longestPublish(b, library(b)) })
}

func longestPublish(b *testing.B, s *brokertest.Broker) {
	for b.Loop() {
		connectStalled(b, s, 10)
		fleetd := s.Client(b, "fleetd")
		story := strings.Repeat("x", 8<<10)
		var longest time.Duration
		for s.Status()["clients"] == 2 {
			began := time.Now()
			fleetd.Retain(r1+"desired/story", story)
			longest = max(longest, time.Since(began))
		}
		if longest == 0 {
			b.Fatal("the subscriber was gone before anything was published")
		}
		fleetd.Close()
		b.ReportMetric(longest.Seconds()*1000, "ms/longest")
	}
}

// subscribeToAll is a SUBSCRIBE with QoS 1 to all topics.
func subscribeToAll() []byte {
	return brokertest.Packet(0x82, append([]byte{0, 1, 0, 11}, "troupe/v1/#\x01"...))
}

// connectSlowReader connects a subscriber to everything that reads a few bytes at a time, with a pause
// before each, until it is disconnected.
func connectSlowReader(t *testing.T, b *brokertest.Broker, bytes int, pause time.Duration) {
	conn, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, p := range [][]byte{brokertest.ConnectPacket{Name: "admin", ClientID: "admin"}.Bytes(), subscribeToAll()} {
		if _, err := conn.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		conn.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		sip := time.NewTicker(pause)
		defer sip.Stop()
		for buf := make([]byte, bytes); err == nil; _, err = io.ReadFull(conn, buf) {
			select {
			case <-sip.C:
			case <-t.Context().Done():
				return
			}
		}
	}()
}

// Each write to it ends in time, but its queue would stay full for ever.
func TestSlowReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	b := start(t, func(c *server.Config) { c.WriteTimeout = time.Second })
	connectSlowReader(t, b, 8<<10, 750*time.Millisecond)
	expectSubscriberCut(t, b)
}
