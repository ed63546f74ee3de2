package library

import (
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// Assignment sets the default story of robots.
type Assignment struct {
	Story    string // empty = none
	Rev      int64  // 0 = the newest
	Robots   []string
	Apply    schema.Apply // empty = next_act
	Expected *int         // number of robots that the caller expects; nil = any

	Caps CapsOf
}

// Assigned is the result of an assignment.
type Assigned struct {
	Revision  Revision // zero without a story
	Updated   []string // robots that get a new desired document
	Unchanged []string // robots that had this desired story already
	Misfits   []Misfit // what robots in Updated lack for the story
	Pinned    []string // robots for which a policy says otherwise, of package change
	Changes   Changes
}

// Assign plans to pin robots to one published revision. They keep it when the story is
// published again, until it is assigned again. A robot that has this desired story already
// gets no new document, unless it could not fulfil it.
func Assign(rows Rows, a Assignment, by audit.Attribution) (Assigned, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Assigned{}, problems
	}
	var out Assigned
	if a, out.Revision, problems = s.resolveStory(a); problems != nil {
		return Assigned{}, problems
	}
	robots := slices.Compact(slices.Sorted(slices.Values(a.Robots)))
	for _, robot := range robots {
		d := s.defaults[robot]
		if d.Story == a.Story && d.Rev == a.Rev && (a.Story == "" || d.Apply == a.Apply) && !s.outdated(d) &&
			s.reported(robot, schema.TopicDesiredStory).HasSettled(d.DesiredRev) {
			out.Unchanged = append(out.Unchanged, robot)
		} else {
			out.Updated = append(out.Updated, robot)
		}
	}
	if problems := checkCount(robots, a.Expected); problems != nil {
		return Assigned{}, problems
	}
	if len(out.Updated) == 0 {
		return out, nil
	}
	if b, published := s.published[revisionKey{Ref{KindStory, a.Story}, a.Rev}]; published {
		out.Misfits = s.misfits(out.Updated, a.Caps, b.PublishedStory)
	}
	story := func(robot string) string { return defaultText(s.defaults[robot]) }
	before := s.groupForAudit(out.Updated, story)
	s.setDefault(out.Updated, a.Story, a.Rev, a.Apply, by)
	what, target := audit.ActionAssign, fmt.Sprintf("story %s revision %d", a.Story, a.Rev)
	if a.Story == "" {
		what, target = audit.ActionWithdraw, "default story"
	}
	n := s.note(by, what, target, RobotsText(out.Updated))
	n.Before, n.After = before, s.groupForAudit(out.Updated, story)
	out.Changes = s.changes
	return out, nil
}

// resolveStory returns an assignment with its revision and the way in which the story takes over.
func (s *snapshot) resolveStory(a Assignment) (_ Assignment, v Revision, problems []schema.Problem) {
	switch a.Apply {
	case "":
		a.Apply = schema.ApplyNextAct
	case schema.ApplyNextAct, schema.ApplyNow, schema.ApplyNextStart:
	default:
		problems = append(problems, schema.NewProblem("/apply", "bad_value", fmt.Sprintf("%q is not a value of apply", a.Apply),
			"write next_act, now or next_start"))
	}
	if a.Story != "" {
		var found []schema.Problem
		v, found = s.assignable(Ref{KindStory, a.Story}, a.Rev)
		problems = append(problems, found...)
	}
	a.Rev = v.Rev
	return a, v, problems
}

// ResolveStory returns an assignment with the revision and apply that robots would get now, or why the story cannot be
// assigned.
func ResolveStory(rows Rows, a Assignment) (Assignment, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return a, problems
	}
	a, _, problems = s.resolveStory(a)
	return a, problems
}

// groupForAudit lists, for the audit, the robots by what each has.
func (s *snapshot) groupForAudit(robots []string, what func(robot string) string) string {
	groups := map[string][]string{}
	for _, robot := range robots {
		groups[what(robot)] = append(groups[what(robot)], robot)
	}
	return audit.Robots(groups)
}

func defaultText(d Default) string {
	if d.Story == "" {
		return ""
	}
	return fmt.Sprintf("%s revision %d", d.Story, d.Rev)
}

// checkCount refuses a request for no robot, or for another number than expected.
func checkCount(robots []string, expected *int) []schema.Problem {
	switch {
	case len(robots) == 0:
		return []schema.Problem{schema.NewProblem("/selector", CodeNoRobot, "no robot is selected", "list the robots with the same selector")}
	case expected != nil && *expected != len(robots):
		return []schema.Problem{schema.NewProblem("/expected_count", CodeCountChanged,
			fmt.Sprintf("%d robots are selected, %d were expected", len(robots), *expected), "check with a dry run")}
	}
	return nil
}

// Renumber plans to publish the unchanged desired story again with a higher revision, for robots
// that have accepted a higher one than fleetd's.
func Renumber(rows Rows, robots []string, by audit.Attribution) ([]string, Changes, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, Changes{}, problems
	}
	var updated []string
	for _, robot := range slices.Compact(slices.Sorted(slices.Values(robots))) {
		if d := s.defaults[robot]; s.reported(robot, schema.TopicDesiredStory).MustRenumber(d.DesiredRev) {
			s.setDefault([]string{robot}, d.Story, d.Rev, "", by)
			updated = append(updated, robot)
		}
	}
	if len(updated) > 0 {
		s.note(by, audit.ActionPublishAgain, "default story", RobotsText(updated))
	}
	return updated, s.changes, nil
}

// outdated reports whether a robot's desired document lacks a signature that it would have
// today.
func (s *snapshot) outdated(d Default) bool {
	if d.DesiredRev == 0 {
		return false
	}
	was, _ := schema.Decode[schema.DesiredStory](d.Document)
	return s.signer.MustSignAgain(was.Sig, was.Story, was.Released)
}

// assignable returns a revision that may be assigned; rev 0 = the newest.
func (s *snapshot) assignable(at Ref, rev int64) (Revision, []schema.Problem) {
	e, problems := s.find(at.Kind, at.ID)
	if problems != nil {
		return Revision{}, problems
	}
	if e.Rev == 0 {
		return Revision{}, []schema.Problem{schema.NewProblem("/"+string(at.Kind), CodeNotPublished, at.String()+" is only a draft",
			"publish it first")}
	}
	if rev == 0 {
		rev = e.Rev
	}
	v, ok := s.revisions[revisionKey{at, rev}]
	if !ok {
		return Revision{}, []schema.Problem{schema.NewProblem("/rev", CodeNotFound, fmt.Sprintf("%s has no revision %d; the newest is %d", at,
			rev, e.Rev), "leave out the revision for the newest")}
	}
	var gone []string
	for act := range s.published[revisionKey{at, rev}].Acts {
		if a, known := s.entries[Ref{KindAct, act}]; known && a.Deleted() {
			gone = append(gone, act)
		}
	}
	if len(gone) > 0 {
		return Revision{}, []schema.Problem{schema.NewProblem("/rev", CodeActGone,
			fmt.Sprintf("revision %d of %s contains deleted acts: %s", rev, at, joinSorted(gone)),
			fmt.Sprintf("recover them, or publish the %s without them", at.Kind))}
	}
	return v, nil
}

// RobotsText formats names of robots for the audit, at most 20.
func RobotsText(robots []string) string {
	const most = 20
	text := "robots " + strings.Join(robots[:min(len(robots), most)], " ")
	if len(robots) > most {
		text += fmt.Sprintf(" and %d more", len(robots)-most)
	}
	return text
}
