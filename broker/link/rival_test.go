package link_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema/bubble"
)

const notice = "troupe/v1/clients/r1/notice"

// robotOfBoot is the configuration of robot r1 in one boot. It takes the presence of
// another boot, and the broker's notice taken_over, as proof of a second r1.
func robotOfBoot(boot string, dial brokertest.Dialer, u *userLog) link.Config {
	cfg := robotConfig(dial, u)
	say := func(state string) func(string) link.Message {
		return func(session string) link.Message {
			return link.Message{Topic: presence, QoS: 1, Retain: true,
				Payload: fmt.Appendf(nil, `{"state":%q,"session":%q,"boot":%q}`, state, session, boot)}
		}
	}
	cfg.Will, cfg.Presence = say("lost"), say("online")
	cfg.Subscribe = append(cfg.Subscribe, link.Subscription{Filter: notice, QoS: 1})
	cfg.Rival = func(m link.Message) bool {
		return m.Topic == notice && strings.Contains(string(m.Payload), "taken_over") ||
			m.Topic == presence && !strings.Contains(string(m.Payload), boot)
	}
	return cfg
}

// contestedSessions counts the sessions that ended with a proof of a second client, and
// checks the bounds of the waits.
func (u *userLog) contestedSessions(t *testing.T) (n int) {
	t.Helper()
	for _, st := range u.history() {
		if st.Wait > 10*time.Second {
			t.Errorf("a wait of %v: %+v", st.Wait, st)
		}
		if st.Phase == link.Down && st.Contested {
			n++
			if st.Wait != 10*time.Second {
				t.Errorf("after a proof of a second client the link waits for %v", st.Wait)
			}
		}
	}
	return n
}

// A broker that crashes again and again ends every session as a second client with the
// same id would.
func TestBrokerRestartsAreNoSecondClient(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(8, 1))
		var broker atomic.Pointer[brokertest.Broker]
		broker.Store(brokertest.Start(t, brokertest.InProcess))
		u := &userLog{}
		l := open(t, robotOfBoot("boot-a", func(ctx context.Context) (net.Conn, error) { return broker.Load().Dial(ctx) }, u))
		waitUp(t, l)
		for range 10 {
			time.Sleep(time.Duration(random.Int64N(int64(12 * time.Second))))
			old := broker.Swap(brokertest.Start(t, brokertest.InProcess)) // the next one is there at once
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // until the link has detected the loss
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if err := l.WaitUp(ctx); err != nil {
			t.Fatal(err)
		}
		if away := time.Since(began); away > 10*time.Second {
			t.Errorf("up %v after the last restart", away)
		}
		if n := u.contestedSessions(t); n > 0 {
			t.Errorf("%d restarts were mistaken for a second client", n)
		}
	})
}

func TestLostConnectionsAreNoSecondClient(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		random := rand.New(rand.NewPCG(8, 2))
		w, u := &faultyDialer{dial: b.Dial}, &userLog{}
		l := open(t, robotOfBoot("boot-a", w.Dial, u))
		waitUp(t, l)
		var away []time.Duration
		for range 60 { // ten minutes
			time.Sleep(500*time.Millisecond + time.Duration(random.Int64N(int64(19500*time.Millisecond))))
			if l.Session() == "" {
				continue
			}
			w.cut()
			synctest.Wait()
			began := time.Now()
			waitUp(t, l)
			away = append(away, time.Since(began))
		}
		slices.Sort(away)
		t.Logf("%d losses, up again after p50 %v, max %v", len(away), away[len(away)/2], away[len(away)-1])
		if most := away[len(away)-1]; len(away) < 40 || most > 10*time.Second {
			t.Errorf("%d losses, longest time until up again %v", len(away), most)
		}
		if n := u.contestedSessions(t); n > 0 {
			t.Errorf("%d losses were mistaken for a second client", n)
		}
	})
}

func TestTwoClientsWithOneIDTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		var links []*link.Link
		var users []*userLog
		var wires []*faultyDialer
		for _, boot := range []string{"boot-a", "boot-b"} {
			w, u := &faultyDialer{dial: b.Dial}, &userLog{}
			links, users, wires = append(links, open(t, robotOfBoot(boot, w.Dial, u))), append(users, u), append(wires, w)
		}
		time.Sleep(time.Minute)
		// Both must be reachable again and again, each after 15 s at most.
		var absent, longest [2]time.Duration
		const step = 100 * time.Millisecond
		for range 10 * time.Minute / step {
			time.Sleep(step)
			synctest.Wait()
			for i, l := range links {
				if absent[i] += step; l.Session() != "" {
					absent[i] = 0
				}
				longest[i] = max(longest[i], absent[i])
			}
		}
		for i, u := range users {
			if n := u.contestedSessions(t); n < 10 {
				t.Errorf("%d sessions of client %d ended with a proof of the other one", n, i)
			}
			if longest[i] > 15*time.Second {
				t.Errorf("client %d was unreachable for %v", i, longest[i])
			}
		}
		if n := wires[0].dials() + wires[1].dials(); n > 80 {
			t.Errorf("%d connections in eleven minutes: they end each other's sessions all the time", n)
		}
	})
}

func TestProofOfSecondClient(t *testing.T) {
	online := func(boot string) string { return fmt.Sprintf(`{"state":"online","session":"s","boot":%q}`, boot) }
	speaks := func(word string) func(t *testing.T, b *brokertest.Broker) {
		return func(t *testing.T, b *brokertest.Broker) {
			c := b.Client(t, "r1")
			c.Retain(presence, word)
			c.Close()
		}
	}
	for name, c := range map[string]struct {
		before string // retained presence before the first session
		during func(t *testing.T, b *brokertest.Broker)
		proof  bool
	}{
		"lost connection":                     {"", func(*testing.T, *brokertest.Broker) {}, false},
		"presence of an earlier boot":         {online("boot-0"), func(*testing.T, *brokertest.Broker) {}, false},
		"notice of the broker":                {"", func(t *testing.T, b *brokertest.Broker) { b.Client(t, "r1").Close() }, true},
		"presence of another boot in between": {"", speaks(online("boot-b")), true},
		"presence of the same boot":           {"", speaks(online("boot-a")), false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *brokertest.Broker) {
				if c.before != "" {
					speaks(c.before)(t, b)
				}
				w, u := &faultyDialer{dial: b.Dial}, &userLog{}
				open(t, robotOfBoot("boot-a", w.Dial, u))
				time.Sleep(5 * time.Second)
				w.setDialError(errors.New("no route"))
				if name != "notice of the broker" {
					w.cut()
				}
				synctest.Wait()
				c.during(t, b)
				w.setDialError(nil)
				time.Sleep(20 * time.Second) // until it is up again
				w.cut()
				synctest.Wait()
				if got := u.contestedSessions(t) > 0; got != c.proof {
					t.Errorf("proof of a second client: %v", got)
				}
			})
		})
	}
}

// A client that lost its connection silently takes over its own old connection.
func TestOwnOldConnectionIsNoSecondClient(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		w, u := &faultyDialer{dial: b.Dial}, &userLog{}
		l := open(t, robotOfBoot("boot-a", w.Dial, u))
		waitUp(t, l)
		first := l.Session()
		w.stall()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if now := l.Session(); now == "" || now == first {
			t.Fatalf("session %q after %q", now, first)
		}
		if n := u.contestedSessions(t); n > 0 {
			t.Error("the link mistakes its own old connection for a second client")
		}
	})
}
