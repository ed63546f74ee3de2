package link_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

// A broker that has lost one subscription of a connection still delivers everything else,
// the client's own presence too, so nothing shows the loss.
func TestLostSubscriptionIsRenewed(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &userLog{}
		cfg := robotConfig(line.Dial, u)
		for i := range cfg.Subscribe {
			cfg.Subscribe[i].Renew = strings.Contains(cfg.Subscribe[i].Filter, "/cmd/")
		}
		l := open(t, cfg)
		waitUp(t, l)
		session, op := l.Session(), b.Client(t, "op1")
		receives := func(word string) bool {
			op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", word)
			synctest.Wait()
			return strings.HasSuffix(u.all(), "stop="+word)
		}
		if !receives("first") {
			t.Fatalf("reported %s", u.all())
		}
		for _, s := range cfg.Subscribe {
			line.Forget(s.Filter)
		}
		synctest.Wait()
		if receives("second") {
			t.Fatal("the broker still has the subscription")
		}
		time.Sleep(time.Minute + time.Second)
		if !receives("third") {
			t.Errorf("reported %s", u.all())
		}
		if l.Session() != session {
			t.Error("the link made another connection")
		}
	})
}

func TestUnansweredRenewalReplacesTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &userLog{}
		cfg := robotConfig(line.Dial, u)
		cfg.Presence, cfg.Will = nil, nil // so that no missing echo ends the connection first
		for i := range cfg.Subscribe {
			cfg.Subscribe[i].Renew = true
		}
		cfg.KeepAlive = 300 * time.Second // nor a missing PINGRESP
		waitUp(t, open(t, cfg))
		line.Swallow()
		time.Sleep(time.Minute + 10*time.Second)
		synctest.Wait()
		if down, ok := u.last(link.Down); !ok || !errors.Is(down.Err, link.ErrHalfOpen) {
			t.Errorf("reported %s, %+v", u.all(), down)
		}
	})
}
