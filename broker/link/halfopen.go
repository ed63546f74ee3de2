package link

import (
	"fmt"
	"time"
)

// halfOpenProbe test a session that is up and quiet. A broker can lose a connection's
// subscriptions, as some do when a second connection takes a client id over, and
// go on answering pings; whoever waits for words would wait for ever. What cannot
// be told from silence is asked: the session says its presence again, and the
// broker has to bring it back.
type halfOpenProbe struct {
	s     *session
	timer *time.Timer
	asked time.Time // zero while nothing is asked
}

func newHalfOpenProbe(s *session) *halfOpenProbe {
	e := &halfOpenProbe{s: s, timer: time.NewTimer(s.cfg.Quiet)}
	if s.presence == nil { // it hears nothing of its own
		e.timer.Stop()
	}
	return e
}

func (e *halfOpenProbe) stop() { e.timer.Stop() }

// test is due when the timer fires. An error says that the session is half-open.
func (e *halfOpenProbe) test() error {
	heard := e.s.began.Add(time.Duration(e.s.heard.Load()))
	quiet := time.Since(heard)
	switch {
	case quiet < e.s.cfg.Quiet || heard.After(e.asked) && !e.asked.IsZero():
		e.asked = time.Time{}
		e.timer.Reset(max(e.s.cfg.Quiet-quiet, e.s.cfg.Quiet/10))
		return nil
	case !e.asked.IsZero():
		return fmt.Errorf("%w: nothing arrived for %v, nor its own word within %v", ErrHalfOpen, quiet.Round(time.Second), e.s.cfg.ConnectTimeout)
	}
	select {
	case e.s.out <- outgoing{Message: *e.s.presence}:
		e.asked = time.Now()
	default: // the outbox is full; the write deadline sees to that
	}
	e.timer.Reset(e.s.cfg.ConnectTimeout)
	return nil
}
