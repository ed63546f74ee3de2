package sim

import (
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

const (
	bodyRadius   = 0.25            // m
	corridor     = 0.30            // m to each side: what is further aside is not in the way
	keepAway     = 0.30            // m that the drive leaves to an obstacle that it sees in time
	obstacleWait = 5 * time.Second // how long a goto waits for an obstacle to go
	inTheWay     = "an obstacle is in the way"
)

// Obstacle puts something in the way, so many metres ahead of the body. The drive stops
// before it, and a goto fails if it stays. If it is nearer than the distance in which the
// drive stops, the drive halts by its own means and has a fault until RemoveObstacles.
func (s *Sim) Obstacle(ahead float64) {
	s.enqueue(false, func() {
		far := bodyRadius + ahead
		s.obstacles = append(s.obstacles, place{x: s.at.x + far*math.Cos(s.at.theta), y: s.at.y + far*math.Sin(s.at.theta)})
	})
}

// RemoveObstacles clears the way.
func (s *Sim) RemoveObstacles() {
	s.enqueue(false, func() {
		s.obstacles = nil
		s.mover(drive).obstructed = false
		s.updateFault(s.mover(drive))
	})
}

// free returns how far the drive can go straight ahead.
func (s *Sim) free() float64 {
	least := math.Inf(1)
	sin, cos := math.Sincos(s.at.theta)
	for _, o := range s.obstacles {
		dx, dy := o.x-s.at.x, o.y-s.at.y
		ahead, aside := dx*cos+dy*sin, dy*cos-dx*sin
		if ahead > 0 && math.Abs(aside) < corridor {
			least = min(least, max(0, ahead-bodyRadius))
		}
	}
	return least
}

// avoid limits the wanted speed to one that ends before the next obstacle. If the drive
// cannot stop before it, avoid halts the drive.
func (s *Sim) avoid(want float64, dt time.Duration) float64 {
	if len(s.obstacles) == 0 || s.v <= 0 && want <= 0 {
		return want
	}
	m, free := s.mover(drive), s.free()
	if m.state == driver.Run && s.v > 0 && free < s.v*s.v/(2*braking) {
		m.obstructed = true
		m.fault = m.presentFault()
		s.trigger(m, driver.Halted)
		return 0
	}
	room := 0.0
	if left := free - keepAway; left > arriveWithin {
		room = approachSpeed(left, maxSpeed, braking/2, dt.Seconds())
	}
	if p := s.trip; p != nil && want > room && s.v < 0.01 {
		if p.waited += dt; p.waited >= obstacleWait {
			s.failed(p.key, schema.ReasonObstructed, inTheWay)
			s.trip = nil
		}
	} else if p != nil {
		p.waited = 0
	}
	return min(want, room)
}
