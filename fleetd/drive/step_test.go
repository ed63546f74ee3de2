package drive

import (
	"testing"
	"time"
)

// From its greatest speed a robot stands StandsWithin after the last frame, whatever its
// brakes. One that does not say how it brakes is driven slowly.
func TestRobotIsDrivenOnlyAsFastAsItCanBrake(t *testing.T) {
	for _, c := range []struct{ mps, braking, most float64 }{{0.6, 3, 0.6}, {0.6, 1, 0.23}, {2, 3, 0.69}, {0.6, 0, 0.2}, {0.1, 0, 0.1}} {
		l := LimitsOf(c.mps, 1, c.braking)
		if d := l.MPS - c.most; d > 1e-9 || d < -1e-9 {
			t.Errorf("a drive of %v m/s that brakes with %v m/s² is driven at up to %v m/s, want %v", c.mps, c.braking, l.MPS, c.most)
		}
		if c.braking == 0 {
			continue
		}
		stands := l.frameTTL(l.MPS, 0) + robotTick + time.Duration(l.MPS/c.braking*float64(time.Second))
		if stands > StandsWithin+time.Microsecond {
			t.Errorf("a drive of %v m/s that brakes with %v m/s² stands %v after the last frame", c.mps, c.braking, stands)
		}
	}
}
