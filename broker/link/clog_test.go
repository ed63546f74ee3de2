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

func TestAPeerThatTakesNothingIsFoundByTheWriteDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg, clogNow := clog(b, u)
		cfg.WriteTimeout = 3 * time.Second
		l := open(t, cfg)
		waitUp(t, l)
		clogNow()
		began := time.Now()
		if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err == nil {
			t.Fatal("acknowledged")
		}
		if waited := time.Since(began); waited > cfg.WriteTimeout {
			t.Errorf("found after %v", waited)
		}
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(st.Err.Error(), "write to the broker") {
			t.Fatalf("told %s, %+v", u.all(), st)
		}
	})
}

// clog is a configuration whose connection a test can clog.
func clog(b *brokertest.Broker, u *told) (cfg link.Config, now func()) {
	var dead atomic.Bool
	cfg = robot(func(ctx context.Context) (net.Conn, error) {
		c, err := b.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return &clogged{Conn: c, dead: dead.Load, closed: make(chan struct{})}, nil
	}, u)
	return cfg, func() { dead.Store(true) }
}

func TestAStopIsHeardThoughTheBrokerTakesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg, clogNow := clog(b, u)
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
			t.Errorf("told %q while nothing could be written", got)
		}
	})
}

func TestAConnectionThatOwesTooManyAcknowledgementsIsGivenUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg, clogNow := clog(b, u)
		cfg.Queue = 4
		waitUp(t, open(t, cfg))
		op := b.Client(t, "op1")
		clogNow()
		for range 10 {
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
			synctest.Wait() // the user takes each at once; only the broker takes nothing
		}
		time.Sleep(cfg.WriteTimeout + 10*time.Second)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(fmt.Sprint(u.history()), "acknowledgements wait") {
			t.Errorf("told %s, last %+v", u.all(), st)
		}
	})
}

// clogged is a connection whose peer takes nothing once dead: writes wait for
// their deadline.
type clogged struct {
	net.Conn
	dead   func() bool
	once   sync.Once
	closed chan struct{}
	mu     sync.Mutex
	at     time.Time
}

func (c *clogged) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
	return c.Conn.SetWriteDeadline(t)
}

func (c *clogged) Write(b []byte) (int, error) {
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

func (c *clogged) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
