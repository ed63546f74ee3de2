package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// traffic is what became of the messages of several senders to one receiver.
type traffic struct {
	sent, acknowledged, lost, doubled, reordered int // lost are acknowledged ones that did not arrive
	silence                                      time.Duration
	unacknowledged                               time.Duration // the longest wait for an acknowledgement
	err                                          error
}

func (t traffic) String() string {
	return fmt.Sprintf("%d messages, %d acknowledged: %d of these lost, %d doubled, %d reordered; longest silence %v, longest wait for an "+
		"acknowledgement %.1f s",
		t.sent, t.acknowledged, t.lost, t.doubled, t.reordered, t.silence.Round(time.Millisecond), t.unacknowledged.Seconds())
}

// senders and perSecond are 300 messages a second, of QoS 1.
const (
	senders   = 3
	perSecond = 100
)

// A numbered message of a sender.
type numbered struct{ Sender, N int }

// traffic sends until ctx ends, between two nodes, and counts. It closes flowing when the first message has arrived.
func (f *fleet) traffic(ctx context.Context, nodes []*node, flowing chan struct{}) (t traffic) {
	var mu sync.Mutex
	var last time.Time
	received, newest := map[numbered]int{}, map[int]int{}
	background := context.Background()
	topic := func(sender string) string { return schema.DefaultNamespace.Topic(schema.TopicSim, "load", sender) }
	ear, err := f.client(ctx, "ear", nodes[0], link.Config{Subscribe: []link.Subscription{{Filter: topic("+"), QoS: 1}},
		OnMessage: func(m link.Message) {
			var n numbered
			if json.Unmarshal(m.Payload, &n) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if last.IsZero() {
				close(flowing)
			} else {
				t.silence = max(t.silence, m.At.Sub(last))
			}
			last = m.At
			if received[n]++; received[n] > 1 {
				t.doubled++
			} else if n.N < newest[n.Sender] {
				t.reordered++
			}
			newest[n.Sender] = max(newest[n.Sender], n.N)
		}})
	if err != nil {
		close(flowing)
		t.err = err
		return t
	}
	defer func() { _ = ear.Close(background) }()
	acknowledged := map[numbered]bool{}
	var sending, waiting sync.WaitGroup
	for sender := range senders {
		l, err := f.client(ctx, fmt.Sprint("sender", sender), nodes[sender%len(nodes)], link.Config{})
		if err != nil {
			t.err = err
			continue
		}
		defer func() { _ = l.Close(background) }()
		sending.Go(func() {
			every := time.NewTicker(time.Second / perSecond)
			defer every.Stop()
			for n := 1; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-every.C:
				}
				one := numbered{sender, n}
				payload, _ := json.Marshal(one) // two numbers are always JSON
				began := time.Now()
				wait, err := l.PublishAsync(ctx, link.Message{Topic: topic(fmt.Sprint("sender", sender)), Payload: payload, QoS: 1})
				if err != nil {
					continue
				}
				mu.Lock()
				t.sent++
				mu.Unlock()
				waiting.Go(func() {
					within, cancel := context.WithTimeout(background, 15*time.Second)
					defer cancel()
					if wait(within) == nil {
						mu.Lock()
						defer mu.Unlock()
						acknowledged[one] = true
						t.unacknowledged = max(t.unacknowledged, time.Since(began))
					}
				})
			}
		})
	}
	sending.Wait()
	waiting.Wait()
	time.Sleep(time.Second) // the last ones are under way
	mu.Lock()
	defer mu.Unlock()
	t.acknowledged = len(acknowledged)
	for one := range acknowledged {
		if received[one] == 0 {
			t.lost++
		}
	}
	return t
}
