//go:build !linux

package link

import (
	"net"
	"time"
)

// setUserTimeout does nothing here: only Linux has the option. Keep-alive and
// the write deadline still find a dead peer, later.
func setUserTimeout(net.Conn, time.Duration) error { return nil }
