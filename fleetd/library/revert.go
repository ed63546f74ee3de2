package library

import (
	"fmt"
	"slices"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// Reversion reverts robots to the default story that they had before the present one.
type Reversion struct {
	Robots   []string
	Apply    schema.Apply // empty = that of the present assignment
	Expected *int         // number of robots that the caller expects; nil = any
}

// Reverted is the result of a Reversion.
type Reverted struct {
	To      []RevertedTo
	Skipped []SkippedRobot
	Pinned  []string // robots for which a policy says otherwise, of package change
	Changes Changes
}

// RevertedTo is one story, and the robots that go back to it.
type RevertedTo struct {
	Story  Pin // without an id: no default story
	Robots []string
}

// SkippedRobot is a robot that keeps what it has.
type SkippedRobot struct {
	Robot string
	Why   schema.Problem
}

// ForReversion reads what Revert looks at.
func ForReversion() Reading {
	return func(r Reader) {
		r.RobotStories(false)
		pins := previousPins(r.Rows())
		var stories []string
		for _, pin := range pins {
			stories = append(stories, pin.ID)
		}
		r.Newest(KindStory, stories...)
		r.Revisions(KindStory, pins...)
		var acts []string // which of them are deleted
		for _, pin := range pins {
			acts = append(acts, actsOfRevision(r.Rows(), Ref{KindStory, pin.ID}, pin.Rev)...)
		}
		r.Entries(KindAct, acts...)
	}
}

// previousPins lists the stories that robots of rows had before.
func previousPins(rows *Rows) (pins []Pin) {
	for _, d := range rows.Defaults {
		if d.Previous != nil && d.Previous.ID != "" && !slices.Contains(pins, *d.Previous) {
			pins = append(pins, *d.Previous)
		}
	}
	return pins
}

// Revert plans to give each robot the default story that it had before the present one. A
// second Revert undoes the first. A robot whose story was never changed, or whose earlier
// story cannot be performed any more, is skipped.
func Revert(rows Rows, r Reversion, by audit.Attribution) (Reverted, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Reverted{}, problems
	}
	robots := slices.Compact(slices.Sorted(slices.Values(r.Robots)))
	if problems := checkCount(robots, r.Expected); problems != nil {
		return Reverted{}, problems
	}
	var out Reverted
	unassignable := map[Pin]*schema.Problem{}
	for _, robot := range robots {
		back := s.defaults[robot].Previous
		if back == nil {
			out.Skipped = append(out.Skipped, SkippedRobot{robot, schema.NewProblem("", CodeNotFound, "its story was never changed",
				"assign a story")})
			continue
		}
		why, judged := unassignable[*back]
		if !judged && back.ID != "" {
			if _, problems := s.assignable(Ref{KindStory, back.ID}, back.Rev); len(problems) > 0 {
				why = &problems[0]
			}
		}
		if unassignable[*back] = why; why != nil {
			out.Skipped = append(out.Skipped, SkippedRobot{robot, *why})
			continue
		}
		i := slices.IndexFunc(out.To, func(to RevertedTo) bool { return to.Story == *back })
		if i < 0 {
			i, out.To = len(out.To), append(out.To, RevertedTo{Story: *back})
		}
		out.To[i].Robots = append(out.To[i].Robots, robot)
	}
	story := func(robot string) string { return defaultText(s.defaults[robot]) }
	for _, to := range out.To {
		before := s.groupForAudit(to.Robots, story)
		s.setDefault(to.Robots, to.Story.ID, to.Story.Rev, r.Apply, by)
		target := fmt.Sprintf("story %s revision %d", to.Story.ID, to.Story.Rev)
		if to.Story.ID == "" {
			target = "no default story"
		}
		n := s.note(by, audit.ActionRevert, target, RobotsText(to.Robots))
		n.Before, n.After = before, s.groupForAudit(to.Robots, story)
	}
	out.Changes = s.changes
	return out, nil
}
