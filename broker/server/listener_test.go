package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/bubble"
)

// inBubble runs f in fake time with a broker without sockets.
func inBubble(t *testing.T, f func(*testing.T, *brokertest.Broker), options ...func(*server.Config)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) { f(t, start(t, append(options, brokertest.InProcess)...)) })
}

// closedByPeer waits until the peer has closed c, and reports whether it has.
func closedByPeer(t *testing.T, c net.Conn) bool {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(brokertest.Timeout))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !isTimeout(err)
}

func TestSilentConnectionIsCutAfterTenSeconds(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if !closedByPeer(t, c) || time.Since(began) != 10*time.Second {
			t.Fatalf("cut after %v", time.Since(began))
		}
	})
}

func TestConnectByteByByteIsCutAfterTenSeconds(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		connect := brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}.Bytes()
		began := time.Now()
		for i := range connect {
			if _, err := c.Write(connect[i : i+1]); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if time.Since(began) > 12*time.Second {
			t.Fatalf("still open after %v", time.Since(began))
		}
	})
}

func TestOversizedFirstPacketIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		for _, head := range [][]byte{
			{0x10, 0xff, 0xff, 0xff, 0x7f},       // CONNECT of 256 MB
			{0x10, 0x81, 0x20},                   // CONNECT of 4 KiB + 1
			{0x30, 0x04, 0, 1, 'a'},              // not a CONNECT
			{0x10, 0xff, 0xff, 0xff, 0xff, 0x01}, // malformed length
			{0x10, 0x80, 0x80, 0x80, 0x80},       // length that does not end
		} {
			c, err := b.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, _ = c.Write(head)
			if !closedByPeer(t, c) || time.Since(began) > 0 {
				t.Errorf("% x: cut after %v", head, time.Since(began))
			}
		}
	})
}

func TestOversizedPacketEndsOnlyItsConnection(t *testing.T) {
	b := start(t)
	other := b.Client(t, "op2")
	c := b.Client(t, "op1")
	_ = c.Raw([]byte{0x30, 0xff, 0xff, 0xff, 0x7f})
	c.Lost()
	other.Ping()
}

func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	b := start(t, func(c *server.Config) { c.MaxWaitingIP, c.MaxWaiting, c.ConnectTimeout = 4, 8, time.Minute })
	from := func(ip string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
		c, err := d.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	first := from("127.0.0.2")
	for _, ip := range []string{"127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.3", "127.0.0.5"} {
		from(ip)
	}
	c := from("127.0.0.4")
	if _, err := c.Write(brokertest.ConnectPacket{Name: "stop1", ClientID: "stop1"}.Bytes()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil { // CONNACK
		t.Fatalf("silent connections keep out one that sends CONNECT: %v", err)
	}
	if !closedByPeer(t, first) {
		t.Error("the oldest connection of the address with most of them is still open")
	}
}

func TestSilentConnectionsAreLimited(t *testing.T) {
	b := start(t, func(c *server.Config) { c.MaxWaitingIP, c.MaxWaiting = 3, 5 })
	dial := func() net.Conn {
		c, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	waiting := []net.Conn{dial(), dial(), dial()}
	if !closedByPeer(t, dial()) {
		t.Fatal("a fourth connection from one address was accepted")
	}
	for range 2 { // in-process connections have no address, but count
		if _, err := b.Dial(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !closedByPeer(t, c) {
		t.Fatal("a sixth connection was accepted")
	}
	// A connection that has sent CONNECT no longer counts.
	connect := brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}.Bytes()
	if _, err := waiting[0].Write(connect); err != nil {
		t.Fatal(err)
	}
	if _, err := waiting[0].Write(brokertest.Packet(0xc0, nil)); err != nil { // PINGREQ
		t.Fatal(err)
	}
	if _, err := io.ReadFull(waiting[0], make([]byte, 4+2)); err != nil { // CONNACK, PINGRESP
		t.Fatal(err)
	}
	brokertest.Connect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}).Ping()
}

// The library allocates a queue of 64 KiB for every connection before the client is
// authenticated.
func TestSilentConnectionNeedsLittleMemory(t *testing.T) {
	const connections = 500
	b := start(t, brokertest.InProcess)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for range connections {
		c, err := b.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := c.Write([]byte{0x10}); err != nil { // the first byte of a CONNECT
			t.Fatal(err)
		}
	}
	b.Client(t, "op1").Ping()
	if each := (heap() - before) / connections; each > 16<<10 {
		t.Errorf("each costs %d KiB", each>>10)
	}
}

func TestAcceptRatePerAddressIsLimited(t *testing.T) {
	t.Parallel()
	b := start(t, func(c *server.Config) { c.MaxAcceptsIP = 1 })
	connects := func() bool {
		c, code := brokertest.TryConnect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: "op1", ClientID: "op1"})
		if c != nil {
			c.Close()
		}
		return code == 0
	}
	refused := int64(0)
	for range 50 {
		if !connects() {
			refused++
		}
	}
	if n := b.Status()["connections_too_fast"]; refused == 0 || n != refused {
		t.Fatalf("%d of 50 connections at once refused, %d counted", refused, n)
	}
	b.Client(t, "op2").Ping() // from within the process
	brokertest.Eventually(t, "a connection after a pause", connects)
}

// The robots of a fleet may all come from one address, and a story makes each connect for blobs.
func TestRobotsAreNotCountedForTheAcceptRate(t *testing.T) {
	t.Parallel()
	b := start(t, func(c *server.Config) { c.MaxAcceptsIP, c.MaxAccepts = 1, 1 }) // 4 at once
	connects := func(name, id string) byte {
		_, code := brokertest.TryConnect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: name, ClientID: id})
		return code
	}
	for i := range 30 {
		for _, suffix := range []string{"", ".blob"} {
			name := fmt.Sprintf("r%d", i)
			if code := connects(name, name+suffix); code != 0 {
				t.Fatalf("%s%s: code %d", name, suffix, code)
			}
		}
	}
	if n := b.Status()["connections_too_fast"]; n != 0 {
		t.Fatalf("%d connections of robots were refused", n)
	}
	refused := 0
	for range 50 { // more often than a robot fetches
		if connects("r1", "r1.blob") != 0 {
			refused++
		}
	}
	if refused == 0 {
		t.Error("a robot that connects for blobs again and again is not counted")
	}
}

// As when a fleet behind one NAT address lost its network and has it again.
func TestThreeHundredRobotsReconnectAtOnce(t *testing.T) {
	const robots = 300
	b := start(t)
	var all sync.WaitGroup
	codes := make([]byte, robots)
	for i := range codes {
		name := fmt.Sprintf("r%d", i)
		all.Go(func() {
			_, codes[i] = brokertest.TryConnect(t, brokertest.TCP(b.Addr()), brokertest.ConnectPacket{Name: name, ClientID: name})
		})
	}
	all.Wait()
	for i, code := range codes {
		if code != 0 {
			t.Errorf("r%d: code %d", i, code)
		}
	}
	if s := b.Status(); s["clients"] != robots || s["connections_over_cap"]+s["connections_too_fast"] != 0 {
		t.Errorf("status %v", s)
	}
}

func TestCloseDoesNotWaitForSilentConnections(t *testing.T) {
	b := start(t)
	for range 10 {
		c, err := net.Dial("tcp", b.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	b.Client(t, "r1").Ping()
	if err := b.Close(); err != nil { // must not wait for these connections
		t.Fatal(err)
	}
}

func TestPortInUseErrorNamesTheAddress(t *testing.T) {
	b := start(t)
	_, err := server.New(server.Config{MQTT: b.Addr(), Dev: true})
	if err == nil || !strings.Contains(err.Error(), b.Addr()) || !strings.Contains(err.Error(), "MQTT address") {
		t.Fatalf("error %v", err)
	}
	_, err = server.New(server.Config{HTTP: b.Addr(), Dev: true})
	if err == nil || !strings.Contains(err.Error(), b.Addr()) || !strings.Contains(err.Error(), "HTTP address") {
		t.Fatalf("error %v", err)
	}
}

func TestDevIsRefusedOnReachableAddresses(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:1883", "example.com:1883"} {
		if s, err := server.New(server.Config{MQTT: addr, Dev: true}); err == nil {
			s.Close()
			t.Errorf("accepted address %s with Dev", addr)
		}
	}
	if _, err := server.New(server.Config{MQTT: "127.0.0.1:0"}); err == nil {
		t.Error("started without any accepted clients")
	}
}

func TestStatusHasCounters(t *testing.T) {
	b := start(t, func(c *server.Config) { c.HTTP = "127.0.0.1:0" })
	b.Client(t, "op1").Publish("nowhere", "")
	get := func(path string) []byte {
		resp, err := http.Get("http://" + b.HTTPAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %s", path, err, resp.Status)
		}
		return body
	}
	var status map[string]any
	if err := json.Unmarshal(get("/status"), &status); err != nil {
		t.Fatal(err)
	}
	if status["clients"] != 1.0 || status["publishes_forbidden"] != 1.0 || status["notices_sent"] != 1.0 {
		t.Errorf("status %v", status)
	}
	if got := fmt.Sprint(status["listeners"]); got != fmt.Sprintf("[map[address:%s kind:mqtt]]", b.Addr()) {
		t.Errorf("listeners %s", got)
	}
	get("/healthz")
	http.DefaultClient.CloseIdleConnections()
}
