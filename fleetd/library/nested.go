package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// readNestedActs reads the acts that the acts which were read perform, directly or through other acts.
func readNestedActs(r Reader) {
	rows, entries, revisions := r.Rows(), 0, 0
	for entries < len(rows.Entries) || revisions < len(rows.Revisions) {
		nested := nestedIn(rows.Entries[entries:], rows.Revisions[revisions:])
		entries, revisions = len(rows.Entries), len(rows.Revisions)
		r.Newest(KindAct, nested...)
	}
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
