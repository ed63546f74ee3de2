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
)

func TestADeafConnectionIsMadeAnewInGoodOrder(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		line := &brokertest.Cable{To: b.Dial}
		u := &told{}
		l := open(t, robot(line.Dial, u))
		waitUp(t, l)
		first := l.Session()
		line.Deafen(brokertest.Everything)
		time.Sleep(30 * time.Second) // 15 s of quiet, 5 s for the echo, and a wait
		synctest.Wait()
		down, ok := u.last(link.Down)
		if !ok || !errors.Is(down.Err, link.ErrHalfOpen) || down.Session != first || down.Contested {
			t.Fatalf("told %s, %+v", u.all(), down)
		}
		if now := l.Session(); now == "" || now == first {
			t.Fatalf("session %q after %q", now, first)
		}
		b.Client(t, "op1").Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
		synctest.Wait()
		if !strings.HasSuffix(u.all(), "set=ato") {
			t.Errorf("told %s", u.all())
		}
		for _, m := range watcher.Inbox(presence) {
			if says("lost")(m) {
				t.Errorf("a will for a connection that was left in good order: %v", m)
			}
		}
	})
}

// TestADeafBrokerIsNotKnockedAtAllTheTime lets every connection fall half-open after
// it was up.
func TestADeafBrokerIsNotKnockedAtAllTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &told{}
		cfg := robot(line.Dial, u)
		cfg.OnState = func(s link.State) {
			if u.state(s); s.Phase == link.Up {
				line.Deafen(brokertest.Everything)
			}
		}
		open(t, cfg)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := line.Dials(); n < 100 || n > 180 {
			t.Errorf("%d connections in an hour, one in 20 s and a wait is due", n)
		}
		if st, ok := u.last(link.Down); !ok || st.Contested || !errors.Is(st.Err, link.ErrHalfOpen) {
			t.Errorf("told %+v", st)
		}
	})
}

func TestAQuietLinkStaysUpAndOneThatHearsIsNotTested(t *testing.T) {
	for _, quiet := range []bool{true, false} {
		t.Run(fmt.Sprintf("quiet %v", quiet), func(t *testing.T) {
			bubble(t, func(t *testing.T, b *brokertest.Broker) {
				watcher := b.Client(t, "obs")
				watcher.Subscribe(presence)
				u := &told{}
				l := open(t, robot(b.Dial, u))
				waitUp(t, l)
				first := l.Session()
				op := b.Client(t, "op1")
				for range 60 {
					time.Sleep(10 * time.Second)
					watcher.Ping() // else the broker takes it for dead
					op.Ping()
					if !quiet {
						op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
					}
				}
				synctest.Wait()
				if l.Session() != first {
					t.Fatalf("told %s", u.all())
				}
				n := len(watcher.Inbox(presence))
				if quiet && (n < 30 || n > 42) || !quiet && n != 1 {
					t.Errorf("the presence was said %d times in ten minutes", n)
				}
			})
		})
	}
}

func TestALinkThatIsToldToRenewDoesSoInGoodOrder(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		u := &told{}
		there := make(chan struct{})
		l := open(t, robot(func(ctx context.Context) (net.Conn, error) {
			<-there
			return b.Dial(ctx)
		}, u))
		l.Renew(link.ErrHalfOpen) // there is none: nothing happens
		close(there)
		waitUp(t, l)
		first := l.Session()
		for range 3 { // one for all
			l.Renew(fmt.Errorf("%w: as the test says", link.ErrHalfOpen))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if down, ok := u.last(link.Down); !ok || down.Session != first || !errors.Is(down.Err, link.ErrHalfOpen) {
			t.Fatalf("told %s, %+v", u.all(), down)
		}
		if got := u.all(); strings.Count(got, "connecting") != 2 || !strings.HasSuffix(got, "up") {
			t.Errorf("told %s", got)
		}
		for _, m := range watcher.Inbox(presence) {
			if says("lost")(m) {
				t.Errorf("a will: %v", m)
			}
		}
	})
}

// TestALinkThatClosesBeforeItsEchoSaysGoodbyeToo ends the link in the instant
// after its presence went out.
func TestALinkThatClosesBeforeItsEchoSaysGoodbyeToo(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		line := &brokertest.Cable{To: b.Dial}
		line.Hold(brokertest.Everything)
		u := &told{}
		l := open(t, robot(line.Dial, u))
		online := watcher.Expect(presence)
		said := ""
		if err := l.Close(t.Context(), func(session string) link.Message { said = session; return farewell(session) }); err != nil {
			t.Fatal(err)
		}
		if said == "" || !strings.Contains(string(online.Payload), said) {
			t.Errorf("goodbye of session %q, %v was said", said, online)
		}
		watcher.ExpectThat(presence, says("offline"))
		time.Sleep(time.Minute)
		for _, m := range watcher.Inbox(presence) {
			t.Errorf("after the goodbye: %v", m)
		}
		if strings.Contains(u.all(), "up") {
			t.Errorf("told %s", u.all())
		}
	})
}

// TestALinkThatWasNeverThereSaysNoLastWords closes while the broker still thinks
// about the subscriptions.
func TestALinkThatWasNeverThereSaysNoLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan []byte, 1)
		subscribed := make(chan struct{})
		l := open(t, robot(func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				buf := make([]byte, 4096)
				_, _ = theirs.Read(buf) // CONNECT
				_, _ = theirs.Write([]byte{0x20, 2, 0, 0})
				_, _ = theirs.Read(buf) // SUBSCRIBE
				close(subscribed)
				rest, _ := io.ReadAll(theirs)
				heard <- rest
			}()
			return ours, nil
		}, &told{}))
		<-subscribed
		if err := l.Close(t.Context(), farewell); err != nil {
			t.Fatal(err)
		}
		if got := <-heard; !bytes.Equal(got, []byte{0xe0, 0}) {
			t.Errorf("sent %x, want DISCONNECT alone", got)
		}
	})
}

// A broker may drop what has QoS 0 behind all the documents that it brings first.
func TestAWordThatMayBeDroppedIsSaidUntilItIsHeard(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		const beat = "troupe/v1/fleet/heartbeat/fleetd"
		dropped := 0
		line := &brokertest.Cable{To: b.Dial}
		line.Hold(func(topic string) bool {
			if topic == beat && dropped < 3 {
				dropped++
				return true
			}
			return false
		})
		u := &told{}
		began := time.Now()
		l := open(t, link.Config{
			Dial: line.Dial, Name: "fleetd", ClientID: "fleetd", OnState: u.state,
			Presence: func(session string) link.Message {
				return link.Message{Topic: beat, Payload: []byte(`{"ts":"2026-05-17T09:30:00.000Z","session":"` + session + `","seq":1}`)}
			},
		})
		waitUp(t, l)
		if took := time.Since(began); dropped != 3 || took < 3*time.Second || took > 4*time.Second || line.Dials() != 1 {
			t.Errorf("up after %v with %d dropped, %d connections, told %s", took, dropped, line.Dials(), u.all())
		}
	})
}
