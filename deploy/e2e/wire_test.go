package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A wire is a TCP connection that the test can cut: whoever dials its address
// is connected with where the wire leads. A broker that was started again on
// another port is found behind the same wire.
type wire struct {
	listener net.Listener
	all      sync.WaitGroup

	mu    sync.Mutex
	leads string // address; empty while cut
	hides bool   // the far side does not learn that the near side ended
	ends  map[net.Conn]struct{}
}

func newWire(t testing.TB, leads string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("lay a wire: %v", err)
	}
	w := &wire{listener: l, leads: leads, ends: map[net.Conn]struct{}{}}
	w.all.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.lead("")
		w.all.Wait()
	})
	return w
}

func (w *wire) url() string { return "mqtt://" + w.listener.Addr().String() }

// lead cuts whatever is connected; what connects from now on comes out at the
// address, or nowhere if it is empty.
func (w *wire) lead(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leads = address
	for c := range w.ends {
		_ = c.Close()
	}
	clear(w.ends)
}

func (w *wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.all.Go(func() { w.carry(near) })
	}
}

func (w *wire) carry(near net.Conn) {
	defer near.Close()
	w.mu.Lock()
	address := w.leads
	w.mu.Unlock()
	if address == "" {
		return
	}
	network := "tcp"
	if address[0] == '/' {
		network = "unix"
	}
	far, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.hold(address, near, far) {
		return
	}
	defer w.release(near, far)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far) // an end is an end
		_ = near.Close()
		_, _ = io.Copy(io.Discard, far) // while it is hidden
	})
	_, _ = io.Copy(far, near)
	if !w.hidden() {
		_ = far.Close()
	}
	back.Wait()
}

// hideEnds makes the wire a network that swallows the news of an end: whoever
// vanishes at its near side is still there for the far one.
func (w *wire) hideEnds() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hides = true
}

func (w *wire) hidden() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hides
}

// hold keeps both ends for the cut, unless it came meanwhile.
func (w *wire) hold(address string, ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leads != address {
		return false
	}
	for _, c := range ends {
		w.ends[c] = struct{}{}
	}
	return true
}

func (w *wire) release(ends ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range ends {
		delete(w.ends, c)
	}
}
