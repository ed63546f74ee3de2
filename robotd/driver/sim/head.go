package sim

import (
	"fmt"
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var headKind = kind{
	unit:  schema.Unit{ID: head, Kind: schema.UnitHead, YawRad: &yaw, PitchRad: &pitch, RollRad: &roll, Motions: names(motions)},
	pairs: true, start: (*Sim).startHead,
}

// motions lists the motions of the head: the directions through which it turns, as yaw, pitch
// and roll.
var motions = map[string][][3]float64{
	"look-around": {{0.8, 0, 0}, {-0.8, 0, 0}, {}},
	"nod":         {{0, -0.3, 0}, {0, 0.1, 0}, {0, -0.3, 0}, {}},
	"shake":       {{0.3, 0, 0}, {-0.3, 0, 0}, {0.3, 0, 0}, {}},
}

// gaze is the present and the wanted direction of a head: yaw, pitch, roll in
// radians.
type gaze struct {
	now, to [3]float64
	speed   float64      // rad/s
	path    [][3]float64 // directions of a motion after to
	key     uint64
	active  bool // the head has a direction to turn to
	turning bool
	shown   [3]float64    // reported last
	since   time.Duration // the last report
}

// startHead hands a command to a head.
func (s *Sim) startHead(c driver.Command) {
	m := s.mover(c.Unit)
	if do, ok := c.Do.Do.(score.Motion); ok {
		s.startMotion(m, c, do)
		return
	}
	s.startGaze(m, c)
}

// startMotion turns a head through the directions of a motion.
func (s *Sim) startMotion(m *mover, c driver.Command, do score.Motion) {
	if why, detail := s.motionRefusal(m); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	path, known := motions[do.Motion]
	if !known {
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no motion "+do.Motion)
		return
	}
	s.abort(m.id, schema.ReasonSuperseded, "a newer command moves the "+m.id)
	g := &m.gaze
	g.to, g.path, g.speed, g.key, g.active = path[0], path[1:], headSpeed/2, c.Key, true
	if do.Speed != nil {
		g.speed = min(headSpeed/2*max(*do.Speed, 0.1), headSpeed)
	}
}

// rest ends the command of a head.
func (g *gaze) rest() { g.key, g.active, g.path = 0, false, nil }

func (s *Sim) startGaze(m *mover, c driver.Command) {
	if why, detail := s.motionRefusal(m); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	do, ok := c.Do.Do.(score.Head)
	if !ok {
		s.failed(c.Key, schema.ReasonBadRequest, "the head knows no "+string(c.Do.Type()))
		return
	}
	g := &m.gaze
	to := g.now
	for i, axis := range []struct {
		want *float64
		in   schema.Range
		name string
	}{{do.YawRad, yaw, "yaw"}, {do.PitchRad, pitch, "pitch"}, {do.RollRad, roll, "roll"}} {
		switch {
		case axis.want == nil: // the axis stays
		case !axis.in.Holds(*axis.want):
			s.failed(c.Key, schema.ReasonOutOfRange, fmt.Sprintf("%s %g rad: the head reaches %g to %g", axis.name, *axis.want, axis.in.Min,
				axis.in.Max))
			return
		default:
			to[i] = *axis.want
		}
	}
	s.abort(m.id, schema.ReasonSuperseded, "a newer command moves the "+m.id)
	g.to, g.path, g.speed, g.key, g.active = to, nil, headSpeed/2, c.Key, true
	if do.Speed != nil {
		g.speed = headSpeed * min(max(*do.Speed, 0.05), 1)
	}
}

// emitAngles reports where a head is, as driver.Angles says. dt is the time since the
// previous call.
func (s *Sim) emitAngles(m *mover, dt time.Duration) {
	g := &m.gaze
	g.since += dt
	if g.now == g.shown || g.turning && g.since < driver.SpeedEvery {
		return
	}
	g.shown, g.since = g.now, 0
	s.emit(driver.Event{Kind: driver.Angles, Unit: m.id, Yaw: g.now[0], Pitch: g.now[1], Roll: g.now[2]})
}

// turnHead simulates dt of a head. It is light, so it needs no ramp.
func (s *Sim) turnHead(m *mover, dt time.Duration) {
	g := &m.gaze
	g.turning = false
	if !g.active || s.hung[m.id] || m.state != driver.Run {
		return
	}
	step := g.speed * dt.Seconds()
	for i := range g.now {
		if off := g.to[i] - g.now[i]; math.Abs(off) <= step {
			g.now[i] = g.to[i]
		} else {
			g.now[i] += math.Copysign(step, off)
			g.turning = true
		}
	}
	if !g.turning && len(g.path) > 0 {
		g.to, g.path, g.turning = g.path[0], g.path[1:], true
	}
	if !g.turning {
		g.active = false
		if g.key != 0 {
			s.done(g.key)
			g.key = 0
		}
	}
}
