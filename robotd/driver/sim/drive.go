package sim

import (
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// trip is a goto under way: turn towards the place, drive there, and for an
// angled one turn into its heading.
type trip struct {
	key    uint64
	to     place
	angled bool
	speed  float64
	there  bool // only the heading is missing
}

const (
	near      = 0.01 // m
	aligned   = 0.01 // rad
	offCourse = 0.2  // rad: turn on the spot first
)

func (s *Sim) startTrip(c driver.Command) {
	if why, detail := s.mayMove(&s.movers[0]); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	if c.Do.Type != score.TypeGoto {
		s.failed(c.Key, schema.ReasonBadRequest, "the drive knows no "+string(c.Do.Type))
		return
	}
	t := &trip{key: c.Key, speed: maxSpeed}
	switch p, known := points[c.Do.Point]; {
	case s.config.NoMap:
		s.failed(c.Key, schema.ReasonPrecondition, "there is no map")
		return
	case c.Do.Point != "" && !known:
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no point "+c.Do.Point)
		return
	case c.Do.Point != "":
		t.to, t.angled = p, true
	case c.Do.XM == nil || c.Do.YM == nil:
		s.failed(c.Key, schema.ReasonBadRequest, "neither a point nor a place was given")
		return
	default:
		t.to.x, t.to.y = *c.Do.XM, *c.Do.YM
	}
	if c.Do.ThetaRad != nil {
		t.to.theta, t.angled = *c.Do.ThetaRad, true
	}
	if c.Do.SpeedMPS != nil {
		t.speed = min(max(*c.Do.SpeedMPS, 0.05), maxSpeed)
	}
	s.giveUp(drive, schema.ReasonSuperseded, "a newer command moves the drive")
	s.trip = t
}

func (s *Sim) move(v driver.Velocity) {
	if why, _ := s.mayMove(&s.movers[0]); why != "" {
		return
	}
	s.giveUp(drive, schema.ReasonSuperseded, "driven manually")
	v.TTL = min(v.TTL, driver.VelocityTTL)
	v.VX, v.WZ = limit(finite(v.VX), maxSpeed), limit(finite(v.WZ), maxTurn)
	s.velocity = &v
}

// roll lets the drive move for dt.
func (s *Sim) roll(dt time.Duration) {
	t := dt.Seconds()
	wantV, wantW, up, down := 0.0, 0.0, accel, braking
	m := &s.movers[0]
	switch {
	case m.state == driver.Error, m.state == driver.Halt:
		down = haltBraking
	case s.hung[drive]:
	case s.velocity != nil:
		wantV, wantW = s.velocity.VX, s.velocity.WZ
	case s.trip != nil:
		wantV, wantW = s.course(t)
	}
	s.v = driver.Ramp(s.v, wantV, up*t, down*t)
	s.w = driver.Ramp(s.w, wantW, turnAccel*t, turnAccel*t*down/braking)
	s.at.theta = wrap(s.at.theta + s.w*t)
	s.at.x += s.v * math.Cos(s.at.theta) * t
	s.at.y += s.v * math.Sin(s.at.theta) * t
}

// course is how fast to go now on the way to the goal; on arrival the trip is over.
func (s *Sim) course(t float64) (v, w float64) {
	p := s.trip
	dx, dy := p.to.x-s.at.x, p.to.y-s.at.y
	left := math.Hypot(dx, dy)
	if left <= near && s.v <= accel*t {
		p.there = true
	}
	off := 0.0
	switch {
	case !p.there:
		off = wrap(math.Atan2(dy, dx) - s.at.theta)
	case p.angled:
		off = wrap(p.to.theta - s.at.theta)
	}
	if p.there && math.Abs(off) <= aligned {
		s.at.x, s.at.y, s.v, s.w = p.to.x, p.to.y, 0, 0
		if p.angled {
			s.at.theta = wrap(p.to.theta)
		}
		s.trip = nil
		s.done(p.key)
		return 0, 0
	}
	w = math.Copysign(ramp(math.Abs(off), maxTurn, turnAccel, t), off)
	if p.there || math.Abs(off) > offCourse {
		return 0, w
	}
	return ramp(left, p.speed, braking/2, t), w
}

// ramp is the speed from which one can still stop within left, and which does
// not overshoot it in one step.
func ramp(left, top, decel, t float64) float64 {
	return min(top, math.Sqrt(2*decel*left), left/t)
}

// tellSpeed tells how fast the drive is, after dt more: every so often while it
// moves, and once when it stands again.
func (s *Sim) tellSpeed(dt time.Duration) {
	s.sinceSpeed += dt
	moves := !s.stands(drive)
	if moves && s.sinceSpeed < driver.SpeedEvery || !moves && !s.toldMoving {
		return
	}
	s.sinceSpeed, s.toldMoving = 0, moves
	s.tell(driver.Event{Kind: driver.Speed, Unit: drive, VX: s.v, WZ: s.w})
}

func wrap(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

func limit(v, top float64) float64 { return min(max(v, -top), top) }

// finite reads a speed that is none as standing.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
