package driver

import "math"

// Ramp is the speed that follows v on the way to want in one step of time, in
// which it may grow by up and shrink by down: towards zero it is faster than away
// from it.
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
