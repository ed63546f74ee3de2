// Package bubble runs tests in bubbles of testing/synctest: in fake time, which advances
// when every goroutine of the test waits.
package bubble

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test]. Under the race detector it first limits the process
// to one processor, for good. Go runs the timers of a bubble on any processor
// that finds them due, but accounts for all of them in one context of the race
// detector; two processors that use it at once crash the process
// (golang.org/issue/78156).
func Test(t *testing.T, f func(*testing.T)) {
	t.Helper()
	if race {
		runtime.GOMAXPROCS(1)
	}
	synctest.Test(t, f)
}
