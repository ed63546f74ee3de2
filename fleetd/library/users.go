package library

import (
	"cmp"
	"slices"

	"troupe/schema"
)

// User is an act, a story or an activity that performs an act.
type User struct {
	Of     Ref
	Draft  bool     // in its draft
	Rev    int64    // in its newest published revision, which is this one; 0 = not there
	Robots []string // that have a revision of it with the act, sorted
}

// ForUsers is what Users looks at.
func ForUsers(act string) Need {
	of := []Ref{{KindAct, act}}
	return Need{ActsWith: of, SequencesWith: of, Holders: of, Then: func(rows Rows) Need {
		return Need{Stories: heldStories(rows), Activities: heldActivities(rows), EntriesOnly: true}
	}}
}

// Users lists what performs an act, in drafts, in the newest published revisions, or on robots.
func Users(rows Rows, act string) ([]User, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	of := Ref{KindAct, act}
	all := map[Ref]*User{}
	user := func(at Ref) *User {
		if all[at] == nil {
			all[at] = &User{Of: at}
		}
		return all[at]
	}
	for _, e := range s.live(KindAct, KindStory, KindActivity) {
		at := Ref{e.Kind, e.ID}
		if slices.Contains(RefsOfDraft(e.Kind, e.Draft), of) {
			user(at).Draft = true
		}
		if v := s.current(e); e.Rev > 0 && slices.Contains(RefsOfRevision(e.Kind, v.Body), of) {
			user(at).Rev = e.Rev
		}
	}
	for at, b := range s.blobs {
		if _, contains := b.Acts[act]; contains {
			if robots := s.holders(at.Ref, at.rev); len(robots) > 0 {
				u := user(at.Ref)
				u.Robots = slices.Compact(slices.Sorted(slices.Values(append(u.Robots, robots...))))
			}
		}
	}
	var out []User
	for _, u := range all {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b User) int { return cmp.Or(cmp.Compare(a.Of.Kind, b.Of.Kind), cmp.Compare(a.Of.ID, b.Of.ID)) })
	return out, nil
}
