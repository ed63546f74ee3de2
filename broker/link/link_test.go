package link_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/deploy/mosquittotest"
)

func TestLinkConnectsPublishesAndCloses(t *testing.T) {
	b := brokertest.Start(t)
	var u userLog
	cfg := robotConfig(nil, &u)
	cfg.URL = b.URL()
	received := make(chan struct{}, 9)
	cfg.OnMessage = func(m link.Message) { u.message(m); received <- struct{}{} }
	l, err := link.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	watcher := b.Client(t, "obs")
	watcher.Subscribe("troupe/v1/robots/#")
	waitUp(t, l)
	session := l.Session()
	watcher.ExpectThat(presence, func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), session) })

	op := b.Client(t, "op1")
	op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
	<-received
	if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err != nil {
		t.Fatal(err)
	}
	watcher.Expect("troupe/v1/robots/r1/event")

	if err := l.Close(t.Context(), farewell); err != nil {
		t.Fatal(err)
	}
	watcher.ExpectThat(presence, payloadContains("offline"))
	b.Client(t, "r2").Retain("troupe/v1/robots/r2/presence", "mark")
	watcher.ExpectThat("#", payloadContains("mark"))
	for _, m := range watcher.Inbox("#") {
		if payloadContains("lost")(m) {
			t.Fatalf("the will was sent after DISCONNECT: %v", m)
		}
	}
	// The link may still receive its own final message.
	if got := strings.Replace(u.all(), " presence=offline", "", 1); got != "connecting up set=ato closed" {
		t.Fatalf("reported %q", got)
	}
	if err := l.Publish(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event"}); !errors.Is(err, link.ErrNotReady) {
		t.Fatalf("publish after close: %v", err)
	}
}

// As in a program that holds both, the broker closes as soon as the final message is
// acknowledged. One watcher reads with QoS 1, one with QoS 0.
func TestFinalMessagesAreDeliveredThoughBrokerClosesAtOnce(t *testing.T) {
	for range 20 {
		b := brokertest.Start(t)
		watchers := []*brokertest.Client{
			brokertest.Connect(t, brokertest.TCP(b.URL()), brokertest.ConnectPacket{Name: "admin", ClientID: "admin.eye"}),
			brokertest.Connect(t, brokertest.TCP(b.URL()), brokertest.ConnectPacket{Name: "obs", ClientID: "obs.eye"}),
		}
		for _, w := range watchers {
			w.Subscribe(presence)
		}
		l := open(t, robotConfig(b.Dial, &userLog{}))
		waitUp(t, l)
		offline := func(string) link.Message {
			return link.Message{Topic: presence, Payload: []byte("offline"), QoS: 1, Retain: true}
		}
		if err := l.Close(t.Context(), offline); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for _, w := range watchers {
			w.ExpectThat(presence, payloadContains("offline"))
		}
	}
}

func TestLinkWorksWithMosquitto(t *testing.T) {
	u := &userLog{}
	cfg := robotConfig(nil, u)
	cfg.URL = mosquittotest.Start(t, mosquittotest.Options{})
	l := open(t, cfg)
	waitUp(t, l)
	op := brokertest.Connect(t, brokertest.TCP(cfg.URL), brokertest.ConnectPacket{Name: "op1", ClientID: "op1"})
	op.Subscribe("troupe/v1/robots/#")
	if m := op.Expect(presence); !m.Retain || !strings.Contains(string(m.Payload), l.Session()) {
		t.Fatalf("%v", m)
	}
	if err := l.Close(t.Context(), farewell); err != nil {
		t.Fatal(err)
	}
	op.ExpectThat(presence, payloadContains("offline"))
}

func TestUpPrecedesMessagesAndUrgentOnesOvertake(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		fleetd := b.Client(t, "fleetd")
		fleetd.Retain("troupe/v1/robots/r1/desired/story", "kept")
		fleetd.Retain(presence, "")
		u := &userLog{}
		gate := make(chan struct{})
		cfg := robotConfig(b.Dial, u)
		cfg.Urgent = func(topic string) bool { return strings.HasSuffix(topic, "safety/stop") }
		cfg.OnMessage = func(m link.Message) {
			if string(m.Payload) == "slow" {
				<-gate
			}
			u.message(m)
		}
		l := open(t, cfg)
		waitUp(t, l)
		synctest.Wait()
		if got := u.all(); got != "connecting up story=kept" {
			t.Fatalf("reported %q", got)
		}
		op := b.Client(t, "op1")
		for _, p := range []string{"slow", "1", "2"} {
			op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", p)
			synctest.Wait() // the first is being handled, the others are queued
		}
		op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", "now")
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if got, want := u.all(), "connecting up story=kept set=slow stop=now set=1 set=2"; got != want {
			t.Fatalf("reported %q, want %q", got, want)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		var order []uint64
		for _, m := range u.msgs {
			order = append(order, m.N)
		}
		// They were handed over as story, slow, stop, 1, 2, but the stop arrived last.
		if n := order; len(n) != 5 || n[0] >= n[1] || n[1] >= n[3] || n[3] >= n[4] || n[4] >= n[2] {
			t.Errorf("messages were handed over with the numbers %v", order)
		}
	})
}

func TestHandlerPanicDoesNotEndTheLink(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		cfg := robotConfig(b.Dial, u)
		cfg.OnMessage = func(m link.Message) {
			if string(m.Payload) == "boom" {
				panic("boom")
			}
			u.message(m)
		}
		l := open(t, cfg)
		waitUp(t, l)
		op := b.Client(t, "op1")
		op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "boom")
		op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
		synctest.Wait()
		if got := u.all(); got != "connecting up set=ato" {
			t.Fatalf("reported %q", got)
		}
	})
}

func TestFullReceiveQueueDropsTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		gate := make(chan struct{})
		cfg := robotConfig(b.Dial, u)
		cfg.Queue = 4
		cfg.OnMessage = func(m link.Message) { <-gate; u.message(m) }
		l := open(t, cfg)
		waitUp(t, l)
		op := b.Client(t, "op1")
		for range 8 {
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !errors.Is(st.Err, link.ErrOverrun) {
			t.Fatalf("reported %s", u.all())
		}
	})
}
