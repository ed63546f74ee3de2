package server_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/metric/metrictest"
)

// gatedConn is a connection that delivers nothing while it is shut, except for one read that
// was already under way.
type gatedConn struct {
	net.Conn
	sync.RWMutex
}

func (s *gatedConn) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.RLock()
	defer s.RUnlock()
	return n, err
}

func (s *gatedConn) shut() { s.Lock() }
func (s *gatedConn) open() { s.Unlock() }

// connectGated connects a client that a test can stop from reading.
func connectGated(t testing.TB, b *brokertest.Broker, name string) (*brokertest.Client, *gatedConn) {
	t.Helper()
	s := &gatedConn{}
	c := brokertest.Connect(t, func(ctx context.Context) (net.Conn, error) {
		conn, err := b.Dial(ctx)
		s.Conn = conn
		return s, err
	}, brokertest.ConnectPacket{Name: name, ClientID: name})
	return c, s
}

// withoutRobotRates removes the rate limits of robots.
func withoutRobotRates(c *server.Config) { c.RobotRate, c.RobotBytes = 1<<20, 1<<30 }

// withoutTimeouts lets clients be slow without being disconnected.
func withoutTimeouts(c *server.Config) {
	c.WriteTimeout = 10 * time.Minute
	withoutRobotRates(c)
}

// publishQoS1 is a PUBLISH of QoS 1.
func publishQoS1(topic, payload string, retain byte, id int) []byte {
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(topic))), topic...)
	body = binary.BigEndian.AppendUint16(body, uint16(id%60000+1))
	return brokertest.Packet(0x32|retain, append(body, payload...))
}

// metric reads one value of /metrics.
func metric(t testing.TB, b *brokertest.Broker, name string) int64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta("troupe_broker_"+name) + ` (\S+)$`).FindStringSubmatch(metrics(t, b))
	if found == nil {
		t.Fatalf("no metric %s", name)
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(v)
}

func metrics(t testing.TB, b *brokertest.Broker) string {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Get("http://" + b.HTTPAddr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return string(text)
}

// burst publishes n messages of a robot, events and states in turn, to a subscriber that
// does not read meanwhile, and then lets it read.
func burst(t testing.TB, b *brokertest.Broker, n int) (slow *brokertest.Client, last string) {
	slow, gate := connectGated(t, b, "op1")
	robot := b.Client(t, "r1")
	slow.TrySubscribe(0, r1+"event", r1+"state") // with QoS 1 it would slow the robot down
	gate.shut()
	filler := strings.Repeat("x", 1000)
	var raw []byte
	for i := range n {
		kind, retain := "event", byte(0)
		if i%2 == 1 {
			kind, retain = "state", 1
		}
		last = fmt.Sprintf(`{"n":%d,"x":"%s"}`, i, filler)
		raw = append(raw, publishQoS1(r1+kind, last, retain, i)...)
		if i%100 == 99 || i == n-1 {
			if err := robot.Raw(raw); err != nil {
				t.Fatal(err)
			}
			raw = raw[:0]
			robot.Ping()
		}
	}
	gate.open()
	return slow, last
}

func TestBurstLeavesNewestStateAndCountsDrops(t *testing.T) {
	const n = 10000
	b := start(t, withoutTimeouts, func(c *server.Config) { c.HTTP = "127.0.0.1:0" })
	slow, last := burst(t, b, n)
	final := slow.ExpectThat(r1+"state", func(m brokertest.Message) bool { return string(m.Payload) == last })
	b.Client(t, "r1.", brokertest.WithID("r1"), func(h *brokertest.ConnectPacket) { h.Name = "r1" }).Publish(r1+"event", "end")
	slow.ExpectThat(r1+"event", func(m brokertest.Message) bool { return string(m.Payload) == "end" })
	live, again := 0, 0
	for _, m := range append(slow.Inbox(r1+"state"), append(slow.Inbox(r1+"event"), final)...) {
		if m.Retain {
			again++
		} else {
			live++
		}
	}
	dropped, madeGood := metric(t, b, `deliveries_dropped_total{reason="pending_full"}`), metric(t, b, "deliveries_postponed_total")
	t.Logf("%d published, %d received, %d dropped, %d sent later", n, live, dropped, again)
	if dropped == 0 {
		t.Error("nothing was dropped: the burst is too small")
	}
	if int64(live)+dropped != n {
		t.Errorf("%d received and %d dropped of %d", live, dropped, n)
	}
	if int64(again) != madeGood || again == 0 || again > 3 {
		t.Errorf("the state was sent again %d times, counted %d", again, madeGood)
	}
}

// BenchmarkRecoveryAfterBurst measures how long a subscriber that is 10,000 messages
// behind needs, from when it reads again until it has the newest state.
func BenchmarkRecoveryAfterBurst(b *testing.B) {
	for b.Loop() {
		post := start(b, withoutTimeouts)
		slow, last := burst(b, post, 10000)
		began := time.Now()
		slow.ExpectThat(r1+"state", func(m brokertest.Message) bool { return string(m.Payload) == last })
		b.ReportMetric(time.Since(began).Seconds(), "s/recovered")
	}
}

// The library sends a new subscriber as many documents as its queue holds, and silently
// drops the rest.
func TestNewSubscriberGetsEveryDocument(t *testing.T) {
	t.Parallel()
	const documents = 12000
	b := start(t, withoutTimeouts)
	fleetd := b.Client(t, "fleetd")
	for i := 0; i < documents; i += 100 {
		flood(t, fleetd, 100, func(n int) []byte {
			return publishQoS1(fmt.Sprintf("troupe/v1/blobs/%064x", i+n), strings.Repeat("b", 200), 1, n)
		})
	}
	late := b.Client(t, "admin")
	late.Subscribe("troupe/v1/blobs/+")
	got := map[string]bool{}
	for limit := time.Now().Add(time.Minute); len(got) < documents; late.Ping() {
		for _, m := range late.Inbox("troupe/v1/blobs/+") {
			got[m.Topic] = true
		}
		if time.Now().After(limit) {
			t.Fatalf("%d of %d documents were delivered", len(got), documents)
		}
	}
}

// However full its queue is and whatever changes meanwhile, at the end a subscriber has
// the retained version of each document, and none that was deleted.
func TestSlowSubscriberGetsNewestDocuments(t *testing.T) {
	t.Parallel()
	const robots, rounds = 8, 60
	b := start(t, withoutTimeouts, func(c *server.Config) { c.MaxQueued = 4 })
	slow, gate := connectGated(t, b, "op1")
	slow.TrySubscribe(0, "troupe/v1/robots/+/state")
	filler := strings.Repeat("x", 12<<10) // so that few messages fit into the pipe
	want := map[string]string{}
	clients := make([]*brokertest.Client, robots)
	for i := range clients {
		clients[i] = b.Client(t, fmt.Sprintf("r%d", i))
	}
	for round := range 3 {
		gate.shut()
		var all sync.WaitGroup
		for i, robot := range clients {
			topic := fmt.Sprintf("troupe/v1/robots/r%d/state", i)
			want[topic] = fmt.Sprintf("%d/%d %s", round, rounds-1, filler)
			all.Go(func() {
				for n := range rounds {
					_ = robot.Raw(publishQoS1(topic, fmt.Sprintf("%d/%d %s", round, n, filler), 1, n))
				}
				if round == 2 && i%3 == 0 {
					_ = robot.Raw(publishQoS1(topic, "", 1, rounds))
				}
				robot.Ping()
			})
			if round == 2 && i%3 == 0 {
				want[topic] = ""
			}
		}
		if round%2 == 0 {
			all.Wait()
			gate.open()
		} else {
			gate.open() // reads while the robots publish
			all.Wait()
		}
	}
	have := map[string]string{}
	for limit := time.Now().Add(time.Minute); ; slow.Ping() {
		for _, m := range slow.Inbox("troupe/v1/robots/+/state") {
			have[m.Topic] = string(m.Payload)
		}
		wrong := ""
		for topic, w := range want {
			if have[topic] != w {
				wrong = fmt.Sprintf("%s is %.10q, should be %.10q", topic, have[topic], w)
			}
		}
		if wrong == "" {
			break
		}
		if time.Now().After(limit) {
			t.Fatal(wrong)
		}
	}
	if b.Status()["deliveries_dropped"] == 0 {
		t.Error("nothing was dropped")
	}
}

func TestClientWithoutAcknowledgementsIsCut(t *testing.T) {
	const most = 8192
	b := start(t, withoutTimeouts, func(c *server.Config) { c.MaxInflight = most })
	silent, robot := b.Client(t, "op1"), b.Client(t, "r1")
	silent.StopAcknowledging()
	silent.Subscribe(r1 + "event")
	for range 100 {
		flood(t, robot, 100, func(i int) []byte { return publishQoS1(r1+"event", "{}", 0, i) })
	}
	silent.Lost()
	if s := b.Status(); s["connections_unacknowledged"] != 1 {
		t.Errorf("status %v", s)
	}
}

// The message that does not fit might be a stop, also one with QoS 0 from a shell script.
func TestRobotIsCutIfACommandDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		name, topic string
		packet      func(topic, payload string, i int) []byte
	}{
		{"QoS 1", r1 + "cmd/stop1/safety/stop", func(topic, payload string, i int) []byte { return publishQoS1(topic, payload, 0, i) }},
		{"QoS 0", r1 + "cmd/stop1/safety/stop",
			func(topic, payload string, _ int) []byte { return brokertest.Packet(0x30, publish(topic, payload)) }},
		{"to all with QoS 0", "troupe/v1/fleet/cmd/stop1/stop",
			func(topic, payload string, _ int) []byte { return brokertest.Packet(0x30, publish(topic, payload)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, withoutTimeouts)
			robot, gate := connectGated(t, b, "r1")
			button := b.Client(t, "stop1")
			robot.TrySubscribe(0, r1+"cmd/#", "troupe/v1/fleet/cmd/#") // with QoS 1 it would slow the button down, for a second at most
			gate.shut()
			payload := strings.Repeat("x", 300)
			for range 200 {
				flood(t, button, 100, func(i int) []byte { return c.packet(c.topic, payload, i) })
			}
			gate.open()
			robot.Lost()
			if s := b.Status(); s["connections_queue_full"] != 1 || s["deliveries_dropped"] == 0 {
				t.Errorf("status %v", s)
			}
		})
	}
}

func TestLostDeliveriesOfStalledSubscriberAreCounted(t *testing.T) {
	t.Parallel()
	b := start(t, withoutRobotRates, func(c *server.Config) { c.WriteTimeout = time.Second })
	slow, gate := connectGated(t, b, "op1")
	robot := b.Client(t, "r1")
	slow.TrySubscribe(0, r1+"event")
	gate.shut()
	filler := strings.Repeat("x", 4000)
	flood(t, robot, 1000, func(i int) []byte { return publishQoS1(r1+"event", filler, 0, i) })
	for limit := time.Now().Add(brokertest.Timeout); b.Status()["deliveries_lost_stalled"] == 0; robot.Ping() {
		if time.Now().After(limit) {
			t.Fatalf("status %v", b.Status())
		}
	}
	gate.open()
	slow.Lost()
	if n := b.Status()["deliveries_lost_stalled"]; n > 1000 {
		t.Errorf("%d of 1000 lost", n)
	}
}

func TestMetrics(t *testing.T) {
	b := start(t, func(c *server.Config) { c.HTTP = "127.0.0.1:0" })
	op := b.Client(t, "op1")
	b.Client(t, "r1").Retain(r1+"state", "{}")
	blobs := b.Client(t, "r1", brokertest.WithID("r1.blob"))
	blobs.Ping()
	op.Publish("nowhere", "")
	op.Subscribe(r1 + "state")
	for name, want := range map[string]int64{
		`connections{kind="operator"}`: 1, `connections{kind="robot"}`: 1, `connections{kind="blobs"}`: 1, `connections{kind="fleetd"}`: 0,
		`publishes_refused_total{reason="forbidden"}`: 1, `connections_accepted_total`: 3, `retained_bytes`: 2, `subscriptions`: 1,
		`deliveries_dropped_total{reason="write_deadline"}`: 0, `connections_refused_total{reason="too_often"}`: 0,
	} {
		if got := metric(t, b, name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if metric(t, b, "bytes_received_total") == 0 || metric(t, b, "bytes_sent_total") == 0 || metric(t, b, "messages_received_total") < 2 {
		t.Error("bytes and messages are not counted")
	}
	metrictest.Check(t, server.Metrics, metrics(t, b))
}
