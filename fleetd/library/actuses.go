package library

import (
	"cmp"
	"slices"

	"troupe/schema"
)

// ActUse is an act, a story or an activity that performs an act.
type ActUse struct {
	Of     Ref
	Draft  bool     // in its draft
	Rev    int64    // in its newest published revision, which is this one; 0 = not there
	Robots []string // that have a revision of it with the act, sorted
}

// ForUsesOfAct reads what UsesOfAct looks at.
func ForUsesOfAct(act string) Reading {
	return func(r Reader) {
		r.Uses(kinds, Ref{KindAct, act})
		r.Assigned(Ref{KindAct, act})
		stories, activities := assigned(r.Rows())
		r.Entries(KindStory, stories...)
		r.Entries(KindActivity, activities...)
	}
}

// UsesOfAct lists what performs an act, in drafts, in the newest published revisions, or on robots.
func UsesOfAct(rows Rows, act string) ([]ActUse, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	of := Ref{KindAct, act}
	all := map[Ref]*ActUse{}
	performer := func(at Ref) *ActUse {
		if all[at] == nil {
			all[at] = &ActUse{Of: at}
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
	for at, b := range s.published {
		if _, contains := b.Acts[act]; contains {
			if robots := s.assignedTo(at.Ref, at.rev); len(robots) > 0 {
				p := performer(at.Ref)
				p.Robots = slices.Compact(slices.Sorted(slices.Values(append(p.Robots, robots...))))
			}
		}
	}
	var out []ActUse
	for _, p := range all {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b ActUse) int {
		return cmp.Or(cmp.Compare(a.Of.Kind, b.Of.Kind), cmp.Compare(a.Of.ID, b.Of.ID))
	})
	return out, nil
}
