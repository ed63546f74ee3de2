package link_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

func TestStalledPeerIsDetectedByWriteDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		cfg, clogNow := clogConfig(b, u)
		cfg.WriteTimeout = 3 * time.Second
		l := open(t, cfg)
		waitUp(t, l)
		clogNow()
		began := time.Now()
		if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err == nil {
			t.Fatal("acknowledged")
		}
		if waited := time.Since(began); waited > cfg.WriteTimeout {
			t.Errorf("detected after %v", waited)
		}
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(st.Err.Error(), "write to the broker") {
			t.Fatalf("reported %s, %+v", u.all(), st)
		}
	})
}

// clogConfig returns a configuration whose connection stops accepting writes when now is
// called.
func clogConfig(b *brokertest.Broker, u *userLog) (cfg link.Config, now func()) {
	var dead atomic.Bool
	cfg = robotConfig(func(ctx context.Context) (net.Conn, error) {
		c, err := b.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return &cloggedConn{Conn: c, dead: dead.Load, closed: make(chan struct{})}, nil
	}, u)
	return cfg, func() { dead.Store(true) }
}

func TestStopIsReceivedThoughWritesStall(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		cfg, clogNow := clogConfig(b, u)
		cfg.Urgent = func(topic string) bool { return strings.HasSuffix(topic, "safety/stop") }
		waitUp(t, open(t, cfg))
		op := b.Client(t, "op1")
		clogNow()
		for i := range 10 {
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", fmt.Sprint(i))
		}
		op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", "now")
		synctest.Wait() // no time passes
		if got := u.all(); !strings.Contains(got, "ping=9") || !strings.Contains(got, "stop=now") {
			t.Errorf("reported %q while nothing could be written", got)
		}
	})
}

func TestTooManyUnsentAcknowledgementsDropTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &userLog{}
		cfg, clogNow := clogConfig(b, u)
		cfg.Queue = 4
		waitUp(t, open(t, cfg))
		op := b.Client(t, "op1")
		clogNow()
		for range 10 {
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
			synctest.Wait() // the user handles each at once; only the broker reads nothing
		}
		time.Sleep(cfg.WriteTimeout + 10*time.Second)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(fmt.Sprint(u.history()), "acknowledgements wait") {
			t.Errorf("reported %s, last %+v", u.all(), st)
		}
	})
}

// cloggedConn is a connection whose peer reads nothing once dead: writes wait for their
// deadline.
type cloggedConn struct {
	net.Conn
	dead   func() bool
	once   sync.Once
	closed chan struct{}
	mu     sync.Mutex
	at     time.Time
}

func (c *cloggedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
	return c.Conn.SetWriteDeadline(t)
}

func (c *cloggedConn) Write(b []byte) (int, error) {
	if !c.dead() {
		return c.Conn.Write(b)
	}
	c.mu.Lock()
	at := c.at
	c.mu.Unlock()
	if at.IsZero() {
		at = time.Now().Add(24 * time.Hour)
	}
	limit := time.NewTimer(time.Until(at))
	defer limit.Stop()
	select {
	case <-limit.C:
		return 0, context.DeadlineExceeded
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *cloggedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
