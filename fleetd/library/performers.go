package library

import (
	"cmp"
	"slices"

	"troupe/schema"
)

// Performer is an act, a story or an activity that performs an act.
type Performer struct {
	Of     Ref
	Draft  bool     // in its draft
	Rev    int64    // in its newest published revision, which is this one; 0 = not there
	Robots []string // that have a revision of it with the act, sorted
}

// ForPerformers is what Performers looks at.
func ForPerformers(act string) Need {
	of := []Ref{{KindAct, act}}
	return Need{ActsWith: of, SequencesWith: of, AssignedRefs: of, Then: func(rows Rows) Need {
		return Need{Stories: assignedStories(rows), Activities: assignedActivities(rows), EntriesOnly: true}
	}}
}

// Performers lists what performs an act, in drafts, in the newest published revisions, or on robots.
func Performers(rows Rows, act string) ([]Performer, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	of := Ref{KindAct, act}
	all := map[Ref]*Performer{}
	performer := func(at Ref) *Performer {
		if all[at] == nil {
			all[at] = &Performer{Of: at}
		}
		return all[at]
	}
	for _, e := range s.notDeleted(KindAct, KindStory, KindActivity) {
		at := Ref{e.Kind, e.ID}
		if slices.Contains(RefsOfDraft(e.Kind, e.Draft), of) {
			performer(at).Draft = true
		}
		if v := s.current(e); e.Rev > 0 && slices.Contains(RefsOfRevision(e.Kind, v.Body), of) {
			performer(at).Rev = e.Rev
		}
	}
	for at, b := range s.blobs {
		if _, contains := b.Acts[act]; contains {
			if robots := s.assignedTo(at.Ref, at.rev); len(robots) > 0 {
				p := performer(at.Ref)
				p.Robots = slices.Compact(slices.Sorted(slices.Values(append(p.Robots, robots...))))
			}
		}
	}
	var out []Performer
	for _, p := range all {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Performer) int {
		return cmp.Or(cmp.Compare(a.Of.Kind, b.Of.Kind), cmp.Compare(a.Of.ID, b.Of.ID))
	})
	return out, nil
}
