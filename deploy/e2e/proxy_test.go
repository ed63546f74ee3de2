package e2e

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// A proxy is a TCP address that forwards connections to a target and can cut them.
// After a restart on another port the broker is reachable behind the same proxy.
// When the far side closes, the near side reads everything that was sent before,
// then the end.
type proxy struct {
	listener   net.Listener
	goroutines sync.WaitGroup

	mu               sync.Mutex
	target           string            // address; empty while cut
	hidesDisconnects bool              // the far side does not learn that the near side ended
	onPacket         func(packet byte) // receives the kind of each MQTT packet from the far side; set before the first connection
	conns            map[net.Conn]struct{}
	requestsHeld     chan struct{} // closed when the near side's bytes are forwarded again; nil while they are
	responsesHeld    chan struct{} // closed when the far side's bytes are forwarded again; nil while they are
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start the proxy: %v", err)
	}
	w := &proxy{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	w.goroutines.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.connectTo("")
		w.goroutines.Wait()
	})
	return w
}

func (w *proxy) url() string { return "mqtt://" + w.listener.Addr().String() }

// connectTo cuts all connections. New ones are forwarded to the address, or
// closed at once if it is empty.
func (w *proxy) connectTo(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = address
	for c := range w.conns {
		_ = c.Close()
	}
	clear(w.conns)
}

func (w *proxy) isCut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.target == ""
}

func (w *proxy) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.goroutines.Go(func() { w.relay(near) })
	}
}

func (w *proxy) relay(near net.Conn) {
	defer near.Close()
	w.mu.Lock()
	address := w.target
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
	if !w.register(address, near, far) {
		return
	}
	defer w.unregister(near, far)
	from := io.Reader(&responseReader{far, w})
	if w.onPacket != nil {
		from = io.TeeReader(from, &packetObserver{onPacket: w.onPacket})
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, from) // any error ends the connection
		if half, ok := near.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, far) // while disconnects are hidden
	})
	_, _ = io.Copy(far, &requestReader{near, w})
	// The near side may still be reading, and a client that cannot send
	// acknowledgements would not read the rest.
	_, _ = io.Copy(io.Discard, near)
	if !w.isHidingDisconnects() {
		_ = far.Close()
	}
	back.Wait()
}

// hideDisconnects makes the proxy a network that does not report a disconnect: a
// client that vanishes at the near side still seems connected at the far side.
func (w *proxy) hideDisconnects() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hidesDisconnects = true
}

// hang makes the far side seem to hang: it accepts connections and answers
// nothing, until resume is called.
func (w *proxy) hang() (resume func()) {
	held := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requestsHeld = held
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.requestsHeld = nil
		close(held)
	})
}

// A requestReader reads what the near side sends. It blocks while the proxy hangs.
type requestReader struct {
	io.Reader
	wire *proxy
}

func (h *requestReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.wire.mu.Lock()
	held := h.wire.requestsHeld
	h.wire.mu.Unlock()
	if held != nil {
		<-held
	}
	return n, err
}

// holdBack makes the proxy a connection that stalls in one direction: it keeps
// what the far side sends, and delivers it in one burst when resume is called.
func (w *proxy) holdBack() (resume func()) {
	held := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.responsesHeld = held
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.responsesHeld = nil
		close(held)
	})
}

// A responseReader reads what the far side sends. It blocks while the proxy holds
// back.
type responseReader struct {
	io.Reader
	wire *proxy
}

func (h *responseReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.wire.mu.Lock()
	held := h.wire.responsesHeld
	h.wire.mu.Unlock()
	if held != nil {
		<-held
	}
	return n, err
}

func (w *proxy) isHidingDisconnects() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hidesDisconnects
}

// register adds both ends to those that connectTo cuts, unless the target has
// changed meanwhile.
func (w *proxy) register(address string, ends ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.target != address {
		return false
	}
	for _, c := range ends {
		w.conns[c] = struct{}{}
	}
	return true
}

func (w *proxy) unregister(ends ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range ends {
		delete(w.conns, c)
	}
}

// A packetObserver calls onPacket with the kind of each MQTT packet that is
// written to it, whole or in pieces.
type packetObserver struct {
	onPacket  func(packet byte)
	header    []byte // of the packet that begins, until its length is known
	remaining int    // of a packet whose length is known
}

func (p *packetObserver) Write(b []byte) (int, error) {
	for i := 0; i < len(b); {
		if p.remaining > 0 {
			skip := min(p.remaining, len(b)-i)
			p.remaining -= skip
			i += skip
			continue
		}
		p.header = append(p.header, b[i])
		i++
		if size, n := binary.Uvarint(p.header[1:]); n > 0 { // MQTT counts lengths as protobuf does
			p.onPacket(p.header[0] >> 4)
			p.header, p.remaining = p.header[:0], int(size)
		}
	}
	return len(b), nil
}

// A broker that closes has sent everything, closes its half, and reads
// acknowledgements until its client closes too.
func TestProxyDeliversWhatWasSentBeforeItClosed(t *testing.T) {
	const count = 200
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	acknowledged := make(chan struct{}, count) // acknowledgements, closed at the near side's end
	go func() {
		defer close(acknowledged)
		far, err := listener.Accept()
		if err != nil {
			return
		}
		defer far.Close()
		_, _ = far.Write(make([]byte, count))
		_ = far.(*net.TCPConn).CloseWrite()
		for one := make([]byte, 1); ; acknowledged <- struct{}{} {
			if _, err := io.ReadFull(far, one); err != nil {
				return
			}
		}
	}()
	near, err := net.Dial("tcp", newProxy(t, listener.Addr().String()).listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	one := make([]byte, 1)
	for i := range count {
		if _, err := io.ReadFull(near, one); err != nil {
			t.Fatalf("read %d of %d: %v", i+1, count, err)
		}
		if _, err := near.Write(one); err != nil {
			t.Fatalf("acknowledge %d of %d: %v", i+1, count, err)
		}
		if _, ok := <-acknowledged; !ok {
			t.Fatalf("acknowledgement %d of %d did not arrive", i+1, count)
		}
	}
	if _, err := near.Read(one); !errors.Is(err, io.EOF) {
		t.Errorf("after the last byte, Read returns %v; want EOF", err)
	}
}
