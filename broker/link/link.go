package link

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// A client id that is used twice shows as sessions that the broker ends in good
// order again and again. After contestedAfter of them within contestedWithin,
// the link steps back, so that the two do not throw each other out for ever.
const (
	contestedAfter  = 3
	contestedWithin = time.Minute
	contestedWait   = time.Minute
)

// lastWordsTimeout bounds how long Close waits for the broker's answer to them.
const lastWordsTimeout = 2 * time.Second

// Link keeps one client connected until it is closed.
type Link struct {
	cfg  Config
	sink *dispatcher
	now  atomic.Pointer[session] // the session that is up

	closing context.Context // ends when Close is called
	close   context.CancelFunc
	done    chan struct{} // the keeper has ended
}

// Open checks cfg and starts connecting; it does not wait for the link to be up.
// When ctx ends, the connection is cut without a goodbye, as a crash would do,
// so that the broker sends the will. An orderly end is Close.
func Open(ctx context.Context, cfg Config) (*Link, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("open link: %w", err)
	}
	l := &Link{cfg: cfg, done: make(chan struct{})}
	l.closing, l.close = context.WithCancel(context.Background())
	l.sink = newDispatcher(l.cfg)
	go l.sink.run()
	go l.keep(ctx)
	return l, nil
}

// Session is the id of the session that is up, or empty.
func (l *Link) Session() string {
	if s := l.now.Load(); s != nil {
		return s.id
	}
	return ""
}

// Publish hands m to the connection. Nil means no more than that: it may still
// be lost with the connection, and then it is not sent again. A full outbox is
// waited for as long as ctx allows.
func (l *Link) Publish(ctx context.Context, m Message) error {
	_, err := l.put(ctx, parcel{Message: m})
	return err
}

// PublishWait is Publish, and waits until the broker has acknowledged m (QoS 1
// and 2) or it was written (QoS 0). A broker acknowledges what it refuses, too.
func (l *Link) PublishWait(ctx context.Context, m Message) error {
	p := parcel{Message: m, sent: make(chan mqtt.Token, 1)}
	s, err := l.put(ctx, p)
	if err != nil {
		return err
	}
	var tok mqtt.Token
	select {
	case tok = <-p.sent:
	case <-s.ended:
		return fmt.Errorf("publish %q: lost with the connection: %w", m.Topic, s.lostFor)
	case <-ctx.Done():
		return fmt.Errorf("publish %q: %w", m.Topic, context.Cause(ctx))
	}
	select {
	case <-tok.Done():
	case <-s.ended:
		return fmt.Errorf("publish %q: not acknowledged: %w", m.Topic, s.lostFor)
	case <-ctx.Done():
		return fmt.Errorf("publish %q: not acknowledged: %w", m.Topic, context.Cause(ctx))
	}
	if err := tok.Error(); err != nil {
		return fmt.Errorf("publish %q: %w", m.Topic, err)
	}
	return nil
}

func (l *Link) put(ctx context.Context, p parcel) (*session, error) {
	if err := l.cfg.check(p.Message); err != nil {
		return nil, err
	}
	s := l.now.Load()
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

// WaitUp returns when the link is up, or with the reason why it is not when ctx
// ends first.
func (l *Link) WaitUp(ctx context.Context) error {
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for l.now.Load() == nil {
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

// Close publishes lastWords if the link is up, waits at most two seconds for
// their acknowledgement, says goodbye (so that no will is sent) and returns when
// every goroutine of the link is gone. States and messages that already arrived
// are handed over before. It must not be called from OnMessage or OnState.
func (l *Link) Close(ctx context.Context, lastWords ...Message) error {
	var errs []error
	wait, cancel := context.WithTimeout(ctx, lastWordsTimeout)
	defer cancel()
	for _, m := range lastWords {
		if err := l.PublishWait(wait, m); err != nil && !errors.Is(err, ErrNotReady) {
			errs = append(errs, err)
		}
	}
	l.close()
	<-l.done
	<-l.sink.done
	return errors.Join(errs...)
}

// keep owns the connection: one attempt after another until the end.
func (l *Link) keep(ctx context.Context) {
	defer close(l.done)
	defer l.sink.end()
	defer l.sink.state(State{Phase: Closed})
	defer l.now.Store(nil)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(ErrClosed)
	stop := context.AfterFunc(l.closing, func() {
		if l.now.Load() == nil { // else watch says goodbye
			cancel(ErrClosed)
		}
	})
	defer stop()

	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = l.cfg.BackoffMin, l.cfg.BackoffMax
	pause.Multiplier, pause.RandomizationFactor = 2, 0.5
	pause.Reset()
	var ends []time.Time // of sessions that the peer ended
	for attempt := 1; ; attempt++ {
		s := newSession(&l.cfg, l.sink)
		l.sink.state(State{Phase: Connecting, Session: s.id, Attempt: attempt})
		err := s.open(ctx)
		st := State{Phase: Down, Session: s.id, Attempt: attempt}
		switch {
		case err == nil:
			l.cfg.Logger.Info("link up", "session", s.id, "attempt", attempt)
			l.now.Store(s)
			s.begin(State{Phase: Up, Session: s.id, Attempt: attempt})
			began := time.Now()
			err = l.watch(ctx, s)
			l.now.Store(nil)
			if errors.Is(err, ErrClosed) {
				return
			}
			if _, peer := s.conn.why(); peer {
				ends = recent(append(ends, time.Now()), contestedWithin)
			}
			attempt = 0
			if time.Since(began) > l.cfg.BackoffMax {
				pause.Reset()
			}
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrRefused):
			st.Phase = Refused
		}
		st.Err, st.Wait = err, min(pause.NextBackOff(), l.cfg.BackoffMax)
		if len(ends) > contestedAfter {
			st.Contested, st.Wait = true, contestedWait
			ends = nil
		}
		l.cfg.Logger.Warn("link "+string(st.Phase), "session", s.id, "error", err, "wait", st.Wait, "contested", st.Contested)
		l.sink.state(st)
		if !l.sleep(ctx, st.Wait) {
			return
		}
	}
}

// watch waits for the end of a session that is up.
func (l *Link) watch(ctx context.Context, s *session) error {
	select {
	case <-s.ended:
		s.wrote.Wait()
		return s.lostFor
	case <-l.closing.Done():
	case <-ctx.Done():
	}
	l.now.Store(nil)
	if l.closing.Err() != nil {
		s.close()
	} else {
		s.abort(context.Cause(ctx))
	}
	return ErrClosed
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

func recent(ts []time.Time, within time.Duration) []time.Time {
	for len(ts) > 0 && time.Since(ts[0]) > within {
		ts = ts[1:]
	}
	return ts
}
