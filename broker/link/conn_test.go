package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"troupe/schema/bubble"
)

// countedConn counts the reads that return bytes.
type countedConn struct {
	net.Conn
	reads atomic.Int64
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.reads.Add(1)
	}
	return n, err
}

func publishPacket(tb testing.TB, payload int) []byte {
	tb.Helper()
	p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	p.TopicName, p.Payload, p.Qos, p.MessageID = "troupe/v1/robots/r1/cmd/op1/mode/set", make([]byte, payload), 1, 1
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// pipe returns a guarded connection and the end that the broker writes to.
func pipe(t *testing.T) (c *guardedConn, counted *countedConn, broker net.Conn) {
	ours, theirs := net.Pipe()
	counted = &countedConn{Conn: ours}
	c = newGuardedConn(counted, time.Second, packetChecker{max: 1 << 20, filters: 1})
	t.Cleanup(func() { c.Close(); theirs.Close() })
	return c, counted, theirs
}

// The library reads the type, each byte of the length, and the body separately.
func TestOneReadPerPacket(t *testing.T) {
	const n = 50
	for _, c := range []struct {
		name    string
		payload int
		burst   int // packets in one write
		reads   int64
	}{
		{"one by one", 20, 1, n},
		{"one by one, with a length of two bytes", 2000, 1, n},
		{"several at once", 20, 10, n / 10},
		{"larger than the buffer", 20 << 10, 1, 2 * n},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, counted, broker := pipe(t)
			go func() {
				for range n / c.burst {
					if _, err := broker.Write(bytes.Repeat(publishPacket(t, c.payload), c.burst)); err != nil {
						return
					}
				}
			}()
			for i := range n {
				p, err := packets.ReadPacket(conn)
				if err != nil || len(p.(*packets.PublishPacket).Payload) != c.payload {
					t.Fatalf("packet %d: %v, %v", i, p, err)
				}
			}
			if got := counted.reads.Load(); got != c.reads {
				t.Errorf("%d reads for %d packets, want %d", got, n, c.reads)
			}
		})
	}
}

func TestReadDeadlinePassesThroughTheBuffer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		conn, _, broker := pipe(t)
		began := time.Now()
		_ = conn.SetReadDeadline(began.Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Fatalf("read ends after %v with %v", time.Since(began), err)
		}
		_ = conn.SetReadDeadline(time.Time{})
		go func() { _, _ = broker.Write([]byte{packetSuback, 3, 0, 1, 0}) }()
		if b := make([]byte, 5); true {
			if _, err := io.ReadFull(conn, b); err != nil || b[0] != packetSuback {
				t.Errorf("after the deadline was removed: % x, %v", b, err)
			}
		}
	})
}

// A message that follows one that was lost must not be delivered.
func TestEndedConnectionDeliversNothingFromTheBuffer(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*guardedConn)
		want error
	}{
		"failed": {func(c *guardedConn) { c.fail(ErrOverrun) }, ErrOverrun},
		"closed": {func(c *guardedConn) { c.Close() }, net.ErrClosed},
	} {
		conn, _, broker := pipe(t)
		go func() { _, _ = broker.Write(bytes.Repeat(publishPacket(t, 20), 2)) }()
		if _, err := packets.ReadPacket(conn); err != nil {
			t.Fatal(err)
		}
		c.end(conn)
		if p, err := packets.ReadPacket(conn); !errors.Is(err, c.want) {
			t.Errorf("%s: read %v, %v", name, p, err)
		}
	}
}

// BenchmarkReadPackets reads packets over TCP, either each one as soon as it arrives or
// many that have arrived, with the buffer and without it.
func BenchmarkReadPackets(b *testing.B) {
	for _, pace := range []string{"one by one", "burst"} {
		for _, arm := range []string{"buffered", "unbuffered"} {
			b.Run(pace+"/"+arm, func(b *testing.B) {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				defer ln.Close()
				broker, err := net.Dial("tcp", ln.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				defer broker.Close()
				ours, err := ln.Accept()
				if err != nil {
					b.Fatal(err)
				}
				counted := &countedConn{Conn: ours}
				conn := newGuardedConn(counted, time.Second, packetChecker{max: 1 << 20, filters: 1})
				defer conn.Close()
				if arm == "unbuffered" {
					conn.reader = counted
				}
				const burst = 20
				packet, size := publishPacket(b, 300), 1
				if pace == "burst" {
					packet, size = bytes.Repeat(packet, burst), burst
				}
				n := 0
				for b.Loop() {
					if _, err := broker.Write(packet); err != nil {
						b.Fatal(err)
					}
					for range size {
						if _, err := packets.ReadPacket(conn); err != nil {
							b.Fatal(err)
						}
						n++
					}
				}
				b.ReportMetric(float64(counted.reads.Load())/float64(n), "reads/packet")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/packet")
			})
		}
	}
}
