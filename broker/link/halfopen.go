package link

import (
	"fmt"
	"time"
)

// halfOpenProbe tests a session that is up and receives nothing. A broker can lose a
// connection's subscriptions, as some do when a second connection takes over a client id,
// and go on answering pings; the client would wait for messages for ever. So the session
// publishes its presence again, which the broker has to deliver back.
type halfOpenProbe struct {
	s       *session
	timer   *time.Timer
	askedAt time.Time // when the presence was published; zero if no test is under way
}

func newHalfOpenProbe(s *session) *halfOpenProbe {
	e := &halfOpenProbe{s: s, timer: time.NewTimer(s.cfg.Quiet)}
	if s.presence == nil { // there is nothing to publish that would come back
		e.timer.Stop()
	}
	return e
}

func (e *halfOpenProbe) stop() { e.timer.Stop() }

// check is called when the timer fires. An error means that the session is half-open.
func (e *halfOpenProbe) check() error {
	receivedAt := e.s.began.Add(time.Duration(e.s.receivedAt.Load()))
	quiet := time.Since(receivedAt)
	switch {
	case quiet < e.s.cfg.Quiet || receivedAt.After(e.askedAt) && !e.askedAt.IsZero():
		e.askedAt = time.Time{}
		e.timer.Reset(max(e.s.cfg.Quiet-quiet, e.s.cfg.Quiet/10))
		return nil
	case !e.askedAt.IsZero():
		return fmt.Errorf("%w: nothing received for %v, and no echo of the presence within %v", ErrHalfOpen, quiet.Round(time.Second),
			e.s.cfg.ConnectTimeout)
	}
	select {
	case e.s.out <- outgoing{Message: *e.s.presence}:
		e.askedAt = time.Now()
	default: // the outbox is full; the write deadline detects a stalled connection
	}
	e.timer.Reset(e.s.cfg.ConnectTimeout)
	return nil
}
