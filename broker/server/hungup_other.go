//go:build !linux

package server

import "net"

// hungUp is not implemented here: a closed connection waits until it is its turn.
func hungUp(net.Conn) bool { return false }
