package server_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// packets returns one packet of each type that a client may send after CONNECT.
func packets(id uint16, filter, topic, payload string) [][]byte {
	withID := binary.BigEndian.AppendUint16(nil, id)
	str := func(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }
	out := [][]byte{
		brokertest.Packet(0x30, append(str(topic), payload...)),
		brokertest.Packet(0x32, slices.Concat(str(topic), withID, []byte(payload))),
		brokertest.Packet(0x34, slices.Concat(str(topic), withID, []byte(payload))),
		brokertest.Packet(0x31, append(str(topic), payload...)),
		brokertest.Packet(0x82, slices.Concat(withID, str(filter), []byte{1})),
		brokertest.Packet(0xa2, slices.Concat(withID, str(filter))),
		brokertest.Packet(0xc0, nil),
	}
	for _, ack := range []byte{0x40, 0x50, 0x62, 0x70} {
		out = append(out, brokertest.Packet(ack, withID))
	}
	return out
}

// siege is a broker under attack, with a well-behaved robot and operator connected.
type siege struct {
	t         *testing.T
	b         *brokertest.Broker
	robot, op *brokertest.Client
	asked     int
}

// answers checks that a command still gets through, and its answer back.
func (s *siege) answers(during string) {
	s.t.Helper()
	s.asked++
	word := fmt.Sprint(during, s.asked)
	s.op.Publish(r1+"cmd/op1/safety/stop", word)
	if m := s.robot.Expect("#"); string(m.Payload) != word {
		s.t.Fatalf("%s: the robot got %v", during, m)
	}
	s.robot.Publish(r1+"ack/op1", word)
	s.op.ExpectThat(r1+"ack/op1", func(m brokertest.Message) bool { return string(m.Payload) == word })
}

// dial opens a connection whose answers are discarded.
func (s *siege) dial() net.Conn {
	c, err := net.Dial("tcp", s.b.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, c) }()
	return c
}

// attack sends connect and the packets, and returns when the broker has closed the
// connection.
func (s *siege) attack(connect brokertest.ConnectPacket, raw ...[]byte) {
	c, err := net.Dial("tcp", s.b.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(brokertest.Timeout))
	go func() {
		_, _ = c.Write(append(connect.Bytes(), slices.Concat(raw...)...))
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(io.Discard, c); err != nil && isTimeout(err) {
		s.t.Fatalf("after % .60x: %v", slices.Concat(raw...), err)
	}
}

var attacker = brokertest.ConnectPacket{Name: "op3", ClientID: "op3"}

func (s *siege) slowConnects() {
	for i := range 100 {
		c := s.dial()
		s.t.Cleanup(func() { c.Close() }) // they stay open as long as the broker allows
		if i%2 == 0 {
			_, _ = c.Write(attacker.Bytes()[:i%10])
		}
		if i%20 == 0 {
			s.answers("silent connections ")
		}
	}
}

func (s *siege) hugeHeaders() {
	for i := range 32 {
		huge := []byte{byte(i%15+1) << 4, 0xff, 0xff, 0xff, 0x7f}
		c := s.dial()
		defer c.Close() // so that all are open at once
		if i%2 == 0 {
			_, _ = c.Write(append(brokertest.ConnectPacket{Name: "op3", ClientID: fmt.Sprint("op3.", i)}.Bytes(), huge...))
		} else {
			_, _ = c.Write(huge)
		}
		s.answers("huge headers ")
	}
}

// truncated sends every packet cut off at every position, with a matching length.
func (s *siege) truncated() {
	for _, level := range []byte{4, 5} {
		connect := attacker
		connect.Protocol = level
		for _, p := range append(packets(7, "troupe/v1/#", "troupe/v1/robots/far/cmd/op3/sys/ping", "x"), connect.Bytes(),
			[]byte{0xf0, 2, 0x18, 0}, []byte{0xe0, 2, 0, 0}) {
			for n := range len(p) - 2 {
				s.attack(connect, brokertest.Packet(p[0], p[2:2+n]))
			}
			s.answers("truncated packets ")
		}
	}
}

func (s *siege) wrongIdentities() {
	for i := range 60 {
		s.attack(brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}) // connects too often
		for _, thief := range []string{"op3", "r2", "", "obs", "#"} {
			s.attack(brokertest.ConnectPacket{Name: thief, ClientID: "r1"})
		}
		for _, topic := range []string{r1 + "cmd/op1/mode/set", r1 + "presence", "troupe/v1/#", "$SYS/x", "troupe/v1/fleet/presence"} {
			s.attack(brokertest.ConnectPacket{Name: "op3", ClientID: "op3",
				Will: &brokertest.Message{Topic: topic, Payload: []byte("forged"), QoS: 1, Retain: i%2 == 0}})
		}
		if i%10 == 0 {
			s.answers("wrong identities ")
		}
	}
}

// randomFrames sends mostly well-formed packets with random content, so that a connection
// processes some dozens of them before a malformed one ends it.
func (s *siege) randomFrames(frames int64) {
	rnd := rand.New(rand.NewPCG(20, 26))
	word := func() string {
		letters := "abr1/-"
		if rnd.IntN(50) == 0 {
			letters = "ar/+#$\x00\xff"
		}
		b := make([]byte, 1+rnd.IntN(12))
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		return string(b)
	}
	frame := func() []byte {
		// No flipped bit turns "far" into r1, to which op3 may send commands as well.
		topic, filter := "troupe/v1/robots/far/cmd/op3/sys/ping", "troupe/v1/robots/"+word()
		if rnd.IntN(20) == 0 {
			topic = word()
		}
		all := packets(uint16(rnd.Uint32()), filter, topic, word())
		p := all[rnd.IntN(len(all))]
		switch rnd.IntN(150) {
		case 0: // other bytes
			for range 1 + rnd.IntN(3) {
				p[rnd.IntN(len(p))] ^= byte(1 << rnd.IntN(8))
			}
		case 1: // other kind or flags
			p[0] = byte(rnd.Uint32())
		case 2: // anything
			body := make([]byte, rnd.IntN(40))
			for i := range body {
				body[i] = byte(rnd.Uint32())
			}
			p = brokertest.Packet(byte(rnd.Uint32()), body)
		}
		return p
	}
	base := s.b.Status()["packets_received"]
	for round := 0; s.b.Status()["packets_received"]-base < frames; round++ {
		connect := attacker
		connect.ClientID = fmt.Sprintf("op3.%d", round%4)
		raw := make([][]byte, 100)
		for i := range raw {
			raw[i] = frame()
		}
		s.attack(connect, raw...)
		if round%50 == 0 {
			s.answers("random frames ")
		}
	}
}

func TestBrokerSurvivesHostileInput(t *testing.T) {
	b := start(t, func(c *server.Config) { c.MaxQueued = 256 })
	s := &siege{t: t, b: b, robot: b.Client(t, "r1"), op: b.Client(t, "op1", brokertest.WithID("op1"))}
	s.robot.Subscribe(r1 + "cmd/#")
	s.op.Subscribe(r1+"ack/op1", r1+"presence")
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys - m.HeapReleased)
	}
	frames := int64(100_000)
	if testing.Short() {
		frames /= 5
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says, the bound below holds
	debug.FreeOSMemory()                              // what earlier tests left is not in the bound
	before := heap()
	for _, phase := range []struct {
		name string
		do   func()
	}{
		{"slow connects", s.slowConnects}, {"huge headers", s.hugeHeaders}, {"truncated packets", s.truncated},
		{"wrong identities", s.wrongIdentities}, {"random frames", func() { s.randomFrames(frames) }},
	} {
		began := time.Now()
		phase.do()
		s.answers(phase.name)
		grown := heap() - before
		t.Logf("%s: %v, heap %+d MB, %d commands answered", phase.name, time.Since(began).Round(time.Millisecond), grown>>20, s.asked)
		if grown > 100<<20 {
			t.Fatalf("%s: the heap grew by %d MB", phase.name, grown>>20)
		}
	}
	if ms := append(s.robot.Inbox("#"), s.op.Inbox("#")...); len(ms) > 0 {
		t.Errorf("forged messages came through: %v", ms)
	}
	if n := b.Status()["connections_panicked"]; n > 0 {
		t.Errorf("%d connections panicked: no MQTT 3.1.1 client should be able to cause that", n)
	}
}

// One truncated packet crashes the library's process.
func TestTruncatedMQTT5SubscribeEndsOnlyItsConnection(t *testing.T) {
	b := start(t)
	s := &siege{t: t, b: b}
	other := b.Client(t, "op1")
	connect := attacker
	connect.Protocol = 5
	for range 20 {
		s.attack(connect, []byte{0x82, 6, 0, 1, 0, 0, 1, 'a'})
		other.Ping()
	}
}

// fuzzBroker sends raw bytes to a broker and checks that it neither panics nor stops serving.
func fuzzBroker(f *testing.F, before []byte) {
	b := start(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Millisecond))
		_, _ = c.Write(slices.Concat(before, raw, []byte{0xe0, 0}))
		_, _ = io.Copy(io.Discard, c)
		c.Close()
		b.Client(t, "op1").Ping()
		if b.Status()["connections_panicked"] > 0 {
			t.Fatal("the connection panicked")
		}
	})
}

func FuzzPacketsAfterConnect(f *testing.F) {
	for _, p := range packets(7, "troupe/v1/#", "troupe/v1/robots/far/cmd/op3/sys/ping", "x") {
		f.Add(p)
	}
	fuzzBroker(f, attacker.Bytes())
}

func FuzzFirstPacket(f *testing.F) {
	f.Add(attacker.Bytes())
	f.Add(brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Protocol: 5,
		Will: &brokertest.Message{Topic: r1 + "presence", Retain: true}}.Bytes())
	f.Add([]byte(strings.Repeat("\x10\xff", 4)))
	fuzzBroker(f, nil)
}
