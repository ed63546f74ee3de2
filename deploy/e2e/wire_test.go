package e2e

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// A wire is a TCP connection that the test can cut: whoever dials its address
// is connected with where the wire leads. A broker that was started again on
// another port is found behind the same wire. An end of the far side reaches the
// near one as an end of what there is to read, after all that was said before.
type wire struct {
	listener net.Listener
	all      sync.WaitGroup

	mu    sync.Mutex
	leads string            // address; empty while cut
	hides bool              // the far side does not learn that the near side ended
	hears func(packet byte) // told the kind of each MQTT packet of the far side; set before anybody dials
	ends  map[net.Conn]struct{}
	hung  chan struct{} // closed when what the near side says is heard again; nil while it is
	held  chan struct{} // closed when what the far side says is delivered again; nil while it is
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
	from := io.Reader(&heldBack{far, w})
	if w.hears != nil {
		from = io.TeeReader(from, &packets{hears: w.hears})
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, from) // an end is an end
		if half, ok := near.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, far) // while it is hidden
	})
	_, _ = io.Copy(far, &heard{near, w})
	// The near side may still have to read, and whoever cannot acknowledge what
	// he reads gives the rest up.
	_, _ = io.Copy(io.Discard, near)
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

// hangs makes the far side one that stands still: it takes connections and
// answers nothing, until answers is called.
func (w *wire) hangs() (answers func()) {
	hung := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hung = hung
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hung = nil
		close(hung)
	})
}

// heard is what the near side says, as the far side hears it.
type heard struct {
	io.Reader
	wire *wire
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.wire.mu.Lock()
	hung := h.wire.hung
	h.wire.mu.Unlock()
	if hung != nil {
		<-hung
	}
	return n, err
}

// holdsBack makes the wire a line that stalls in one direction: it keeps what the far
// side says, and delivers it in one burst when delivers is called.
func (w *wire) holdsBack() (delivers func()) {
	held := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held = nil
		close(held)
	})
}

// heldBack is what the far side says, as the near side receives it.
type heldBack struct {
	io.Reader
	wire *wire
}

func (h *heldBack) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.wire.mu.Lock()
	held := h.wire.held
	h.wire.mu.Unlock()
	if held != nil {
		<-held
	}
	return n, err
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

// packets tells the kind of each MQTT packet that is written to it, whole or in
// pieces.
type packets struct {
	hears func(packet byte)
	head  []byte // of the packet that begins, until its length is known
	left  int    // of a packet whose length is known
}

func (p *packets) Write(b []byte) (int, error) {
	for i := 0; i < len(b); {
		if p.left > 0 {
			skip := min(p.left, len(b)-i)
			p.left -= skip
			i += skip
			continue
		}
		p.head = append(p.head, b[i])
		i++
		if size, n := binary.Uvarint(p.head[1:]); n > 0 { // MQTT counts lengths as protobuf does
			p.hears(p.head[0] >> 4)
			p.head, p.left = p.head[:0], int(size)
		}
	}
	return len(b), nil
}

// A broker that closes has said all, hangs up its half, and goes on taking
// acknowledgements until its client hangs up too.
func TestWireDeliversWhatWasSentBeforeItClosed(t *testing.T) {
	const said = 200
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := make(chan struct{}, said) // acknowledgements, closed at the near side's end
	go func() {
		defer close(taken)
		far, err := listener.Accept()
		if err != nil {
			return
		}
		defer far.Close()
		_, _ = far.Write(make([]byte, said))
		_ = far.(*net.TCPConn).CloseWrite()
		for one := make([]byte, 1); ; taken <- struct{}{} {
			if _, err := io.ReadFull(far, one); err != nil {
				return
			}
		}
	}()
	near, err := net.Dial("tcp", newWire(t, listener.Addr().String()).listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	one := make([]byte, 1)
	for i := range said {
		if _, err := io.ReadFull(near, one); err != nil {
			t.Fatalf("read %d of %d: %v", i+1, said, err)
		}
		if _, err := near.Write(one); err != nil {
			t.Fatalf("acknowledge %d of %d: %v", i+1, said, err)
		}
		if _, ok := <-taken; !ok {
			t.Fatalf("acknowledgement %d of %d did not arrive", i+1, said)
		}
	}
	if _, err := near.Read(one); err != io.EOF {
		t.Errorf("after the last there is %v", err)
	}
}
