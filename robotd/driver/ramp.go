package driver

import "math"

// Ramp returns the speed after one time step from v towards want. The magnitude may
// grow by at most up and shrink by at most down in the step, so that braking can be
// quicker than accelerating.
func Ramp(v, want, up, down float64) float64 {
	step := up
	if math.Abs(want) < math.Abs(v) || v*want < 0 {
		step = down
	}
	if math.Abs(want-v) <= step {
		return want
	}
	return v + math.Copysign(step, want-v)
}
