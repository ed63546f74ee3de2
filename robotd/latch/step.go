package latch

import (
	"fmt"
	"slices"

	"troupe/schema"
)

// Step takes one input.
func Step(s *State, now schema.Time, f Facts, in Input) Decision {
	var d Decision
	before := slices.Clone(s.Latches)
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
	d.Altered = s.altered(before)
	d.Changed = d.Changed || len(d.Moves)+len(d.Altered) > 0
	return d
}

func (s *State) altered(before []Latch) (all []Alteration) {
	for _, was := range before {
		is := s.find(was.ID)
		if is != nil && (is.Level != was.Level || is.Asker() != was.Asker() || is.Why != was.Why) {
			all = append(all, Alteration{From: was.StopLatch, To: is.StopLatch})
		}
	}
	return all
}

// obey follows the robot to another fleet: what the old one wrote down, only the
// new one can release, once it has written it down too.
func (s *State) obey(f Facts, d *Decision) {
	if f.FleetID == "" || f.FleetID == s.FleetID {
		return
	}
	if s.FleetID != "" {
		for i := range s.Latches {
			l := &s.Latches[i]
			l.ByRobot, l.ByFleet, l.PastRobot, l.PastFleet = 0, 0, 0, 0
			l.All = false // the robots of the other fleet were not meant
			s.goes(l, OnForeign, d)
		}
		*s = State{Latches: s.Latches}
		d.Changed = true
	}
	s.FleetID = f.FleetID
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
	if a.All && !l.All {
		l.All, d.Changed = true, true
	}
	if stronger(l.Level, a.Level) != l.Level { // it is held as whoever asked for most wants it
		l.Level, l.By, l.Client, l.Why = a.Level, a.By, a.Client, a.Why
	}
	if a.Anew {
		l.PastRobot, l.PastFleet = s.RobotRev, s.FleetRev
	}
	if s.goes(l, on, d) {
		l.ByRobot, l.ByFleet = 0, 0
	}
}

func (s *State) document(now schema.Time, doc Document, d *Decision) {
	if doc.Problem != "" {
		s.goes(s.of(schema.StopLatch{ID: illegibleID(doc.From), Level: schema.StopStop, Why: doc.Problem, Since: now}), OnIllegib, d)
		return
	}
	foreign := s.FleetID != "" && doc.FleetID != s.FleetID
	if foreign {
		d.Ignored, d.Detail = schema.ReasonWrongFleet, "its stops hold here, and it releases none: the robot obeys "+s.FleetID+", not "+doc.FleetID
	}
	if foreign || doc.Weight == Claimed {
		for _, stop := range doc.Stops {
			stop.All = false // nobody of this fleet vouches that it means the others
			if foreign || !s.overtaken(stop.ID, doc) {
				s.asked(Asked{StopLatch: stop}, d)
			}
		}
		return
	}
	if s.FleetID == "" {
		s.FleetID, d.Changed = doc.FleetID, true
	}
	newest := s.rev(doc.From)
	if doc.Rev < *newest {
		d.Ignored, d.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d was taken before this one of %d, which only tells of stops that no newer one spoke of", *newest, doc.Rev)
	}
	for _, stop := range doc.Stops {
		s.names(doc, stop, d)
	}
	if doc.Weight != Word {
		return
	}
	for i := range s.Latches {
		l := &s.Latches[i]
		if slices.ContainsFunc(doc.Stops, func(stop schema.StopLatch) bool { return stop.ID == l.ID }) {
			continue
		}
		if l.ID == illegibleID(doc.From) && doc.Rev > *newest {
			s.goes(l, OnLegible, d)
		}
		if by := l.by(doc.From); *by > 0 && *by < doc.Rev { // of the same revision, told again: even if it says less than it did, it releases nothing
			*by, d.Changed = 0, true
			s.let(Let{l.ID, doc.From, doc.Rev})
			if l.Phase == Written && l.ByRobot == 0 && l.ByFleet == 0 {
				s.goes(l, OnDropped, d)
			}
		}
	}
	if doc.Rev > *newest {
		*newest, d.Changed = doc.Rev, true
	}
}

// names takes in one stop that a document of the robot's own fleet names.
func (s *State) names(doc Document, stop schema.StopLatch, d *Decision) {
	known, newest := s.find(stop.ID), *s.rev(doc.From)
	switch {
	case s.overtaken(stop.ID, doc):
		return
	case known != nil && known.Phase == Loose && doc.Rev <= known.past(doc.From):
		return // it is no word about what was asked since
	case known == nil && doc.Rev < newest && len(s.Latches) >= 2*MaxLoose:
		stop.ID = MoreID
		s.asked(Asked{StopLatch: stop}, d)
		return
	}
	l := s.of(stop)
	all := l.All || stop.All // a robot's own document does not say
	if by := l.by(doc.From); doc.Rev > *by {
		*by, d.Changed = doc.Rev, true
		if max(l.ByRobot, l.ByFleet) == doc.Rev || l.Phase == Free {
			l.StopLatch = stop
		}
		l.All = all
	}
	s.goes(l, OnWritten, d)
}

// overtaken reports whether a newer document release the stop, or may have.
func (s *State) overtaken(id string, doc Document) bool {
	if s.find(id) == nil && doc.Rev < *s.floor(doc.From) {
		return true
	}
	return slices.ContainsFunc(s.Let, func(l Let) bool { return l.ID == id && l.From == doc.From && doc.Rev < l.Rev })
}

// let remembers that a document release a stop. Beyond MaxLet the oldest is
// forgotten, and with it whatever older documents may say.
func (s *State) let(now Let) {
	s.Let = slices.DeleteFunc(s.Let, func(l Let) bool { return l.ID == now.ID && l.From == now.From })
	s.Let = append(s.Let, now)
	oldest, of := -1, 0
	for i, l := range s.Let {
		if l.From != now.From {
			continue
		}
		if of++; oldest < 0 || l.Rev < s.Let[oldest].Rev {
			oldest = i
		}
	}
	if of > MaxLet {
		floor := s.floor(now.From)
		*floor = max(*floor, s.Let[oldest].Rev)
		s.Let = slices.Delete(s.Let, oldest, oldest+1)
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
