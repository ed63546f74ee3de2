package library

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

// Saved is the result of saving or recovering an entry.
type Saved struct {
	Entry     Entry
	Unchanged bool // the draft had the same text already
	Changes   Changes
}

// Save plans to save a text as the draft of the entry that it names. A draft may have
// problems, but cannot be published then. A text that cannot be parsed is refused. draftRev is
// the draft revision that the author read, 0 for a new one; nil overwrites any. Saving a
// deleted entry, over its draft revision or as a new one, recovers it.
func Save(rows Rows, kind Kind, text []byte, draftRev *int64, by audit.Attribution) (Saved, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Saved{}, problems
	}
	return s.save(kind, text, draftRev, by)
}

func (s *snapshot) save(kind Kind, text []byte, draftRev *int64, by audit.Attribution) (Saved, []schema.Problem) {
	id, problems := s.validate(kind, text)
	if id == "" {
		return Saved{}, problems
	}
	old, known := s.entries[Ref{kind, id}]
	asNew := old.Deleted() && draftRev != nil && *draftRev == 0 // lists do not show a deleted entry
	if draftRev != nil && *draftRev != old.DraftRev && !asNew {
		detail := fmt.Sprintf("%s %s is at draft revision %d, not %d", kind, id, old.DraftRev, *draftRev)
		if *draftRev == 0 { // the author did not know of it
			detail = fmt.Sprintf("%s %s has a draft already: revision %d%s", kind, id, old.DraftRev, byWhom(old.ChangedBy))
		}
		return Saved{}, []schema.Problem{schema.NewProblem("", CodeConflict, detail, fmt.Sprintf("read it, then save over revision %d",
			old.DraftRev))}
	}
	if known && !old.Deleted() && old.DraftSHA256 == digest(text) {
		return Saved{Entry: old, Unchanged: true}, nil
	}
	what := audit.ActionSave
	if old.Deleted() {
		what = audit.ActionSaveDeleted
	}
	e := old
	e.Kind, e.ID = kind, id
	e.DeletedAt, e.DeletedBy, e.DeletedWhy = Entry{}.DeletedAt, "", ""
	s.setDraft(e, text, problems, by)
	n := s.note(by, what, string(kind)+" "+id, "")
	if known {
		n.Before = draftJSON(old)
	}
	n.After = draftJSON(s.entries[Ref{kind, id}])
	return Saved{Entry: s.entries[Ref{kind, id}], Changes: s.changes}, nil
}

// setDraft sets the draft of e.
func (s *snapshot) setDraft(e Entry, text []byte, problems []schema.Problem, by audit.Attribution) {
	e.Draft, e.DraftSHA256, e.Problems = text, digest(text), problems
	e.DraftRev++
	e.ChangedAt, e.ChangedBy = by.At, by.Who
	s.put(e)
}

// Published is the result of publishing: the new revision, or the newest if nothing changed.
type Published struct {
	Revision  Revision
	Unchanged bool        // the newest revision has the same contents as the draft
	Stale     []Ref       // stories and activities whose newest revision uses another revision of this act
	Acts      []Published // published before it
	Changes   Changes
}

// Publish plans to publish a draft as the next revision. A draft with errors is refused. The
// revision of a story or an activity bundles the newest published revision of every act that
// it names. The drafts of acts are published before it, all or none.
//
// Robots keep the revision that is assigned to them until another one is assigned. draftRev is
// the draft revision that the caller read; nil publishes any.
func Publish(rows Rows, kind Kind, id string, draftRev *int64, by audit.Attribution, acts ...string) (Published, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Published{}, problems
	}
	before, problems := s.publishActs(acts, by)
	if problems != nil {
		return Published{}, problems
	}
	done, problems := s.publishDraft(kind, id, draftRev, by)
	if problems != nil {
		return Published{}, problems
	}
	for i, one := range before { // what is stale now that all are published
		before[i].Stale = s.stale(s.entries[Ref{KindAct, one.Revision.ID}])
	}
	done.Acts, done.Changes = before, s.changes
	return done, nil
}

// publishActs publishes the drafts of acts, each after those that it performs.
func (s *snapshot) publishActs(ids []string, by audit.Attribution) ([]Published, []schema.Problem) {
	texts := make([]Source, len(ids))
	for i, id := range ids {
		e, problems := s.find(KindAct, id)
		if problems != nil {
			return nil, problems
		}
		texts[i] = Source{KindAct, e.Draft}
	}
	var all []Published
	for _, i := range inOrder(texts) {
		done, problems := s.publishDraft(KindAct, ids[i], nil, by)
		if problems != nil {
			return nil, inAct(ids[i], problems)
		}
		all = append(all, done)
	}
	return all, nil
}

// inAct names the act in problems of its draft, because the caller publishes another one.
func inAct(id string, problems []schema.Problem) []schema.Problem {
	out := slices.Clone(problems)
	for i, p := range out {
		out[i].Detail = strings.TrimSuffix(fmt.Sprintf("act %s, %s", id, p.Pointer), ", ") + ": " + p.Detail
		out[i].Pointer, out[i].Line, out[i].Column = "", 0, 0
	}
	return out
}

func (s *snapshot) publishDraft(kind Kind, id string, draftRev *int64, by audit.Attribution) (Published, []schema.Problem) {
	e, problems := s.find(kind, id)
	if problems != nil {
		return Published{}, problems
	}
	if draftRev != nil && *draftRev != e.DraftRev {
		return Published{}, []schema.Problem{schema.NewProblem("", CodeConflict,
			fmt.Sprintf("%s %s is at draft revision %d, not %d", kind, id, e.DraftRev, *draftRev), "get it again, then publish")}
	}
	if _, problems := s.validate(kind, e.Draft); len(schema.Errors(problems)) > 0 {
		return Published{}, problems
	}
	body, files, same := s.encodeNext(e)
	if limit := schema.TopicOf(schema.TopicBlob).MaxBytes; len(body) > limit {
		return Published{}, []schema.Problem{schema.NewProblem("", score.CodeTooBig,
			fmt.Sprintf("with its acts it has %d bytes, robots accept at most %d", len(body), limit), "split it, or shorten its acts")}
	}
	if problems := checkPublished(kind, body); len(problems) > 0 {
		return Published{}, problems
	}
	if same {
		return Published{Revision: s.current(e), Unchanged: true, Stale: s.stale(e)}, nil
	}
	e, v := s.publish(e, body, files, by, by.Why)
	n := s.note(by, audit.ActionPublish, fmt.Sprintf("%s %s revision %d", kind, id, v.Rev), "")
	n.Before, n.After = audit.JSON(map[string]int64{"rev": v.Rev - 1}), audit.JSON(map[string]any{"rev": v.Rev, "sha256": v.SHA256})
	if kind == KindAct {
		s.acts[id], _ = score.ParseAct(body)
		s.revalidateDrafts(id)
	}
	return Published{Revision: v, Stale: s.stale(e)}, nil
}

// encodeNext encodes the next revision of a draft without errors, and reports whether the
// newest one has the same contents.
func (s *snapshot) encodeNext(e Entry) (body []byte, files []score.Asset, same bool) {
	newest := s.current(e).Body
	if e.Kind == KindAct {
		a, _ := score.ParseAct(e.Draft)
		body = encode(a.Sorted())
		return body, nil, string(body) == string(newest)
	}
	story, _ := parseSequence(e.Kind, e.Draft)
	files = s.pinnedFiles(story.Story)
	body = story.bundle(s.acts, e.Rev+1, files)
	return body, files, e.Rev > 0 && string(story.bundle(s.acts, e.Rev, files)) == string(newest)
}

// checkPublished returns the errors of a revision that only its published form shows, such as too
// many files.
func checkPublished(kind Kind, body []byte) []schema.Problem {
	switch kind {
	case KindStory:
		b, problems := score.ParsePublishedStory(body)
		return schema.Errors(append(problems, score.ValidatePublishedStory(b)...))
	case KindActivity:
		b, problems := score.ParseActivities(body)
		return schema.Errors(append(problems, score.ValidateActivities(b)...))
	}
	return nil
}

// stale lists the sequences whose newest revision uses another revision of act e.
func (s *snapshot) stale(e Entry) []Ref {
	var stale []Ref
	if e.Kind != KindAct {
		return nil
	}
	newest := string(encode(s.acts[e.ID]))
	for _, sequence := range s.notDeleted(sequences...) {
		at := Ref{sequence.Kind, sequence.ID}
		if a, holds := s.published[revisionKey{at, sequence.Rev}].Acts[e.ID]; holds && string(encode(a)) != newest {
			stale = append(stale, at)
		}
	}
	return stale
}

// revalidateDrafts validates again the drafts that name an act, because
// their problems depend on it.
func (s *snapshot) revalidateDrafts(act string) {
	for _, e := range s.notDeleted(KindAct) {
		if s.performs(e, act) {
			s.revalidateDraft(e)
		}
	}
	for _, e := range s.notDeleted(sequences...) {
		story, problems := parseSequence(e.Kind, e.Draft)
		if len(problems) > 0 || !story.contains(act) {
			continue
		}
		s.revalidateDraft(e)
	}
}

// revalidateDraft validates one draft again.
func (s *snapshot) revalidateDraft(e Entry) {
	_, found := s.validate(e.Kind, e.Draft)
	for _, p := range e.Problems {
		if p.Code == CodeActRemoved { // stays until the author saves the draft
			found = append(found, p)
		}
	}
	if !slices.Equal(found, e.Problems) {
		e.Problems = found
		s.put(e)
	}
}

// Recover plans to recover a deleted entry. It is assigned to no robot.
func Recover(rows Rows, kind Kind, id string, by audit.Attribution) (Saved, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Saved{}, problems
	}
	e, known := s.entries[Ref{kind, id}]
	switch {
	case !known:
		_, problems = s.find(kind, id)
		return Saved{}, problems
	case !e.Deleted():
		return Saved{Entry: e, Unchanged: true}, nil
	}
	e.DeletedAt, e.DeletedBy, e.DeletedWhy = Entry{}.DeletedAt, "", ""
	e.ChangedAt, e.ChangedBy = by.At, by.Who
	s.put(e)
	if kind == KindAct && e.Rev > 0 {
		s.acts[id], _ = score.ParseAct(s.current(e).Body)
	}
	_, e.Problems = s.validate(kind, e.Draft)
	s.put(e)
	if kind == KindAct {
		s.revalidateDrafts(id)
	}
	s.note(by, audit.ActionRecover, string(kind)+" "+id, "")
	return Saved{Entry: e, Changes: s.changes}, nil
}

// joinSorted sorts and joins names.
func joinSorted(names []string) string {
	return strings.Join(slices.SortedFunc(slices.Values(names), cmp.Compare), ", ")
}

// draftJSON describes an entry's draft, for the audit.
func draftJSON(e Entry) string {
	return audit.JSON(map[string]any{"draft_rev": e.DraftRev, "sha256": e.DraftSHA256})
}
