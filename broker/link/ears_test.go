package link_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// muted is a connection on which the broker answers everything and, once deaf,
// delivers nothing: what is left of a session whose subscriptions were lost.
type muted struct {
	net.Conn
	from *bufio.Reader
	deaf func() bool
	rest bytes.Buffer
}

func (m *muted) Read(b []byte) (int, error) {
	for m.rest.Len() == 0 {
		first, err := m.from.ReadByte()
		if err != nil {
			return 0, err
		}
		packet, size := []byte{first}, 0
		for shift := 0; ; shift += 7 {
			l, err := m.from.ReadByte()
			if err != nil {
				return 0, err
			}
			packet, size = append(packet, l), size|int(l&0x7f)<<shift
			if l&0x80 == 0 {
				break
			}
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(m.from, body); err != nil {
			return 0, err
		}
		if publish := first>>4 == 3; !publish || !m.deaf() {
			m.rest.Write(append(packet, body...))
		}
	}
	return m.rest.Read(b)
}

// mute lets a test make the nth connection deaf, counted from 0.
func mute(dial brokertest.Dialer) (_ brokertest.Dialer, deafen func(nth int)) {
	var n, deaf atomic.Int64
	deaf.Store(-1)
	return func(ctx context.Context) (net.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		at := n.Add(1) - 1
		return &muted{Conn: c, from: bufio.NewReader(c), deaf: func() bool { return deaf.Load() == at }}, nil
	}, func(nth int) { deaf.Store(int64(nth)) }
}

func TestADeafConnectionIsMadeAnewInGoodOrder(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		dial, deafen := mute(b.Dial)
		u := &told{}
		l := open(t, robot(dial, u))
		waitUp(t, l)
		first := l.Session()
		deafen(0)
		time.Sleep(30 * time.Second) // 15 s of quiet, 5 s for the echo, and a wait
		synctest.Wait()
		down, ok := u.last(link.Down)
		if !ok || !errors.Is(down.Err, link.ErrDeaf) || down.Session != first || down.Contested {
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

// TestADeafBrokerIsNotKnockedAtAllTheTime lets every connection fall deaf after
// it was up.
func TestADeafBrokerIsNotKnockedAtAllTheTime(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		dial, deafen := mute(b.Dial)
		u := &told{}
		var n atomic.Int64
		cfg := robot(dial, u)
		cfg.OnState = func(s link.State) {
			if u.state(s); s.Phase == link.Up {
				deafen(int(n.Add(1) - 1))
			}
		}
		open(t, cfg)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := n.Load(); n < 100 || n > 180 {
			t.Errorf("%d connections in an hour, one in 20 s and a wait is due", n)
		}
		if st, ok := u.last(link.Down); !ok || st.Contested || !errors.Is(st.Err, link.ErrDeaf) {
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
		l := open(t, robot(b.Dial, u))
		l.Renew(link.ErrDeaf) // there is none: nothing happens
		waitUp(t, l)
		first := l.Session()
		for range 3 { // one for all
			l.Renew(fmt.Errorf("%w: as the test says", link.ErrDeaf))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if down, ok := u.last(link.Down); !ok || down.Session != first || !errors.Is(down.Err, link.ErrDeaf) {
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
		dial, deafen := mute(b.Dial)
		deafen(0)
		u := &told{}
		l := open(t, robot(dial, u))
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
