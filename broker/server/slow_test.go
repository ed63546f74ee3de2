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

// A subscriber that stops reading must not hold up those who publish to it.
func TestAStalledSubscriberIsCutAndPublishersGoOn(t *testing.T) {
	// So long that a busy machine does not make the publisher slow, too.
	b := start(t, func(c *server.Config) { c.WriteTimeout = 2 * time.Second })
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	write := func(p []byte) {
		if _, err := conn.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	write(brokertest.Hello{Name: "admin", ClientID: "admin"}.Bytes())
	write(everything())
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK; then nothing is read any more
		t.Fatal(err)
	}
	desk := b.Client(t, "fleetd")
	story := strings.Repeat("x", 8<<10)
	for b.Status()["clients"] == 2 {
		desk.Retain(r1+"desired/story", story) // waits for its acknowledgement
		if n := b.Status()["connections_stalled"]; n > 3 {
			t.Fatalf("the stalled subscriber is still there after %d deadlines", n)
		}
	}
	desk.Ping()
}

// BenchmarkPublishBesideAStalledSubscriber measures the longest that one publish
// waits, from before the stall to after it, with our deadline and without one.
// Without, it ends only with the stalled client's keep-alive.
func BenchmarkPublishBesideAStalledSubscriber(b *testing.B) {
	for name, timeout := range map[string]time.Duration{"deadline=1s": time.Second, "deadline=none": time.Hour} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(longestPublish(b, timeout).Seconds(), "s/longest")
			}
		})
	}
}

func longestPublish(b *testing.B, timeout time.Duration) time.Duration {
	s := start(b, func(c *server.Config) { c.WriteTimeout = timeout })
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	_, _ = conn.Write(brokertest.Hello{Name: "admin", ClientID: "admin", KeepAlive: 10}.Bytes())
	_, _ = conn.Write(everything())
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK; it is there, and reads no more
		b.Fatal(err)
	}
	desk := s.Client(b, "fleetd")
	story := strings.Repeat("x", 8<<10)
	var longest time.Duration
	for s.Status()["clients"] == 2 {
		began := time.Now()
		desk.Retain(r1+"desired/story", story)
		longest = max(longest, time.Since(began))
	}
	if longest == 0 {
		b.Fatal("the subscriber was gone before anything was published")
	}
	return longest
}

// everything is a SUBSCRIBE of QoS 1 to all there is.
func everything() []byte {
	return brokertest.Packet(0x82, append([]byte{0, 1, 0, 11}, "troupe/v1/#\x01"...))
}

// sips is a subscriber that takes so many bytes at a time, with a pause before
// each, until it is cut off.
func sips(t *testing.T, b *brokertest.Broker, bytes int, pause time.Duration) {
	conn, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, p := range [][]byte{brokertest.Hello{Name: "admin", ClientID: "admin"}.Bytes(), everything()} {
		if _, err := conn.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(conn, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK
		t.Fatal(err)
	}
	go func() {
		sip := time.NewTicker(pause)
		defer sip.Stop()
		for buf := make([]byte, bytes); err == nil; _, err = io.ReadFull(conn, buf) {
			<-sip.C
		}
	}()
}

// Each write to it comes to an end, and yet those who publish would wait for ever.
func TestASubscriberThatSipsIsCutAndPublishersGoOn(t *testing.T) {
	b := start(t, func(c *server.Config) { c.WriteTimeout = time.Second })
	sips(t, b, 8<<10, 750*time.Millisecond)
	desk, story := b.Client(t, "fleetd"), strings.Repeat("x", 8<<10)
	for began := time.Now(); b.Status()["clients"] == 2; {
		desk.Retain(r1+"desired/story", story)
		if time.Since(began) > brokertest.Patience {
			t.Fatal("it is still there, and holds up whoever publishes")
		}
	}
	if n := b.Status()["connections_stalled"]; n != 1 {
		t.Errorf("%d connections stalled", n)
	}
	desk.Ping()
}
