package crowd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

// mostShared is how many contents and blobs are remembered; beyond it all are forgotten, and robots that need
// one have it again. Robots keep what they use.
const mostShared = 256

// sharedBlobs has each blob, and each content that was parsed from one, once for all robots, by digest.
type sharedBlobs struct {
	mu         sync.Mutex
	bytes      map[[32]byte][]byte
	stories    parsed[score.PublishedStory]
	activities parsed[score.Activities]
	places     parsed[score.Places]
}

func newSharedBlobs() *sharedBlobs {
	own := desired.Readers()
	return &sharedBlobs{
		bytes:   map[[32]byte][]byte{},
		stories: parsed[score.PublishedStory]{read: own.Story}, activities: parsed[score.Activities]{read: own.Activities},
		places: parsed[score.Places]{read: own.Places},
	}
}

func (s *sharedBlobs) readers() *config.Readers {
	return &config.Readers{Story: s.stories.get, Activities: s.activities.get, Places: s.places.get}
}

// share returns the one copy of data.
func (s *sharedBlobs) share(data []byte) []byte {
	sum := sha256.Sum256(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, known := s.bytes[sum]; known {
		return one
	}
	if len(s.bytes) >= mostShared {
		clear(s.bytes)
	}
	s.bytes[sum] = data
	return data
}

func (s *sharedBlobs) shareBlob(b delivery.Blob) []byte { return s.share(b.Bytes) }

// parsed has the contents of one kind.
type parsed[C any] struct {
	read func([]byte) (*C, []schema.Problem)

	mu  sync.Mutex
	all map[[32]byte]*parse[C]
}

type parse[C any] struct {
	once     sync.Once
	content  *C
	problems []schema.Problem
}

func (p *parsed[C]) get(data []byte) (*C, []schema.Problem) {
	sum := sha256.Sum256(data)
	p.mu.Lock()
	one := p.all[sum]
	if one == nil {
		if p.all == nil || len(p.all) >= mostShared {
			p.all = map[[32]byte]*parse[C]{}
		}
		one = &parse[C]{}
		p.all[sum] = one
	}
	p.mu.Unlock()
	one.once.Do(func() { one.content, one.problems = p.read(data) })
	return one.content, one.problems
}

// blobLinger is how long a robot's connection for blobs stays open after the last one, as that of robotd.
const blobLinger = 5 * time.Second

// fetcher fetches the blobs of one robot, over a connection of its own as every robot does.
type fetcher struct {
	asked  chan string
	cancel context.CancelFunc
	wanted map[string]bool // by digest; owned by the shard
}

// fetch fetches a blob. The shard calls it.
func (r *robot) fetch(sha string) {
	if r.fetcher == nil {
		ctx, cancel := context.WithCancel(r.shard.crowd.ctx)
		r.fetcher = &fetcher{asked: make(chan string, 16), cancel: cancel, wanted: map[string]bool{}}
		f := r.fetcher
		r.shard.crowd.work.Go(func() {
			defer cancel()
			left := f.run(ctx, r)
			r.shard.send(input{r: r, do: inDo, fn: func(r *robot) { r.fetcherEnded(f, left) }})
		})
	}
	r.fetcher.wanted[sha] = true
	select {
	case r.fetcher.asked <- sha:
	default:
		r.later(event.Fetched{SHA256: sha, Reason: schema.ReasonOverloaded, Detail: "too many blobs are being fetched"})
	}
}

// endFetch cancels a fetch, or releases what it fetched.
func (r *robot) endFetch(sha string) {
	if r.fetcher != nil && r.fetcher.wanted[sha] {
		r.fetcher.cancel()
		r.fetcher = nil
	}
}

// fetcherEnded begins again for what was asked for too late. left: the connection lingered, and no fetch was lost with it.
func (r *robot) fetcherEnded(f *fetcher, err error) {
	if r.fetcher != f {
		return
	}
	r.fetcher = nil
	if err != nil {
		r.shard.crowd.totals.fail("fetch a blob: " + cause(err))
	}
	for sha := range f.wanted {
		if err == nil {
			r.fetch(sha)
		}
	}
}

// run fetches one blob after another until none was asked for blobLinger.
func (f *fetcher) run(ctx context.Context, r *robot) (err error) {
	c := r.shard.crowd
	select {
	case c.dials <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	id := c.cfg.Engine.ClientID(r.id, "blob")
	conn, err := c.dial(ctx, r, appendConnect(nil, id, r.id, c.cfg.Password, uint16(keepAlive/time.Second), nil))
	<-c.dials
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	in := bufio.NewReaderSize(conn, readBuffer)
	_ = conn.SetReadDeadline(time.Now().Add(connectTimeout))
	if p, err := readPacket(in); err != nil || p.kind != packetConnack || len(p.payload) < 2 || p.payload[1] != 0 {
		return errors.Join(fmt.Errorf("connect as %q: refused by the broker", "ID.blob"), err)
	}
	idle := time.NewTimer(blobLinger)
	defer idle.Stop()
	for n := uint16(1); ; n++ {
		select {
		case sha := <-f.asked:
			if err := f.fetch(conn, in, r, sha, n); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			idle.Reset(blobLinger)
		case <-idle.C:
			return conn.write(appendEmpty(nil, packetDisconnect))
		case <-ctx.Done():
			return nil
		}
	}
}

// fetch subscribes to a blob, and waits for it as long as the robot does, which then cancels ctx of run.
func (f *fetcher) fetch(conn *conn, in *bufio.Reader, r *robot, sha string, n uint16) error {
	topic := r.shard.crowd.cfg.Namespace.Topic(schema.TopicBlob, sha)
	if err := conn.write(appendSubscribe(nil, n, []link.Subscription{{Filter: topic, QoS: r.shard.crowd.cfg.Engine.SubscribeQoS(1)}})); err !=
		nil {
		return err
	}
	for {
		_ = conn.SetReadDeadline(time.Now().Add(keepAlive))
		if _, err := in.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
			if err := conn.write(appendEmpty(nil, packetPingreq)); err != nil {
				return err
			}
			continue
		}
		_ = conn.SetReadDeadline(time.Time{})
		p, err := readPacket(in)
		if err != nil {
			return err
		}
		if p.kind != packetPublish {
			continue
		}
		if p.qos > 0 {
			if err := conn.write(appendPuback(nil, p.id)); err != nil {
				return err
			}
		}
		if p.topic != topic || len(p.payload) == 0 {
			continue
		}
		data := r.shard.crowd.blobs.share(p.payload)
		r.shard.send(input{r: r, do: inDo, fn: func(r *robot) {
			delete(f.wanted, sha)
			r.give(event.Fetched{SHA256: sha, Bytes: data})
		}})
		return conn.write(appendUnsubscribe(nil, n, topic)) // the broker allows a robot few subscriptions at a time
	}
}
