package library

import (
	"fmt"
	"slices"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// SequenceImpact is the effect of a deletion on one story or activity.
type SequenceImpact struct {
	ID        string
	Before    int      // acts in its newest revision, or in its draft if it was never published
	After     int      // 0 = it is left empty and is deleted too
	Rev       int64    // its newest revision afterwards
	Repinned  []string // robots that get the revision without the act
	Cleared   []string // robots that are left without a default story, or without this activity
	DraftOnly bool     // no published revision changes
}

// Deleted reports whether the story or activity itself is deleted.
func (i SequenceImpact) Deleted() bool { return i.After == 0 }

// Impact lists the further effects of a deletion, which a person has to confirm.
type Impact struct {
	Kind       Kind
	ID         string
	Stories    []SequenceImpact // by id
	Activities []SequenceImpact // by id
	Robots     int              // number of robots that get a new desired document
	Clears     []string         // stories whose robots would be left without a default, by id
}

// Expect is the impact that the caller confirms. Clear must name the stories whose robots
// would be left without a default story.
type Expect struct {
	Stories    int
	Activities int
	Robots     int
	Clear      []string
}

// Removal is a deletion with its impact.
type Removal struct {
	Impact  Impact
	Changes Changes
}

// Delete plans to delete an entry, recoverably, with these effects:
//
//   - An act is removed from every story and activity that uses it, drafts and published
//     revisions. The newest revision, and each one that some robot performs, is published
//     again without the act, oldest first, so that the newest contents remain the newest
//     revision. A robot gets its own revision without the act, never contents that were not
//     assigned to it. Only what names the act itself uses it: a revision that contains it
//     because an older revision of another act performs it stays as it is, since taking it out
//     would change that other act. Its robots go on performing it, and the story or activity
//     cannot be assigned before it is published again.
//   - A story left without acts is deleted, and is removed as a default. An activity left
//     without acts is deleted, and is removed from robots' sets.
//   - Robots get desired documents with their next revision; without a default story, or
//     without activities, a document names none.
//
// All of it is one set of changes. It is refused unless expect matches the impact; nil is a
// dry run, which returns the impact and no changes.
func Delete(rows Rows, kind Kind, id string, expect *Expect, by audit.Attribution) (Removal, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Removal{}, problems
	}
	e, problems := s.find(kind, id)
	if problems != nil {
		return Removal{}, problems
	}
	if performing := s.performers(id); kind == KindAct && len(performing) > 0 {
		return Removal{}, []schema.Problem{schema.NewProblem("", CodeInUse, "the act "+id+" is performed by the acts "+joinSorted(performing),
			"publish them without it first")}
	}
	impact := Impact{Kind: kind, ID: id}
	e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, by.Why
	s.put(e)
	s.note(by, audit.ActionDelete, string(kind)+" "+id, "").Before = draftJSON(e)
	if kind != KindAct {
		if robots := s.assignedTo(Ref{kind, id}, 0); len(robots) > 0 {
			impact.add(kind, SequenceImpact{ID: id, Before: s.actCount(e), Rev: e.Rev, Cleared: robots})
			s.unassign(e, 0, robots, by, "it was deleted")
		}
	} else {
		delete(s.acts, id)
		for _, e := range s.notDeleted(sequences...) {
			if i, touched := s.removeAct(e, id, by); touched {
				impact.add(e.Kind, i)
			}
		}
	}
	if problems := s.republishSets(by); problems != nil {
		return Removal{}, problems
	}
	impact.Robots = s.changes.robots()
	for _, i := range impact.Stories {
		if len(i.Cleared) > 0 {
			impact.Clears = append(impact.Clears, i.ID)
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

func (i *Impact) add(kind Kind, on SequenceImpact) {
	if kind == KindActivity {
		i.Activities = append(i.Activities, on)
	} else {
		i.Stories = append(i.Stories, on)
	}
}

// robots counts the robots that get new desired documents.
func (c Changes) robots() int {
	found := map[string]bool{}
	for _, d := range c.Defaults {
		found[d.Robot] = true
	}
	for _, set := range c.Sets {
		found[set.Robot] = true
	}
	return len(found)
}

func (i Impact) problems(e Expect) []schema.Problem {
	var found []schema.Problem
	if e.Stories != len(i.Stories) || e.Activities != len(i.Activities) || e.Robots != i.Robots {
		found = append(found, schema.NewProblem("/expect", CodeCountChanged,
			fmt.Sprintf("%d stories, %d activities and %d robots would change; %d, %d and %d were expected",
				len(i.Stories), len(i.Activities), i.Robots, e.Stories, e.Activities, e.Robots),
			"repeat the numbers that a dry run shows"))
	}
	var unsaid []string
	for _, story := range i.Clears {
		if !slices.Contains(e.Clear, story) {
			unsaid = append(unsaid, story)
		}
	}
	if len(unsaid) > 0 {
		found = append(found, schema.NewProblem("/expect/clear", CodeConfirm,
			"robots would be left without a default story: "+joinSorted(unsaid),
			"name these stories to confirm, or assign their robots another one first"))
	}
	return found
}

// actCount returns the number of acts in a story or activity.
func (s *snapshot) actCount(e Entry) int {
	if e.Rev > 0 {
		return len(s.published[revisionKey{Ref{e.Kind, e.ID}, e.Rev}].Story.Acts)
	}
	draft, _ := parseSequence(e.Kind, e.Draft)
	return len(draft.Acts)
}

// removeAct removes a deleted act from one story or activity, and reports whether it used the act.
func (s *snapshot) removeAct(e Entry, act string, by audit.Attribution) (SequenceImpact, bool) {
	at := Ref{e.Kind, e.ID}
	i := SequenceImpact{ID: e.ID, Before: s.actCount(e), Rev: e.Rev}
	draft, unread := parseSequence(e.Kind, e.Draft)
	inDraft := len(unread) == 0 && draft.contains(act)
	used := s.revisionsWith(e, act)
	if !inDraft && len(used) == 0 {
		return i, false
	}
	i.DraftOnly = len(used) == 0
	newest := s.published[revisionKey{at, e.Rev}]
	i.After = len(newest.sequence().without(act).Acts)
	if e.Rev == 0 {
		i.After = len(draft.without(act).Acts)
	}
	if i.Deleted() {
		e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, "left empty when act "+act+" was deleted"
		s.put(e)
		s.noteEffect(by, audit.ActionDelete, at.String(), e.DeletedWhy, "")
		i.Cleared = s.assignedTo(at, 0)
		s.unassign(e, 0, i.Cleared, by, e.DeletedWhy)
		return i, true
	}
	why := "act " + act + " was deleted"
	for _, rev := range used {
		robots := s.assignedTo(at, rev)
		was := s.published[revisionKey{at, rev}]
		left := was.sequence().without(act)
		if len(left.Acts) == 0 { // an older revision is left empty; the newest is not
			i.Cleared = append(i.Cleared, robots...)
			s.unassign(e, rev, robots, by, why)
			continue
		}
		e = s.reissue(e, left, was, by, why)
		i.Repinned = append(i.Repinned, robots...)
		if e.Kind == KindActivity {
			s.replacedBy[revisionKey{at, rev}] = e.Rev
		} else {
			s.setDefault(robots, e.ID, e.Rev, "", by)
		}
		s.noteEffect(by, audit.ActionShorten, fmt.Sprintf("%s revision %d to %d", at, rev, e.Rev), why, "")
	}
	if i.Rev > 0 && e.Rev != i.Rev && !slices.Contains(used, i.Rev) {
		// Older contents were published again after it: publish the newest contents again.
		e = s.reissue(e, newest.sequence(), newest, by,
			fmt.Sprintf("same as revision %d; act %s was taken out of older ones, which became the revisions between", i.Rev, act))
		s.noteEffect(by, audit.ActionReissue, fmt.Sprintf("%s revision %d as %d", at, i.Rev, e.Rev), why, "")
	}
	i.Rev = e.Rev
	if inDraft {
		s.removeActFromDraft(e, draft, act, by)
	}
	slices.Sort(i.Repinned)
	slices.Sort(i.Cleared)
	return i, true
}

// revisionsWith lists the revisions of a story or activity that contain an act, oldest first:
// the newest, and those that some robot has.
func (s *snapshot) revisionsWith(e Entry, act string) []int64 {
	var revs []int64
	for at, b := range s.published {
		if at.Ref != (Ref{e.Kind, e.ID}) || at.rev != e.Rev && len(s.assignedTo(at.Ref, at.rev)) == 0 {
			continue
		}
		if b.sequence().contains(act) {
			revs = append(revs, at.rev)
		}
	}
	slices.Sort(revs)
	return revs
}

// reissue publishes a story or activity, possibly shortened, as its next revision, with the
// acts and files that it had.
func (s *snapshot) reissue(e Entry, left sequence, was publishedSequence, by audit.Attribution, why string) Entry {
	files := stillUsed(was.Assets, left.Story, was.Acts)
	e, v := s.publish(e, left.bundle(was.Acts, e.Rev+1, files), files, by, why)
	s.published[revisionKey{Ref{e.Kind, e.ID}, v.Rev}], _ = parsePublished(e.Kind, v.Body)
	return e
}

// removeActFromDraft removes the act from the draft too, with a warning for its author.
func (s *snapshot) removeActFromDraft(e Entry, draft sequence, act string, by audit.Attribution) {
	text := draft.without(act).source()
	_, problems := s.validate(e.Kind, text)
	problems = append(problems, schema.Problem{
		Pointer: "/acts", Severity: schema.SeverityWarning, Code: CodeActRemoved,
		Detail: fmt.Sprintf("act %s was deleted by %s and removed from this %s", act, by.Who, e.Kind),
		Hint:   fmt.Sprintf("save the %s to clear this warning", e.Kind),
	})
	s.setDraft(e, text, problems, by)
	s.noteEffect(by, audit.ActionShorten, fmt.Sprintf("draft of %s %s", e.Kind, e.ID), "act "+act+" was deleted",
		fmt.Sprintf("it was at %v", draft.places(act)))
}

// unassign takes a story or activity away from these robots, which have it in this revision;
// 0 = in any.
func (s *snapshot) unassign(e Entry, rev int64, robots []string, by audit.Attribution, why string) {
	if len(robots) == 0 {
		return
	}
	what := audit.ActionClearDefault
	if e.Kind == KindActivity {
		what = audit.ActionTakeActivity
		for _, set := range s.sets {
			for _, p := range set.Activities {
				if p.ID == e.ID && (rev == 0 || p.Rev == rev) {
					s.replacedBy[revisionKey{Ref{KindActivity, p.ID}, p.Rev}] = 0
				}
			}
		}
	} else {
		s.setDefault(robots, "", 0, "", by)
	}
	s.noteEffect(by, what, Ref{e.Kind, e.ID}.String(), why, RobotsText(robots))
}
