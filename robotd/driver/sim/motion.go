package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// startHead hands a command to a head.
func (s *Sim) startHead(m *mover, c driver.Command) {
	if c.Do.Type == score.TypeMotion {
		s.startMotion(m, c)
		return
	}
	s.startGaze(m, c)
}

// startMotion turns a head through the directions of a motion.
func (s *Sim) startMotion(m *mover, c driver.Command) {
	if why, detail := s.motionRefusal(m); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	path, known := motions[c.Do.Motion]
	if !known {
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no motion "+c.Do.Motion)
		return
	}
	s.abort(m.id, schema.ReasonSuperseded, "a newer command moves the "+m.id)
	g := &m.gaze
	g.to, g.path, g.speed, g.key, g.active = path[0], path[1:], headSpeed/2, c.Key, true
	if c.Do.Speed != nil {
		g.speed = min(headSpeed/2*max(*c.Do.Speed, 0.1), headSpeed)
	}
}

// rest ends the command of a head.
func (g *gaze) rest() { g.key, g.active, g.path = 0, false, nil }
