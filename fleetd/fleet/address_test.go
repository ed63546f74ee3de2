package fleet_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"

	"troupe/fleetd/fleet"
)

// address is an address of fleetd within the process, for tests in fake time: a goroutine
// that accepts connections from the network would keep the time from passing.
type address struct {
	arrives chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// withAddress gives fleetd an address.
func withAddress(c *fleet.Config) { c.HTTP = "127.0.0.1:8080" }

// listen takes the place of the network in fleetd's configuration.
func (w *world) listen(context.Context, string, string) (net.Listener, error) {
	a := &address{arrives: make(chan net.Conn), closed: make(chan struct{})}
	w.address.Store(a)
	return a, nil
}

func (a *address) Accept() (net.Conn, error) {
	select {
	case c := <-a.arrives:
		return c, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

func (a *address) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

func (a *address) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (a *address) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case a.arrives <- theirs:
		return ours, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

// dialAddress opens a connection to fleetd's address.
func (w *world) dialAddress() (net.Conn, error) {
	if a := w.address.Load(); a != nil {
		return a.dial()
	}
	return net.Dial("tcp", strings.TrimPrefix(w.URL(), "http://"))
}

// client makes requests to fleetd's address, each over its own connection.
func (w *world) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return w.dialAddress() },
		DisableKeepAlives: true,
	}}
}
