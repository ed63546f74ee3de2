package server

import (
	"net"
	"sync"
	"time"
)

// The library writes under a lock for which those who publish to this client
// wait, too. If it wrote to the socket, one reader that stalls would stall them
// all. So it writes to memory, and the same goroutine writes that to the socket
// when the lock is free again (see OnPacketSent): nobody but the client itself
// waits for the client.
//
// Each write to the socket has a deadline and a failed one ends the connection,
// for what waits for a client has room for so much and no more. One that takes a
// little each time would be full for ever; so what a client is slow adds up.

// perWrite is how many bytes a client takes in one write timeout, at least.
const perWrite = 64 << 10

// refill is how many times longer than it was slow a client has to keep up until
// that is forgiven.
const refill = 10

// keepBuffer is how large a buffer may be to be kept for the next write, in
// bytes: there may be ten thousand connections.
const keepBuffer = 1 << 10

// unsent is what the library wrote and the socket has not taken. It is little:
// each goroutine that has written waits until that is sent.
type unsent struct {
	sending chan struct{} // holds one while somebody writes to the socket
	slow    slowness      // of whoever does

	mu          sync.Mutex
	bytes, next []byte // next is empty, and takes the place of bytes
	broken      error
}

// Write never waits.
func (c *conn) Write(b []byte) (int, error) {
	u := &c.unsent
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.broken != nil {
		return 0, u.broken
	}
	u.bytes = append(u.bytes, b...)
	return len(b), nil
}

// send returns when the socket has taken what was written before.
func (c *conn) send() error {
	u := &c.unsent
	u.sending <- struct{}{}
	defer func() { <-u.sending }()
	b, err := u.take()
	if len(b) == 0 || err != nil {
		return err
	}
	limit, began := time.Duration(c.timeout.Load()), time.Now()
	if err = c.Conn.SetWriteDeadline(began.Add(u.slow.allowed(began, len(b), limit))); err == nil {
		var n int
		n, err = c.Conn.Write(b)
		u.slow.wrote(time.Now(), n, limit)
	}
	u.sent(b, err)
	if err != nil {
		if isTimeout(err) && c.tally.cut.CompareAndSwap(0, int64(stalled)) {
			c.counters.add(stalled)
		}
		c.Close() // the library would go on writing
	}
	return err
}

func (u *unsent) take() (b []byte, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	b, u.bytes, u.next = u.bytes, u.next, nil
	return b, u.broken
}

func (u *unsent) sent(b []byte, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.broken = err; cap(b) <= keepBuffer {
		u.next = b[:0]
	}
}

// slowness is how much longer a client took for what was written to it than it
// should have, altogether. It is forgiven as time passes between the writes.
type slowness struct {
	owed  time.Duration
	began time.Time // of the write under way, or of the last one
	ended time.Time // of the last one
}

// allowed is how long a write of n bytes may take that begins now: what n bytes
// need, and what is left of limit.
func (s *slowness) allowed(now time.Time, n int, limit time.Duration) time.Duration {
	if !s.ended.IsZero() {
		s.owed = max(0, s.owed-now.Sub(s.ended)/refill)
	}
	s.began = now
	return limit - s.owed + fair(n, limit)
}

// wrote ends a write.
func (s *slowness) wrote(now time.Time, n int, limit time.Duration) {
	s.ended = now
	s.owed = max(0, s.owed+now.Sub(s.began)-fair(n, limit))
}

// fair is how long n bytes may take.
func fair(n int, limit time.Duration) time.Duration {
	return limit * time.Duration(n) / perWrite
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}
