package link_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const presence = "troupe/v1/robots/r1/presence"

// userLog records what a link reported to its user, in order.
type userLog struct {
	mu     sync.Mutex
	states []link.State
	lines  []string // states and messages as text
	msgs   []link.Message
}

// payloadContains matches messages that contain word. A document may reach a subscriber
// twice: live, and as the retained message.
func payloadContains(word string) func(brokertest.Message) bool {
	return func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), word) }
}

func (u *userLog) state(s link.State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.states = append(u.states, s)
	u.lines = append(u.lines, string(s.Phase))
}

func (u *userLog) message(m link.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.msgs = append(u.msgs, m)
	u.lines = append(u.lines, m.Topic[strings.LastIndex(m.Topic, "/")+1:]+"="+string(m.Payload))
}

func (u *userLog) all() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.lines, " ")
}

func (u *userLog) history() []link.State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.states)
}

func (u *userLog) last(p link.Phase) (link.State, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := len(u.states) - 1; i >= 0; i-- {
		if u.states[i].Phase == p {
			return u.states[i], true
		}
	}
	return link.State{}, false
}

// robotConfig is the configuration of robot r1 as in robotd.
func robotConfig(dial brokertest.Dialer, u *userLog) link.Config {
	say := func(state string) func(string) link.Message {
		return func(session string) link.Message {
			return link.Message{Topic: presence, QoS: 1, Retain: true, Payload: fmt.Appendf(nil, `{"state":%q,"session":%q}`, state, session)}
		}
	}
	return link.Config{
		Dial: dial, Name: "r1", ClientID: "r1", Will: say("lost"), Presence: say("online"),
		Subscribe: []link.Subscription{{Filter: "troupe/v1/robots/r1/cmd/#", QoS: 1}, {Filter: "troupe/v1/robots/r1/desired/#", QoS: 1}},
		OnState:   u.state, OnMessage: u.message,
	}
}

func farewell(string) link.Message {
	return link.Message{Topic: presence, Payload: []byte("offline"), QoS: 1, Retain: true}
}

func open(t *testing.T, cfg link.Config) *link.Link {
	t.Helper()
	l, err := link.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}

func waitUp(t *testing.T, l *link.Link) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), brokertest.Timeout)
	defer cancel()
	if err := l.WaitUp(ctx); err != nil {
		t.Fatal(err)
	}
}

// faultyDialer makes connections that a test can cut and stall.
type faultyDialer struct {
	dial brokertest.Dialer

	mu    sync.Mutex
	conns []*faultyConn
	fail  error
}

type faultyConn struct {
	net.Conn
	mu      sync.Mutex
	stalled chan struct{} // not nil: reads wait for it
}

func (w *faultyDialer) Dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return nil, w.fail
	}
	c, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}
	tc := &faultyConn{Conn: c}
	w.conns = append(w.conns, tc)
	return tc, nil
}

func (w *faultyDialer) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[len(w.conns)-1].Close()
}

func (w *faultyDialer) dials() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

func (w *faultyDialer) setDialError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

// stall stops the newest connection from delivering anything.
func (w *faultyDialer) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.conns[len(w.conns)-1]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = make(chan struct{})
}

func (c *faultyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	stalled := c.stalled
	c.mu.Unlock()
	if stalled != nil && err == nil {
		<-stalled
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *faultyConn) Close() error {
	c.mu.Lock()
	if c.stalled != nil {
		select {
		case <-c.stalled:
		default:
			close(c.stalled)
		}
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

// inBubble runs f in fake time against a broker without sockets.
func inBubble(t *testing.T, f func(t *testing.T, b *brokertest.Broker)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		f(t, brokertest.Start(t, brokertest.InProcess))
	})
}
