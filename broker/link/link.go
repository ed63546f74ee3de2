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

// lastWordsTimeout bounds how long Close waits for the broker's answer to them.
const lastWordsTimeout = 2 * time.Second

// Link keeps one client connected until it is closed.
type Link struct {
	cfg  Config
	sink *dispatcher
	now  atomic.Pointer[session] // the session that is up

	renew   chan error      // why the session that is up shall give way to a new one
	closing context.Context // ends when Close is called
	close   context.CancelFunc
	done    chan struct{} // the keeper has ended

	parting sync.Once
	words   []func(session string) Message // the last; set before closing
	patient context.Context                // bounds how long they are waited for; likewise
	unsaid  error                          // set before done
}

// Open checks cfg and starts connecting; it does not wait for the link to be up.
// When ctx ends, the connection is cut without a goodbye, as a crash would do,
// so that the broker sends the will. An orderly end is Close.
func Open(ctx context.Context, cfg Config) (*Link, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("open link: %w", err)
	}
	l := &Link{cfg: cfg, renew: make(chan error, 1), done: make(chan struct{})}
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

// URL is where the broker of the session that is up is found: Config.URL or one of
// Others; empty if none is up, or with Config.Dial. Whoever opens another link to be
// with this one goes there.
func (l *Link) URL() string {
	if s := l.now.Load(); s != nil {
		return s.cfg.at(s.attempt)
	}
	return ""
}

// Publish hands m to the connection. Nil means no more than that: it may still
// be lost with the connection, and then it is not sent again. A full outbox is
// waited for as long as ctx allows.
func (l *Link) Publish(ctx context.Context, m Message) error {
	_, err := l.put(ctx, outgoing{Message: m})
	return err
}

// PublishWait is Publish, and waits until the broker has acknowledged m (QoS 1
// and 2) or it was written (QoS 0). A broker acknowledges what it refuses, too.
func (l *Link) PublishWait(ctx context.Context, m Message) error {
	wait, err := l.Hand(ctx, m)
	if err != nil {
		return err
	}
	return wait(ctx)
}

// Hand is Publish, and returns how to wait as PublishWait does, for who waits
// elsewhere: messages go out in the order in which they were handed in.
func (l *Link) Hand(ctx context.Context, m Message) (wait func(context.Context) error, err error) {
	p := outgoing{Message: m, sent: make(chan mqtt.Token, 1)}
	s, err := l.put(ctx, p)
	return func(ctx context.Context) error {
		var tok mqtt.Token
		select {
		case tok = <-p.sent:
		case <-s.ended:
			return fmt.Errorf("publish %q: lost with the connection: %w", m.Topic, s.lostFor)
		case <-ctx.Done():
			return fmt.Errorf("publish %q: %w", m.Topic, context.Cause(ctx))
		}
		return s.acknowledged(ctx, m.Topic, tok)
	}, err
}

func (l *Link) put(ctx context.Context, p outgoing) (*session, error) {
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

// Renew replaces the session that is up by a new one, in good order: no will is
// sent. Without one it does nothing. why should wrap ErrHalfOpen where that is it.
func (l *Link) Renew(why error) {
	if l.now.Load() == nil {
		return
	}
	select {
	case l.renew <- why:
	default: // somebody else has asked
	}
}

// Close says lastWords if the robot or fleetd has said that it is there, waits at
// most two seconds for their acknowledgement, says goodbye (so that no will is
// sent) and returns when every goroutine of the link is gone. A link whose own
// presence is under way to the broker counts as there. States and messages that
// already arrived are handed over before. It must not be called from OnMessage or
// OnState.
func (l *Link) Close(ctx context.Context, lastWords ...func(session string) Message) (err error) {
	l.parting.Do(func() {
		l.words, l.patient = lastWords, ctx
		l.close()
		<-l.done
		err = l.unsaid
	})
	<-l.done
	<-l.sink.done
	return err
}

// keep owns the connection: one attempt after another until the end.
func (l *Link) keep(ctx context.Context) {
	defer close(l.done)
	defer l.sink.end()
	defer l.sink.state(State{Phase: Closed})
	defer l.now.Store(nil)

	// A wait is drawn from half to three halves of an interval that doubles.
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 2*l.cfg.BackoffMin, l.cfg.BackoffMax*2/3
	pause.Multiplier, pause.RandomizationFactor = 2, 0
	pause.Reset()
	again := false // a session was up before
	for attempt := 1; ; attempt++ {
		s := newSession(&l.cfg, l.sink, attempt)
		s.again = again
		l.sink.state(State{Phase: Connecting, Session: s.id, Attempt: attempt})
		err := s.open(ctx, l.closing)
		st := State{Phase: Down, Session: s.id, Attempt: attempt}
		switch {
		case err == nil:
			l.cfg.Logger.Info("link up", "session", s.id, "attempt", attempt)
			select {
			case <-l.renew: // meant another session
			default:
			}
			l.now.Store(s)
			s.begin(State{Phase: Up, Session: s.id, Attempt: attempt, Contested: s.rival.Load()})
			again = true
			began := time.Now()
			err = l.watch(ctx, s)
			l.now.Store(nil)
			if errors.Is(err, ErrClosed) {
				return
			}
			attempt = 0
			if time.Since(began) > l.cfg.BackoffMax/2 {
				pause.Reset()
			}
		case errors.Is(err, errParting):
			l.unsaid = l.goodbye(s)
			return
		case ctx.Err() != nil || l.closing.Err() != nil:
			return
		case errors.Is(err, ErrRefused):
			st.Phase = Refused
		}
		drawn := time.Duration((0.5 + l.cfg.Random()) * float64(pause.NextBackOff()))
		st.Err, st.Wait = err, min(drawn, l.cfg.BackoffMax)
		if s.rival.Load() { // leave the id to the other client, or the two end each other's sessions all the time
			st.Contested, st.Wait = true, l.cfg.BackoffMax
		}
		l.cfg.Logger.Warn("link "+string(st.Phase), "session", s.id, "error", err, "wait", st.Wait, "contested", st.Contested)
		l.sink.state(st)
		if !l.sleep(ctx, st.Wait) {
			return
		}
	}
}

// watch waits for the end of a session that is up, or brings it about.
func (l *Link) watch(ctx context.Context, s *session) error {
	ears := newHalfOpenProbe(s)
	defer ears.stop()
	renewal := time.NewTicker(l.cfg.Renewal)
	defer renewal.Stop()
	for {
		select {
		case <-s.ended:
			s.wrote.Wait()
			return s.lostFor
		case why := <-l.renew:
			l.now.Store(nil)
			s.close(why)
			return why
		case <-renewal.C:
			s.renew()
		case <-ears.timer.C:
			if deaf := ears.test(); deaf != nil {
				l.now.Store(nil)
				s.close(deaf)
				return deaf
			}
		case <-l.closing.Done():
			l.now.Store(nil)
			l.unsaid = l.goodbye(s)
			return ErrClosed
		case <-ctx.Done():
			l.now.Store(nil)
			s.abort(context.Cause(ctx))
			return ErrClosed
		}
	}
}

// goodbye says the last words, if the presence was said, and ends the session in
// good order.
func (l *Link) goodbye(s *session) error {
	s.settle()
	var errs []error
	if s.said {
		ctx, cancel := context.WithTimeout(l.patient, lastWordsTimeout)
		defer cancel()
		for _, word := range l.words {
			errs = append(errs, s.insist(ctx, word(s.id)))
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
