package fleet_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/fleet/fleettest"
	"troupe/schema"
)

// A caller publishes live stops and receives fleetd's answers.
type caller struct {
	*world
	name string
	link *link.Link

	mu   sync.Mutex
	acks []schema.Ack
}

func (w *world) caller(name string) *caller {
	w.Helper()
	c := &caller{world: w, name: name}
	ns := schema.DefaultNamespace
	l, err := link.Open(context.Background(), link.Config{
		Dial: w.dial, Name: name, ClientID: name,
		Subscribe: []link.Subscription{{Filter: ns.Topic(schema.TopicFleetAck, name), QoS: 1}},
		Presence: func(session string) link.Message {
			return link.Message{Topic: ns.Topic(schema.TopicFleetAck, name), Payload: []byte(session)}
		},
		OnMessage: func(m link.Message) {
			if a, problems := schema.Decode[schema.Ack](m.Payload); len(problems) == 0 {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.acks = append(c.acks, a)
			}
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = l.Close(context.Background()) })
	ctx, cancel := context.WithTimeout(context.Background(), fleettest.Timeout)
	defer cancel()
	if err := l.WaitUp(ctx); err != nil {
		w.Fatal(err)
	}
	c.link = l
	return c
}

func (c *caller) publishLiveStop(payload string) {
	c.Helper()
	m := link.Message{Topic: schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, c.name), Payload: []byte(payload), QoS: 1}
	if err := c.link.PublishWait(context.Background(), m); err != nil {
		c.Fatal(err)
	}
	c.sleep(time.Millisecond) // no client is faster
}

func (c *caller) answers() []schema.Ack {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.acks)
}

func TestStopThatSelectsNobodyIsAnsweredSo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		admin := w.caller("admin")
		admin.publishLiveStop(`{"id":"k1","robots":["r9"]}`)
		admin.publishLiveStop(`{"id":"k2","labels":{"site":"nowhere"}}`)
		final := func(id string) (found schema.Ack) {
			for _, a := range admin.answers() {
				if a.ID != nil && *a.ID == id && a.Status.Final() {
					found = a
				}
			}
			return found
		}
		for _, id := range []string{"k1", "k2"} {
			w.until("there is an answer to "+id, func() bool { return final(id).Status != "" })
			if a := final(id); a.Status != schema.StatusRejected || a.Reason != schema.ReasonUnknownRobot {
				w.Errorf("%s: %+v", id, a)
			}
		}
		if held := w.Latched(); len(held) > 0 {
			w.Errorf("held is %+v", held)
		}
	})
}
