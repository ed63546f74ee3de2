package publish

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

const ackLatency = time.Millisecond

// fakeStore is an outbox in memory.
type fakeStore struct {
	Store // panics: the outbox needs no more

	mu   sync.Mutex
	rows []store.Outgoing
	sent map[int64]bool
	did  storeCounts
}

type storeCounts struct {
	marks int // statements that mark rows as sent
	reads int // rows that were read
	most  int // rows that were read at once
}

func (s *fakeStore) counts() storeCounts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.did
}

func (s *fakeStore) add(topic schema.TopicKind, target, payload string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, store.Outgoing{Seq: int64(len(s.rows) + 1), Topic: topic, Target: target, Payload: []byte(payload)})
}

func (s *fakeStore) list(after int64, limit int, wanted func(store.Outgoing) bool) (out []store.Outgoing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows[min(int(after), len(s.rows)):] {
		if !s.sent[row.Seq] && wanted(row) && len(out) < limit {
			out = append(out, row)
		}
	}
	s.did.reads += len(out)
	s.did.most = max(s.did.most, len(out))
	return out, nil
}

func (s *fakeStore) Unsent(_ context.Context, after int64, limit int) ([]store.Outgoing, error) {
	return s.list(after, limit, func(store.Outgoing) bool { return true })
}

func (s *fakeStore) UnsentStops(_ context.Context, after int64, limit int) ([]store.Outgoing, error) {
	return s.list(after, limit, func(row store.Outgoing) bool { return isStop(row.Topic) })
}

func (s *fakeStore) UnsentOf(_ context.Context, target string, after, upTo int64, limit int) ([]store.Outgoing, error) {
	return s.list(after, limit, func(row store.Outgoing) bool { return row.Target == target && row.Seq <= upTo })
}

func (s *fakeStore) RetainedDocuments(context.Context) ([]store.Outgoing, error) { return nil, nil }

func (s *fakeStore) MarkSent(_ context.Context, seqs []int64, _ time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did.marks++
	for _, seq := range seqs {
		s.sent[seq] = true
	}
	return nil
}

func (s *fakeStore) unsent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows) - len(s.sent)
}

// fakeConn is a connection to a broker that acknowledges each document after ackLatency, but
// none on the topic stuck.
type fakeConn struct {
	stuck string

	mu       sync.Mutex
	unstuck  bool
	sent     []link.Message
	inFlight map[string]int // by topic
	flying   int
	did      connCounts
}

type connCounts struct {
	most    int // documents in flight at once
	doubled int // documents sent while another of their topic was in flight
}

func (c *fakeConn) counts() connCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.did
}

func (c *fakeConn) Up() bool { return true }

func (c *fakeConn) PublishAsync(_ context.Context, m link.Message) (func(context.Context) error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[m.Topic]++; c.inFlight[m.Topic] > 1 {
		c.did.doubled++
	}
	c.flying++
	c.did.most = max(c.did.most, c.flying)
	c.sent = append(c.sent, m)
	acked := time.After(ackLatency)
	if m.Topic == c.stuck && !c.unstuck {
		acked = nil
	}
	return func(ctx context.Context) (err error) {
		select {
		case <-acked:
		case <-ctx.Done():
			err = ctx.Err()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.inFlight[m.Topic]--
		c.flying--
		return err
	}, nil
}

// confirm lets documents on the stuck topic be confirmed from now on.
func (c *fakeConn) confirm(stuck string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unstuck = c.stuck == stuck
}

func (c *fakeConn) messages() []link.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

func (c *fakeConn) count() int { return len(c.messages()) }

func (c *fakeConn) payloads(topic string) (out []string) {
	for _, m := range c.messages() {
		if m.Topic == topic {
			out = append(out, string(m.Payload))
		}
	}
	return out
}

const inFleet = schema.DefaultNamespace

func newFakes(stuck string) (*outboxPublisher, *fakeStore, *fakeConn) {
	db, conn := &fakeStore{sent: map[int64]bool{}}, &fakeConn{stuck: stuck, inFlight: map[string]int{}}
	return newOutboxPublisher(Deps{
		Log: slog.New(slog.DiscardHandler), Namespace: inFleet, Now: time.Now, Writer: func() Writer { return conn },
		Failed: func(what string, err error) { panic(fmt.Sprint(what, err)) },
	}), db, conn
}
