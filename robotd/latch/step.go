package latch

import (
	"fmt"
	"slices"

	"troupe/schema"
)

// Step takes one input.
func Step(s *State, now schema.Time, f Facts, in Input) Decision {
	var d Decision
	s.obey(f, &d)
	switch in := in.(type) {
	case Document:
		s.document(now, in, &d)
	case Asked:
		s.asked(in, &d)
	case Reset:
		for i := range s.Latches {
			s.goes(&s.Latches[i], OnReset, &d)
		}
	default:
		panic(fmt.Sprintf("latch: no such input: %T", in))
	}
	s.Latches = slices.DeleteFunc(s.Latches, func(l Latch) bool { return l.Phase == Free })
	d.Changed = d.Changed || len(d.Moves) > 0
	return d
}

// obey follows the robot to another fleet: what the old one wrote down, only the
// new one can release, once it has written it down too.
func (s *State) obey(f Facts, d *Decision) {
	if f.Authority == "" || f.Authority == s.Authority {
		return
	}
	if s.Authority != "" {
		for i := range s.Latches {
			l := &s.Latches[i]
			l.ByRobot, l.ByFleet = false, false
			s.goes(l, OnForeign, d)
		}
		s.RobotRev, s.FleetRev = 0, 0
		d.Changed = true
	}
	s.Authority = f.Authority
}

func (s *State) asked(a Asked, d *Decision) {
	on := OnAsked
	if a.Anew {
		on = OnAnew
	}
	if s.find(a.ID) == nil && s.loose() >= MaxLoose {
		a.ID = MoreID
	}
	l := s.of(a.StopLatch)
	if a.Anew && l.Phase != Free {
		l.Since, d.Changed = a.Since, true
	}
	if level := stronger(l.Level, a.Level); level != l.Level {
		l.Level, d.Changed = level, true
	}
	if s.goes(l, on, d) {
		l.ByRobot, l.ByFleet = false, false
	}
}

func (s *State) document(now schema.Time, doc Document, d *Decision) {
	if doc.Problem != "" {
		s.goes(s.of(schema.StopLatch{ID: illegibleID(doc.From), Level: schema.StopStop, Why: doc.Problem, Since: now}), OnIllegib, d)
		return
	}
	if s.Authority == "" {
		s.Authority, d.Changed = doc.Authority, true
	}
	if doc.Authority != s.Authority {
		d.Ignored, d.Detail = schema.ReasonWrongAuthority, "its stops hold here, and it releases none: the robot obeys "+s.Authority+", not "+doc.Authority
		for _, stop := range doc.Stops {
			s.asked(Asked{StopLatch: stop}, d)
		}
		return
	}
	newest := s.rev(doc.From)
	if doc.Rev < *newest {
		d.Ignored, d.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d was taken before this one of %d", *newest, doc.Rev)
		return
	}
	for _, stop := range doc.Stops {
		l := s.of(stop)
		if doc.Rev == *newest && l.Phase != Free {
			continue // told again, it is no word about what was asked since
		}
		if l.StopLatch != stop {
			l.StopLatch, d.Changed = stop, true
		}
		*l.holds(doc.From) = true
		s.goes(l, OnWritten, d)
	}
	if doc.Rev == *newest {
		return // told again; even if it says less than it did, it releases nothing
	}
	*newest, d.Changed = doc.Rev, true
	for i := range s.Latches {
		l := &s.Latches[i]
		if slices.ContainsFunc(doc.Stops, func(stop schema.StopLatch) bool { return stop.ID == l.ID }) {
			continue
		}
		if l.ID == illegibleID(doc.From) {
			s.goes(l, OnLegible, d)
		}
		*l.holds(doc.From) = false
		if l.Phase == Written && !l.ByRobot && !l.ByFleet {
			s.goes(l, OnDropped, d)
		}
	}
}

// goes takes the edge that an event leads along, if there is one.
func (s *State) goes(l *Latch, on Event, d *Decision) bool {
	row, ok := Table.Next(l.Phase, on)
	if !ok {
		return false
	}
	from := l.Phase
	l.Phase = row.To
	d.Moves = append(d.Moves, Move{Latch: *l, From: from, To: row.To, Why: row.Why})
	return true
}

// of finds the latch of this id, or makes a free one.
func (s *State) of(stop schema.StopLatch) *Latch {
	if l := s.find(stop.ID); l != nil {
		return l
	}
	s.Latches = append(s.Latches, Latch{StopLatch: stop, Phase: Free})
	return &s.Latches[len(s.Latches)-1]
}

func (s *State) find(id string) *Latch {
	for i := range s.Latches {
		if s.Latches[i].ID == id {
			return &s.Latches[i]
		}
	}
	return nil
}

func (s *State) loose() (n int) {
	for i := range s.Latches {
		if s.Latches[i].Phase == Loose {
			n++
		}
	}
	return n
}
