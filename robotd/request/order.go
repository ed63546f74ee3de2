package request

import (
	"slices"

	"troupe/schema/verb"
)

// seqMark is the highest admitted seq of one client's session in one verb group.
type seqMark struct {
	client, session, group string
	seq                    int64
}

// outOfOrder reports whether a command of the same client, session and group with
// the same or a higher seq was admitted before req, and returns that seq. A
// command without a seq is never out of order.
func (s *State) outOfOrder(client, group string, req verb.Request) (newest int64, late bool) {
	if i := s.indexOfMark(client, group, req.Session); i >= 0 && req.Seq != 0 {
		return s.marks[i].seq, req.Seq <= s.marks[i].seq
	}
	return 0, false
}

func (s *State) indexOfMark(client, group, session string) int {
	return slices.IndexFunc(s.marks, func(m seqMark) bool { return m.client == client && m.group == group && m.session == session })
}

// markSeq records the seq of an admitted command. A stop is admitted whatever its
// seq, and makes commands with a lower seq out of order.
func (s *State) markSeq(client, group, session string, seq int64) {
	if seq == 0 {
		return
	}
	if i := s.indexOfMark(client, group, session); i >= 0 {
		seq = max(seq, s.marks[i].seq)
		s.marks = slices.Delete(s.marks, i, i+1)
	}
	own := func(m seqMark) bool { return m.client == client }
	count := 0
	for _, m := range s.marks {
		if own(m) {
			count++
		}
	}
	switch {
	case count >= MaxMarks:
		i := slices.IndexFunc(s.marks, own)
		s.marks = slices.Delete(s.marks, i, i+1)
	case len(s.marks) >= MaxMarks*MaxClients:
		s.marks = slices.Delete(s.marks, 0, 1)
	}
	s.marks = append(s.marks, seqMark{client, session, group, seq})
}

// unmarkSeq undoes markSeq for e, which the disk refused, so that the sender may
// send the same bytes again. The mark falls back to the highest seq in the
// journal.
func (s *State) unmarkSeq(e *entry) {
	group := verbOf(e.rec.Verb).Group
	i := s.indexOfMark(e.rec.Client, group, e.rec.Session)
	if i < 0 || e.rec.Seq == 0 {
		return
	}
	var newest int64
	if j := s.journalOf(e.rec.Client); j != nil {
		for _, o := range j.entries {
			if o.rec.Session == e.rec.Session && verbOf(o.rec.Verb).Group == group {
				newest = max(newest, o.rec.Seq)
			}
		}
	}
	if s.marks[i].seq = newest; newest == 0 {
		s.marks = slices.Delete(s.marks, i, i+1)
	}
}
