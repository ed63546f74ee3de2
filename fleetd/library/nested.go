package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// withNestedActs adds to a need the acts that the acts which are read for it perform, directly or
// through other acts.
func withNestedActs(n Need) Need { return withNestedActsAfter(n, nil, 0, 0) }

// withNestedActsAfter is withNestedActs after some acts were asked for, and after these numbers of entries
// and revisions were looked at.
func withNestedActsAfter(n Need, asked []string, entries, revisions int) Need {
	then := n.Then
	n.Then = func(rows Rows) Need {
		if then != nil {
			return withNestedActsAfter(then(rows), asked, entries, revisions)
		}
		more := slices.DeleteFunc(nestedIn(rows.Entries[entries:], rows.Revisions[revisions:]), func(id string) bool { return slices.Contains(asked, id) })
		if len(more) == 0 {
			return Need{}
		}
		return withNestedActsAfter(Need{Acts: more}, append(slices.Clip(asked), more...), len(rows.Entries), len(rows.Revisions))
	}
	return n
}

// nestedIn lists the acts that drafts and revisions of acts perform, sorted.
func nestedIn(entries []Entry, revisions []Revision) []string {
	found := map[string]bool{}
	add := func(kind Kind, text []byte) {
		if kind != KindAct {
			return
		}
		a, _ := score.ParseAct(text)
		for _, id := range a.Nested() {
			found[id] = true
		}
	}
	for _, e := range entries {
		add(e.Kind, e.Draft)
	}
	for _, v := range revisions {
		add(v.Kind, v.Body)
	}
	return slices.Sorted(maps.Keys(found))
}

// performs reports whether an act, as it is published or in its draft, performs another.
func (s *snapshot) performs(e Entry, id string) bool {
	draft, _ := score.ParseAct(e.Draft)
	return e.ID != id && slices.Contains(append(draft.Nested(), s.acts[e.ID].Nested()...), id)
}

// performers lists the acts that perform an act, sorted.
func (s *snapshot) performers(id string) []string {
	var performing []string
	for _, e := range s.notDeleted(KindAct) {
		if s.performs(e, id) {
			performing = append(performing, e.ID)
		}
	}
	return performing
}
