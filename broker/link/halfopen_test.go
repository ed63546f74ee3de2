package link_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema/bubble"
)

func TestHalfOpenConnectionIsReplacedWithoutWill(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		line := &brokertest.Cable{To: b.Dial}
		u := &userLog{}
		l := open(t, robotConfig(line.Dial, u))
		waitUp(t, l)
		first := l.Session()
		line.DropExisting(brokertest.Everything)
		time.Sleep(30 * time.Second) // 15 s without messages, 5 s for the echo, and the backoff
		synctest.Wait()
		down, ok := u.last(link.Down)
		if !ok || !errors.Is(down.Err, link.ErrHalfOpen) || down.Session != first || down.Contested {
			t.Fatalf("reported %s, %+v", u.all(), down)
		}
		if now := l.Session(); now == "" || now == first {
			t.Fatalf("session %q after %q", now, first)
		}
		b.Client(t, "op1").Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
		synctest.Wait()
		if !strings.HasSuffix(u.all(), "set=ato") {
			t.Errorf("reported %s", u.all())
		}
		for _, m := range watcher.Inbox(presence) {
			if payloadContains("lost")(m) {
				t.Errorf("the will was sent although the link sent DISCONNECT: %v", m)
			}
		}
	})
}

// Every connection becomes half-open once it is up.
func TestHalfOpenBrokerIsRetriedWithBackoff(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &userLog{}
		cfg := robotConfig(line.Dial, u)
		cfg.OnState = func(s link.State) {
			if u.state(s); s.Phase == link.Up {
				line.DropExisting(brokertest.Everything)
			}
		}
		open(t, cfg)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := line.Dials(); n < 100 || n > 180 {
			t.Errorf("%d connections in an hour: want one per 20 s plus backoff", n)
		}
		if st, ok := u.last(link.Down); !ok || st.Contested || !errors.Is(st.Err, link.ErrHalfOpen) {
			t.Errorf("reported %+v", st)
		}
	})
}

func TestQuietLinkStaysUpAndBusyLinkIsNotProbed(t *testing.T) {
	for _, quiet := range []bool{true, false} {
		t.Run(fmt.Sprintf("quiet %v", quiet), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *brokertest.Broker) {
				watcher := b.Client(t, "obs")
				watcher.Subscribe(presence)
				u := &userLog{}
				l := open(t, robotConfig(b.Dial, u))
				waitUp(t, l)
				first := l.Session()
				op := b.Client(t, "op1")
				for range 60 {
					time.Sleep(10 * time.Second)
					watcher.Ping() // so that the broker does not disconnect it
					op.Ping()
					if !quiet {
						op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
					}
				}
				synctest.Wait()
				if l.Session() != first {
					t.Fatalf("reported %s", u.all())
				}
				n := len(watcher.Inbox(presence))
				if quiet && (n < 30 || n > 42) || !quiet && n != 1 {
					t.Errorf("the presence was published %d times in ten minutes", n)
				}
			})
		})
	}
}

func TestReplacedSessionSendsNoWill(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		u := &userLog{}
		there := make(chan struct{})
		l := open(t, robotConfig(func(ctx context.Context) (net.Conn, error) {
			<-there
			return b.Dial(ctx)
		}, u))
		l.ReplaceSession(link.ErrHalfOpen) // no session is up: nothing happens
		close(there)
		waitUp(t, l)
		first := l.Session()
		for range 3 { // several calls replace it once
			l.ReplaceSession(fmt.Errorf("%w: reason of the test", link.ErrHalfOpen))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if down, ok := u.last(link.Down); !ok || down.Session != first || !errors.Is(down.Err, link.ErrHalfOpen) {
			t.Fatalf("reported %s, %+v", u.all(), down)
		}
		if got := u.all(); strings.Count(got, "connecting") != 2 || !strings.HasSuffix(got, "up") {
			t.Errorf("reported %s", got)
		}
		for _, m := range watcher.Inbox(presence) {
			if payloadContains("lost")(m) {
				t.Errorf("the will was sent: %v", m)
			}
		}
	})
}

// The link is closed right after its presence was published.
func TestCloseBeforeEchoPublishesFinalMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		line := &brokertest.Cable{To: b.Dial}
		line.Drop(brokertest.Everything)
		u := &userLog{}
		l := open(t, robotConfig(line.Dial, u))
		online := watcher.Expect(presence)
		said := ""
		if err := l.Close(t.Context(), func(session string) link.Message { said = session; return farewell(session) }); err != nil {
			t.Fatal(err)
		}
		if said == "" || !strings.Contains(string(online.Payload), said) {
			t.Errorf("final message of session %q, presence was %v", said, online)
		}
		watcher.ExpectThat(presence, payloadContains("offline"))
		time.Sleep(time.Minute)
		for _, m := range watcher.Inbox(presence) {
			t.Errorf("after the final message: %v", m)
		}
		if strings.Contains(u.all(), "up") {
			t.Errorf("reported %s", u.all())
		}
	})
}

// The link is closed while the broker has not answered the SUBSCRIBE yet.
func TestCloseBeforePresencePublishesNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		received := make(chan []byte, 1)
		subscribed := make(chan struct{})
		l := open(t, robotConfig(func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				buf := make([]byte, 4096)
				_, _ = theirs.Read(buf) // CONNECT
				_, _ = theirs.Write([]byte{0x20, 2, 0, 0})
				_, _ = theirs.Read(buf) // SUBSCRIBE
				close(subscribed)
				rest, _ := io.ReadAll(theirs)
				received <- rest
			}()
			return ours, nil
		}, &userLog{}))
		<-subscribed
		if err := l.Close(t.Context(), farewell); err != nil {
			t.Fatal(err)
		}
		if got := <-received; !bytes.Equal(got, []byte{0xe0, 0}) {
			t.Errorf("sent %x, want only DISCONNECT", got)
		}
	})
}

// A broker may drop a QoS 0 message behind all the retained documents that it sends first.
func TestPresenceOfQoS0IsRepeatedUntilEchoed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		const beat = "troupe/v1/fleet/heartbeat/fleetd"
		dropped := 0
		line := &brokertest.Cable{To: b.Dial}
		line.Drop(func(topic string) bool {
			if topic == beat && dropped < 3 {
				dropped++
				return true
			}
			return false
		})
		u := &userLog{}
		began := time.Now()
		l := open(t, link.Config{
			Dial: line.Dial, Name: "fleetd", ClientID: "fleetd", OnState: u.state,
			Presence: func(session string) link.Message {
				return link.Message{Topic: beat, Payload: []byte(`{"ts":"2026-05-17T09:30:00.000Z","session":"` + session + `","seq":1}`)}
			},
		})
		waitUp(t, l)
		if took := time.Since(began); dropped != 3 || took < 3*time.Second || took > 4*time.Second || line.Dials() != 1 {
			t.Errorf("up after %v with %d dropped and %d connections, reported %s", took, dropped, line.Dials(), u.all())
		}
	})
}
