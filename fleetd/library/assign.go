package library

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// Assignment is the set the story that robots perform by default.
type Assignment struct {
	Story    string // empty = none: what they had is taken back
	Rev      int64  // 0 = the newest
	Robots   []string
	Apply    schema.Apply // empty = at the next act
	Expected *int         // how many robots the caller saw; nil = any

	// Caps of those robots that have told theirs: what of the story a body cannot
	// perform is told beforehand. The robot itself decides.
	Caps map[string]schema.Caps
}

// Assigned is what an assignment comes to.
type Assigned struct {
	Revision  Revision                    // zero when a default is taken back
	Told      []string                    // robots that get a new desired state
	Unchanged []string                    // robots that had this desired state already
	Misfits   map[string][]schema.Problem // by robot that is told: what its body lacks for the story
	Changes   Changes
}

// Assign pins robots to one published revision. They keep exactly that one:
// publishing the story again does not reach them, assigning it again does. A
// robot that has this desired state already is not told again.
func Assign(rows Rows, a Assignment, by By) (Assigned, []schema.Problem) {
	s, problems := newShelf(rows)
	if problems != nil {
		return Assigned{}, problems
	}
	switch a.Apply {
	case "":
		a.Apply = schema.ApplyNextAct
	case schema.ApplyNextAct, schema.ApplyNow, schema.ApplyNextStart:
	default:
		return Assigned{}, []schema.Problem{schema.Fault("/apply", "bad_value", fmt.Sprintf("%q is not a way to apply a story", a.Apply), "next_act, now or next_start")}
	}
	var out Assigned
	if a.Story != "" {
		if out.Revision, problems = s.assignable(a.Story, a.Rev); problems != nil {
			return Assigned{}, problems
		}
		a.Rev = out.Revision.Rev
	} else {
		a.Rev = 0
	}
	robots := slices.Compact(slices.Sorted(slices.Values(a.Robots)))
	for _, robot := range robots {
		d := s.defaults[robot]
		if d.Story == a.Story && d.Rev == a.Rev && (a.Story == "" || d.Apply == a.Apply) && !s.outdated(d) && !s.heard(robot).Overtakes(d.DesiredRev) {
			out.Unchanged = append(out.Unchanged, robot)
		} else {
			out.Told = append(out.Told, robot)
		}
	}
	switch {
	case len(robots) == 0:
		return Assigned{}, []schema.Problem{schema.Fault("/selector", CodeNobody, "no robot is selected", "list the robots with the same selector")}
	case a.Expected != nil && *a.Expected != len(robots):
		return Assigned{}, []schema.Problem{schema.Fault("/expected_count", CodeCountChanged,
			fmt.Sprintf("%d robots are selected, %d were expected", len(robots), *a.Expected), "look again with a dry run")}
	case len(out.Told) == 0:
		return out, nil
	}
	out.Misfits = s.misfits(out.Told, a)
	s.tell(out.Told, a.Story, a.Rev, a.Apply, by)
	what, target := "assign", fmt.Sprintf("story %s revision %d", a.Story, a.Rev)
	if a.Story == "" {
		what, target = "take back", "default story"
	}
	s.note(by, what, target, To(out.Told, by.Why))
	out.Changes = s.changes
	return out, nil
}

// Again tells robots the desired state that they have once more, under a number that they
// heed: of those that say that theirs is not the newest.
func Again(rows Rows, robots []string, by By) ([]string, Changes, []schema.Problem) {
	s, problems := newShelf(rows)
	if problems != nil {
		return nil, Changes{}, problems
	}
	var told []string
	for _, robot := range slices.Compact(slices.Sorted(slices.Values(robots))) {
		if d := s.defaults[robot]; s.heard(robot).Overtakes(d.DesiredRev) {
			s.tell([]string{robot}, d.Story, d.Rev, "", by)
			told = append(told, robot)
		}
	}
	if len(told) > 0 {
		s.note(by, "tell again", "default story", To(told, by.Why))
	}
	return told, s.changes, nil
}

// outdated reports whether what a robot was told lacks the signature that it
// would have today. What nobody ever told needs none.
func (s *snapshot) outdated(d Default) bool {
	if d.DesiredRev == 0 {
		return false
	}
	was, _ := schema.Decode[schema.DesiredStory](d.Told)
	return s.seal.Outdated(was.Sig)
}

// misfits lists what the robots that are told lack for the story.
func (s *snapshot) misfits(robots []string, a Assignment) map[string][]schema.Problem {
	found := map[string][]schema.Problem{}
	blob, published := s.blobs[revisionKey{key{KindStory, a.Story}, a.Rev}]
	for _, robot := range robots {
		caps, told := a.Caps[robot]
		if !told || !published {
			continue
		}
		if _, problems := score.Fitted(blob, caps, nil); len(schema.Errors(problems)) > 0 {
			found[robot] = problems
		}
	}
	return found
}

// assignable finds a revision that robots may be given.
func (s *snapshot) assignable(story string, rev int64) (Revision, []schema.Problem) {
	e, problems := s.find(KindStory, story)
	if problems != nil {
		return Revision{}, problems
	}
	if e.Rev == 0 {
		return Revision{}, []schema.Problem{schema.Fault("/story", CodeNotPublished, "story "+story+" is only a draft", "publish it first")}
	}
	if rev == 0 {
		rev = e.Rev
	}
	v, ok := s.revisions[revisionKey{key{KindStory, story}, rev}]
	if !ok {
		return Revision{}, []schema.Problem{schema.Fault("/rev", CodeNotFound, fmt.Sprintf("story %s has no revision %d; the newest is %d", story, rev, e.Rev), "")}
	}
	var gone []string
	for act := range s.blobs[revisionKey{key{KindStory, story}, rev}].Acts {
		if a, known := s.entries[key{KindAct, act}]; known && a.Deleted() {
			gone = append(gone, act)
		}
	}
	if len(gone) > 0 {
		return Revision{}, []schema.Problem{schema.Fault("/rev", CodeActGone,
			fmt.Sprintf("revision %d of story %s holds acts that were deleted: %s", rev, story, listed(gone)), "recover them, or publish the story without them")}
	}
	return v, nil
}

// To names robots for the audit, at most a screenful.
func To(robots []string, why string) string {
	const most = 20
	text := "robots " + strings.Join(robots[:min(len(robots), most)], " ")
	if len(robots) > most {
		text += fmt.Sprintf(" and %d more", len(robots)-most)
	}
	if why != "" {
		text += ": " + why
	}
	return text
}
