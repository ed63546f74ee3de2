package robot

import (
	"context"
	"log/slog"
	"sync"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/schema"
)

// fetcher gets blobs on a connection of its own, opened while it fetches, so that
// no heartbeat and no stop waits behind one.
type fetcher struct {
	ctx  context.Context
	cfg  link.Config
	post *post
	loop *loop
	log  *slog.Logger

	work sync.WaitGroup
	now  map[string]context.CancelFunc // by digest; the loop's alone
}

func newFetcher(ctx context.Context, c Config, p *post, l *loop, log *slog.Logger) *fetcher {
	return &fetcher{ctx: ctx, post: p, loop: l, log: log, now: map[string]context.CancelFunc{},
		cfg: link.Config{URL: c.Broker, Dial: c.Dial, Name: c.ID, ClientID: c.ID + ".blob", Password: c.Password, Logger: log.With("connection", "blob")}}
}

// fetch subscribes to a blob until it came or nobody waits for it any more.
func (f *fetcher) fetch(sha string) {
	f.end(sha)
	ctx, cancel := context.WithCancel(f.ctx)
	f.now[sha] = cancel
	f.work.Go(func() { f.get(ctx, sha) })
}

func (f *fetcher) get(ctx context.Context, sha string) {
	topic := f.post.ns.Topic(schema.TopicBlob, sha)
	came := make(chan []byte, 1)
	cfg := f.cfg
	cfg.Subscribe = []link.Subscription{{Filter: topic, QoS: 1}}
	cfg.OnMessage = func(m link.Message) {
		if m.Topic != topic || len(m.Payload) == 0 {
			return
		}
		select {
		case came <- m.Payload:
		default:
		}
	}
	l, err := link.Open(ctx, cfg)
	if err != nil {
		f.loop.send(f.ctx, brain.Fetched{SHA256: sha, Reason: schema.ReasonInternal, Detail: err.Error()})
		return
	}
	defer func() {
		if err := l.Close(context.WithoutCancel(ctx)); err != nil {
			f.log.Debug("blob connection", "error", err)
		}
	}()
	select {
	case b := <-came:
		f.loop.send(f.ctx, brain.Fetched{SHA256: sha, Bytes: b})
	case <-ctx.Done():
	}
}

// end lets go of a blob.
func (f *fetcher) end(sha string) {
	if cancel, ok := f.now[sha]; ok {
		cancel()
		delete(f.now, sha)
	}
}

// close lets go of all and waits.
func (f *fetcher) close() {
	for sha := range f.now {
		f.end(sha)
	}
	f.work.Wait()
}
