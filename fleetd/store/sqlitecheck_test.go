package store_test

import (
	"testing"
	"time"

	"troupe/fleetd/store"
)

// fleetd sends no heartbeat before its database is open, and a robot that is driven manually
// changes to mode safe after 5 s without one.
func TestFileCheckLeavesTimeForAHeartbeat(t *testing.T) {
	const silence = 5 * time.Second
	if spare := silence - store.FileCheckTimeout; spare < 2*time.Second {
		t.Errorf("a check of %v leaves %v to start and to connect, want at least 2s", store.FileCheckTimeout, spare)
	}
}
