package library

import (
	"fmt"
	"slices"

	"troupe/schema"
	"troupe/schema/score"
)

// StoryImpact is what a deletion does to one story.
type StoryImpact struct {
	Story     string
	Before    int      // acts in its newest revision, or in its draft if it was never published
	After     int      // 0 = the story is left empty, and is deleted too
	Rev       int64    // its newest revision when all is done
	Repinned  []string // robots that perform it and are told the shortened revision
	Cleared   []string // robots that are left without a default story
	DraftOnly bool     // nothing published changes
}

// Deleted reports whether the story itself goes.
func (i StoryImpact) Deleted() bool { return i.After == 0 }

// Impact is all that a deletion does beside the deletion: what a person is shown
// before he asks for it in earnest.
type Impact struct {
	Kind    Kind
	ID      string
	Stories []StoryImpact // by id
	Robots  int           // how many are told something
	Clears  []string      // stories whose robots would be left without a default, by id
}

// Expect is what the caller saw of the impact and agreed to. Robots that would
// be left without a story need the names of those stories, said explicitly.
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

// Delete removes an act or a story, recoverably, with all that follows from it:
//
//   - An act goes out of every story that used it, draft and published. Each
//     revision that some robot performs, and the newest, is published again
//     without the act, in the order of their age so that the newest content stays
//     the newest revision. A robot is told the shortened form of what it had,
//     never a content that nobody assigned to it.
//   - A story left without an act is deleted, and where it was a default the
//     default is cleared.
//   - Robots are told under their next number; a cleared default is a desired state for no
//     story.
//
// All of it is one set of changes. It is refused unless expect says what will
// happen; nil is a dry run, which returns the impact and no changes.
func Delete(rows Rows, kind Kind, id string, expect *Expect, by By) (Removal, []schema.Problem) {
	s, problems := newShelf(rows)
	if problems != nil {
		return Removal{}, problems
	}
	e, problems := s.find(kind, id)
	if problems != nil {
		return Removal{}, problems
	}
	impact := Impact{Kind: kind, ID: id}
	e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, by.Why
	s.put(e)
	s.note(by, "delete", string(kind)+" "+id, by.Why)
	if kind == KindStory {
		if robots := s.holders(id, 0); len(robots) > 0 {
			impact.Stories = append(impact.Stories, StoryImpact{Story: id, Before: s.length(e), Rev: e.Rev, Cleared: robots})
			s.clear(id, robots, by, "it was deleted")
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
	if problems := impact.unexpected(*expect); len(problems) > 0 {
		return Removal{Impact: impact}, problems
	}
	return Removal{Impact: impact, Changes: s.changes}, nil
}

func (i Impact) unexpected(e Expect) []schema.Problem {
	var found []schema.Problem
	if e.Stories != len(i.Stories) || e.Robots != i.Robots {
		found = append(found, schema.Fault("/expect", CodeCountChanged,
			fmt.Sprintf("%d stories would change and %d robots be told; %d and %d were expected", len(i.Stories), i.Robots, e.Stories, e.Robots),
			"look again with a dry run, and repeat its counts"))
	}
	var unsaid []string
	for _, story := range i.Clears {
		if !slices.Contains(e.Clear, story) {
			unsaid = append(unsaid, story)
		}
	}
	if len(unsaid) > 0 {
		found = append(found, schema.Fault("/expect/clear", CodeConfirm,
			"robots would be left without a default story: "+listed(unsaid), "name these stories to confirm, or assign their robots another one first"))
	}
	return found
}

// length is how many acts a story has.
func (s *snapshot) length(e Entry) int {
	if e.Rev > 0 {
		return len(s.blobs[revisionKey{key{KindStory, e.ID}, e.Rev}].Story.Acts)
	}
	story, _ := score.ParseStory(e.Draft)
	return len(story.Acts)
}

// prune takes a deleted act out of one story, and reports whether it was there.
func (s *snapshot) prune(e Entry, act string, by By) (StoryImpact, bool) {
	i := StoryImpact{Story: e.ID, Before: s.length(e), Rev: e.Rev}
	draft, unread := score.ParseStory(e.Draft)
	inDraft := len(unread) == 0 && names(draft, act)
	used := s.editionsWith(e, act)
	if !inDraft && len(used) == 0 {
		return i, false
	}
	i.DraftOnly = len(used) == 0
	newest := s.blobs[revisionKey{key{KindStory, e.ID}, e.Rev}].Story
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
		s.clear(e.ID, i.Cleared, by, e.DeletedWhy)
		return i, true
	}
	why := "act " + act + " was deleted"
	for _, rev := range used {
		robots := s.holders(e.ID, rev)
		blob := s.blobs[revisionKey{key{KindStory, e.ID}, rev}]
		left := without(blob.Story, act)
		if len(left.Acts) == 0 { // an old revision of which nothing is left; the newest is not empty
			i.Cleared = append(i.Cleared, robots...)
			s.clear(e.ID, robots, by, why)
			continue
		}
		e = s.reissue(e, left, blob, by, why)
		i.Repinned = append(i.Repinned, robots...)
		s.tell(robots, e.ID, e.Rev, "", by)
		s.note(by, "shorten", fmt.Sprintf("%s revision %d to %d", target, rev, e.Rev), why)
	}
	if i.Rev > 0 && e.Rev != i.Rev && !slices.Contains(used, i.Rev) {
		// Older content was published again above it: keep the newest the newest.
		was := i.Rev
		e = s.reissue(e, newest, s.blobs[revisionKey{key{KindStory, e.ID}, was}], by, fmt.Sprintf("as revision %d, after older ones lost act %s", was, act))
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

// editionsWith lists the revisions of a story that hold an act and matter: the
// newest, and those that robots perform; oldest first.
func (s *snapshot) editionsWith(e Entry, act string) []int64 {
	var revs []int64
	for at := range s.blobs {
		if at.id != e.ID || at.rev != e.Rev && len(s.holders(e.ID, at.rev)) == 0 {
			continue
		}
		if names(s.blobs[at].Story, act) {
			revs = append(revs, at.rev)
		}
	}
	slices.Sort(revs)
	return revs
}

// reissue publishes a story, or what is left of it, as its next revision, with the
// acts and files that it had.
func (s *snapshot) reissue(e Entry, story score.Story, was score.Blob, by By, why string) Entry {
	files := stillNamed(was.Assets, story, was.Acts)
	e, v := s.publish(e, bundle(story, was.Acts, e.Rev+1, files), files, by, why)
	b, _ := score.ParseBlob(v.Body)
	s.blobs[revisionKey{key{KindStory, e.ID}, v.Rev}] = b
	return e
}

// pruneDraft takes the act out of the draft too, and tells its author.
func (s *snapshot) pruneDraft(e Entry, story score.Story, act string, by By) {
	text := encode(without(story, act))
	_, problems := s.validate(KindStory, text)
	problems = append(problems, schema.Problem{
		Pointer: "/acts", Severity: schema.SeverityWarning, Code: CodeActRemoved,
		Detail: fmt.Sprintf("act %s was deleted by %s and taken out of this story", act, by.Who), Hint: "save the story to note it",
	})
	s.draft(e, text, problems, by)
	s.note(by, "shorten", "draft of story "+e.ID, fmt.Sprintf("act %s was deleted; it stood at %v", act, places(story, act)))
}

// clear leaves robots without a default story.
func (s *snapshot) clear(story string, robots []string, by By, why string) {
	if len(robots) == 0 {
		return
	}
	s.tell(robots, "", 0, "", by)
	s.note(by, "clear default", "story "+story, To(robots, why))
}

func without(story score.Story, act string) score.Story {
	story.Acts = slices.DeleteFunc(slices.Clone(story.Acts), func(step score.Step) bool { return step.Act == act })
	return story
}

// places are the positions, from 1, at which a story names an act.
func places(story score.Story, act string) []int {
	var at []int
	for i, step := range story.Acts {
		if step.Act == act {
			at = append(at, i+1)
		}
	}
	return at
}
