package bubble_test

import (
	"sync"
	"testing"
	"time"

	"troupe/schema/bubble"
)

// Without the limit to one processor this ends the process with SIGSEGV under
// the race detector.
func TestTimersOfManyGoroutinesDoNotCrashTheRaceDetector(t *testing.T) {
	const goroutines, rounds = 50, 500
	bubble.Test(t, func(t *testing.T) {
		start := time.Now()
		var all sync.WaitGroup
		for range goroutines {
			all.Go(func() {
				for range rounds {
					<-time.NewTimer(time.Millisecond).C
					<-time.NewTimer(0).C
				}
			})
		}
		all.Wait()
		if passed := time.Since(start); passed != rounds*time.Millisecond {
			t.Errorf("%v passed in the bubble, want %v", passed, rounds*time.Millisecond)
		}
	})
}
