package server

import (
	"net"
	"testing"

	"golang.org/x/net/nettest"
)

func TestPipeBehavesAsAConnection(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		a, b := newPipe()
		return a, b, func() { a.Close(); b.Close() }, nil
	})
}
