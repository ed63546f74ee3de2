//go:build !linux

package link

import (
	"net"
	"time"
)

// setUserTimeout does nothing: only Linux has the option. Keep-alive and the write
// deadline still detect a dead peer, but later.
func setUserTimeout(net.Conn, time.Duration) error { return nil }
