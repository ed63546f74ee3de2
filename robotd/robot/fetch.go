package robot

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/schema"
)

// blobLinger is how long the connection for blobs stays open after the last blob: a story
// requests its next blob when the previous one is verified.
const blobLinger = 5 * time.Second

// fetcher fetches blobs over a connection of its own, so that no heartbeat and no stop waits
// behind them. The broker knows that connection by its client id, so there is one at a time
// for all blobs: each is a subscription.
//
// The connection is reused only if every fetch on it got its blob. After a fetch that ended
// without one, the connection may be slow or half-open, or still deliver a blob that is not
// wanted any more; so the next fetch opens a new connection.
type fetcher struct {
	ctx    context.Context
	cancel context.CancelFunc
	cfg    link.Config
	with   *link.Link // the robot's own connection; this one goes to the same broker
	ns     schema.Namespace
	loop   *loop
	log    *slog.Logger

	work    sync.WaitGroup
	changed chan struct{} // capacity 1: run has something to do

	mu      sync.Mutex
	wanted  map[string]int  // digest -> number of fetches that wait for it
	asked   map[string]bool // to subscribe to, even if subscribed: a retained message comes once per SUBSCRIBE
	arrived map[string]bool // received since the newest fetch of it
	replace bool            // the connection is not used for another fetch
	isDown  bool            // the connection was lost and is not up again yet
}

func newFetcher(ctx context.Context, c Config, with *link.Link, p *mqttTranslator, l *loop, log *slog.Logger) *fetcher {
	f := &fetcher{with: with, ns: p.ns, loop: l, log: log, changed: make(chan struct{}, 1),
		wanted: map[string]int{}, asked: map[string]bool{}, arrived: map[string]bool{},
		cfg: link.Config{URL: c.Broker, Dial: c.Dial, TLS: c.encryption, Random: c.Random, Engine: c.Engine, Name: c.ID, Suffix: "blob",
			Password: c.Password, Logger: log.With("connection", "blob")}}
	f.ctx, f.cancel = context.WithCancel(ctx)
	f.work.Go(f.run)
	return f
}

// fetch subscribes to a blob until end was called for it as often as fetch.
func (f *fetcher) fetch(sha string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted[sha]++
	f.asked[sha], f.arrived[sha] = true, false
	f.replace = f.replace || f.isDown // a new attempt does not wait until the connection tries again
	f.wake()
}

// end releases a blob once.
func (f *fetcher) end(sha string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wanted[sha] == 0 {
		return
	}
	f.replace = f.replace || !f.arrived[sha]
	if f.wanted[sha]--; f.wanted[sha] == 0 {
		delete(f.wanted, sha)
		delete(f.asked, sha)
		delete(f.arrived, sha)
	}
	f.wake()
}

// close releases all blobs and waits for the connection's end.
func (f *fetcher) close() {
	f.cancel()
	f.work.Wait()
}

func (f *fetcher) wake() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// blobLink is a connection for blobs.
type blobLink struct {
	*link.Link
	cut    context.CancelFunc // ends it without DISCONNECT
	broker string             // URL
	topics map[string]string  // digest -> topic that it subscribes to
}

// run owns the connection: it opens it for the first wanted blob, subscribes to each one,
// and closes it when no blob was wanted for blobLinger.
func (f *fetcher) run() {
	var conn *blobLink
	idle := time.NewTimer(blobLinger)
	defer idle.Stop()
	for {
		select {
		case <-f.changed:
			conn = f.update(conn)
			idle.Reset(blobLinger)
		case <-idle.C:
			if conn != nil && f.isIdle() {
				f.closeLink(conn)
				conn = nil
			}
		case <-f.ctx.Done():
			if conn != nil {
				f.closeLink(conn)
			}
			return
		}
	}
}

func (f *fetcher) isIdle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.wanted) == 0
}

// update makes the connection subscribe to the blobs wanted now. It returns the connection,
// or nil if there is none.
func (f *fetcher) update(conn *blobLink) *blobLink {
	wanted, asked, replace := f.take(conn)
	if conn != nil && replace {
		conn.cut()
		f.closeLink(conn)
		conn = nil
	}
	switch {
	case conn == nil && len(wanted) == 0:
		return nil
	case conn == nil:
		return f.open(wanted)
	}
	for sha, topic := range conn.topics {
		if !slices.Contains(wanted, sha) {
			conn.Unsubscribe(topic) // the broker allows a robot few subscriptions at a time
			delete(conn.topics, sha)
		}
	}
	for _, sha := range asked {
		conn.topics[sha] = f.ns.Topic(schema.TopicBlob, sha)
		if err := conn.Subscribe(link.Subscription{Filter: conn.topics[sha], QoS: 1}); err != nil {
			f.failed([]string{sha}, err)
		}
	}
	return conn
}

// take returns the wanted blobs, those for which fetch was called since the last take, and whether they need
// another connection than conn.
func (f *fetcher) take(conn *blobLink) (wanted, asked []string, replace bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wanted, asked = slices.Sorted(maps.Keys(f.wanted)), slices.Sorted(maps.Keys(f.asked))
	clear(f.asked)
	switch url := f.with.URL(); {
	case len(wanted) == 0:
		replace = f.replace || f.isDown // it ends now
	case len(asked) > 0:
		replace = f.replace || conn != nil && url != "" && url != conn.broker
	}
	if replace {
		f.replace, f.isDown = false, false
	}
	return wanted, asked, replace
}

// open opens a connection that subscribes to every wanted blob.
func (f *fetcher) open(wanted []string) *blobLink {
	ctx, cancel := context.WithCancel(f.ctx)
	cfg := f.cfg
	cfg.URL = cmp.Or(f.with.URL(), cfg.URL)
	conn := &blobLink{cut: cancel, broker: cfg.URL, topics: map[string]string{}}
	for _, sha := range wanted {
		conn.topics[sha] = f.ns.Topic(schema.TopicBlob, sha)
		cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: conn.topics[sha], QoS: 1})
	}
	cfg.OnMessage = func(m link.Message) { f.received(ctx, m) }
	cfg.OnState = func(s link.State) { f.state(ctx, s) }
	var err error
	if conn.Link, err = link.Open(ctx, cfg); err != nil {
		cancel()
		f.failed(wanted, err)
		return nil
	}
	return conn
}

func (f *fetcher) closeLink(conn *blobLink) {
	if err := conn.Close(context.WithoutCancel(f.ctx)); err != nil {
		f.log.Debug("connection for blobs not closed in order", "error", err)
	}
	conn.cut()
}

// received passes a wanted blob to the loop. ctx ends with the connection.
func (f *fetcher) received(ctx context.Context, m link.Message) {
	row, at, ok := f.ns.Match(m.Topic)
	if !ok || row.Kind != schema.TopicBlob || len(m.Payload) == 0 {
		return
	}
	f.mu.Lock()
	isWanted := f.wanted[at.SHA256] > 0
	if isWanted {
		f.arrived[at.SHA256] = true
	}
	f.mu.Unlock()
	if isWanted {
		f.loop.send(ctx, event.Fetched{SHA256: at.SHA256, Bytes: m.Payload})
	}
}

// state notes whether the connection is down. If no blob is wanted, it is not opened again.
func (f *fetcher) state(ctx context.Context, s link.State) {
	if ctx.Err() != nil || s.Phase == link.Connecting {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isDown = s.Phase == link.Down || s.Phase == link.Refused
	f.wake()
}

func (f *fetcher) failed(digests []string, err error) {
	for _, sha := range digests {
		f.loop.send(f.ctx, event.Fetched{SHA256: sha, Reason: schema.ReasonInternal, Detail: err.Error()})
	}
}
