package robot

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/deploy/natstest"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/event"
	"troupe/schema"
)

// A node is an address of a nats-server that a test can lose, while the server and its other address go on.
type node struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	conns    []net.Conn
	most     int // connections at a time; more are closed
	open     int
	stops    int // of open, those for stops
}

func newNode(t *testing.T, to string, most int) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{listener: l, to: to, most: most}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			n.mu.Lock()
			full := n.open == n.most
			n.mu.Unlock()
			if full { // only this goroutine makes it more
				here.Close()
				continue
			}
			there, err := net.Dial("tcp", to)
			if err != nil {
				here.Close()
				continue
			}
			n.mu.Lock()
			n.conns = append(n.conns, here, there)
			n.open++
			n.mu.Unlock()
			all.Go(func() {
				_, _ = io.Copy(here, there)
				here.Close()
			})
			all.Go(func() {
				connect := make([]byte, 1024)
				read, _ := here.Read(connect)
				stops := 0
				if bytes.Contains(connect[:read], []byte("r1_"+stopSuffix)) {
					stops = 1
				}
				n.mu.Lock()
				n.stops += stops
				n.mu.Unlock()
				_, _ = there.Write(connect[:read])
				_, _ = io.Copy(there, here)
				there.Close()
				n.mu.Lock()
				n.open--
				n.stops -= stops
				n.mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		n.lose()
		all.Wait()
	})
	return n
}

func (n *node) url() string { return "mqtt://" + n.listener.Addr().String() }

// has returns how many connections are at this node, and how many of them are for stops.
func (n *node) has() (open, stops int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open, n.stops
}

func (n *node) lose() {
	n.listener.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Close()
	}
}

// While the nodes elect a leader for sessions, a robot that has lost its node gets no new connection.
func TestRobotOfALostNodeIsStoppedOverItsOtherConnection(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, "", "")
	own, other := newNode(t, server.Address, 1), newNode(t, server.Address, 1) // on a busy machine both connections could meet at one
	op := brokertest.Connect(t, brokertest.TCP(server.Address), brokertest.ConnectPacket{Name: "op1", ClientID: "op1_1"})
	op.Subscribe("troupe/v1/robots/r1/presence")
	var output safeBuilder
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{ID: "r1", Broker: own.url(), FallbackBrokers: []string{other.url()}, Engine: link.NATS, Data: t.TempDir(),
			Driver: sim.New(sim.Config{}), Logger: slog.New(slog.NewTextHandler(&output, nil))})
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	op.ExpectThat("troupe/v1/robots/r1/presence", func(m brokertest.Message) bool {
		return strings.Contains(string(m.Payload), `"online"`)
	})
	brokertest.Eventually(t, "the robot has both connections, and knows of its own", func() bool {
		open, stops := own.has()
		openThere, stopsThere := other.has()
		return strings.Contains(output.text(), "connection=stop") && strings.Contains(output.text(), "mqtt: down -> up") &&
			open+openThere == 2 && stops+stopsThere == 1
	})
	if _, stops := own.has(); stops > 0 { // the name of the robot and the addresses decide at which node it begins
		own, other = other, own
	}
	_ = other.listener.Close() // it keeps its clients, and takes no new one
	ups, downs := strings.Count(output.text(), "mqtt: down -> up"), strings.Count(output.text(), "mqtt: up -> down")
	own.lose()
	brokertest.Eventually(t, "the robot has lost its own connection", func() bool {
		return strings.Count(output.text(), "mqtt: up -> down") > downs
	})
	op.Publish("troupe/v1/fleet/cmd/op1/stop", `{"id":"fire"}`)
	brokertest.Eventually(t, "the robot holds the stop", func() bool { return strings.Contains(output.text(), "fire") })
	if strings.Count(output.text(), "mqtt: down -> up") != ups {
		t.Errorf("its own connection was there again:\n%s", output.text())
	}
}

// A stop without an id, such as that of a button, arrives over both connections and is one stop.
func TestStopOverBothConnectionsIsOne(t *testing.T) {
	l, _ := bareLoop(t, driver.Body{})
	p := &mqttTranslator{ns: schema.DefaultNamespace, id: "r1", loop: l, ctx: t.Context(), log: l.log}
	over := func(suffix string, n uint64) {
		p.deliver(link.Message{Topic: "troupe/v1/fleet/cmd/gate/stop", N: n}, suffix)
	}
	over("", 7)
	if ev := (<-l.stops).(event.LiveStop); ev.Copy || ev.N != 7 {
		t.Errorf("the first is %+v", ev)
	}
	over(stopSuffix, 0) // it would block if it went to the loop
	over("", 8)
	if ev := (<-l.stops).(event.LiveStop); ev.Copy {
		t.Errorf("a second press is %+v", ev)
	}
	over(stopSuffix, 0)
	over(stopSuffix, 0)
	if ev := (<-l.stops).(event.LiveStop); ev.Copy {
		t.Errorf("a third press, first over the other connection, is %+v", ev)
	}
	over("", 9)
	if ev := (<-l.stops).(event.LiveStop); !ev.Copy || ev.N != 9 {
		t.Errorf("the copy with its place in the order is %+v", ev)
	}
}

func TestConnectionsThatMetAtANodePart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, "", "")
	urls := []string{newNode(t, server.Address, 9).url(), newNode(t, server.Address, 9).url()}
	var links []*link.Link
	for _, suffix := range []string{"", stopSuffix} {
		l, err := link.Open(t.Context(), link.Config{URL: urls[0], FallbackURLs: urls[1:], Engine: link.NATS, Name: "r1", Suffix: suffix})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close(context.Background()) }()
		links = append(links, l)
	}
	brokertest.Eventually(t, "both are at one node", func() bool { return links[0].URL() != "" && links[0].URL() == links[1].URL() })
	ctx, cancel := context.WithCancel(t.Context())
	var apart sync.WaitGroup
	apart.Go(func() { keepApart(ctx, links[0], links[1], 10*time.Millisecond) })
	defer apart.Wait()
	defer cancel()
	brokertest.Eventually(t, "they are at two nodes", func() bool { return links[1].URL() != "" && links[0].URL() != links[1].URL() })
}

// A safeBuilder is a text that one goroutine writes and another one reads.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuilder) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
