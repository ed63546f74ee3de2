package server_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/argon2id"
)

// from dials b from another address of this machine.
func from(b *brokertest.Broker, address string) brokertest.Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
		return d.DialContext(ctx, "tcp", b.Addr())
	}
}

// guessPasswords keeps n connections trying wrong passwords from address until the test ends. let
// counts those that were accepted.
func guessPasswords(t *testing.T, b *brokertest.Broker, address, name string, n int, let, refused *atomic.Int64) {
	dial, over := from(b, address), make(chan struct{})
	ended := make(chan struct{}, n)
	for i := range n {
		go func() {
			defer func() { ended <- struct{}{} }()
			again := time.NewTicker(500 * time.Millisecond)
			defer again.Stop()
			for try := 0; ; try++ {
				select {
				case <-over:
					return
				default:
				}
				c, err := dial(t.Context())
				if err != nil {
					<-again.C
					continue
				}
				unbind := context.AfterFunc(t.Context(), func() { c.Close() })
				_ = c.SetDeadline(time.Now().Add(brokertest.Timeout))
				_, _ = c.Write(brokertest.ConnectPacket{Name: name, ClientID: name, Password: fmt.Sprint("guess ", i, try)}.Bytes())
				answer := make([]byte, 4)
				switch _, err := io.ReadFull(c, answer); {
				case err == nil && answer[3] == 0:
					let.Add(1)
				case err == nil:
					refused.Add(1)
				}
				unbind()
				c.Close()
				<-again.C
			}
		}()
	}
	t.Cleanup(func() {
		close(over)
		for range n {
			<-ended
		}
	})
}

// Unknown clients that guess passwords must keep no other client out, least of all a stop
// button: neither from other addresses nor from their own.
func TestPasswordGuessersKeepNobodyOut(t *testing.T) {
	hash := func(password string) argon2id.Hash { return argon2id.HashPassword(password, [16]byte{1}) }
	b := start(t, brokertest.Users(t,
		fmt.Sprintf("btn stop %s\nop1 operator %s\nop2 operator %s\nop3 operator %s\n", hash("b"), hash("1"), hash("2"), hash("3"))))
	var let, refused atomic.Int64
	for _, address := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"} {
		guessPasswords(t, b, address, "op3", 34, &let, &refused)
	}
	brokertest.Eventually(t, "the unknown clients have begun to guess", func() bool { return let.Load() > 0 || refused.Load() > 30 })
	times := 3
	if testing.Short() {
		times = 1 // both processors hash all the while
	}
	for _, address := range []string{"127.0.0.6", "127.0.0.2"} {
		for range times {
			for name, password := range map[string]string{"btn": "b", "op1": "1", "op2": "2"} {
				c, code := brokertest.TryConnect(t, from(b, address), brokertest.ConnectPacket{Name: name, ClientID: name, Password: password})
				if code != 0 {
					t.Errorf("%s from %s: refused with code %d", name, address, code)
					continue
				}
				c.Close()
			}
		}
	}
	if n := let.Load(); n > 0 {
		t.Errorf("%d unknown clients were accepted", n)
	}
}

// No user name can use all slots, and stop clients and fleetd instances always find one.
func TestConnectionSlotsPerNameAndReservedSlots(t *testing.T) {
	const places, each = 200, 8
	b := start(t, func(c *server.Config) { c.MaxClients, c.MaxPerName = places, each })
	try := func(id string) (*brokertest.Client, byte) {
		return brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: strings.SplitN(id, ".", 2)[0], ClientID: id})
	}
	for i := range each {
		if _, code := try(fmt.Sprintf("op7.%d", i)); code != 0 {
			t.Fatalf("connection %d of op7: code %d", i, code)
		}
	}
	if _, code := try("op7.more"); code != 3 {
		t.Errorf("one connection more than a name may have: code %d", code)
	}
	back, code := try("op7.0")
	if code != 0 {
		t.Fatalf("reconnect with an existing id: code %d", code)
	}
	back.Close()
	brokertest.Eventually(t, "a slot that became free is given to another", func() bool { _, code := try("op7.new"); return code == 0 })
	for i := each; i < places-places/20; i++ {
		if _, code := try(fmt.Sprintf("r%d", i)); code != 0 {
			t.Fatalf("robot %d: code %d", i, code)
		}
	}
	for _, id := range []string{"one-more", "op1", "admin", "obs"} {
		if _, code := try(id); code != 3 {
			t.Errorf("%s, when only reserved slots are free: code %d", id, code)
		}
	}
	for _, id := range []string{"stop1", "fleetd", "fleetd-b", "stop1.wall"} {
		if _, code := try(id); code != 0 {
			t.Errorf("%s, for which slots are reserved: code %d", id, code)
		}
	}
	if n := b.Status()["connects_without_slot"]; n < 5 {
		t.Errorf("%d refusals counted", n)
	}
}

// connectMany connects an administrator many times, each subscribed to everything.
func connectMany(t *testing.T, b *brokertest.Broker, sockets int) (all []net.Conn) {
	t.Helper()
	for i := range sockets {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Write(append(brokertest.ConnectPacket{Name: "admin", ClientID: fmt.Sprint("admin.", i)}.Bytes(),
			subscribeToAll()...)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 4+5)); err != nil { // CONNACK, SUBACK
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// A client that does not read fills its queues, and may have many connections: together
// their queues are bounded, and no other client misses anything because of them. It may still
// subscribe.
func TestQueuesOfOneNameAreBounded(t *testing.T) {
	const pending, sockets = 64, 24
	b := start(t, func(c *server.Config) { c.HTTP, c.WriteTimeout, c.MaxQueued = "127.0.0.1:0", time.Hour, pending })
	all := connectMany(t, b, sockets)
	fleetd, robot := b.Client(t, "fleetd"), b.Client(t, "r1")
	robot.Subscribe(r1 + "desired/#")
	story := strings.Repeat("x", 8<<10)
	for range 6 * pending { // the pipe of each connection holds 128 of them
		fleetd.Retain(r1+"desired/story", story)
		robot.Expect(r1 + "desired/story")
	}
	waiting := 0
	for _, c := range clientsOf(t, b) {
		waiting += c.Pending
	}
	if waiting < 2*pending || waiting > 5*pending+sockets {
		t.Errorf("%d messages wait for %d connections that do not read, with %d in a queue: want four full queues at most", waiting, sockets,
			pending)
	}
	fleetd.Ping() // nothing is being delivered any more
	before := b.Status()
	if before["clients"] != sockets+2 || before["deliveries_dropped"] == 0 {
		t.Errorf("status %v", before)
	}
	topic := r1 + "state" // a document, and a filter without wildcards
	subscribe := append([]byte{0xea, 0x60, 0, byte(len(topic))}, topic...)
	if _, err := all[0].Write(brokertest.Packet(0x82, append(subscribe, 1))); err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "the subscription is granted, or counted as a delivery", func() bool {
		s := b.Status()
		return s["subscriptions"] != before["subscriptions"] || s["deliveries_dropped"] != before["deliveries_dropped"]
	})
	if s := b.Status(); s["subscriptions"] != before["subscriptions"]+1 || s["deliveries_dropped"] != before["deliveries_dropped"] {
		t.Errorf("after a SUBSCRIBE: status %v, before %v", s, before)
	}
}

func TestInflightOfOneNameIsBounded(t *testing.T) {
	const inflight, sockets = 640, 8
	b := start(t, func(c *server.Config) { c.HTTP, c.MaxInflight = "127.0.0.1:0", inflight })
	for _, c := range connectMany(t, b, sockets) {
		go func() { _, _ = io.Copy(io.Discard, c) }()
	}
	fleetd := b.Client(t, "fleetd")
	for n := range inflight / 4 {
		fleetd.Retain(r1+"desired/story", fmt.Sprint(n))
	}
	brokertest.Eventually(t, "some are cut", func() bool { return b.Status()["connections_unacknowledged"] > 0 })
	unacknowledged := 0
	for _, c := range clientsOf(t, b) {
		unacknowledged += c.Unacknowledged
	}
	if unacknowledged > inflight+sockets { // one more may be in flight on each connection
		t.Errorf("%d deliveries to one user name are unacknowledged: want at most %d", unacknowledged, inflight)
	}
	fleetd.Ping()
}
