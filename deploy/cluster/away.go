package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// documentsWhileAway is how many retained documents change while a node is away.
const documentsWhileAway = 200

// away kills a node, publishes retained documents while it is away for d, starts it, and reads them there.
func (f *fleet) away(ctx context.Context, name string, d time.Duration) (err error) {
	at := slices.IndexFunc(f.nodes, func(n *node) bool { return n.name == name })
	if at < 0 {
		return fmt.Errorf("%s is no node", name)
	}
	n, other := f.nodes[at], f.nodes[(at+1)%len(f.nodes)]
	if err := f.kill(ctx, name); err != nil {
		return err
	}
	killed := time.Now()
	if err := sleep(ctx, 10*time.Second); err != nil { // the others elect their leaders
		return err
	}
	writer, err := f.client(ctx, "writer", other, link.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = writer.Close(context.Background()) }()
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
		digest := sha256.Sum256(fmt.Append(nil, i, killed))
		topics[i] = schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(digest[:]))
		if err := f.retain(ctx, writer, topics[i], "document"); err != nil {
			return err
		}
	}
	f.say("%d retained documents were acknowledged while %s is away", len(topics), name)
	if err := sleep(ctx, time.Until(killed.Add(d))); err != nil {
		return err
	}
	if err := f.restart(ctx, name); err != nil {
		return err
	}
	began := time.Now()
	f.say("%s was away for %.0f s", name, began.Sub(killed).Seconds())
	for _, after := range []time.Duration{0, 5 * time.Second} { // the first client of a node has it read what is retained
		if err := sleep(ctx, time.Until(began.Add(after))); err != nil {
			return err
		}
		there, err := f.readRetained(ctx, n, topics)
		if err != nil {
			return err
		}
		f.say("a client that connects %v after it said that it has all there is gets %d of the %d documents", after, there, len(topics))
	}
	return nil
}

// readRetained returns how many of the retained documents a new client of a node gets within 3 s.
func (f *fleet) readRetained(ctx context.Context, n *node, topics []string) (int, error) {
	came := make(chan string, 2*len(topics))
	reader, err := f.client(ctx, "reader", n, link.Config{
		Subscribe: []link.Subscription{{Filter: schema.DefaultNamespace.Topic(schema.TopicBlob, "+"), QoS: 1}},
		OnMessage: func(m link.Message) {
			select {
			case came <- m.Topic:
			default: // more than there are
			}
		},
	})
	if err != nil {
		return 0, err
	}
	defer func() { _ = reader.Close(context.Background()) }()
	there := map[string]bool{}
	for limit := time.After(3 * time.Second); len(there) < len(topics); {
		select {
		case topic := <-came:
			if slices.Contains(topics, topic) {
				there[topic] = true
			}
		case <-limit:
			return len(there), nil
		case <-ctx.Done():
			return len(there), context.Cause(ctx)
		}
	}
	return len(there), nil
}

// retain publishes a retained document, or deletes it if it is empty, and waits for the acknowledgement.
func (f *fleet) retain(ctx context.Context, by *link.Link, topic, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return by.PublishWait(ctx, link.Message{Topic: topic, Payload: []byte(text), QoS: 1, Retain: true})
}
