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

// A broker that has lost one subscription of a connection brings everything else,
// the connection's own presence too, so nobody misses anything.
func TestASubscriptionThatTheBrokerLostIsHadAgain(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &told{}
		cfg := robot(line.Dial, u)
		for i := range cfg.Subscribe {
			cfg.Subscribe[i].Renew = strings.Contains(cfg.Subscribe[i].Filter, "/cmd/")
		}
		l := open(t, cfg)
		waitUp(t, l)
		session, op := l.Session(), b.Client(t, "op1")
		heard := func(word string) bool {
			op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", word)
			synctest.Wait()
			return strings.HasSuffix(u.all(), "stop="+word)
		}
		if !heard("first") {
			t.Fatalf("told %s", u.all())
		}
		for _, s := range cfg.Subscribe {
			line.Forget(s.Filter)
		}
		synctest.Wait()
		if heard("second") {
			t.Fatal("the broker has lost nothing")
		}
		time.Sleep(time.Minute + time.Second)
		if !heard("third") {
			t.Errorf("told %s", u.all())
		}
		if l.Session() != session {
			t.Error("it is another connection")
		}
	})
}

func TestAConnectionThatIsNotGrantedASubscriptionAgainIsMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		line := &brokertest.Cable{To: b.Dial}
		u := &told{}
		cfg := robot(line.Dial, u)
		cfg.Presence, cfg.Will = nil, nil // whose echo would miss it, too
		for i := range cfg.Subscribe {
			cfg.Subscribe[i].Renew = true
		}
		cfg.KeepAlive = 300 * time.Second // and so would a ping
		waitUp(t, open(t, cfg))
		line.Swallow()
		time.Sleep(time.Minute + 10*time.Second)
		synctest.Wait()
		if down, ok := u.last(link.Down); !ok || !errors.Is(down.Err, link.ErrHalfOpen) {
			t.Errorf("told %s, %+v", u.all(), down)
		}
	})
}
