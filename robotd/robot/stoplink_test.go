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
	"troupe/robotd/driver/sim"
)

// A node is an address of a nats-server that a test can lose, while the server and its other address go on.
type node struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	conns    []net.Conn
	stops    bool // a connection for stops began here
}

func newNode(t *testing.T, to string) *node {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{listener: l, to: to}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil {
				here.Close()
				continue
			}
			n.mu.Lock()
			n.conns = append(n.conns, here, there)
			n.mu.Unlock()
			all.Go(func() {
				_, _ = io.Copy(here, there)
				here.Close()
			})
			all.Go(func() {
				connect := make([]byte, 1024)
				read, _ := here.Read(connect)
				n.mu.Lock()
				n.stops = n.stops || bytes.Contains(connect[:read], []byte("r1_"+stopSuffix))
				n.mu.Unlock()
				_, _ = there.Write(connect[:read])
				_, _ = io.Copy(there, here)
				there.Close()
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

// forStops reports whether the connection for stops began at this node.
func (n *node) forStops() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stops
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
	own, other := newNode(t, server.Address), newNode(t, server.Address)
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
	brokertest.Eventually(t, "the robot has a connection for stops", func() bool {
		return strings.Contains(output.text(), "connection=stop") && own.forStops() != other.forStops()
	})
	if own.forStops() { // the name of the robot and the addresses decide at which node it begins
		own, other = other, own
	}
	_ = other.listener.Close() // it keeps its clients, and takes no new one
	own.lose()
	brokertest.Eventually(t, "the robot has lost its own connection", func() bool {
		return strings.Contains(output.text(), "mqtt: up -> down")
	})
	op.Publish("troupe/v1/fleet/cmd/op1/stop", `{"id":"fire"}`)
	brokertest.Eventually(t, "the robot holds the stop", func() bool { return strings.Contains(output.text(), "fire") })
	if strings.Count(output.text(), "mqtt: down -> up") != 1 {
		t.Errorf("its own connection was there again:\n%s", output.text())
	}
}

func TestConnectionsThatMetAtANodePart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, "", "")
	urls := []string{newNode(t, server.Address).url(), newNode(t, server.Address).url()}
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
