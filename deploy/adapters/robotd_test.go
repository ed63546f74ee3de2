package adapters

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/deploy/mosquittotest"
)

// seen is what arrived from an adapter.
type seen struct {
	presence struct{ Present bool }
	units    map[string]unit
	faults   map[string]string // the newest of each unit, which may be over when a test looks
	events   []event
}

type unit struct {
	State, Fault string
	VX           float64 `json:"vx_mps"`
	SetVX        float64 `json:"set_vx_mps"`
}

type event struct {
	Kind, Reason, Detail, Choice string
	Key                          int
}

// robotd plays robotd on a bus of its own.
type robotd struct {
	t    *testing.T
	url  string
	bus  *link.Link
	mu   sync.Mutex
	seen seen
	news chan struct{} // a token after each message

	feeding context.CancelFunc
	fed     sync.WaitGroup
}

func newRobotd(t *testing.T) *robotd {
	t.Helper()
	r := &robotd{t: t, url: mosquittotest.Start(t, mosquittotest.Options{}), seen: seen{faults: map[string]string{}},
		news: make(chan struct{}, 1), feeding: func() {}}
	var err error
	r.bus, err = link.Open(t.Context(), link.Config{
		URL: r.url, ClientID: "robotd",
		Will: func(string) link.Message {
			return link.Message{Topic: "bus/robotd/presence", Payload: []byte(`{"v":1,"present":false,"session":"test"}`), QoS: 1, Retain: true}
		},
		Presence: func(string) link.Message {
			return link.Message{Topic: "bus/robotd/presence", Payload: []byte(`{"v":1,"present":true,"session":"test","robot":"r1","language":"en"}`), QoS: 1, Retain: true}
		},
		Subscribe: []link.Subscription{{Filter: "bus/+/out/#", QoS: 1}},
		OnMessage: r.receive,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.feed("")
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = r.bus.Close(ctx)
	})
	if err := r.bus.WaitUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *robotd) receive(m link.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Topic == "bus/robotd/presence" {
		return
	}
	var err error
	switch what := m.Topic[strings.LastIndex(m.Topic, "/")+1:]; what {
	case "presence":
		err = json.Unmarshal(m.Payload, &r.seen.presence)
	case "state":
		var s struct{ Units map[string]unit }
		err = json.Unmarshal(m.Payload, &s)
		r.seen.units = s.Units
		for id, u := range s.Units {
			if u.Fault != "" {
				r.seen.faults[id] = u.Fault
			}
		}
	case "event":
		var e event
		err = json.Unmarshal(m.Payload, &e)
		r.seen.events = append(r.seen.events, e)
	}
	if err != nil {
		r.t.Errorf("%s %s: %v", m.Topic, m.Payload, err)
	}
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *robotd) forgetFaults() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen.faults)
}

func (r *robotd) await(what string, holds func(seen) bool) {
	r.t.Helper()
	late := time.After(limit)
	for {
		r.mu.Lock()
		ok := holds(r.seen)
		now := fmt.Sprintf("%+v", r.seen)
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.news:
		case <-late:
			r.t.Fatalf("waited %v for %s; seen is %s", limit, what, now)
		}
	}
}

func (r *robotd) publish(topic, payload string) {
	r.t.Helper()
	if err := r.bus.Publish(context.Background(), link.Message{Topic: topic, Payload: []byte(payload), QoS: 1}); err != nil {
		r.t.Errorf("publish %s: %v", topic, err)
	}
}

// feed repeats an order every 20 ms from now on; an empty one ends the feeding.
func (r *robotd) feed(order string) {
	r.feeding()
	r.fed.Wait()
	if order == "" {
		return
	}
	var ctx context.Context
	ctx, r.feeding = context.WithCancel(context.Background())
	r.fed.Go(func() {
		ticks := time.NewTicker(20 * time.Millisecond)
		defer ticks.Stop()
		for seq := 1; ; seq++ {
			r.publish("bus/base/in/tick", fmt.Sprintf(`{"v":1,"seq":%d,"order":%q}`, seq, order))
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// wantAnswers checks what the commands 1, 2 and so on were answered with; empty is nothing.
func (r *robotd) wantAnswers(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := make([]string, len(want))
	for _, e := range r.seen.events {
		if e.Key > 0 {
			got[e.Key-1] += e.Kind
		}
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("the commands were answered with %+v, want %q", r.seen.events, want)
	}
}
