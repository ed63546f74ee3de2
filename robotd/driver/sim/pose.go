package sim

import (
	"fmt"
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// upright is how the body stands after boot.
var upright = [4]float64{0, 0, 0, 1}

// pose is how the drive carries the body: yaw, pitch, roll in radians and height in metres.
type pose struct {
	now, to [4]float64
	key     uint64
	active  bool // a command leads to another pose
	moving  bool
}

func (s *Sim) startPose(c driver.Command, do score.Pose) {
	if why, detail := s.motionRefusal(&s.movers[0]); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	to := s.pose.now
	for i, axis := range []struct {
		name string
		want *float64
		in   schema.Range
	}{{"yaw", do.YawRad, schema.Range{}}, {"pitch", do.PitchRad, lean}, {"roll", do.RollRad, lean}, {"height", do.HeightM, height}} {
		switch {
		case axis.want == nil: // the axis stays
		case !axis.in.Holds(*axis.want):
			s.failed(c.Key, schema.ReasonOutOfRange, fmt.Sprintf("%s %g: the body leans from %g to %g", axis.name, *axis.want, axis.in.Min,
				axis.in.Max))
			return
		default:
			to[i] = *axis.want
		}
	}
	s.abort(drive, schema.ReasonSuperseded, "a newer command moves the drive")
	s.pose.to, s.pose.key, s.pose.active = to, c.Key, true
}

// movePose simulates dt of a pose, which is taken at standstill.
func (s *Sim) movePose(dt time.Duration) {
	p := &s.pose
	p.moving = false
	if !p.active || s.hung[drive] || s.movers[0].state != driver.Run || s.v != 0 || s.w != 0 {
		return
	}
	step := leanSpeed * dt.Seconds()
	for i := range p.now {
		if off := p.to[i] - p.now[i]; math.Abs(off) <= step {
			p.now[i] = p.to[i]
		} else {
			p.now[i] += math.Copysign(step, off)
			p.moving = true
		}
	}
	if !p.moving {
		p.active = false
		s.done(p.key)
	}
}

func (s *Sim) stopPose(key uint64) {
	if s.pose.active && s.pose.key == key {
		s.pose.active, s.pose.moving = false, false
	}
}

func (s *Sim) abortPose(why schema.Reason, detail string) {
	if s.pose.active {
		s.failed(s.pose.key, why, detail)
		s.pose.active, s.pose.moving = false, false
	}
}
