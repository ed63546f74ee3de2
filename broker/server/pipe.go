package server

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeBuffer is how many bytes each direction of an in-process connection holds.
const pipeBuffer = 1 << 20

// newPipe returns both ends of an in-process connection. Unlike net.Pipe it has buffers,
// as a socket has: without them, two sides that both write while neither reads would block
// each other until a deadline ends it. It blocks only on condition variables and timers,
// so it works in a synctest bubble.
func newPipe() (net.Conn, net.Conn) {
	a, b := newStream(), newStream()
	return &pipeEnd{in: a, out: b}, &pipeEnd{in: b, out: a}
}

type pipeEnd struct{ in, out *stream }

func (p *pipeEnd) Read(b []byte) (int, error)         { return p.in.read(b) }
func (p *pipeEnd) Write(b []byte) (int, error)        { return p.out.write(b) }
func (p *pipeEnd) LocalAddr() net.Addr                { return pipeAddr{} }
func (p *pipeEnd) RemoteAddr() net.Addr               { return pipeAddr{} }
func (p *pipeEnd) SetReadDeadline(t time.Time) error  { return p.in.until(&p.in.reading, t) }
func (p *pipeEnd) SetWriteDeadline(t time.Time) error { return p.out.until(&p.out.writing, t) }

func (p *pipeEnd) SetDeadline(t time.Time) error {
	if err := p.SetReadDeadline(t); err != nil {
		return err
	}
	return p.SetWriteDeadline(t)
}

// Close ends both directions; the peer can still read what was written before.
func (p *pipeEnd) Close() error {
	p.out.end(&p.out.noWriter)
	p.in.end(&p.in.noReader)
	return nil
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "in-process" }

// stream is one direction.
type stream struct {
	mu                 sync.Mutex
	changed            sync.Cond
	buf                []byte
	noWriter, noReader bool      // that side has closed
	reading, writing   time.Time // deadlines
}

func over(deadline time.Time) bool { return !deadline.IsZero() && !time.Now().Before(deadline) }

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.noReader:
			return 0, io.ErrClosedPipe
		case over(s.reading):
			return 0, os.ErrDeadlineExceeded
		case len(s.buf) > 0:
			n := copy(b, s.buf)
			if s.buf = s.buf[n:]; len(s.buf) == 0 {
				s.buf = nil
			}
			s.changed.Broadcast()
			return n, nil
		case s.noWriter:
			return 0, io.EOF
		case len(b) == 0:
			return 0, nil
		}
		s.wait(s.reading)
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for done := 0; ; {
		switch room := pipeBuffer - len(s.buf); {
		case s.noWriter || s.noReader:
			return done, io.ErrClosedPipe
		case over(s.writing):
			return done, os.ErrDeadlineExceeded
		case room > 0:
			n := min(room, len(b)-done)
			s.buf = append(s.buf, b[done:done+n]...)
			s.changed.Broadcast()
			if done += n; done == len(b) {
				return done, nil
			}
			continue
		}
		s.wait(s.writing)
	}
}

// wait returns when something changed or the deadline has passed. Only a blocked call
// needs a timer; most writes never block.
func (s *stream) wait(deadline time.Time) {
	if !deadline.IsZero() {
		t := time.AfterFunc(time.Until(deadline), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
		defer t.Stop()
	}
	s.changed.Wait()
}

func (s *stream) until(deadline *time.Time, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noWriter && deadline == &s.writing || s.noReader && deadline == &s.reading {
		return io.ErrClosedPipe
	}
	*deadline = t
	s.changed.Broadcast()
	return nil
}

func (s *stream) end(side *bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*side = true
	s.changed.Broadcast()
}
