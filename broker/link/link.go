package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// closeTimeout bounds how long Close waits for the broker to acknowledge the final
// messages.
const closeTimeout = 2 * time.Second

// Link keeps one client connected until it is closed.
type Link struct {
	cfg        Config
	subs       *subscriptions
	dispatcher *dispatcher
	current    atomic.Pointer[session] // the session that is up, or nil

	returnAfter time.Duration // how often a session looks whether the first node is back; owned by run

	replace chan error      // why a new session should replace the current one
	closing context.Context // ends when Close is called
	close   context.CancelFunc
	done    chan struct{} // closed when run has returned

	closeOnce     sync.Once
	finalMessages []func(session string) Message // set before closing ends
	closeCtx      context.Context                // bounds the wait for their acknowledgement; set before closing ends
	closeErr      error                          // what Close returns; set before done is closed
}

// Open checks cfg and starts to connect; it does not wait until the link is up. When ctx
// ends, the connection is cut without DISCONNECT, as in a crash, so that the broker sends
// the will. Close ends a link in an orderly way.
func Open(ctx context.Context, cfg Config) (*Link, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("open link: %w", err)
	}
	l := &Link{cfg: cfg, subs: newSubscriptions(cfg.Engine, cfg.Subscribe), replace: make(chan error, 1), done: make(chan struct{}),
		returnAfter: returnEvery}
	l.closing, l.close = context.WithCancel(context.Background())
	l.dispatcher = newDispatcher(l.cfg)
	go l.dispatcher.run()
	go l.run(ctx)
	return l, nil
}

// Session is the id of the session that is up, or empty.
func (l *Link) Session() string {
	if s := l.current.Load(); s != nil {
		return s.id
	}
	return ""
}

// URL is the broker's URL of the session that is up: Config.URL or one of
// FallbackURLs. It is
// empty if no session is up or with Config.Dial. A second link that must use the same
// broker dials this URL.
func (l *Link) URL() string {
	if s := l.current.Load(); s != nil {
		return s.cfg.urlOf(s.try.address)
	}
	return ""
}

// Publish passes m to the connection. A nil error does not mean more: the message may
// still be lost with the connection, and is then not sent again. If the outbox is full,
// Publish waits until ctx ends.
func (l *Link) Publish(ctx context.Context, m Message) error {
	_, err := l.enqueue(ctx, outgoing{Message: m})
	return err
}

// PublishLive is Publish for a message that only those need who are connected now, and answer: a command or a live stop.
// At an engine that stores messages before it acknowledges them it is published at QoS 0, so that none waits for storage.
func (l *Link) PublishLive(ctx context.Context, m Message) error {
	m.QoS = l.cfg.Engine.liveQoS(m.QoS)
	return l.Publish(ctx, m)
}

// PublishWait publishes m and waits until the broker has acknowledged it (QoS 1 and 2) or
// it was written (QoS 0). A broker also acknowledges messages that it refuses.
func (l *Link) PublishWait(ctx context.Context, m Message) error {
	wait, err := l.PublishAsync(ctx, m)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// PublishAsync publishes m and returns a function that waits as PublishWait does, for callers that
// wait on another goroutine: messages are sent in the order of the calls to PublishAsync.
func (l *Link) PublishAsync(ctx context.Context, m Message) (wait func(context.Context) error, err error) {
	p := outgoing{Message: m, sent: make(chan mqtt.Token, 1)}
	s, err := l.enqueue(ctx, p)
	return func(ctx context.Context) error {
		var tok mqtt.Token
		select {
		case tok = <-p.sent:
		case <-s.ended:
			return fmt.Errorf("publish %q: lost with the connection: %w", m.Topic, s.endCause)
		case <-ctx.Done():
			return fmt.Errorf("publish %q: %w", m.Topic, context.Cause(ctx))
		}
		return s.awaitAck(ctx, m.Topic, tok)
	}, err
}

func (l *Link) enqueue(ctx context.Context, p outgoing) (*session, error) {
	if err := l.cfg.check(p.Message); err != nil {
		return nil, err
	}
	s := l.current.Load()
	if s == nil {
		return nil, ErrNotReady
	}
	select {
	case s.out <- p:
		return s, nil
	default:
	}
	select {
	case s.out <- p:
		return s, nil
	case <-s.ended:
		return nil, ErrNotReady
	case <-ctx.Done():
		return nil, fmt.Errorf("publish %q: the outbox is full: %w", p.Topic, context.Cause(ctx))
	}
}

// WaitUp waits until the link is up. If ctx ends first, it returns the cause.
func (l *Link) WaitUp(ctx context.Context) error {
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for l.current.Load() == nil {
		select {
		case <-l.done:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("wait for the link: %w", context.Cause(ctx))
		case <-t.C:
		}
	}
	return nil
}

// NextN returns the number that the next received message gets, see Message.N.
func (l *Link) NextN() uint64 {
	l.dispatcher.mu.Lock()
	defer l.dispatcher.mu.Unlock()
	return l.dispatcher.lastNumber + 1
}

// ReplaceSession replaces the session that is up by a new one, with DISCONNECT, so that no will is
// sent, unless the new one is to be at another broker. It does nothing if no session is up. The new one tries Config.URL first, or at
// a cluster another node than that of the session. why should wrap ErrHalfOpen if that is the reason, or ErrNextBroker to begin with
// the URL after that of the session.
func (l *Link) ReplaceSession(why error) {
	if l.current.Load() == nil {
		return
	}
	select {
	case l.replace <- why:
	default: // it is to be replaced already
	}
}

// Close publishes finalMessages if the session has published its presence, waits up to two
// seconds for the acknowledgements, sends DISCONNECT (so that no will is sent), and
// returns when every goroutine of the link has ended. A presence whose echo has not come
// back yet counts as published. States and messages that have arrived are handed over
// first. Close must not be called from OnMessage or OnState.
func (l *Link) Close(ctx context.Context, finalMessages ...func(session string) Message) (err error) {
	l.closeOnce.Do(func() {
		l.finalMessages, l.closeCtx = finalMessages, ctx
		l.close()
		<-l.done
		err = l.closeErr
	})
	<-l.done
	<-l.dispatcher.done
	return err
}

// run owns the connection: one attempt after another until the link is closed.
func (l *Link) run(ctx context.Context) {
	defer close(l.done)
	defer l.dispatcher.end()
	defer l.dispatcher.pushState(State{Phase: Closed})
	defer l.current.Store(nil)

	// The wait is drawn at random from 0.5 to 1.5 times an interval that doubles.
	interval := backoff.NewExponentialBackOff()
	interval.InitialInterval, interval.MaxInterval = 2*l.cfg.BackoffMin, l.cfg.BackoffMax*2/3
	interval.Multiplier, interval.RandomizationFactor = 2, 0
	interval.Reset()
	hadSession := false // an earlier session was up
	r := newRounds(&l.cfg)
	for attempt := 1; ; attempt++ {
		s := newSession(&l.cfg, l.subs, l.dispatcher, attempt, r.next())
		s.isReconnect = hadSession
		l.dispatcher.pushState(State{Phase: Connecting, Session: s.id, Attempt: attempt})
		err := s.open(ctx, l.closing)
		st := State{Phase: Down, Session: s.id, Attempt: attempt}
		switch {
		case err == nil:
			l.cfg.Logger.Info("connected to broker", "session", s.id, "attempt", attempt)
			select {
			case <-l.replace: // was meant for an earlier session
			default:
			}
			l.current.Store(s)
			if s.try.address == 0 {
				l.returnAfter = returnEvery
			}
			s.markUp(State{Phase: Up, Session: s.id, Attempt: attempt, Contested: s.sawRival.Load()})
			hadSession = true
			began := time.Now()
			err = l.watch(ctx, s)
			l.current.Store(nil)
			if errors.Is(err, ErrClosed) {
				return
			}
			attempt = 0
			lasted := time.Since(began) > l.cfg.BackoffMax/2
			if lasted {
				interval.Reset()
			}
			r.lost(s.try.address, errors.Is(err, ErrNextBroker), lasted)
		case errors.Is(err, errClosing):
			l.closeErr = l.finish(s)
			return
		case ctx.Err() != nil || l.closing.Err() != nil:
			return
		case errors.Is(err, ErrRefused):
			st.Phase = Refused
		}
		st.Err = err
		if !r.atOnce() {
			mean := interval.InitialInterval
			if !r.fast() {
				mean = interval.NextBackOff()
			}
			random := l.cfg.Random()
			drawn := min(time.Duration((0.5+random)*float64(mean)), l.cfg.BackoffMax)
			// All that a node disconnected begin a round together, and silent nodes let them end it together.
			st.Wait = max(drawn-r.spent(), time.Duration(random*float64(l.cfg.BackoffMin)))
		}
		if s.sawRival.Load() { // leave the id to the other client for a while, or the two take over each other's sessions all the time
			st.Contested, st.Wait = true, l.cfg.BackoffMax
		}
		l.cfg.Logger.Warn("not connected to broker", "phase", st.Phase, "session", s.id, "error", err, "wait", st.Wait, "contested", st.Contested)
		l.dispatcher.pushState(st)
		if !l.sleep(ctx, st.Wait) {
			return
		}
	}
}

// watch waits until the session that is up ends, or ends it.
func (l *Link) watch(ctx context.Context, s *session) error {
	probe := newHalfOpenProbe(s)
	defer probe.stop()
	renewal := time.NewTicker(l.cfg.Renewal)
	defer renewal.Stop()
	first := time.NewTicker(l.returnAfter)
	defer first.Stop()
	for {
		select {
		case <-s.ended:
			s.workers.Wait()
			return s.endCause
		case why := <-l.replace:
			l.current.Store(nil)
			if errors.Is(why, ErrNextBroker) {
				s.abort(why) // what its presence says at this broker must not stay
			} else {
				s.close(why)
			}
			return why
		case <-renewal.C:
			l.subs.renew()
		case <-first.C:
			if l.firstIsBack(ctx, s) {
				l.returnAfter = min(2*l.returnAfter, maxReturnAfter)
				l.current.Store(nil)
				s.close(errFirstIsBack)
				return errFirstIsBack
			}
		case <-probe.timer.C:
			if halfOpen := probe.check(); halfOpen != nil {
				l.current.Store(nil)
				s.close(halfOpen)
				return halfOpen
			}
		case <-l.closing.Done():
			l.current.Store(nil)
			l.closeErr = l.finish(s)
			return ErrClosed
		case <-ctx.Done():
			l.current.Store(nil)
			s.abort(context.Cause(ctx))
			return ErrClosed
		}
	}
}

const (
	// returnEvery is how often a client that is not at its first node looks whether that is back. A node that comes back
	// needs some seconds until its streams are current. The time doubles with each return that ends at another node: a node
	// may take connections, and answer no CONNECT.
	returnEvery    = 30 * time.Second
	maxReturnAfter = 16 * returnEvery
	// returnDial bounds the connection that it makes for this; the link sees to nothing else meanwhile.
	returnDial = 500 * time.Millisecond
)

// firstIsBack reports whether the session is to be replaced by one with the first node of the cluster.
func (l *Link) firstIsBack(ctx context.Context, s *session) bool {
	if !l.cfg.ReturnToFirst || !engines[l.cfg.Engine].cluster || s.try.address == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, returnDial)
	defer cancel()
	c, err := l.cfg.dialAddress(ctx, 0)
	if err != nil {
		return false
	}
	_ = c.Close() // no CONNECT was sent; that it takes connections does not prove that it would answer one, see returnEvery
	return true
}

// finish publishes the final messages, if the presence was published, and ends the session
// with DISCONNECT.
func (l *Link) finish(s *session) error {
	s.flush()
	var errs []error
	if s.announced {
		ctx, cancel := context.WithTimeout(l.closeCtx, closeTimeout)
		defer cancel()
		for _, message := range l.finalMessages {
			errs = append(errs, s.publishNow(ctx, message(s.id)))
		}
	}
	s.close(ErrClosed)
	return errors.Join(errs...)
}

func (l *Link) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-l.closing.Done():
		return false
	case <-ctx.Done():
		return false
	}
}
