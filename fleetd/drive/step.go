package drive

import (
	"math"
	"time"

	"troupe/schema"
)

const (
	// FrameGap is after how long without a frame fleetd stops the robot.
	FrameGap = 250 * time.Millisecond
	// GiveBackAfter is after how long without a frame fleetd gives control back.
	GiveBackAfter = 2 * time.Second
	// MaxLatency is the latency at which fleetd stops the robot.
	MaxLatency = 800 * time.Millisecond
	// SpeedTimeout is how old the newest speed of the robot may be: the robot ignores frames
	// of a sender that has not heard from it for that long.
	SpeedTimeout = 500 * time.Millisecond

	// StandsWithin: a robot whose braking is known has come to a standstill this long after the last
	// frame.
	StandsWithin = 400 * time.Millisecond
	// minFrameTTL and maxFrameTTL bound how long the robot follows one frame.
	minFrameTTL = 150 * time.Millisecond
	maxFrameTTL = FrameGap
	// robotTick is by how much the robot may act later than it decided.
	robotTick = 20 * time.Millisecond
)

// Frame is one frame of a person's device.
type Frame struct {
	Lease string
	Seq   int64 // rises within the connection
	VX    float64
	WZ    float64
	// Latency is the round trip from the device to fleetd and back, as the device measured it.
	Latency time.Duration
}

// Facts is what a session needs to know about the rest.
type Facts struct {
	// Lease is the control that the person has of the robot through this instance; empty =
	// none, and Why says why.
	Lease string
	Why   string
	// Forbidden is why the person may not drive any more; empty = they may.
	Forbidden string
	Gone      bool // the connection to the person's device ended
	Ending    bool // fleetd shuts down
	Replaced  bool // the lease is used by a newer connection
	Connected bool // to the broker

	Limits Limits
	// SeenMonoMS is the robot's time of the newest speed that it reported, and SeenAt when
	// that arrived.
	SeenMonoMS int64
	SeenAt     time.Time
	// RobotLatency is the round trip from fleetd to the robot and back.
	RobotLatency time.Duration
}

// Limits are how a person may drive the robot.
type Limits struct {
	MPS, RadPS float64
	Braking    float64 // m/s²; 0 = unknown
}

// blindMPS is the greatest speed of a drive that does not say how it brakes.
const blindMPS = 0.2

// LimitsOf returns the limits of a drive that can drive and turn as fast as that. A person
// drives a robot only as fast as it can brake: it stands StandsWithin after the last frame.
func LimitsOf(mps, radps, braking float64) Limits {
	most := braking * (StandsWithin - minFrameTTL - robotTick).Seconds()
	if braking <= 0 {
		most = blindMPS
	}
	return Limits{MPS: min(mps, most), RadPS: radps, Braking: braking}
}

// State is the state of a session.
type State struct {
	At     Stage
	VX, WZ float64 // what the robot was told last; zero except in Driving

	lease string
	seq   int64     // of the newest frame of the device
	sent  int64     // of the newest frame to the robot
	heard time.Time // when the newest frame arrived, or the session began
}

// New returns a session that begins now.
func New(now time.Time) State { return State{At: ReleaseFirst, heard: now} }

// Heard is when the newest frame arrived, or the session began. A frame counts also while the stick
// has to be released first.
func (s *State) Heard() time.Time { return s.heard }

// Decision is the result of one step.
type Decision struct {
	Changed  bool // the stage changed
	From, To Stage
	On       Cause
	Why      string
	Detail   string

	Send            *schema.VelocityFrame // to the robot; nil = nothing
	Zeroed          Cause                 // why fleetd stopped the driving robot; empty if it did not, or if the person released the stick
	GiveBackControl bool
	Refused         string // why the frame did not count
}

// Tick processes the passing of time and changed facts.
func Tick(s *State, now time.Time, f Facts) Decision {
	d := Decision{From: s.At, To: s.At}
	s.look(now, f, &d)
	return d
}

// Receive processes a frame of the person's device.
func Receive(s *State, now time.Time, f Facts, in Frame) Decision {
	d := Decision{From: s.At, To: s.At}
	if s.look(now, f, &d); s.At == Ended {
		return d
	}
	switch {
	case in.Lease != f.Lease:
		d.Refused = "the frame names another lease"
		return d
	case in.Seq <= s.seq:
		d.Refused = "the frame is older than the one before"
		return d
	case math.IsNaN(in.VX+in.WZ) || math.IsInf(in.VX+in.WZ, 0):
		d.Refused = "a velocity is not a number"
		return d
	}
	s.seq, s.heard = in.Seq, now
	vx, wz := limit(in.VX, f.Limits.MPS), limit(in.WZ, f.Limits.RadPS)
	if in.Latency+f.RobotLatency > MaxLatency && (vx != 0 || wz != 0) {
		s.take(Latency, &d)
	}
	switch {
	case !f.Connected || f.SeenMonoMS == 0:
		return d
	case vx == 0 && wz == 0:
		s.take(StickReleased, &d)
	case s.At == ReleaseFirst:
		if !d.Changed {
			d.Refused = "release the stick first"
		}
		vx, wz = 0, 0
	default:
		s.take(Pushed, &d)
	}
	s.send(now, f, vx, wz, &d)
	return d
}

// look makes the transition that the time and the facts ask for, at most one.
func (s *State) look(now time.Time, f Facts, d *Decision) {
	silent := now.Sub(s.heard)
	switch {
	case s.At == Ended:
		return
	case f.Forbidden != "":
		s.end(RightLost, f.Forbidden, d)
		d.GiveBackControl = f.Lease != "" && !f.Replaced
	case f.Replaced:
		s.end(Replaced, "", d)
		return // the newer session drives
	case f.Lease == "" || s.lease != "" && f.Lease != s.lease:
		s.end(LeaseOver, f.Why, d)
	case f.Ending:
		s.end(FleetdEnding, "", d) // with this instance its control ends
	case silent >= GiveBackAfter:
		s.end(Silent, "", d)
		d.GiveBackControl = true
	case !f.Connected:
		s.take(NoBroker, d)
	case f.Gone:
		s.take(Disconnected, d)
	case silent >= FrameGap:
		s.take(NoFrames, d)
	case f.SeenMonoMS != 0 && now.Sub(f.SeenAt) > SpeedTimeout:
		s.take(RobotSilent, d)
	}
	if s.lease == "" {
		s.lease = f.Lease
	}
	if d.Changed && d.From == Driving {
		s.send(now, f, 0, 0, d)
	}
}

func (s *State) end(on Cause, detail string, d *Decision) {
	s.take(on, d)
	d.Detail = detail
}

func (s *State) take(on Cause, d *Decision) {
	row, ok := Table.Next(s.At, on)
	if !ok {
		return
	}
	if s.At != row.To {
		d.Changed = true
		if d.Zeroed == "" { // if fleetd stopped the robot in this step, Why says why it did
			d.On, d.Why = on, row.Why
		}
		if s.At == Driving && on != StickReleased {
			d.Zeroed = on
		}
	}
	d.To, s.At = row.To, row.To
	if s.At != Driving {
		s.VX, s.WZ = 0, 0
	}
}

// send makes the frame to the robot. Its seq rises over all sessions of a lease, because it
// follows the clock.
func (s *State) send(now time.Time, f Facts, vx, wz float64, d *Decision) {
	s.VX, s.WZ = vx, wz
	s.sent = max(s.sent+1, now.UnixMilli())
	d.Send = &schema.VelocityFrame{
		Lease: s.lease, Seq: s.sent, VXMPS: vx, WZRadPS: wz,
		// 0 would be left out on the wire, where the field is required
		TTLMS: f.Limits.frameTTL(vx, wz).Milliseconds(), SeenMonoMS: max(f.SeenMonoMS, 1),
	}
}

// frameTTL is how long the robot follows a frame: so briefly that it can brake to a standstill
// StandsWithin after the frame. How fast it can stop turning is not known.
func (l Limits) frameTTL(vx, wz float64) time.Duration {
	if l.Braking <= 0 || wz != 0 {
		return minFrameTTL
	}
	braking := time.Duration(math.Abs(vx) / l.Braking * float64(time.Second))
	return min(max(StandsWithin-robotTick-braking, minFrameTTL), maxFrameTTL)
}

func limit(v, most float64) float64 { return min(max(v, -most), most) }
