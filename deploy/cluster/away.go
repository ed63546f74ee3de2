package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"syscall"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// documentsWhileAway is how many retained documents change while a node is away.
const documentsWhileAway = 200

// away ends a node, changes retained documents while it is away for d, starts it, and reads them at every node. suspended stops its process
// instead and lets it go on then, with all that it believed and kept in memory: as a node that a partition cut off from all others.
func (f *fleet) away(ctx context.Context, name string, d time.Duration, suspended bool) (err error) {
	at := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == name })
	if at < 0 {
		return fmt.Errorf("%s is no node", name)
	}
	n, other := f.nodes[at], f.nodes[(at+1)%len(f.nodes)]
	writer, err := f.client(ctx, "writer", other, link.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = writer.Close(context.Background()) }()
	began := time.Now()
	topics := make([]string, documentsWhileAway)
	defer func() { // leaves the cluster as it was, also if ctx has ended
		for _, topic := range topics {
			if topic != "" && err == nil {
				err = f.retain(context.WithoutCancel(ctx), writer, topic, "")
			} else if topic != "" {
				_ = writer.Publish(context.WithoutCancel(ctx), link.Message{Topic: topic, QoS: 1, Retain: true})
			}
		}
	}()
	for i := range topics {
		digest := sha256.Sum256(fmt.Append(nil, i, began))
		topics[i] = schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(digest[:]))
		if err := f.retain(ctx, writer, topics[i], "old"); err != nil {
			return err
		}
	}
	lost := time.Now()
	f.say("%s leads %v", name, f.led(ctx, n))
	if suspended {
		if err := f.signal(n, syscall.SIGSTOP); err != nil {
			return err
		}
		defer func() { _ = f.signal(n, syscall.SIGCONT) }() // also if the rest fails
	} else if err := f.kill(ctx, name); err != nil {
		return err
	}
	for i, topic := range topics {
		for end := lost.Add(startLimit); ; { // the others elect their leaders first
			err := f.retain(ctx, writer, topic, "new")
			if err == nil {
				break
			}
			if time.Now().After(end) {
				return err
			}
			if err := sleep(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
		if i == 0 {
			f.say("a retained document was acknowledged %.1f s after the loss of %s", time.Since(lost).Seconds(), name)
		}
	}
	f.say("%d retained documents changed while %s is away", len(topics), name)
	if err := sleep(ctx, time.Until(lost.Add(d))); err != nil {
		return err
	}
	f.say("%s was away for %.0f s", name, time.Since(lost).Seconds())
	if suspended {
		if err := f.signal(n, syscall.SIGCONT); err != nil {
			return err
		}
		back := time.Now()
		if err := n.awaitHealthy(ctx); err != nil {
			return err
		}
		f.say("%s says that it has all there is %.1f s after it goes on", name, time.Since(back).Seconds())
	} else if err := f.restart(ctx, name); err != nil {
		return err
	}
	back := time.Now()
	for _, after := range []time.Duration{0, 5 * time.Second} { // the first client of a node has it read what is retained
		if err := sleep(ctx, time.Until(back.Add(after))); err != nil {
			return err
		}
		for _, at := range f.nodes {
			texts, err := f.readRetained(ctx, at, topics)
			if err != nil {
				return err
			}
			count := map[string]int{}
			for _, text := range texts {
				count[text]++
			}
			f.say("a client that connects to %s %v later gets %d of %d documents: %v", at.name, after, len(texts), len(topics), count)
		}
	}
	return nil
}

// signal sends a signal to the process of a node.
func (f *fleet) signal(n *node, s syscall.Signal) error {
	if err := syscall.Kill(n.program.PID, s); err != nil {
		return fmt.Errorf("send %v to %s: %w", s, n.name, err)
	}
	f.say("%s got the signal %q", n.name, s)
	return nil
}

// readRetained returns which of the retained documents a new client of a node gets within 3 s, by topic.
func (f *fleet) readRetained(ctx context.Context, n *node, topics []string) (map[string]string, error) {
	came := make(chan link.Message, 2*len(topics))
	reader, err := f.client(ctx, "reader", n, link.Config{
		Subscribe: []link.Subscription{{Filter: schema.DefaultNamespace.Topic(schema.TopicBlob, "+"), QoS: 1}},
		OnMessage: func(m link.Message) {
			select {
			case came <- m:
			default: // more than there are
			}
		},
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close(context.Background()) }()
	there := map[string]string{}
	for limit := time.After(3 * time.Second); len(there) < len(topics); {
		select {
		case m := <-came:
			if slices.Contains(topics, m.Topic) {
				there[m.Topic] = string(m.Payload)
			}
		case <-limit:
			return there, nil
		case <-ctx.Done():
			return there, context.Cause(ctx)
		}
	}
	return there, nil
}

// retain publishes a retained document, or deletes it if it is empty, and waits for the acknowledgement.
func (f *fleet) retain(ctx context.Context, by *link.Link, topic, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return by.PublishWait(ctx, link.Message{Topic: topic, Payload: []byte(text), QoS: 1, Retain: true})
}
