package server

import (
	"errors"
	"net"
	"sync"
	"time"
)

// The library writes to a client under a lock for which publishers to that client wait,
// too. If it wrote to the socket, one subscriber that stalls would stall them all. So it
// writes to memory, and the same goroutine writes that to the socket after the lock is
// released (see OnPacketSent): only the client itself waits for the client.
//
// Each write to the socket has a deadline, and a failed one ends the connection, because
// the queue of a client is bounded. A client that reads a little each time would keep its
// queue full for ever, so the time by which a client is too slow adds up.

// bytesPerTimeout is how many bytes a client has to read within one write timeout.
const bytesPerTimeout = 64 << 10

// forgiveFactor is how many times longer than its delay a client has to keep up until the delay
// is forgiven.
const forgiveFactor = 10

// maxKeptBuffer is the maximum size in bytes of a buffer that is kept for the next write:
// there may be ten thousand connections.
const maxKeptBuffer = 1 << 10

// unsent holds what the library wrote and the socket has not accepted yet. It stays small:
// each goroutine that writes waits until its bytes are sent.
type unsent struct {
	sending chan struct{} // holds one element while a goroutine writes to the socket
	slow    slowness      // owned by that goroutine

	mu          sync.Mutex
	bytes, next []byte // next is empty and replaces bytes when these are taken
	broken      error
}

// Write never blocks.
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

// send writes what is buffered to the socket.
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
		c.Close() // otherwise the library would go on writing
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
	if u.broken = err; cap(b) <= maxKeptBuffer {
		u.next = b[:0]
	}
}

// slowness measures by how much a client was slower than it should be, over all writes. It
// decreases while nothing is being written.
type slowness struct {
	debt  time.Duration
	began time.Time // start of the current or last write
	ended time.Time // end of the last write
}

// allowed is the time limit for a write of n bytes that begins now: the time that n bytes
// need, plus what is left of limit.
func (s *slowness) allowed(now time.Time, n int, limit time.Duration) time.Duration {
	if !s.ended.IsZero() {
		s.debt = max(0, s.debt-now.Sub(s.ended)/forgiveFactor)
	}
	s.began = now
	return limit - s.debt + fair(n, limit)
}

// wrote records the end of a write.
func (s *slowness) wrote(now time.Time, n int, limit time.Duration) {
	s.ended = now
	s.debt = max(0, s.debt+now.Sub(s.began)-fair(n, limit))
}

// fair is the time that n bytes may take.
func fair(n int, limit time.Duration) time.Duration {
	return limit * time.Duration(n) / bytesPerTimeout
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
