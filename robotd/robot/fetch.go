package robot

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/schema"
)

// fetcher fetches blobs over a connection of its own, open as long as one is wanted, so
// that no heartbeat and no stop waits behind them. There is one such connection, for its
// name is the robot's: when one more blob is wanted, it is made again for all of them.
type fetcher struct {
	ctx  context.Context
	cfg  link.Config
	with *link.Link // to whose broker the connection goes
	post *mqttAdapter
	loop *loop
	log  *slog.Logger

	work   sync.WaitGroup
	wanted map[string]int     // digest -> by how many; the loop's alone, as what follows
	cancel context.CancelFunc // of the connection
	over   chan struct{}      // closed when the connection is
}

func newFetcher(ctx context.Context, c Config, with *link.Link, p *mqttAdapter, l *loop, log *slog.Logger) *fetcher {
	over := make(chan struct{})
	close(over)
	return &fetcher{ctx: ctx, with: with, post: p, loop: l, log: log, wanted: map[string]int{}, cancel: func() {}, over: over,
		cfg: link.Config{URL: c.Broker, Dial: c.Dial, TLS: c.encryption, Random: c.Random, Name: c.ID, ClientID: c.ID + ".blob", Password: c.Password, Logger: log.With("connection", "blob")}}
}

// fetch subscribes to a blob until as many have released it as asked for it.
func (f *fetcher) fetch(sha string) {
	f.wanted[sha]++
	f.connect() // a retained message comes once: a later request has to subscribe again
}

// connect opens the connection for everything that is wanted now, after the one
// before it has ended.
func (f *fetcher) connect() {
	f.cancel()
	ctx, cancel := context.WithCancel(f.ctx)
	before, over := f.over, make(chan struct{})
	f.cancel, f.over = cancel, over
	digests := slices.Sorted(maps.Keys(f.wanted))
	f.work.Go(func() {
		defer close(over)
		<-before
		f.get(ctx, digests)
	})
}

// get holds the connection until ctx ends.
func (f *fetcher) get(ctx context.Context, digests []string) {
	if ctx.Err() != nil {
		return
	}
	topics := map[string]string{}
	cfg := f.cfg
	cfg.URL = cmp.Or(f.with.URL(), cfg.URL)
	for _, sha := range digests {
		topic := f.post.ns.Topic(schema.TopicBlob, sha)
		topics[topic] = sha
		cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: topic, QoS: 1})
	}
	cfg.OnMessage = func(m link.Message) {
		if sha, ok := topics[m.Topic]; ok && len(m.Payload) > 0 {
			f.loop.send(ctx, event.Fetched{SHA256: sha, Bytes: m.Payload})
		}
	}
	l, err := link.Open(ctx, cfg)
	if err != nil {
		for _, sha := range digests {
			f.loop.send(ctx, event.Fetched{SHA256: sha, Reason: schema.ReasonInternal, Detail: err.Error()})
		}
		return
	}
	<-ctx.Done()
	if err := l.Close(context.WithoutCancel(ctx)); err != nil {
		f.log.Debug("blob connection", "error", err)
	}
}

// end releases a blob once. With the last of all, the connection ends.
func (f *fetcher) end(sha string) {
	if f.wanted[sha]--; f.wanted[sha] <= 0 {
		delete(f.wanted, sha)
	}
	if len(f.wanted) == 0 {
		f.cancel()
	}
}

// close releases all and waits.
func (f *fetcher) close() {
	clear(f.wanted)
	f.cancel()
	f.work.Wait()
}
