package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// startHead hands a command to a head.
func (s *Sim) startHead(m *mover, c driver.Command) {
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
