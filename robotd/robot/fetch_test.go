package robot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

// blobStand is a fetcher with a broker and a client that retains blobs there.
type blobStand struct {
	testing.TB
	*fetcher
	way    *blobDialer
	fleetd *brokertest.Client
}

// blobDialer makes the connections of a fetcher.
type blobDialer struct {
	to   brokertest.Dialer
	fail error

	mu    sync.Mutex
	conns []*blobDialed
}

type blobDialed struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *blobDialed) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (d *blobDialer) Dial(ctx context.Context) (net.Conn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	c, err := d.to(ctx)
	if err != nil {
		return nil, err
	}
	d.conns = append(d.conns, &blobDialed{Conn: c, closed: make(chan struct{})})
	return d.conns[len(d.conns)-1], nil
}

// count is the number of connections made, and of those that are open.
func (d *blobDialer) count() (made, open int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		select {
		case <-c.closed:
		default:
			open++
		}
	}
	return len(d.conns), open
}

func (d *blobDialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.conns[len(d.conns)-1].Conn.Close()
}

func newBlobStand(t testing.TB, b *brokertest.Broker, dial brokertest.Dialer) *blobStand {
	t.Helper()
	way := &blobDialer{to: dial}
	s := startFetcher(t, b, link.Config{Dial: b.Dial}, Config{Dial: way.Dial, Random: func() float64 { return 0.5 }})
	s.way = way
	return s
}

// startFetcher starts a fetcher and the robot's own link. Blobs are retained at b.
func startFetcher(t testing.TB, b *brokertest.Broker, own link.Config, c Config) *blobStand {
	t.Helper()
	own.Name, own.ClientID, c.ID = "r1", "r1", "r1"
	l, err := link.Open(context.Background(), own)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := &blobStand{TB: t, fleetd: b.Client(t, "fleetd")}
	s.fetcher = newFetcher(context.Background(), c, l, &mqttTranslator{ns: schema.DefaultNamespace}, newLoop(nil, time.Now(), log), log)
	t.Cleanup(func() {
		s.fetcher.close()
		_ = l.Close(context.Background())
	})
	return s
}

// retain retains a blob and returns its digest.
func (s *blobStand) retain(text string) (sha string) {
	s.Helper()
	sha = digestOf(text)
	s.fleetd.Retain("troupe/v1/blobs/"+sha, text)
	return sha
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// arrives waits for a fetched blob and releases it.
func (s *blobStand) arrives(sha, text string) {
	s.Helper()
	select {
	case ev := <-s.loop.events:
		if got, ok := ev.(event.Fetched); !ok || got.SHA256 != sha || string(got.Bytes) != text {
			s.Fatalf("got %T %.100v, want %.12s", ev, ev, sha)
		}
	case <-time.After(brokertest.Timeout):
		s.Fatalf("blob %.12s has not arrived", sha)
	}
	s.end(sha)
}

func (s *blobStand) connections(wantMade, wantOpen int) {
	s.Helper()
	synctest.Wait()
	if made, open := s.way.count(); made != wantMade || open != wantOpen {
		s.Fatalf("%d connections made and %d open, want %d and %d", made, open, wantMade, wantOpen)
	}
}

func withBlobStand(t *testing.T, f func(t *testing.T, s *blobStand)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b := brokertest.Start(t, brokertest.InProcess)
		f(t, newBlobStand(t, b, b.Dial))
	})
}

// The broker allows a robot 32 subscriptions, so what has arrived must not be kept.
func TestBlobsOfAStoryTakeOneConnection(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		s.connections(0, 0)
		for n := range 100 {
			text := fmt.Sprint("blob ", n)
			sha := s.retain(text)
			s.fetch(sha)
			s.arrives(sha, text)
			s.connections(1, 1)
		}
		time.Sleep(blobLinger - time.Second)
		s.connections(1, 1)
		time.Sleep(2 * time.Second)
		s.connections(1, 0)

		sha := s.retain("after a pause")
		s.fetch(sha)
		s.arrives(sha, "after a pause")
		s.connections(2, 1)
		time.Sleep(time.Hour)
		s.connections(2, 0)
	})
}

func TestWantedBlobKeepsTheConnectionOpen(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		first, late := s.retain("first"), digestOf("late")
		s.fetch(late)
		s.fetch(first)
		s.arrives(first, "first")
		time.Sleep(time.Minute)
		s.connections(1, 1)
		s.retain("late")
		s.arrives(late, "late")
		s.connections(1, 1)
	})
}

func TestBlobFetchedAgainIsSentAgain(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		sha := s.retain("blob")
		for range 3 { // as when it arrived damaged
			s.fetch(sha)
			s.arrives(sha, "blob")
		}
		s.fetch(sha)
		synctest.Wait()
		s.fetch(sha) // by another that waits
		synctest.Wait()
		s.arrives(sha, "blob")
		s.arrives(sha, "blob")
		s.connections(1, 1)
		s.retain("blob")
		synctest.Wait()
		if len(s.loop.events) > 0 {
			t.Errorf("a blob that is not wanted arrived: %v", <-s.loop.events)
		}
	})
}

func TestLostBlobConnectionSubscribesAgain(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		first, second := s.retain("first"), digestOf("second")
		s.fetch(first)
		s.arrives(first, "first")
		s.fetch(second) // added to the connection
		synctest.Wait()
		s.way.cut()
		time.Sleep(3 * time.Second)
		s.connections(2, 1)
		s.retain("second")
		s.arrives(second, "second")

		s.way.cut() // with nothing wanted
		time.Sleep(3 * time.Second)
		s.connections(2, 0)
	})
}

// After a fetch that failed, the connection may be slow or half-open.
func TestFailedFetchClosesTheBlobConnection(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		missing, other := digestOf("missing"), digestOf("other")
		s.fetch(missing)
		s.connections(1, 1)
		s.end(missing)
		time.Sleep(2 * time.Second) // less than blobLinger
		s.connections(1, 0)

		s.fetch(other)
		s.fetch(missing)
		s.connections(2, 1)
		s.end(missing)
		s.connections(2, 1) // still used for the other blob
		s.fetch(missing)
		s.connections(3, 1)
		s.retain("missing")
		s.arrives(missing, "missing")
		s.retain("other")
		s.arrives(other, "other")
	})
}

func TestFetchWithoutABrokerEndsWithTheLastBlob(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		s.way.mu.Lock()
		s.way.fail = net.ErrClosed
		s.way.mu.Unlock()
		sha := s.retain("blob")
		s.fetch(sha)
		time.Sleep(time.Minute) // the link waits up to 10 s between two attempts by now
		s.end(sha)
		s.way.mu.Lock()
		s.way.fail = nil
		s.way.mu.Unlock()
		time.Sleep(time.Minute)
		s.connections(0, 0)
		asked := time.Now()
		s.fetch(sha)
		s.arrives(sha, "blob")
		if took := time.Since(asked); took > 100*time.Millisecond {
			t.Errorf("the next fetch took %v", took)
		}
	})
}

func TestFetchDoesNotWaitForTheAttemptsOfAnother(t *testing.T) {
	withBlobStand(t, func(t *testing.T, s *blobStand) {
		s.way.mu.Lock()
		s.way.fail = net.ErrClosed
		s.way.mu.Unlock()
		first, second := s.retain("first"), s.retain("second")
		s.fetch(first)
		time.Sleep(time.Minute) // the link waits up to 10 s between two attempts by now
		s.way.mu.Lock()
		s.way.fail = nil
		s.way.mu.Unlock()
		asked := time.Now()
		s.fetch(second)
		synctest.Wait()
		if len(s.loop.events) != 2 || time.Since(asked) > 0 {
			t.Errorf("%d of 2 blobs arrived at once", len(s.loop.events))
		}
	})
}

func TestFetchGoesToTheBrokerOfTheRobotsLink(t *testing.T) {
	first, second := brokertest.Start(t), brokertest.Start(t)
	addr := acceptTwo(t, brokertest.TCP(first.URL()))
	s := startFetcher(t, first, link.Config{URL: "mqtt://" + addr, FallbackURLs: []string{second.URL()}, BackoffMin: 10 * time.Millisecond},
		Config{Broker: "mqtt://" + addr})
	if err := s.with.WaitUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	sha := s.retain("first")
	s.fetch(sha)
	s.arrives(sha, "first")

	s.with.ReplaceSession(net.ErrClosed) // the second attempt succeeds, at the second broker
	for s.with.URL() != second.URL() {
		time.Sleep(time.Millisecond)
	}
	s.fleetd = second.Client(t, "fleetd")
	sha = s.retain("second")
	s.fetch(sha) // although the connection to the first broker is still open
	s.arrives(sha, "second")
}

// acceptTwo passes two connections on and then refuses all.
func acceptTwo(t *testing.T, to brokertest.Dialer) (addr string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	work.Go(func() {
		defer ln.Close()
		for range 2 {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			far, err := to(context.Background())
			if err != nil {
				near.Close()
				return
			}
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				to.Close()
			}
			work.Go(func() { pass(near, far) })
			work.Go(func() { pass(far, near) })
		}
	})
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String()
}

func TestStoryWithSoundsIsFetchedOverOneConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		way := &slowBlobs{dial: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = way.Dial })
		s.mode(schema.ModeMnl)
		var files []score.Asset
		act := score.Act{ID: "ring"}
		for n := range 7 {
			sound := bytes.Repeat([]byte{byte(n)}, 1000)
			sum := sha256.Sum256(sound)
			f := score.Asset{Name: fmt.Sprint("gong", n), Kind: score.AssetSound, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(sound))}
			files = append(files, f)
			act.Actions = append(act.Actions, score.Action{StartMS: int64(3000 * n), TimeoutMS: ptr[int64](2000), Do: score.Sound{Sound: f.Name}})
			s.fleetd.Retain("troupe/v1/blobs/"+f.SHA256, string(sound))
		}
		story := score.Story{ID: "ring", Name: score.Text{"en": "Ring"}, Repeat: score.Repeat{Loop: true}, Acts: []score.Step{{Act: "ring"}}}
		data, digest, err := score.EncodePublishedStory(story, map[string]score.Act{"ring": act}, 1, files...)
		if err != nil {
			t.Fatal(err)
		}
		s.fleetd.Retain("troupe/v1/blobs/"+digest, string(data))
		s.desired("story", &schema.DesiredStory{Rev: 1, FleetID: "fleetd", Apply: schema.ApplyNow, TS: 1,
			Story: &schema.ContentPin{ID: "ring", Rev: 1, SHA256: digest, Size: int64(len(data))}})
		reported(s, "story", func(r schema.ReportedStory) bool {
			if slices.Contains([]schema.DeployPhase{schema.DeployRejected, schema.DeployFailed}, r.Phase) {
				t.Fatalf("%s: %s %s", r.Phase, r.Reason, r.Detail)
			}
			return r.Phase == schema.DeployActive && r.DesiredRev == 1
		})
		if n := way.seen.Load(); n != 1 {
			t.Errorf("%d connections for 8 blobs", n)
		}
		s.shutDown()
	})
}

// BenchmarkFetch fetches stories of 8 blobs, one blob after the other, each story over one
// new connection or each blob over one.
func BenchmarkFetch(b *testing.B) {
	ca := brokertest.NewCA(b)
	ca.IssueServer(time.Hour)
	own := ca.IssueClient(schema.RoleRobot, "r1")
	for _, size := range []int{1 << 10, 100 << 10} {
		for _, transport := range []string{"tcp", "mutual TLS"} {
			for _, arm := range []string{"one connection", "one each"} {
				b.Run(fmt.Sprintf("%d KiB/%s/%s", size>>10, transport, arm), func(b *testing.B) {
					broker := brokertest.Start(b, ca.Configure)
					dial := brokertest.TCP(broker.URL())
					if transport != "tcp" {
						dial = brokertest.OverTLS(broker.AddrOf("mqtts"), ca.TLS(own))
					}
					s := newBlobStand(b, broker, dial)
					var texts, digests []string
					for n := range 8 {
						texts = append(texts, string(bytes.Repeat([]byte{byte(n)}, size)))
						digests = append(digests, s.retain(texts[n]))
					}
					for b.Loop() {
						for n, sha := range digests {
							s.fetch(sha)
							s.arrives(sha, texts[n])
							if arm == "one each" || n == len(digests)-1 {
								s.mu.Lock()
								s.replace = true
								s.mu.Unlock()
							}
						}
					}
					made, _ := s.way.count()
					b.ReportMetric(float64(made)/float64(b.N), "connections/story")
					b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/story")
				})
			}
		}
	}
}
