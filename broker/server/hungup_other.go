//go:build !linux

package server

import "net"

// hungUp cannot detect a closed connection on this system; it waits in line like any other.
func hungUp(net.Conn) bool { return false }
