package server_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"troupe/broker/brokertest"
)

// A stop button whose will is a stop without a payload is armed: the stop reaches the
// robot when the button is lost.
func TestWillWithoutPayloadIsSent(t *testing.T) {
	b := start(t)
	robot := b.Client(t, "r1")
	robot.Subscribe(r1 + "cmd/+/safety/stop")
	for _, qos := range []byte{0, 1} {
		button := b.Client(t, "op1", brokertest.WithWill(brokertest.Message{Topic: r1 + "cmd/op1/safety/stop", QoS: qos}))
		button.Cut()
		if m := robot.Expect("#"); len(m.Payload) > 0 || m.Retain || m.QoS != qos {
			t.Errorf("the will of QoS %d arrived as %v", qos, m)
		}
	}
}

// connack sends a first packet and returns the code of its CONNACK, or false if the broker
// closed the connection without one.
func connack(t *testing.T, dial brokertest.Dialer, first []byte) (code byte, answered bool) {
	t.Helper()
	conn, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(brokertest.Timeout))
	if _, err := conn.Write(first); err != nil {
		return 0, false
	}
	if half, ok := conn.(*net.TCPConn); ok { // so that the broker does not wait for the rest of a packet with a forged length
		_ = half.CloseWrite()
	}
	var head [4]byte
	switch n, err := io.ReadFull(conn, head[:]); {
	case n == 0:
		return 0, false
	case err != nil || head[0] != 0x20:
		t.Fatalf("% x is answered with % x: %v", first, head[:n], err)
	}
	return head[3], true
}

// MQTT 3.1.1 clients know the codes up to 5; some take any other for success.
func TestRefusedConnectGetsMQTT311Code(t *testing.T) {
	b := start(t)
	dial := brokertest.TCP(b.Addr())
	will := &brokertest.Message{Topic: r1 + "cmd/op1/safety/stop"}
	connect := func(change func(h *brokertest.ConnectPacket), forge func(flags, level *byte)) []byte {
		h := brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}
		change(&h)
		p := h.Bytes()
		at := bytes.Index(p, []byte("MQTT"))
		forge(&p[at+5], &p[at+4])
		return p
	}
	same := func(*brokertest.ConnectPacket) {}
	asIs := func(_, _ *byte) {}
	emptyPassword := connect(func(h *brokertest.ConnectPacket) { h.Password = "x" }, asIs)
	emptyPassword = append(emptyPassword[:len(emptyPassword)-3], 0, 0)
	emptyPassword[1]-- // the length of what follows
	const silent = 255 // closed without a CONNACK
	for _, c := range []struct {
		why   string
		first []byte
		code  byte
	}{
		{"well-formed", connect(same, asIs), 0},
		{"a will without a payload", connect(func(h *brokertest.ConnectPacket) { h.Will = will }, asIs), 0},
		{"an empty password", emptyPassword, 0},
		{"a will without a topic", connect(func(h *brokertest.ConnectPacket) { h.Will = &brokertest.Message{Payload: []byte("x")} }, asIs),
			silent},
		{"a will of QoS 3", connect(func(h *brokertest.ConnectPacket) { h.Will = will }, func(flags, _ *byte) { *flags |= 0x18 }), silent},
		{"no will, but its retain flag", connect(same, func(flags, _ *byte) { *flags |= 0x20 }), silent},
		{"the reserved flag", connect(same, func(flags, _ *byte) { *flags |= 0x01 }), silent},
		{"no id with a persistent session", connect(func(h *brokertest.ConnectPacket) { h.ClientID, h.Keep = "", true }, asIs), 2},
		{"an unknown newer protocol level", connect(same, func(_, level *byte) { *level = 6 }), 1},
		{"an older protocol level", connect(same, func(_, level *byte) { *level = 3 }), 1},
		{"another protocol", bytes.Replace(connect(same, asIs), []byte("MQTT"), []byte("MQTS"), 1), silent},
	} {
		code, answered := connack(t, dial, c.first)
		if !answered {
			code = silent
		}
		if code != c.code {
			t.Errorf("%s: code %#x, want %#x", c.why, code, c.code)
		}
	}

	full := brokertest.ConnectPacket{Name: "op1", ClientID: "op1", Password: "x", Will: will}.Bytes()
	random := rand.New(rand.NewPCG(10, 311))
	for range 2000 {
		p := slices.Clone(full)
		for range 1 + random.IntN(3) {
			p[2+random.IntN(len(p)-2)] = byte(random.IntN(256))
		}
		if level := p[8]; level == 5 {
			continue // MQTT 5 has other codes
		}
		if code, answered := connack(t, dial, p); answered && code > 5 {
			t.Fatalf("% x is answered with code %#x", p, code)
		}
	}
}
