package pgtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// Cable is the connection to a PostgreSQL server, with the faults that a network and a server can have.
// It is for one bubble of testing/synctest: there a read over it blocks durably while the
// server owes no answer, so that time passes, and time stands still while the server works.
type Cable struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when what follows, or a connection, changes
	cut     bool
	held    bool
	at      string // see HoldAt
	commit  string // see HoldCommit
	conns   map[*cableConn]struct{}
}

// NewCable makes a cable without faults. It is called in the bubble that uses it.
func NewCable() *Cable {
	return &Cable{changed: make(chan struct{}), conns: map[*cableConn]struct{}{}}
}

// errCut is the error of dialling over a cable that is cut.
var errCut = errors.New("the cable to the database is cut")

// Dial connects over the cable.
func (w *Cable) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return nil, errCut
	}
	var d net.Dialer
	server, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &cableConn{Conn: server, cable: w}
	w.conns[c] = struct{}{}
	return c, nil
}

// change changes the cable and wakes all readers.
func (w *Cable) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
	close(w.changed)
	w.changed = make(chan struct{})
}

// Cut closes all connections and fails new ones until Mend.
func (w *Cable) Cut() {
	w.change(func() {
		w.cut = true
		for c := range w.conns {
			c.end()
		}
	})
}

// Mend lets new connections succeed again.
func (w *Cable) Mend() { w.change(func() { w.cut = false }) }

// Hold lets no answer through until Release; the server still takes what it is sent.
func (w *Cable) Hold() { w.change(func() { w.held = true }) }

// HoldAt is Hold from the moment at which a connection carries text.
func (w *Cable) HoldAt(text string) { w.change(func() { w.at = text }) }

// HoldCommit is Hold from the moment at which a connection that has carried text carries a
// commit.
func (w *Cable) HoldCommit(text string) { w.change(func() { w.commit = text }) }

// Held reports whether answers are held.
func (w *Cable) Held() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

// Release lets answers through again.
func (w *Cable) Release() { w.change(func() { w.held, w.at, w.commit = false, "", "" }) }

// cableConn is a connection over a Cable. Its fields are guarded by the cable's lock.
type cableConn struct {
	net.Conn // to the server
	cable    *Cable

	closed   bool
	deadline time.Time // of reads
	owed     int       // answers of the server that are still to come
	asked    frames    // what was sent
	answered frames    // what was received
	marked   bool      // it has carried the text of HoldCommit
}

func (c *cableConn) Write(b []byte) (int, error) {
	c.cable.change(func() {
		if !c.asked.begun {
			c.owed++ // the first message is answered, too, and has no type
		}
		c.asked.scan(b, func(kind byte) {
			if kind == 'Q' || kind == 'S' || kind == 'X' { // a query, the end of a group of messages, or of the connection
				c.owed++
			}
		})
		w := c.cable
		if w.at != "" && bytes.Contains(b, []byte(w.at)) {
			w.held = true
		}
		if w.commit == "" {
			return
		}
		c.marked = c.marked || bytes.Contains(b, []byte(w.commit))
		if c.marked && bytes.Contains(b, []byte("commit")) {
			w.held = true
		}
	})
	return c.Conn.Write(b)
}

func (c *cableConn) Read(b []byte) (int, error) {
	for {
		c.cable.mu.Lock()
		closed, deadline, waits, changed := c.closed, c.deadline, c.cable.held || c.owed == 0, c.cable.changed
		c.cable.mu.Unlock()
		switch {
		case closed:
			return 0, net.ErrClosed
		case !deadline.IsZero() && !time.Now().Before(deadline):
			return 0, os.ErrDeadlineExceeded
		case !waits:
			return c.receive(b)
		}
		wait(changed, deadline)
	}
}

// wait waits for a change or the deadline.
func wait(changed <-chan struct{}, deadline time.Time) {
	if deadline.IsZero() {
		<-changed
		return
	}
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case <-changed:
	case <-late.C:
	}
}

// receive reads from the server, which owes an answer.
func (c *cableConn) receive(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.cable.mu.Lock()
	defer c.cable.mu.Unlock()
	c.answered.begun = true // every answer has a type
	c.answered.scan(b[:n], func(kind byte) {
		if kind == 'Z' { // ready for the next query
			c.owed--
		}
	})
	return n, err
}

func (c *cableConn) Close() error {
	var err error
	c.cable.change(func() { err = c.end() })
	return err
}

// end closes the connection. The cable's lock is held.
func (c *cableConn) end() error {
	c.closed = true
	delete(c.cable.conns, c)
	return c.Conn.Close()
}

func (c *cableConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *cableConn) SetReadDeadline(t time.Time) (err error) {
	c.cable.change(func() {
		c.deadline = t
		end := time.Time{} // a read at the server takes no time of the bubble
		if !t.IsZero() && !time.Now().Before(t) {
			end = t
		}
		err = c.Conn.SetReadDeadline(end)
	})
	return err
}

func (c *cableConn) SetWriteDeadline(time.Time) error { return nil } // the server always reads

// frames reads the types of the messages that pass in one direction.
type frames struct {
	begun bool   // the first message has passed; it has no type if it is a client's
	head  []byte // of the next message, as far as it has come
	skip  int    // bytes left of the present one
}

func (f *frames) scan(b []byte, each func(kind byte)) {
	for len(b) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(b))
			f.skip, b = f.skip-n, b[n:]
			continue
		}
		f.head, b = append(f.head, b[0]), b[1:]
		size := f.head
		if f.begun {
			size = f.head[1:]
		}
		if len(size) < 4 {
			continue
		}
		f.skip = int(binary.BigEndian.Uint32(size)) - 4
		if f.begun {
			each(f.head[0])
		}
		f.begun, f.head = true, f.head[:0]
	}
}
