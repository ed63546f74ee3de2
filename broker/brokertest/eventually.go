package brokertest

import (
	"testing"
	"time"
)

// Eventually waits until another goroutine has made the condition true.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	late, look := time.NewTimer(2*Timeout), time.NewTicker(10*time.Millisecond)
	defer late.Stop()
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-late.C:
			t.Fatalf("timed out: %s", what)
		}
	}
}
