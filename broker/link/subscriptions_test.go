package link_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema/bubble"
)

// addedTopic is a retained topic that robots may read, and addedMessage a line of userLog.
var (
	addedTopic   = "troupe/v1/blobs/" + strings.Repeat("a", 64)
	addedMessage = strings.Repeat("a", 64) + "="
)

func subscribe(t *testing.T, l *link.Link, filter string) {
	t.Helper()
	if err := l.Subscribe(link.Subscription{Filter: filter, QoS: 1}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestSubscriptionsAreAddedAndRemovedOnOneSession(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		fleetd := b.Client(t, "fleetd")
		fleetd.Retain(addedTopic, "first")
		u := &userLog{}
		l := open(t, robotConfig(b.Dial, u))
		waitUp(t, l)
		session := l.Session()
		received := func(word string) int { return strings.Count(u.all(), addedMessage+word) }

		subscribe(t, l, addedTopic)
		if received("first") != 1 {
			t.Fatalf("after Subscribe: %s", u.all())
		}
		subscribe(t, l, addedTopic)
		if received("first") != 2 {
			t.Fatalf("the retained message is not sent again: %s", u.all())
		}
		fleetd.Retain(addedTopic, "second")
		synctest.Wait()
		if received("second") != 1 {
			t.Fatalf("a live message: %s", u.all())
		}
		l.Unsubscribe(addedTopic)
		synctest.Wait()
		fleetd.Retain(addedTopic, "third")
		synctest.Wait()
		if received("third") != 0 {
			t.Fatalf("after Unsubscribe: %s", u.all())
		}
		// Of calls that follow one another at once the last one counts.
		for _, last := range []string{"subscribe", "unsubscribe"} {
			if err := l.Subscribe(link.Subscription{Filter: addedTopic, QoS: 1}); err != nil {
				t.Fatal(err)
			}
			l.Unsubscribe(addedTopic)
			if last == "subscribe" {
				if err := l.Subscribe(link.Subscription{Filter: addedTopic, QoS: 1}); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			fleetd.Retain(addedTopic, "last call: "+last)
			synctest.Wait()
		}
		if received("last call: subscribe") != 1 || received("last call: unsubscribe") != 0 {
			t.Errorf("reported %s", u.all())
		}
		if l.Session() != session {
			t.Error("the link made another connection")
		}
		if err := l.Subscribe(link.Subscription{Filter: strings.Repeat("a", 201)}); err == nil {
			t.Error("subscribed to an overlong filter")
		}
	})
}

func TestAddedSubscriptionsAreRequestedByTheNextSession(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		fleetd := b.Client(t, "fleetd")
		w, u := &faultyDialer{dial: b.Dial}, &userLog{}
		l := open(t, robotConfig(w.Dial, u))
		down := strings.Replace(addedTopic, "a", "d", 64) // subscribed while the link is down
		gone := strings.Replace(addedTopic, "a", "e", 64)
		subscribe(t, l, addedTopic) // while it connects, or later
		subscribe(t, l, gone)
		waitUp(t, l)
		first := l.Session()
		w.cut()
		synctest.Wait()
		if l.Session() != "" {
			t.Fatal("the session goes on")
		}
		l.Unsubscribe(gone)
		subscribe(t, l, down)
		time.Sleep(5 * time.Second)
		waitUp(t, l)
		synctest.Wait()
		for _, topic := range []string{addedTopic, down, gone} {
			fleetd.Retain(topic, "now")
		}
		synctest.Wait()
		got := u.all()
		if l.Session() == first || !strings.HasSuffix(got, addedMessage+"now "+strings.Repeat("d", 64)+"=now") {
			t.Errorf("reported %s", got)
		}
	})
}

// A subscription that the broker loses or refuses ends the session, as one of
// Config.Subscribe does, so that the link does not look well and receive nothing.
func TestAddedSubscriptionThatIsNotGrantedEndsTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		filter   string
		swallows bool
		want     error
	}{
		"refused":    {"troupe/v1/robots/r2/cmd/#", false, link.ErrRefused},
		"unanswered": {addedTopic, true, link.ErrHalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *brokertest.Broker) {
				line, u := &brokertest.Cable{To: b.Dial}, &userLog{}
				cfg := robotConfig(line.Dial, u)
				cfg.KeepAlive, cfg.Quiet = 300*time.Second, 300*time.Second // so that only the subscription shows it
				l := open(t, cfg)
				waitUp(t, l)
				if c.swallows {
					line.Swallow()
				}
				subscribe(t, l, c.filter)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if down, ok := u.last(link.Down); !ok || !errors.Is(down.Err, c.want) {
					t.Fatalf("reported %s, %+v", u.all(), down)
				}
				l.Unsubscribe(c.filter)
				time.Sleep(20 * time.Second)
				synctest.Wait()
				if l.Session() == "" {
					t.Errorf("not up after Unsubscribe: %s", u.all())
				}
			})
		})
	}
}

// The library panics on a SUBACK with more return codes than its SUBSCRIBE had filters.
func TestMoreGrantsThanALaterSubscribeRequestsEndTheConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		u := &userLog{}
		cfg := robotConfig(func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				buf := make([]byte, 4096)
				for _, answer := range [][]byte{{0x20, 2, 0, 0}, {0x90, 4, 0, 1, 1, 1}, {0x90, 5, 0, 2, 0, 0, 0}} {
					_, _ = theirs.Read(buf)
					_, _ = theirs.Write(answer)
				}
				_, _ = theirs.Read(buf)
			}()
			return ours, nil
		}, u)
		cfg.Presence, cfg.Will = nil, nil
		l := open(t, cfg)
		waitUp(t, l)
		subscribe(t, l, addedTopic)
		if down, ok := u.last(link.Down); !ok || !strings.Contains(down.Err.Error(), "grants 3 subscriptions, 1 were requested") {
			t.Errorf("reported %s, %+v", u.all(), down)
		}
	})
}
