package teleop

import (
	"cmp"
	"fmt"
	"time"

	"troupe/schema"
)

const (
	// MaxHold is how long a set-point is valid at most after its frame arrived.
	MaxHold = 400 * time.Millisecond
	// MaxViewAge is how old the sender's view of the robot may be.
	MaxViewAge = 500 * time.Millisecond
	// ReportEvery is the shortest time between two reports of refused frames.
	ReportEvery = time.Second
)

// Facts is what this package needs to know about the rest of the robot.
type Facts struct {
	Client string // the holder of control; empty = none
	Lease  string
	// Forbid is why the robot may not be driven now; empty if it may.
	Forbid       schema.Reason
	ForbidDetail string // why, and the way out
	// The drive's limits in m/s and rad/s.
	MaxMPS, MaxRadPS float64
	// Period is the longest time until the next call of Update.
	Period time.Duration
}

// Frame is a received velocity frame and its sender.
type Frame struct {
	Client string
	schema.VelocityFrame
	// Refused is why the frame must be ignored; empty if it may be valid.
	Refused schema.Reason
	Detail  string
}

// State is the state of the joystick.
type State struct {
	At     Stage
	VX, WZ float64 // the set-point; zero except in Driving
	// DemandedVX and DemandedWZ are those of the frame, before the limits of the drive.
	DemandedVX, DemandedWZ float64
	Until                  time.Duration // the set-point is valid until then

	lease string // whose frames are accepted
	seq   int64  // of its newest frame

	valid   int64 // the newest valid frame of the newest lease; 0 = none yet
	validAt time.Duration

	refused       schema.Reason // of the newest refused frame that is not reported yet
	detail        string
	client        string
	count         int64
	reportedAt    time.Duration // when refusals were last reported
	neverReported bool          // none has been reported since boot
}

// Boot returns the state after boot.
func Boot() State { return State{At: ReleaseFirst, neverReported: true} }

// Newest returns the newest valid frame of the newest lease and how long ago it arrived; 0 =
// none yet.
func (s *State) Newest(now time.Duration) (seq int64, age time.Duration) {
	return s.valid, now - s.validAt
}

// Decision is the result of one step.
type Decision struct {
	Changed  bool // the stage changed
	From, To Stage
	On       Event
	Why      string
	Refusals Refusals // to report now if Count is not 0
}

// Refusals are the refused frames since the last report.
type Refusals struct {
	Client string // of the newest
	Reason schema.Reason
	Detail string
	Count  int64
}

// Stop ends driving until the stick is released.
func Stop(s *State) Decision {
	d := Decision{From: s.At, To: s.At}
	s.transition(OnStop, &d)
	return d
}

// Update processes changes without a frame: of time and of the facts.
func Update(s *State, now time.Duration, f Facts) Decision {
	d := Decision{From: s.At, To: s.At}
	s.applyFacts(now, f, &d)
	s.report(now, &d)
	return d
}

// applyFacts makes at most one transition.
func (s *State) applyFacts(now time.Duration, f Facts, d *Decision) {
	if f.Lease != s.lease {
		s.lease, s.seq = f.Lease, 0
		if f.Lease != "" {
			s.valid = 0
		}
		if s.transition(OnOther, d) {
			return
		}
	}
	switch {
	case f.Forbid != "":
		s.transition(OnForbid, d)
	case s.At == Driving && now+f.Period > s.Until: // at the next call it would be too late
		s.transition(OnRunOut, d)
	}
}

// ReceiveFrame processes a frame. If there are two transitions in one step (the set-point
// expired just before the frame arrived), the decision contains the second.
func ReceiveFrame(s *State, now time.Duration, f Facts, in Frame) Decision {
	d := Decision{From: s.At, To: s.At}
	s.applyFacts(now, f, &d)
	if why, detail := s.judge(now, f, in); why != "" {
		s.refused, s.detail, s.client = why, detail, in.Client
		s.count++
	} else {
		s.apply(now, f, in.VelocityFrame, &d)
	}
	s.report(now, &d)
	return d
}

// judge returns why a frame is refused, or "". A frame that is not from the holder
// does not change the state.
func (s *State) judge(now time.Duration, f Facts, in Frame) (schema.Reason, string) {
	seen := time.Duration(in.SeenMonoMS) * time.Millisecond
	switch {
	case in.Refused != "":
		return in.Refused, in.Detail
	case f.Lease == "" || in.Lease != f.Lease || in.Client != f.Client:
		return schema.ReasonNotInControl, "the lease is not the sender's, or it is over"
	case in.Seq <= s.seq:
		return schema.ReasonOutOfOrder, fmt.Sprintf("frame %d came after frame %d", in.Seq, s.seq)
	}
	s.seq = in.Seq
	switch {
	case seen > now:
		return schema.ReasonPrecondition, "seen_mono_ms is of another boot of this robot"
	case now-seen > MaxViewAge:
		return schema.ReasonPrecondition, fmt.Sprintf("the sender's view of the robot was %d ms old", (now - seen).Milliseconds())
	case f.Forbid != "":
		return f.Forbid, cmp.Or(f.ForbidDetail, f.Forbid.Describe().Text)
	case s.At == ReleaseFirst && (in.VXMPS != 0 || in.WZRadPS != 0):
		return schema.ReasonPrecondition, "release the stick first: send a frame with vx 0 and wz 0"
	}
	return "", ""
}

// apply sets the set-point from a valid frame.
func (s *State) apply(now time.Duration, f Facts, in schema.VelocityFrame, d *Decision) {
	s.valid, s.validAt = in.Seq, now
	vx, wz := limit(in.VXMPS, f.MaxMPS), limit(in.WZRadPS, f.MaxRadPS)
	if vx == 0 && wz == 0 {
		s.transition(OnReleased, d)
		return
	}
	s.transition(OnPush, d)
	s.VX, s.WZ, s.DemandedVX, s.DemandedWZ = vx, wz, in.VXMPS, in.WZRadPS
	s.Until = now + min(MaxHold, time.Duration(in.TTLMS)*time.Millisecond)
}

// transition changes the stage if the table has a row for the event. Outside Driving the
// set-point is zero.
func (s *State) transition(on Event, d *Decision) bool {
	row, ok := Table.Next(s.At, on)
	if !ok {
		return false
	}
	if s.At != row.To {
		d.Changed, d.On, d.Why = true, on, row.Why
	}
	d.To, s.At = row.To, row.To
	if s.At != Driving {
		s.VX, s.WZ, s.DemandedVX, s.DemandedWZ, s.Until = 0, 0, 0, 0, 0
	}
	return true
}

// report moves the refusals into d, at most once per ReportEvery.
func (s *State) report(now time.Duration, d *Decision) {
	if s.count == 0 || !s.neverReported && now-s.reportedAt < ReportEvery {
		return
	}
	d.Refusals = Refusals{s.client, s.refused, s.detail, s.count}
	s.refused, s.detail, s.client, s.count, s.reportedAt, s.neverReported = "", "", "", 0, now, false
}

func limit(v, most float64) float64 { return min(max(v, -most), most) }
