package sim

import (
	"math"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var driveKind = kind{
	unit: schema.Unit{ID: drive, Kind: schema.UnitDrive, PitchRad: &lean, RollRad: &lean, HeightM: &height,
		MaxSpeedMPS: maxSpeed, MaxTurnRadPS: maxTurn, BrakingMPS2: stopping},
	start: (*Sim).startDrive,
}

// startDrive hands a command to the drive.
func (s *Sim) startDrive(c driver.Command) {
	switch do := c.Do.Do.(type) {
	case score.Drive:
		s.startCruise(c, do)
	case score.Pose:
		s.startPose(c, do)
	default:
		s.startTrip(c)
	}
}

// trip is a running goto: turn towards the place, drive there, and then turn to the
// heading if angled is set.
type trip struct {
	key     uint64
	to      place
	angled  bool
	speed   float64
	arrived bool          // at the place; only the heading may be missing
	waited  time.Duration // for an obstacle to go
}

const (
	arriveWithin  = 0.01 // m
	alignedWithin = 0.01 // rad
	offCourse     = 0.2  // rad; beyond it, turn on the spot first
)

func (s *Sim) startTrip(c driver.Command) {
	if why, detail := s.motionRefusal(&s.movers[0]); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	do, ok := c.Do.Do.(score.Goto)
	if !ok {
		s.failed(c.Key, schema.ReasonBadRequest, "the drive knows no "+string(c.Do.Type()))
		return
	}
	t := &trip{key: c.Key, speed: maxSpeed}
	switch p, known := s.at.chart.points[do.Point]; {
	case s.at.chart.points == nil:
		s.failed(c.Key, schema.ReasonPrecondition, "there is no map")
		return
	case do.Point != "" && !known:
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no point "+do.Point)
		return
	case do.Point != "":
		t.to, t.angled = p, true
	case do.XM == nil || do.YM == nil:
		s.failed(c.Key, schema.ReasonBadRequest, "neither a point nor a place was given")
		return
	default:
		t.to.x, t.to.y = *do.XM, *do.YM
	}
	if why := s.refusesGoto(t.to); why != "" {
		s.failed(c.Key, schema.ReasonOutOfRange, why)
		return
	}
	if do.ThetaRad != nil {
		t.to.theta, t.angled = *do.ThetaRad, true
	}
	if do.SpeedMPS != nil {
		t.speed = min(max(*do.SpeedMPS, 0.05), maxSpeed)
	}
	s.abort(drive, schema.ReasonSuperseded, "a newer command moves the drive")
	s.trip = t
}

func (s *Sim) setVelocity(v driver.Velocity) {
	if why, _ := s.motionRefusal(&s.movers[0]); why != "" {
		return
	}
	s.abort(drive, schema.ReasonSuperseded, "driven manually")
	v.TTL = min(v.TTL, driver.VelocityTTL)
	v.VX, v.WZ = limit(finite(v.VX), maxSpeed), limit(finite(v.WZ), maxTurn)
	s.velocity = &v
}

// moveDrive simulates dt of the drive. A drive that shall stand brakes as hard as it safely
// can, and one that shall drive on slower does it gently.
func (s *Sim) moveDrive(dt time.Duration) {
	t := dt.Seconds()
	wantV, wantW, down := 0.0, 0.0, stopping
	m := &s.movers[0]
	switch {
	case m.state == driver.Error, m.state == driver.Halt, s.hung[drive]:
	case s.velocity != nil:
		wantV, wantW = s.velocity.VX, s.velocity.WZ
		if wantV != 0 || wantW != 0 {
			down = braking
		}
	case s.trip != nil:
		down = braking
		wantV, wantW = s.followTrip(t)
	case s.cruise != nil:
		down = braking
		wantV, wantW = s.cruise.v, s.cruise.w
	}
	if wantV = s.avoid(wantV, dt); m.state == driver.Halt {
		down = stopping
	}
	s.v = driver.Ramp(s.v, wantV, accel*t, down*t)
	s.w = driver.Ramp(s.w, wantW, turnAccel*t, turnAccel*t*down/braking)
	s.at.theta = wrap(s.at.theta + s.w*t)
	s.at.x += s.v * math.Cos(s.at.theta) * t
	s.at.y += s.v * math.Sin(s.at.theta) * t
}

// followTrip returns the speeds for the next step of the trip and ends the trip on
// arrival.
func (s *Sim) followTrip(t float64) (v, w float64) {
	p := s.trip
	dx, dy := p.to.x-s.at.x, p.to.y-s.at.y
	left := math.Hypot(dx, dy)
	if left <= arriveWithin && s.v <= accel*t {
		p.arrived = true
	}
	off := 0.0
	switch {
	case !p.arrived:
		off = wrap(math.Atan2(dy, dx) - s.at.theta)
	case p.angled:
		off = wrap(p.to.theta - s.at.theta)
	}
	if p.arrived && math.Abs(off) <= alignedWithin {
		s.at.x, s.at.y, s.v, s.w = p.to.x, p.to.y, 0, 0
		if p.angled {
			s.at.theta = wrap(p.to.theta)
		}
		s.trip = nil
		s.done(p.key)
		return 0, 0
	}
	w = math.Copysign(approachSpeed(math.Abs(off), maxTurn, turnAccel, t), off)
	if p.arrived || math.Abs(off) > offCourse {
		return 0, w
	}
	return approachSpeed(left, p.speed, braking/2, t), w
}

// approachSpeed returns the highest speed from which the body can still stop within
// left and that does not overshoot in one step of t seconds.
func approachSpeed(left, top, decel, t float64) float64 {
	return min(top, math.Sqrt(2*decel*left), left/t)
}

// emitSpeed reports the speed of the drive every SpeedEvery while it moves, and once
// when it has come to a standstill. dt is the time since the previous call.
func (s *Sim) emitSpeed(dt time.Duration) {
	s.sinceSpeed += dt
	moves := !s.atRest(drive)
	if moves && s.sinceSpeed < driver.SpeedEvery || !moves && !s.reportedMoving {
		return
	}
	s.sinceSpeed, s.reportedMoving = 0, moves
	s.emit(driver.Event{Kind: driver.Speed, Unit: drive, VX: s.v, WZ: s.w})
	s.emitPosition()
}

// emitPosition reports where the body is, if it has a map.
func (s *Sim) emitPosition() {
	if !s.config.NoMap {
		s.emit(driver.Event{Kind: driver.Position, X: s.at.x, Y: s.at.y, Theta: s.at.theta})
	}
}

func wrap(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

func limit(v, top float64) float64 { return min(max(v, -top), top) }

// finite replaces NaN and infinities by zero.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
