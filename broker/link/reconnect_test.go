package link_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

func TestLostLinkReconnectsAndOldWillIsSent(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		w, u := &faultyDialer{dial: b.Dial}, &userLog{}
		l := open(t, robotConfig(w.Dial, u))
		waitUp(t, l)
		first := l.Session()
		watcher.Expect(presence)
		w.cut()
		if m := watcher.ExpectThat(presence, payloadContains("lost")); !strings.Contains(string(m.Payload), first) {
			t.Fatalf("will: %v, want session %s", m, first)
		}
		synctest.Wait()
		if err := l.Publish(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event"}); !errors.Is(err, link.ErrNotReady) {
			t.Fatalf("publish while down: %v", err)
		}
		down, ok := u.last(link.Down)
		if !ok || down.Session != first || down.Wait < 500*time.Millisecond || down.Wait > 1500*time.Millisecond {
			t.Fatalf("down: %+v", down)
		}
		time.Sleep(down.Wait)
		synctest.Wait()
		if now := l.Session(); now == "" || now == first {
			t.Fatalf("second session %q, first %q", now, first)
		}
	})
}

func TestBackoffHasJitterAndMaximum(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		waits := map[time.Duration]bool{}
		for range 2 {
			w, u := &faultyDialer{dial: b.Dial, fail: errors.New("no route")}, &userLog{}
			l := open(t, robotConfig(w.Dial, u))
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			var all []time.Duration
			for _, st := range u.history() {
				if st.Phase == link.Down {
					all = append(all, st.Wait)
				}
			}
			if len(all) < 12 || all[0] > 1500*time.Millisecond || all[len(all)-1] < 3*time.Second {
				t.Fatalf("waits %v", all)
			}
			for i, d := range all {
				if d < 500*time.Millisecond || d > 10*time.Second {
					t.Fatalf("wait %v in %v", d, all)
				}
				if slices.Contains(all[:i], d) { // a fleet with equal waits would reconnect all at once
					t.Fatalf("wait %v twice in %v", d, all)
				}
			}
			waits[all[0]] = true
			w.setDialError(nil)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if l.Session() == "" {
				t.Fatal("not up although the broker is reachable again")
			}
			_ = l.Close(t.Context())
		}
		if len(waits) != 2 {
			t.Fatal("two links had the same wait")
		}
	})
}

func TestRefusalIsReportedAndRetried(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		for name, change := range map[string]func(*link.Config){
			"identity":     func(c *link.Config) { c.ClientID = "r2" },
			"subscription": func(c *link.Config) { c.Subscribe[0].Filter = "troupe/v1/robots/r2/cmd/#" },
		} {
			w, u := &faultyDialer{dial: b.Dial}, &userLog{}
			cfg := robotConfig(w.Dial, u)
			change(&cfg)
			l := open(t, cfg)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if n := strings.Count(u.all(), "connecting"); n != w.dials() {
				t.Errorf("%s: %d attempts made %d connections", name, n, w.dials())
			}
			st, ok := u.last(link.Refused)
			if !ok || !errors.Is(st.Err, link.ErrRefused) || st.Attempt < 3 || strings.Contains(u.all(), "up") {
				t.Errorf("%s: reported %s, last %+v", name, u.all(), st)
			}
			_ = l.Close(t.Context())
		}
	})
}

func TestLinkIsNotUpWithoutEchoOfPresence(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		cfg := robotConfig(b.Dial, u)
		other := cfg.Presence
		cfg.Presence = func(session string) link.Message {
			m := other(session)
			m.Retain = false // the broker refuses it, but acknowledges it
			return m
		}
		open(t, cfg)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(st.Err.Error(), "echo") || strings.Contains(u.all(), "up") {
			t.Fatalf("reported %s, %+v", u.all(), st)
		}
	})
}

func TestSilentPeerIsDetectedByKeepAlive(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		w, u := &faultyDialer{dial: b.Dial}, &userLog{}
		l := open(t, robotConfig(w.Dial, u))
		waitUp(t, l)
		first := l.Session()
		w.stall()
		time.Sleep(20 * time.Second) // keep-alive 10 s, answer 5 s, checks each 2.5 s
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || st.Session != first {
			t.Fatalf("reported %s", u.all())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if l.Session() == "" || l.Session() == first {
			t.Fatalf("session %q after %q", l.Session(), first)
		}
	})
}

func TestEndOfContextCutsTheLinkAndWillIsSent(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		ctx, cancel := context.WithCancel(t.Context())
		l, err := link.Open(ctx, robotConfig(b.Dial, &userLog{}))
		if err != nil {
			t.Fatal(err)
		}
		waitUp(t, l)
		watcher.Expect(presence)
		cancel()
		watcher.ExpectThat(presence, payloadContains("lost"))
		_ = l.Close(context.Background())
	})
}
