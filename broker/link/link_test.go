package link_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/deploy/mosquittotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const presence = "troupe/v1/robots/r1/presence"

// told is what a link told its user, in order.
type told struct {
	mu     sync.Mutex
	states []link.State
	lines  []string // states and messages as text
	msgs   []link.Message
}

// says holds for messages with a word in them. A document may reach a subscriber
// twice: live, and as what is kept.
func says(word string) func(brokertest.Message) bool {
	return func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), word) }
}

func (u *told) state(s link.State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.states = append(u.states, s)
	u.lines = append(u.lines, string(s.Phase))
}

func (u *told) message(m link.Message) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.msgs = append(u.msgs, m)
	u.lines = append(u.lines, m.Topic[strings.LastIndex(m.Topic, "/")+1:]+"="+string(m.Payload))
}

func (u *told) all() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.lines, " ")
}

func (u *told) history() []link.State {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.states)
}

func (u *told) last(p link.Phase) (link.State, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := len(u.states) - 1; i >= 0; i-- {
		if u.states[i].Phase == p {
			return u.states[i], true
		}
	}
	return link.State{}, false
}

// robot is the configuration of robot r1, as robotd makes it.
func robot(dial brokertest.Dialer, u *told) link.Config {
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
	ctx, cancel := context.WithTimeout(t.Context(), brokertest.Patience)
	defer cancel()
	if err := l.WaitUp(ctx); err != nil {
		t.Fatal(err)
	}
}

// wire is a dialer whose connections a test can cut and stall.
type wire struct {
	dial brokertest.Dialer

	mu    sync.Mutex
	conns []*tapped
	fail  error
}

type tapped struct {
	net.Conn
	mu      sync.Mutex
	stalled chan struct{} // not nil: reads wait for it
}

func (w *wire) Dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return nil, w.fail
	}
	c, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}
	tc := &tapped{Conn: c}
	w.conns = append(w.conns, tc)
	return tc, nil
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[len(w.conns)-1].Close()
}

func (w *wire) dials() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

func (w *wire) failing(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

// stall makes the newest connection deliver nothing any more.
func (w *wire) stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.conns[len(w.conns)-1]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stalled = make(chan struct{})
}

func (c *tapped) Read(b []byte) (int, error) {
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

func (c *tapped) Close() error {
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

func TestALinkComesUpSpeaksAndSaysGoodbye(t *testing.T) {
	b := brokertest.Start(t)
	var u told
	cfg := robot(nil, &u)
	cfg.URL = b.URL()
	heard := make(chan struct{}, 9)
	cfg.OnMessage = func(m link.Message) { u.message(m); heard <- struct{}{} }
	l, err := link.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	watcher := b.Client(t, "obs")
	watcher.Subscribe("troupe/v1/robots/#")
	waitUp(t, l)
	session := l.Session()
	watcher.ExpectThat(presence, func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), session) })

	op := b.Client(t, "op1")
	op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
	<-heard
	if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err != nil {
		t.Fatal(err)
	}
	watcher.Expect("troupe/v1/robots/r1/event")

	if err := l.Close(t.Context(), farewell); err != nil {
		t.Fatal(err)
	}
	watcher.ExpectThat(presence, says("offline"))
	b.Client(t, "r2").Retain("troupe/v1/robots/r2/presence", "mark")
	watcher.ExpectThat("#", says("mark"))
	for _, m := range watcher.Inbox("#") {
		if says("lost")(m) {
			t.Fatalf("a will after the goodbye: %v", m)
		}
	}
	// Its own last words may still come back before the end.
	if got := strings.Replace(u.all(), " presence=offline", "", 1); got != "connecting up set=ato closed" {
		t.Fatalf("told %q", got)
	}
	if err := l.Publish(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event"}); !errors.Is(err, link.ErrNotReady) {
		t.Fatalf("publish after close: %v", err)
	}
}

// As at the end of a program that holds both: the broker closes in the moment in
// which the last words are acknowledged. One reads with QoS 1, one with QoS 0.
func TestLastWordsAreHeardThoughTheBrokerClosesAtOnce(t *testing.T) {
	for range 20 {
		b := brokertest.Start(t)
		watchers := []*brokertest.Client{
			brokertest.Connect(t, brokertest.TCP(b.URL()), brokertest.Hello{Name: "admin", ClientID: "admin.eye"}),
			brokertest.Connect(t, brokertest.TCP(b.URL()), brokertest.Hello{Name: "obs", ClientID: "obs.eye"}),
		}
		for _, w := range watchers {
			w.Subscribe(presence)
		}
		l := open(t, robot(b.Dial, &told{}))
		waitUp(t, l)
		offline := func(string) link.Message {
			return link.Message{Topic: presence, Payload: []byte("offline"), QoS: 1, Retain: true}
		}
		if err := l.Close(t.Context(), offline); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		for _, w := range watchers {
			w.ExpectThat(presence, says("offline"))
		}
	}
}

func TestALinkComesUpOnAStockMosquitto(t *testing.T) {
	u := &told{}
	cfg := robot(nil, u)
	cfg.URL = mosquittotest.Start(t, mosquittotest.Options{})
	l := open(t, cfg)
	waitUp(t, l)
	op := brokertest.Connect(t, brokertest.TCP(cfg.URL), brokertest.Hello{Name: "op1", ClientID: "op1"})
	op.Subscribe("troupe/v1/robots/#")
	if m := op.Expect(presence); !m.Retain || !strings.Contains(string(m.Payload), l.Session()) {
		t.Fatalf("%v", m)
	}
	if err := l.Close(t.Context(), farewell); err != nil {
		t.Fatal(err)
	}
	op.ExpectThat(presence, says("offline"))
}

// bubble runs f in fake time against a broker without sockets.
func bubble(t *testing.T, f func(t *testing.T, b *brokertest.Broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, brokertest.Start(t, brokertest.InProcess))
	})
}

func TestALostLinkComesBackWithAnotherSessionAndTheWillOfTheOldOne(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		w, u := &wire{dial: b.Dial}, &told{}
		l := open(t, robot(w.Dial, u))
		waitUp(t, l)
		first := l.Session()
		watcher.Expect(presence)
		w.cut()
		if m := watcher.ExpectThat(presence, says("lost")); !strings.Contains(string(m.Payload), first) {
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

func TestAttemptsBackOffWithJitterUpToTheirMost(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		waits := map[time.Duration]bool{}
		for range 2 {
			w, u := &wire{dial: b.Dial, fail: errors.New("no route")}, &told{}
			l := open(t, robot(w.Dial, u))
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
				if slices.Contains(all[:i], d) { // a fleet that waits equally long knocks at once
					t.Fatalf("wait %v twice in %v", d, all)
				}
			}
			waits[all[0]] = true
			w.failing(nil)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if l.Session() == "" {
				t.Fatal("not up though the broker is back")
			}
			_ = l.Close(t.Context())
		}
		if len(waits) != 2 {
			t.Fatal("two links waited equally long")
		}
	})
}

func TestARefusalIsToldAsOneAndTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		for name, change := range map[string]func(*link.Config){
			"identity":     func(c *link.Config) { c.ClientID = "r2" },
			"subscription": func(c *link.Config) { c.Subscribe[0].Filter = "troupe/v1/robots/r2/cmd/#" },
		} {
			w, u := &wire{dial: b.Dial}, &told{}
			cfg := robot(w.Dial, u)
			change(&cfg)
			l := open(t, cfg)
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if n := strings.Count(u.all(), "connecting"); n != w.dials() {
				t.Errorf("%s: %d attempts made %d connections", name, n, w.dials())
			}
			st, ok := u.last(link.Refused)
			if !ok || !errors.Is(st.Err, link.ErrRefused) || st.Attempt < 3 || strings.Contains(u.all(), "up") {
				t.Errorf("%s: told %s, last %+v", name, u.all(), st)
			}
			_ = l.Close(t.Context())
		}
	})
}

func TestAPresenceThatDoesNotComeBackIsNoLink(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg := robot(b.Dial, u)
		other := cfg.Presence
		cfg.Presence = func(session string) link.Message {
			m := other(session)
			m.Retain = false // which the broker refuses, and acknowledges
			return m
		}
		open(t, cfg)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !strings.Contains(st.Err.Error(), "echo") || strings.Contains(u.all(), "up") {
			t.Fatalf("told %s, %+v", u.all(), st)
		}
	})
}

func TestAPeerThatFallsSilentIsFoundByKeepAlive(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		w, u := &wire{dial: b.Dial}, &told{}
		l := open(t, robot(w.Dial, u))
		waitUp(t, l)
		first := l.Session()
		w.stall()
		time.Sleep(20 * time.Second) // keep-alive 10 s, answer 5 s, checks each 2.5 s
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || st.Session != first {
			t.Fatalf("told %s", u.all())
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if l.Session() == "" || l.Session() == first {
			t.Fatalf("session %q after %q", l.Session(), first)
		}
	})
}

func TestAPeerThatTakesNothingIsFoundByTheWriteDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg, clogNow := clog(b, u)
		l := open(t, cfg)
		waitUp(t, l)
		clogNow()
		if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err == nil {
			t.Fatal("acknowledged")
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

func TestTwoLinksOfOneIDStepBackInsteadOfThrowingEachOtherOutForEver(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		one, two := &told{}, &told{}
		wa, wb := &wire{dial: b.Dial}, &wire{dial: b.Dial}
		open(t, robot(wa.Dial, one))
		open(t, robot(wb.Dial, two))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		for _, u := range []*told{one, two} {
			if !slices.ContainsFunc(u.history(), func(st link.State) bool { return st.Contested && st.Wait == time.Minute }) {
				t.Errorf("one of them never stepped back: %+v", u.history())
			}
		}
		if n := wa.dials() + wb.dials(); n > 120 {
			t.Fatalf("%d connections in ten minutes", n)
		}
	})
}

func TestStateComesBeforeMessagesOfItsSessionAndUrgentOnesOvertake(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		desk := b.Client(t, "fleetd")
		desk.Retain("troupe/v1/robots/r1/desired/story", "kept")
		desk.Retain(presence, "") // nothing there
		u := &told{}
		gate := make(chan struct{})
		cfg := robot(b.Dial, u)
		cfg.Urgent = func(topic string) bool { return strings.HasSuffix(topic, "safety/stop") }
		cfg.OnMessage = func(m link.Message) {
			if string(m.Payload) == "slow" {
				<-gate
			}
			u.message(m)
		}
		l := open(t, cfg)
		waitUp(t, l)
		synctest.Wait()
		if got := u.all(); got != "connecting up story=kept" {
			t.Fatalf("told %q", got)
		}
		op := b.Client(t, "op1")
		for _, p := range []string{"slow", "1", "2"} {
			op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", p)
			synctest.Wait() // the first is being handled, the others wait behind it
		}
		op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", "now")
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if got, want := u.all(), "connecting up story=kept set=slow stop=now set=1 set=2"; got != want {
			t.Fatalf("told %q, want %q", got, want)
		}
		u.mu.Lock()
		defer u.mu.Unlock()
		var order []uint64
		for _, m := range u.msgs {
			order = append(order, m.N)
		}
		// Told: the story, slow, the stop, 1, 2. They arrived with the stop last.
		if n := order; len(n) != 5 || n[0] >= n[1] || n[1] >= n[3] || n[3] >= n[4] || n[4] >= n[2] {
			t.Errorf("the messages are numbered %v as they were told", order)
		}
	})
}

func TestAPanickingHandlerDoesNotEndTheProgramOrTheLink(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		cfg := robot(b.Dial, u)
		cfg.OnMessage = func(m link.Message) {
			if string(m.Payload) == "boom" {
				panic("boom")
			}
			u.message(m)
		}
		l := open(t, cfg)
		waitUp(t, l)
		op := b.Client(t, "op1")
		op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "boom")
		op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
		synctest.Wait()
		if got := u.all(); got != "connecting up set=ato" {
			t.Fatalf("told %q", got)
		}
	})
}

func TestAFullQueueGivesTheConnectionUpInsteadOfLosingAMessageUnseen(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		u := &told{}
		gate := make(chan struct{})
		cfg := robot(b.Dial, u)
		cfg.Queue = 4
		cfg.OnMessage = func(m link.Message) { <-gate; u.message(m) }
		l := open(t, cfg)
		waitUp(t, l)
		op := b.Client(t, "op1")
		for range 8 {
			op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "x")
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if st, ok := u.last(link.Down); !ok || !errors.Is(st.Err, link.ErrOverrun) {
			t.Fatalf("told %s", u.all())
		}
	})
}

func TestWhenItsContextEndsTheLinkIsCutAndTheWillIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		watcher := b.Client(t, "obs")
		watcher.Subscribe(presence)
		ctx, cancel := context.WithCancel(t.Context())
		l, err := link.Open(ctx, robot(b.Dial, &told{}))
		if err != nil {
			t.Fatal(err)
		}
		waitUp(t, l)
		watcher.Expect(presence)
		cancel()
		watcher.ExpectThat(presence, says("lost"))
		_ = l.Close(context.Background())
	})
}

func TestWhatMustNotBeSentIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, b *brokertest.Broker) {
		l := open(t, robot(b.Dial, &told{}))
		waitUp(t, l)
		for _, m := range []link.Message{
			{Topic: ""}, {Topic: "a/+"}, {Topic: "a/#"}, {Topic: "$SYS/x"}, {Topic: "a\x00b"}, {Topic: "\xff"}, {Topic: strings.Repeat("a", 201)},
			{Topic: "a", QoS: 3}, {Topic: "a", Payload: make([]byte, 1280<<10)},
		} {
			if err := l.PublishWait(t.Context(), m); err == nil {
				t.Errorf("published to %.20q, QoS %d, %d bytes", m.Topic, m.QoS, len(m.Payload))
			}
		}
		if l.Session() == "" {
			t.Error("lost the link")
		}
	})
}

func TestAHostileBrokerDoesNotEndTheProgram(t *testing.T) {
	connack := []byte{0x20, 2, 0, 0}
	for name, c := range map[string]struct {
		answer []byte // to SUBSCRIBE
		want   string
	}{
		"a packet of 200 MB":               {[]byte{0x30, 0xff, 0xff, 0xff, 0x5f}, "over the limit"},
		"a length of five bytes":           {[]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x01}, "malformed packet length"},
		"more grants than were asked for":  {[]byte{0x90, 8, 0, 1, 1, 1, 1, 1, 1, 1}, "grants 6 subscriptions, 3 were asked for"},
		"fewer grants than were asked for": {[]byte{0x90, 3, 0, 1, 1}, "refused by the broker"},
		"grants that are none":             {[]byte{0x90, 5, 0, 1, 9, 9, 9}, "refused by the broker"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &told{}
				cfg := robot(func(context.Context) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						buf := make([]byte, 4096)
						_, _ = theirs.Read(buf) // CONNECT
						_, _ = theirs.Write(connack)
						_, _ = theirs.Read(buf) // SUBSCRIBE
						_, _ = theirs.Write(c.answer)
						_, _ = theirs.Read(buf)
					}()
					return ours, nil
				}, u)
				l := open(t, cfg)
				time.Sleep(3 * time.Second)
				_ = l.Close(t.Context())
				told := false
				for _, st := range u.history() {
					told = told || st.Err != nil
					if st.Phase == link.Up || st.Err != nil && !strings.Contains(st.Err.Error(), c.want) {
						t.Fatalf("told %+v, want %q", st, c.want)
					}
				}
				if !told {
					t.Fatalf("told %s", u.all())
				}
			})
		})
	}
}

func TestAConnackCodeThatIsNoneIsNoLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &told{}
		l := open(t, robot(func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				_, _ = theirs.Read(make([]byte, 4096))
				_, _ = theirs.Write([]byte{0x20, 2, 0, 130})
			}()
			return ours, nil
		}, u))
		time.Sleep(20 * time.Second)
		_ = l.Close(t.Context())
		if strings.Contains(u.all(), "up") || !strings.Contains(u.all(), "down") {
			t.Fatalf("told %s", u.all())
		}
	})
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for _, c := range []link.Config{
		{}, {URL: "http://x"}, {URL: "mqtt://"}, {URL: "mqtt://u:p@h:1"}, {URL: "mqtt://h/x"},
		{URL: "mqtts://h/x"}, {URL: "wss://u@h"}, {URL: "ws://h/?token=x"}, {URL: "ws:///mqtt"},
		{URL: "mqtt://h", KeepAlive: 500 * time.Millisecond}, {URL: "mqtt://h", BackoffMin: time.Minute},
		{URL: "mqtt://h", Subscribe: []link.Subscription{{}}},
	} {
		if _, err := link.Open(t.Context(), c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
