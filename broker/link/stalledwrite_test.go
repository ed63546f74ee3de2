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

// One write acknowledges what arrived during the write before: a fleet sends more messages than a system call for each of them allows.
func TestManyDeliveriesAreAcknowledgedByFewWrites(t *testing.T) {
	for _, messages := range []int{4, 36} { // the broker takes 40 commands of one client at once
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			u := &userLog{}
			conn := &heldConn{}
			cfg := robotConfig(func(ctx context.Context) (net.Conn, error) {
				c, err := b.Dial(ctx)
				conn.Conn = c
				return conn, err
			}, u)
			waitUp(t, open(t, cfg))
			op := b.Client(t, "op1")
			conn.hold()
			for i := range messages {
				op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", fmt.Sprint(i))
				synctest.Wait()
			}
			writes, bytes := conn.release()
			if writes > 2 || bytes != 4*messages {
				t.Errorf("%d deliveries acknowledged by %d writes of %d bytes", messages, writes, bytes)
			}
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "last")
			synctest.Wait()
			if got := u.all(); !strings.HasSuffix(got, "ping=last") {
				t.Errorf("the connection did not survive: %s", got[max(0, len(got)-100):])
			}
		})
	}
}

// heldConn keeps writes back between hold and release.
type heldConn struct {
	net.Conn
	mu            sync.Mutex
	held          chan struct{} // not nil: writes wait until it is closed
	writes, bytes int           // since hold
}

func (c *heldConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held, c.writes, c.bytes = make(chan struct{}), 0, 0
}

// release lets writes go on, and returns how many were made since hold, and their bytes.
func (c *heldConn) release() (writes, bytes int) {
	close(c.held)
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes, c.bytes
}

func (c *heldConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	held := c.held
	c.writes++
	c.bytes += len(b)
	c.mu.Unlock()
	if held != nil {
		<-held
	}
	return c.Conn.Write(b)
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
