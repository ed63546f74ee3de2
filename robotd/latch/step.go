package latch

import (
	"fmt"
	"slices"

	"troupe/schema"
)

// step handles one input.
func (s *Latched) step(now schema.Time, f Facts, in Input) Decision {
	var d Decision
	before := slices.Clone(s.Latches)
	s.followFleet(f, &d)
	switch in := in.(type) {
	case Document:
		s.document(now, in, &d)
	case Asked:
		s.asked(in, &d)
	case LocalRelease:
		for i := range s.Latches {
			s.transition(&s.Latches[i], OnLocalRelease, &d)
		}
	default:
		panic(fmt.Sprintf("latch: no such input: %T", in))
	}
	s.Latches = slices.DeleteFunc(s.Latches, func(l Latch) bool { return l.Phase == Free })
	d.Altered = s.altered(before)
	d.Changed = d.Changed || len(d.Transitions)+len(d.Altered) > 0
	d.Dated = !slices.EqualFunc(before, s.Latches, func(was, is Latch) bool { return was.StopLatch == is.StopLatch })
	d.Shown = d.Dated && !slices.EqualFunc(before, s.Latches, func(was, is Latch) bool {
		was.Since = is.Since
		return was.StopLatch == is.StopLatch
	})
	return d
}

func (s *Latched) altered(before []Latch) (all []Alteration) {
	for _, was := range before {
		is := s.find(was.ID)
		if is != nil && (is.Level != was.Level || is.Asker() != was.Asker() || is.Why != was.Why) {
			all = append(all, Alteration{From: was.StopLatch, To: is.StopLatch})
		}
	}
	return all
}

// followFleet handles a change of the robot's fleet. A stop that the former fleet recorded
// counts as unrecorded: a person at the robot can release it, or the new fleet once it has
// recorded it.
func (s *Latched) followFleet(f Facts, d *Decision) {
	if f.FleetID == "" || f.FleetID == s.FleetID {
		return
	}
	if s.FleetID != "" {
		for i := range s.Latches {
			l := &s.Latches[i]
			l.ByRobot, l.ByFleet, l.PastRobot, l.PastFleet = 0, 0, 0, 0
			l.All = false // it did not apply to the robots of this fleet
			s.transition(l, OnForeign, d)
		}
		*s = Latched{Latches: s.Latches}
		d.Changed = true
	}
	s.FleetID = f.FleetID
}

func (s *Latched) asked(a Asked, d *Decision) {
	on := OnAsked
	if a.Anew {
		on = OnNewStop
	}
	if s.find(a.ID) == nil && s.unrecorded() >= MaxUnrecorded {
		a.ID = MoreID
	}
	l := s.findOrAdd(a.StopLatch)
	if a.Anew && l.Phase != Free {
		l.Since, d.Changed = a.Since, true
	}
	if a.All && !l.All {
		l.All, d.Changed = true, true
	}
	if l.Level.Stronger(a.Level) != l.Level { // the strongest request wins
		l.Level, l.By, l.Client, l.Why = a.Level, a.By, a.Client, a.Why
	}
	if a.Anew {
		l.PastRobot, l.PastFleet = s.RobotRev, s.FleetRev
	}
	if s.transition(l, on, d) {
		l.ByRobot, l.ByFleet = 0, 0
	}
}

func (s *Latched) document(now schema.Time, doc Document, d *Decision) {
	if doc.Problem != "" {
		s.transition(s.findOrAdd(schema.StopLatch{ID: unreadableID(doc.From), Level: schema.StopStop, Why: doc.Problem, Since: now}),
			OnUnreadable, d)
		return
	}
	foreign := s.FleetID != "" && doc.FleetID != s.FleetID
	if foreign {
		d.PartlyIgnored, d.Detail = schema.ReasonWrongFleet, "its stops are latched here, and it releases none: the robot belongs to "+s.FleetID+
			", not to "+doc.FleetID
	}
	if foreign || doc.Verification == Unverified {
		for _, stop := range doc.Stops {
			stop.All = false // not verified by this fleet, so it does not concern other robots
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
		d.PartlyIgnored, d.Detail = schema.ReasonStaleRevision,
			fmt.Sprintf("revision %d came after revision %d; only stops that no newer revision mentions are taken from it", doc.Rev, *newest)
	}
	for _, stop := range doc.Stops {
		s.latchNamed(doc, stop, d)
	}
	if doc.Verification != Verified {
		return
	}
	for i := range s.Latches {
		l := &s.Latches[i]
		if slices.ContainsFunc(doc.Stops, func(stop schema.StopLatch) bool { return stop.ID == l.ID }) {
			continue
		}
		if l.ID == unreadableID(doc.From) && doc.Rev > *newest {
			s.transition(l, OnReadable, d)
		}
		if named := l.namedBy(doc.From); *named > 0 && *named < doc.Rev { // the same revision again, even with fewer stops, releases nothing
			*named, d.Changed = 0, true
			s.recordRelease(Release{l.ID, doc.From, doc.Rev})
			if l.Phase == Recorded && l.ByRobot == 0 && l.ByFleet == 0 {
				s.transition(l, OnReleased, d)
			}
		}
	}
	if doc.Rev > *newest {
		*newest, d.Changed = doc.Rev, true
	}
}

// latchNamed latches one stop that a document of the robot's fleet names.
func (s *Latched) latchNamed(doc Document, stop schema.StopLatch, d *Decision) {
	known, newest := s.find(stop.ID), *s.rev(doc.From)
	switch {
	case s.overtaken(stop.ID, doc):
		return
	case known != nil && known.Phase == Unrecorded && doc.Rev <= known.before(doc.From):
		return // the document is older than the request
	case known == nil && doc.Rev < newest && len(s.Latches) >= maxFromStale:
		stop.ID = MoreID
		s.asked(Asked{StopLatch: stop}, d)
		return
	}
	l := s.findOrAdd(stop)
	all := l.All || stop.All // only fleet/stop has this field
	if named := l.namedBy(doc.From); doc.Rev > *named {
		*named, d.Changed = doc.Rev, true
		// The newest of both documents says who stopped the robot and why. fleetd makes their
		// revisions from the time, so they can be compared. None lowers the level: fleetd may not
		// have saved yet that the stop was raised.
		if level := l.Level.Stronger(stop.Level); max(l.ByRobot, l.ByFleet) == doc.Rev || l.Phase == Free {
			l.StopLatch = stop
			l.Level = level
		}
		l.All = all
	}
	s.transition(l, OnRecorded, d)
}

// overtaken reports whether a newer document released the stop, or may have.
func (s *Latched) overtaken(id string, doc Document) bool {
	if s.find(id) == nil && doc.Rev < *s.floor(doc.From) {
		return true
	}
	return slices.ContainsFunc(s.Releases, func(l Release) bool { return l.ID == id && l.From == doc.From && doc.Rev < l.Rev })
}

// recordRelease remembers that a document released a stop. Beyond MaxReleases it forgets the
// oldest, and from then on ignores documents of that age.
func (s *Latched) recordRelease(now Release) {
	s.Releases = slices.DeleteFunc(s.Releases, func(l Release) bool { return l.ID == now.ID && l.From == now.From })
	s.Releases = append(s.Releases, now)
	oldest, of := -1, 0
	for i, l := range s.Releases {
		if l.From != now.From {
			continue
		}
		if of++; oldest < 0 || l.Rev < s.Releases[oldest].Rev {
			oldest = i
		}
	}
	if of > MaxReleases {
		floor := s.floor(now.From)
		*floor = max(*floor, s.Releases[oldest].Rev)
		s.Releases = slices.Delete(s.Releases, oldest, oldest+1)
	}
}

// transition applies an event to a latch, if the table has a row for it.
func (s *Latched) transition(l *Latch, on Event, d *Decision) bool {
	row, ok := Table.Next(l.Phase, on)
	if !ok {
		return false
	}
	from := l.Phase
	l.Phase = row.To
	d.Transitions = append(d.Transitions, Transition{Latch: *l, From: from, To: row.To, Why: row.Why})
	return true
}

// findOrAdd returns the latch with this id, or adds a free one.
func (s *Latched) findOrAdd(stop schema.StopLatch) *Latch {
	if l := s.find(stop.ID); l != nil {
		return l
	}
	s.Latches = append(s.Latches, Latch{StopLatch: stop, Phase: Free})
	return &s.Latches[len(s.Latches)-1]
}

func (s *Latched) find(id string) *Latch {
	for i := range s.Latches {
		if s.Latches[i].ID == id {
			return &s.Latches[i]
		}
	}
	return nil
}

func (s *Latched) unrecorded() (n int) {
	for i := range s.Latches {
		if s.Latches[i].Phase == Unrecorded {
			n++
		}
	}
	return n
}
