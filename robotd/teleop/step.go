package teleop

import (
	"fmt"
	"time"

	"troupe/schema"
)

const (
	// Lasts is how long a set-point counts at most after its frame came.
	Lasts = 400 * time.Millisecond
	// Sight is how old what the sender saw of the robot may be.
	Sight = 500 * time.Millisecond
	// TellEvery is how often refusals are told at most.
	TellEvery = time.Second
)

// Facts is what has to be known of the rest of the robot.
type Facts struct {
	Client string // who holds control; empty = nobody
	Lease  string
	// Forbid is why the robot may not be driven now; empty when it may.
	Forbid schema.Reason
	// What the drive can do at most: m/s and rad/s.
	MaxMPS, MaxRadPS float64
	// Period is how long until somebody looks again, at most.
	Period time.Duration
}

// Frame is one that arrived, and who sent it.
type Frame struct {
	Client string
	schema.VelocityFrame
	// Refused: it is not worth looking at, for this reason.
	Refused schema.Reason
	Detail  string
}

// State is the stick.
type State struct {
	At     Stage
	VX, WZ float64       // the set-point; zero but in Driving
	Until  time.Duration // it counts so long

	lease string // whose frames are counted
	seq   int64  // of the newest of them

	refused schema.Reason // the newest that is to be told
	detail  string
	client  string
	count   int64
	told    time.Duration // when refusals were told last
	silent  bool          // none was ever told
}

// Boot is a stick that nobody has touched.
func Boot() State { return State{At: Barred, silent: true} }

// Decision is what one step came to.
type Decision struct {
	Changed  bool // the set-point does, or whether the stick counts
	From, To Stage
	On       Event
	Why      string
	Tell     Refusals // to be told now, when Count is not 0
}

// Refusals are frames that did not count since the last were told.
type Refusals struct {
	Client string // of the newest
	Reason schema.Reason
	Detail string
	Count  int64
}

// Stop takes the stick away until it is let go.
func Stop(s *State) Decision {
	d := Decision{From: s.At, To: s.At}
	s.take(OnStop, &d)
	return d
}

// Look takes what changed without a frame: time, and what is allowed.
func Look(s *State, now time.Duration, f Facts) Decision {
	d := Decision{From: s.At, To: s.At}
	s.look(now, f, &d)
	s.tell(now, &d)
	return d
}

// look takes at most one edge.
func (s *State) look(now time.Duration, f Facts, d *Decision) {
	if f.Lease != s.lease {
		s.lease, s.seq = f.Lease, 0
		if s.take(OnOther, d) {
			return
		}
	}
	switch {
	case f.Forbid != "":
		s.take(OnForbid, d)
	case s.At == Driving && now+f.Period > s.Until: // else it would be too late when it is seen next
		s.take(OnRunOut, d)
	}
}

// Heard takes a frame. Of two edges in one step, which is when the set-point ran
// out just before the frame came, the second is told.
func Heard(s *State, now time.Duration, f Facts, in Frame) Decision {
	d := Decision{From: s.At, To: s.At}
	s.look(now, f, &d)
	if why, detail := s.judge(now, f, in); why != "" {
		s.refused, s.detail, s.client = why, detail, in.Client
		s.count++
	} else {
		s.push(now, f, in.VelocityFrame, &d)
	}
	s.tell(now, &d)
	return d
}

// judge answers why a frame does not count. One that is not the holder's leaves
// no trace but that.
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
	case now-seen > Sight:
		return schema.ReasonPrecondition, fmt.Sprintf("what its sender saw of the robot was %d ms old", (now - seen).Milliseconds())
	case f.Forbid != "":
		return f.Forbid, f.Forbid.Describe().Text
	case s.At == Barred && (in.VXMPS != 0 || in.WZRadPS != 0):
		return schema.ReasonPrecondition, "let the stick go first: send a frame with vx 0 and wz 0"
	}
	return "", ""
}

// push makes a valid frame the set-point.
func (s *State) push(now time.Duration, f Facts, in schema.VelocityFrame, d *Decision) {
	vx, wz := limit(in.VXMPS, f.MaxMPS), limit(in.WZRadPS, f.MaxRadPS)
	if vx == 0 && wz == 0 {
		s.take(OnLetGo, d)
		return
	}
	s.take(OnPush, d)
	s.VX, s.WZ = vx, wz
	s.Until = now + min(Lasts, time.Duration(in.TTLMS)*time.Millisecond)
}

func (s *State) take(on Event, d *Decision) bool {
	row, ok := Table.Next(s.At, on)
	if !ok {
		return false
	}
	if s.At != row.To {
		d.Changed, d.On, d.Why = true, on, row.Why
	}
	d.To, s.At = row.To, row.To
	if s.At != Driving {
		s.VX, s.WZ, s.Until = 0, 0, 0
	}
	return true
}

// tell gives out what was refused, unless something was told just now.
func (s *State) tell(now time.Duration, d *Decision) {
	if s.count == 0 || !s.silent && now-s.told < TellEvery {
		return
	}
	d.Tell = Refusals{s.client, s.refused, s.detail, s.count}
	s.refused, s.detail, s.client, s.count, s.told, s.silent = "", "", "", 0, now, false
}

func limit(v, most float64) float64 { return min(max(v, -most), most) }
