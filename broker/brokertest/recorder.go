package brokertest

import (
	"sync"
	"testing"

	"troupe/schema"
)

// Recorder subscribes to all topics and checks every message against the contract:
// declared topic, valid payload, size, QoS, retain flag, increasing sequence numbers.
type Recorder struct {
	t    testing.TB
	dial Dialer
	live *Client

	mu       sync.Mutex
	contract *contract
	marker   chan struct{} // closed when the end mark was received
}

// Record watches a broker from now to the end of the test, and fails the test for each
// violation of the contract. On a broker with accounts it connects as admin. Start it
// before the clients that it is to watch, so that it outlives them.
func Record(t testing.TB, dial Dialer) *Recorder {
	t.Helper()
	r := record(t, dial)
	t.Cleanup(func() {
		for i, v := range r.end() {
			if i == 20 {
				t.Errorf("contract: further violations omitted")
				break
			}
			t.Errorf("contract: %s", v)
		}
	})
	return r
}

// Allow permits violations on topics that match filter.
func (r *Recorder) Allow(filter string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.contract.allowed = append(r.contract.allowed, filter)
}

// AllowLiveAtQoS0 permits QoS 0 for messages that are not retained, as on NATS.
func (r *Recorder) AllowLiveAtQoS0() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.contract.liveAtQoS0 = true
}

// mark is a command to a robot that does not exist; when the recorder receives it, it has
// seen everything sent before.
const mark = "troupe/v1/robots/no-such-robot/cmd/admin/sys/ping"

func record(t testing.TB, dial Dialer) *Recorder {
	t.Helper()
	r := &Recorder{t: t, dial: dial, contract: newContract(schema.DefaultNamespace), marker: make(chan struct{})}
	r.live = r.client("admin_recorder", func(m Message) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if m.Topic == mark {
			close(r.marker)
			return
		}
		r.contract.check(m)
	})
	r.live.Subscribe("troupe/v1/#")
	return r
}

func (r *Recorder) client(id string, tap func(Message)) *Client {
	r.t.Helper()
	c, code := connect(r.t, r.dial, ConnectPacket{Name: "admin", ClientID: id}, tap)
	if code != 0 {
		r.t.Fatalf("recorder: connect: refused with code %d", code)
	}
	return c
}

// end checks the retained messages and returns all violations.
func (r *Recorder) end() []string {
	r.t.Helper()
	late := r.client("admin_late", nil)
	defer late.Close()
	late.Subscribe("troupe/v1/#")
	late.Publish(mark, "")
	late.Expect(mark)
	select {
	case <-r.marker:
	case <-r.live.done:
		r.t.Errorf("recorder: lost its connection: %v", r.live.lost)
	}
	r.live.Close()
	live := map[string]bool{} // published since the first subscription
	for _, m := range late.Inbox("#") {
		if !m.Retain {
			live[m.Topic] = true
		}
	}
	// The broker retains a document before it passes it on, and passes it on to one subscriber after
	// the other. What the recorder received is retained by now, although the first subscription may
	// have come too early for it and the mark may have overtaken it.
	late.Subscribe("troupe/v1/#")
	late.Publish(mark, "")
	late.Expect(mark) // comes after the retained messages
	var kept []Message
	for _, m := range late.Inbox("#") {
		if m.Retain {
			kept = append(kept, m)
		} else {
			live[m.Topic] = true
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.contract.checkRetained(kept, live)
	return r.contract.found
}
