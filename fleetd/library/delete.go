package library

import (
	"fmt"
	"slices"
	"strconv"

	"troupe/schema"
	"troupe/schema/score"
)

// StoryImpact is the effect of a deletion on one story.
type StoryImpact struct {
	Story     string
	Before    int      // acts in its newest revision, or in its draft if it was never published
	After     int      // 0 = the story is left empty and is deleted too
	Rev       int64    // its newest revision afterwards
	Repinned  []string // robots that get the revision without the act
	Cleared   []string // robots that are left without a default story
	DraftOnly bool     // no published revision changes
}

// Deleted reports whether the story itself is deleted.
func (i StoryImpact) Deleted() bool { return i.After == 0 }

// Impact lists the further effects of a deletion, which a person has to confirm.
type Impact struct {
	Kind    Kind
	ID      string
	Stories []StoryImpact // by id
	Robots  int           // number of robots that get a new desired document
	Clears  []string      // stories whose robots would be left without a default, by id
}

// Expect is the impact that the caller confirms. Clear must name the stories whose robots
// would be left without a default story.
type Expect struct {
	Stories int
	Robots  int
	Clear   []string
}

// Removal is a deletion with its impact.
type Removal struct {
	Impact  Impact
	Changes Changes
}

// Delete plans to delete an act or a story, recoverably, with these effects:
//
//   - An act is removed from every story that uses it, drafts and published revisions. The
//     newest revision, and each one that is the default of some robot, is published again
//     without the act, oldest first, so that the newest contents remain the newest revision. A
//     robot gets its own revision without the act, never contents that were not assigned
//     to it.
//   - A story left without acts is deleted, and is removed as a default.
//   - Robots get a desired document with their next revision; without a default it names no
//     story.
//
// All of it is one set of changes. It is refused unless expect matches the impact; nil is a
// dry run, which returns the impact and no changes.
func Delete(rows Rows, kind Kind, id string, expect *Expect, by By) (Removal, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Removal{}, problems
	}
	e, problems := s.find(kind, id)
	if problems != nil {
		return Removal{}, problems
	}
	if users := s.performers(id); kind == KindAct && len(users) > 0 {
		return Removal{}, []schema.Problem{schema.Fault("", CodeInUse, "the act "+id+" is performed by the acts "+joinSorted(users), "publish them without it first")}
	}
	impact := Impact{Kind: kind, ID: id}
	e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, by.Why
	s.put(e)
	s.note(by, "delete", string(kind)+" "+id, by.Why)
	if kind == KindStory {
		if robots := s.holders(id, 0); len(robots) > 0 {
			impact.Stories = append(impact.Stories, StoryImpact{Story: id, Before: s.actCount(e), Rev: e.Rev, Cleared: robots})
			s.clearDefault(id, robots, by, "it was deleted")
		}
	} else {
		delete(s.acts, id)
		for _, story := range s.live(KindStory) {
			if i, touched := s.prune(story, id, by); touched {
				impact.Stories = append(impact.Stories, i)
			}
		}
	}
	impact.Robots = len(s.changes.Defaults)
	for _, i := range impact.Stories {
		if len(i.Cleared) > 0 {
			impact.Clears = append(impact.Clears, i.Story)
		}
	}
	if expect == nil {
		return Removal{Impact: impact}, nil
	}
	if problems := impact.problems(*expect); len(problems) > 0 {
		return Removal{Impact: impact}, problems
	}
	return Removal{Impact: impact, Changes: s.changes}, nil
}

func (i Impact) problems(e Expect) []schema.Problem {
	var found []schema.Problem
	if e.Stories != len(i.Stories) || e.Robots != i.Robots {
		found = append(found, schema.Fault("/expect", CodeCountChanged,
			fmt.Sprintf("%d stories and %d robots would change; %d and %d were expected", len(i.Stories), i.Robots, e.Stories, e.Robots),
			"repeat the numbers that a dry run shows"))
	}
	var unsaid []string
	for _, story := range i.Clears {
		if !slices.Contains(e.Clear, story) {
			unsaid = append(unsaid, story)
		}
	}
	if len(unsaid) > 0 {
		found = append(found, schema.Fault("/expect/clear", CodeConfirm,
			"robots would be left without a default story: "+joinSorted(unsaid), "name these stories to confirm, or assign their robots another one first"))
	}
	return found
}

// actCount returns the number of acts in a story.
func (s *snapshot) actCount(e Entry) int {
	if e.Rev > 0 {
		return len(s.blobs[revisionKey{Ref{KindStory, e.ID}, e.Rev}].Story.Acts)
	}
	story, _ := score.ParseStory(e.Draft)
	return len(story.Acts)
}

// prune removes a deleted act from one story, and reports whether the story used it.
func (s *snapshot) prune(e Entry, act string, by By) (StoryImpact, bool) {
	i := StoryImpact{Story: e.ID, Before: s.actCount(e), Rev: e.Rev}
	draft, unread := score.ParseStory(e.Draft)
	inDraft := len(unread) == 0 && containsAct(draft, act)
	used := s.revisionsWith(e, act)
	if !inDraft && len(used) == 0 {
		return i, false
	}
	i.DraftOnly = len(used) == 0
	newest := s.blobs[revisionKey{Ref{KindStory, e.ID}, e.Rev}].Story
	i.After = len(without(newest, act).Acts)
	if e.Rev == 0 {
		i.After = len(without(draft, act).Acts)
	}
	target := "story " + e.ID
	if i.Deleted() {
		e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, "left empty when act "+act+" was deleted"
		s.put(e)
		s.note(by, "delete", target, e.DeletedWhy)
		i.Cleared = s.holders(e.ID, 0)
		s.clearDefault(e.ID, i.Cleared, by, e.DeletedWhy)
		return i, true
	}
	why := "act " + act + " was deleted"
	for _, rev := range used {
		robots := s.holders(e.ID, rev)
		blob := s.blobs[revisionKey{Ref{KindStory, e.ID}, rev}]
		left := without(blob.Story, act)
		if len(left.Acts) == 0 { // an older revision is left empty; the newest is not
			i.Cleared = append(i.Cleared, robots...)
			s.clearDefault(e.ID, robots, by, why)
			continue
		}
		e = s.reissue(e, left, blob, by, why)
		i.Repinned = append(i.Repinned, robots...)
		s.setDefault(robots, e.ID, e.Rev, "", by)
		s.note(by, "shorten", fmt.Sprintf("%s revision %d to %d", target, rev, e.Rev), why)
	}
	if i.Rev > 0 && e.Rev != i.Rev && !slices.Contains(used, i.Rev) {
		// Older contents were published again after it: publish the newest contents again.
		was := i.Rev
		e = s.reissue(e, newest, s.blobs[revisionKey{Ref{KindStory, e.ID}, was}], by, fmt.Sprintf("as revision %d, after older ones lost act %s", was, act))
		s.note(by, "reissue", fmt.Sprintf("%s revision %d as %d", target, was, e.Rev), why)
	}
	i.Rev = e.Rev
	if inDraft {
		s.pruneDraft(e, draft, act, by)
	}
	slices.Sort(i.Repinned)
	slices.Sort(i.Cleared)
	return i, true
}

// revisionsWith lists the revisions of a story that contain an act, oldest first: the newest,
// and those that are the default of some robot.
func (s *snapshot) revisionsWith(e Entry, act string) []int64 {
	var revs []int64
	for at := range s.blobs {
		if at.ID != e.ID || at.rev != e.Rev && len(s.holders(e.ID, at.rev)) == 0 {
			continue
		}
		if containsAct(s.blobs[at].Story, act) {
			revs = append(revs, at.rev)
		}
	}
	slices.Sort(revs)
	return revs
}

// reissue publishes a story, possibly shortened, as its next revision, with the acts and
// files that it had.
func (s *snapshot) reissue(e Entry, story score.Story, was score.Blob, by By, why string) Entry {
	files := stillUsed(was.Assets, story, was.Acts)
	e, v := s.publish(e, bundle(story, was.Acts, e.Rev+1, files), files, by, why)
	b, _ := score.ParseBlob(v.Body)
	s.blobs[revisionKey{Ref{KindStory, e.ID}, v.Rev}] = b
	return e
}

// pruneDraft removes the act from the draft too, with a warning for its author.
func (s *snapshot) pruneDraft(e Entry, story score.Story, act string, by By) {
	text := encode(without(story, act))
	_, problems := s.validate(KindStory, text)
	problems = append(problems, schema.Problem{
		Pointer: "/acts", Severity: schema.SeverityWarning, Code: CodeActRemoved,
		Detail: fmt.Sprintf("act %s was deleted by %s and removed from this story", act, by.Who), Hint: "save the story to clear this warning",
	})
	s.draft(e, text, problems, by)
	s.note(by, "shorten", "draft of story "+e.ID, fmt.Sprintf("act %s was deleted; it was at %v", act, places(story, act)))
}

// clearDefault removes the default story of robots.
func (s *snapshot) clearDefault(story string, robots []string, by By, why string) {
	if len(robots) == 0 {
		return
	}
	s.setDefault(robots, "", 0, "", by)
	s.note(by, "clear default", "story "+story, RobotsText(robots, why))
}

func without(story score.Story, act string) score.Story {
	story.Acts = slices.DeleteFunc(slices.Clone(story.Acts), func(step score.Step) bool { return step.Act == act })
	if story.Shutdown == act {
		story.Shutdown = "" // the robot then performs its own
	}
	return story
}

// places returns the positions, counted from 1, at which a story names an act, and whether
// it is its shutdown act.
func places(story score.Story, act string) []string {
	var at []string
	for i, step := range story.Acts {
		if step.Act == act {
			at = append(at, strconv.Itoa(i+1))
		}
	}
	if story.Shutdown == act {
		at = append(at, "shutdown")
	}
	return at
}
