package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	losses                                       []string      // each lost message, when it was sent and acknowledged
	states                                       []string      // when a connection of the senders or of the receiver ended or began
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

// times are when a message was sent and acknowledged.
type times struct{ sent, acknowledged time.Time }

// clockTime is a time of day, as the logs of the programs have it.
func clockTime(at time.Time) string { return at.Format("15:04:05.000") }

// traffic sends until ctx ends, between two nodes, and counts. It closes flowing when the first message has arrived.
func (f *fleet) traffic(ctx context.Context, nodes []*node, flowing chan struct{}) (t traffic) {
	var mu sync.Mutex
	var last time.Time
	noteState := func(who string, n *node) func(link.State) {
		return func(s link.State) {
			if s.Phase == link.Up || s.Err != nil {
				mu.Lock()
				defer mu.Unlock()
				t.states = append(t.states, fmt.Sprintf("%s %s at %s is %s (%v)", clockTime(time.Now()), who, n.name, s.Phase, s.Err))
			}
		}
	}
	received, newest := map[numbered]int{}, map[int]int{}
	background := context.Background()
	topic := func(sender string) string { return schema.DefaultNamespace.Topic(schema.TopicSim, "load", sender) }
	ear, err := f.client(ctx, "ear", nodes[0], link.Config{Subscribe: []link.Subscription{{Filter: topic("+"), QoS: 1}},
		OnState: noteState("the receiver", nodes[0]),
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
	acknowledged := map[numbered]times{}
	var sending, waiting sync.WaitGroup
	for sender := range senders {
		at := nodes[sender%len(nodes)]
		l, err := f.client(ctx, fmt.Sprint("sender", sender), at, link.Config{OnState: noteState(fmt.Sprint("sender ", sender), at)})
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
						acknowledged[one] = times{began, time.Now()}
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
	for one, at := range acknowledged {
		if received[one] == 0 {
			t.lost++
			t.losses = append(t.losses, fmt.Sprintf("%s number %d of sender %d was sent, %s acknowledged", clockTime(at.sent), one.N, one.Sender,
				clockTime(at.acknowledged)))
		}
	}
	slices.Sort(t.losses)
	return t
}

// countLosses kills the node that leads a stream again and again, while messages go from one of the others to the other, and says which
// of those that were acknowledged were lost.
func (f *fleet) countLosses(ctx context.Context, stream string, kills int) error {
	var sum traffic
	for i := range kills {
		n, err := f.leaderOf(ctx, stream)
		if err != nil {
			return err
		}
		ended, end := context.WithCancel(ctx)
		flowing, counted := make(chan struct{}), make(chan traffic, 1)
		go func() { counted <- f.traffic(ended, f.without(n), flowing) }()
		<-flowing
		if err = sleep(ctx, 2*time.Second); err == nil {
			led := strings.Join(f.led(ctx, n), " ")
			n.program.Kill()
			f.say("%s: %s was killed, which led %s; load %s", clockTime(time.Now()), n.name, led, load())
			err = sleep(ctx, 12*time.Second)
		}
		end()
		t := <-counted
		if err != nil {
			return err
		}
		f.say("kill %d: %s", i+1, t)
		for _, line := range slices.Concat(t.losses, t.states) {
			f.say("  %s", line)
		}
		sum.sent, sum.acknowledged, sum.lost = sum.sent+t.sent, sum.acknowledged+t.acknowledged, sum.lost+t.lost
		sum.doubled, sum.reordered = sum.doubled+t.doubled, sum.reordered+t.reordered
		sum.silence, sum.unacknowledged = max(sum.silence, t.silence), max(sum.unacknowledged, t.unacknowledged)
		if err := f.restart(ctx, n.name); err != nil {
			return err
		}
	}
	f.say("%d kills: %s", kills, sum)
	return nil
}

// without are the other nodes.
func (f *fleet) without(n *node) []*node {
	return slices.DeleteFunc(slices.Clone(f.nodes), func(other *node) bool { return other == n })
}
