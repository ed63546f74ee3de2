package request

import (
	"slices"

	"troupe/schema"
)

// mark is the highest seq that was taken of one sender's session in one group of
// verbs.
type mark struct {
	client, session, group string
	seq                    int64
}

// behind reports whether req came after a newer one of its order, and the seq of
// that one. A command without a seq has no order.
func (s *State) behind(client, group string, req schema.Request) (newest int64, late bool) {
	if i := s.markOf(client, group, req.Session); i >= 0 && req.Seq != 0 {
		return s.marks[i].seq, req.Seq <= s.marks[i].seq
	}
	return 0, false
}

func (s *State) markOf(client, group, session string) int {
	return slices.IndexFunc(s.marks, func(m mark) bool { return m.client == client && m.group == group && m.session == session })
}

// mark notes that a command was taken. A stop is taken wherever it stands in its
// order, and makes everything before it late.
func (s *State) mark(client, group, session string, seq int64) {
	if seq == 0 {
		return
	}
	if i := s.markOf(client, group, session); i >= 0 {
		seq = max(seq, s.marks[i].seq)
		s.marks = slices.Delete(s.marks, i, i+1)
	}
	own := func(m mark) bool { return m.client == client }
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
	s.marks = append(s.marks, mark{client, session, group, seq})
}

// unmark takes back what e had marked: the disk did not take it, and its sender
// may send the same bytes again. What remains is what the journal remembers.
func (s *State) unmark(e *entry) {
	group := verbOf(e.rec.Verb).Group
	i := s.markOf(e.rec.Client, group, e.rec.Session)
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
