package library

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

// FolderText is the file of an act, a story or an activity in a folder.
type FolderText struct {
	Path string
	Source
}

// FolderAsset is the file of an asset in a folder: its name, digest, size and media type. ChangedAt is zero.
type FolderAsset struct {
	Path string
	Asset
}

// Folder is the part of a folder that belongs to the library.
type Folder struct {
	Texts  []FolderText
	Assets []FolderAsset
	Remove []Ref // acts, stories, activities and assets that an earlier apply of the folder brought, and that it no longer has
}

// FileProblem is a problem of a file.
type FileProblem struct {
	Path string `json:"path,omitempty"`
	schema.Problem
}

// Effect is what an apply of a folder does to one object.
type Effect string

// The effects. EffectText is of a text whose content stays: only comments or the layout change, so that nothing is published.
// EffectRepublish is of a story or an activity whose text stays, and whose acts or files change.
const (
	EffectNone      Effect = ""
	EffectCreate    Effect = "create"
	EffectChange    Effect = "change"
	EffectText      Effect = "text"
	EffectRepublish Effect = "publish"
	EffectDelete    Effect = "delete"
)

// AppliedText is what an apply does to one text of a folder.
type AppliedText struct {
	Path     string
	Of       Ref
	Effect   Effect
	Before   []byte   // the text of the published revision; nil = it was never published, or is deleted
	Rev      int64    // the newest revision afterwards
	Because  []Ref    // the acts and files that change, for EffectRepublish
	Replaces *Entry   // the draft that is replaced although somebody has not published it; nil = none
	Robots   []string // that have an earlier revision assigned; they keep it until they are given the new one
}

// AppliedAsset is what an apply does to one asset of a folder.
type AppliedAsset struct {
	Path   string
	Asset  Asset
	Effect Effect
	Before Asset
}

// Applied is the result of ApplyFolder, in the order of the folder.
type Applied struct {
	Texts    []AppliedText
	Assets   []AppliedAsset
	Removed  []Removed
	Warnings []FileProblem
	Changes  Changes
}

// Removed is an object that the folder no longer has.
type Removed struct {
	Of     Ref
	Before []byte // of a text
	Asset  Asset
}

// Plurals are the names of the folders of entries by kind.
var Plurals = map[Kind]string{KindAct: "acts", KindStory: "stories", KindActivity: "activities"}

// FolderOf returns the folder of what is published and of all assets, without what was never published.
func FolderOf(rows Rows) (Folder, error) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Folder{}, errors.New(problems[0].Detail)
	}
	var f Folder
	for _, e := range s.notDeleted(kinds...) {
		text, err := FolderTextOf(e, s.current(e))
		if err != nil {
			return Folder{}, err
		}
		if text != nil {
			f.Texts = append(f.Texts, FolderText{Plurals[e.Kind] + "/" + e.ID + ".yaml", Source{e.Kind, text}})
		}
	}
	for _, a := range rows.Assets {
		f.Assets = append(f.Assets, FolderAsset{"assets/" + a.Name + a.Media.Extension(), a})
	}
	slices.SortFunc(f.Assets, func(a, b FolderAsset) int { return cmp.Compare(a.Path, b.Path) })
	return f, nil
}

// Unpublished lists the entries whose draft was never published, or was changed since.
func Unpublished(rows Rows) (refs []Ref) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil
	}
	for _, e := range s.notDeleted(kinds...) {
		if e.Rev == 0 || !sameContent(e.Kind, e.Draft, s.current(e)) {
			refs = append(refs, Ref{e.Kind, e.ID})
		}
	}
	return refs
}

// FolderTextOf returns the text of an entry in a folder: its newest revision, as its author wrote it if the draft has the same
// content, so that comments survive. An entry that was never published or is deleted has none.
func FolderTextOf(e Entry, newest Revision) ([]byte, error) {
	if e.Rev == 0 || e.Deleted() {
		return nil, nil
	}
	if sameContent(e.Kind, e.Draft, newest) {
		return e.Draft, nil
	}
	return SourceOf(newest)
}

// sameContent reports whether a text says what a revision was published from, apart from comments and layout.
func sameContent(kind Kind, text []byte, v Revision) bool {
	if kind == KindAct {
		a, problems := score.ParseAct(text)
		return len(problems) == 0 && string(encode(a.Sorted())) == string(v.Body)
	}
	s, problems := parseSequence(kind, text)
	b, unread := parsePublished(kind, v.Body)
	return len(problems)+len(unread) == 0 && string(s.source()) == string(b.sequence().source())
}

// ForFolder reads what ApplyFolder looks at.
func ForFolder(f Folder) Reading {
	texts := f.sources()
	return func(r Reader) {
		ForPublishAll(texts)(r)
		names := f.changedAssets(r.Rows().Assets)
		var removed []string
		for _, ref := range f.Remove {
			if ref.Kind == KindAsset {
				names[ref.ID] = true
			} else {
				r.Newest(ref.Kind, ref.ID)
			}
			removed = append(removed, ref.ID)
		}
		if len(removed) > 0 {
			r.Uses(kinds, f.Remove...)
		}
		of := refsTo(KindAsset, slices.Sorted(maps.Keys(names)))
		r.Uses(kinds, of...)
		var acts []string
		for _, e := range r.Rows().Entries {
			if e.Kind == KindAct {
				acts = append(acts, e.ID)
			}
		}
		r.Uses(sequences, refsTo(KindAct, acts)...)
		assigned := slices.Clone(f.Remove)
		for _, t := range texts {
			if kind, id := score.NameOf(t.Body); t.Kind != KindAct && kind != "" {
				assigned = append(assigned, Ref{t.Kind, id})
			}
		}
		r.Assigned(assigned...)
		readActsOfDrafts(r)
	}
}

func (f Folder) sources() []Source {
	texts := make([]Source, len(f.Texts))
	for i, t := range f.Texts {
		texts[i] = t.Source
	}
	return texts
}

// changedAssets returns the names of assets of the folder that have another file in the library, or none.
func (f Folder) changedAssets(have []Asset) map[string]bool {
	digests := map[string]string{}
	for _, a := range have {
		digests[a.Name] = a.SHA256
	}
	changed := map[string]bool{}
	for _, a := range f.Assets {
		if digests[a.Name] != a.SHA256 {
			changed[a.Name] = true
		}
	}
	return changed
}

// ApplyFolder plans to make the library as a folder says, all or nothing: its files become assets, its texts are published
// where their content differs from the newest revision, stories and activities also where an act or a file that they use
// changes, and what the folder no longer has is deleted. A text that differs only in comments is saved and not published.
// Robots keep the revisions that are assigned to them.
//
// What is deleted must be used by nothing: no robot has it, and nothing outside the folder performs it.
func ApplyFolder(rows Rows, f Folder, by audit.Attribution) (Applied, []FileProblem) {
	out, s, found := startFolder(rows, f, by)
	if len(found) > 0 {
		return Applied{}, found
	}
	checked := s.checkTexts(f.sources(), nil)
	var warnings []FileProblem
	first := map[Ref]string{}
	for i, c := range checked {
		t := f.Texts[i]
		at := Ref{t.Kind, c.ID}
		if earlier, twice := first[at]; twice && c.ID != "" {
			p := schema.NewProblem("/"+string(at.Kind), score.CodeDuplicateID, fmt.Sprintf("%s is also the name of the %s in %s", at.ID, at.Kind,
				earlier), "give one of them another name, or remove one file")
			c.Problems = append(c.Problems, score.Locate(t.Body, []schema.Problem{p})...)
		} else {
			first[at] = t.Path
		}
		asPublished := s.isPublished(t, c.ID, f.Remove)
		for _, p := range c.Problems {
			switch {
			case p.Severity != schema.SeverityError:
				warnings = append(warnings, FileProblem{t.Path, p})
			case asPublished:
				p.Severity = schema.SeverityWarning
				warnings = append(warnings, FileProblem{t.Path, p})
			default:
				found = append(found, FileProblem{t.Path, p})
			}
		}
	}
	if len(found) > 0 {
		return Applied{}, found
	}
	if out, s, found = startFolder(rows, f, by); len(found) > 0 {
		return Applied{}, found
	}
	out.Warnings = warnings
	if found = s.applyTexts(&out, f, checked, by); len(found) > 0 {
		return Applied{}, found
	}
	for _, a := range out.Assets {
		if a.Effect != EffectNone {
			s.revalidateUsers(a.Asset.Name)
		}
	}
	if found = s.removeUnused(f.Remove, &out, by); len(found) > 0 {
		return Applied{}, found
	}
	out.Changes = s.changes
	return out, nil
}

// isPublished reports whether the newest revision says what a text says, and it names nothing that is to be removed. Its problems
// then keep nobody from applying the folder: such a revision may perform an act that was deleted since.
func (s *snapshot) isPublished(t FolderText, id string, remove []Ref) bool {
	e, known := s.entries[Ref{t.Kind, id}]
	if !known || e.Deleted() || e.Rev == 0 || !sameContent(t.Kind, t.Body, s.current(e)) {
		return false
	}
	return !slices.ContainsFunc(RefsOfDraft(t.Kind, t.Body), func(r Ref) bool { return slices.Contains(remove, r) })
}

// startFolder takes over the assets of a folder, and takes away what it no longer has: the texts are checked against what is left.
func startFolder(rows Rows, f Folder, by audit.Attribution) (Applied, *snapshot, []FileProblem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Applied{}, nil, []FileProblem{{Problem: problems[0]}}
	}
	var out Applied
	var found []FileProblem
	first := map[string]string{}
	for _, file := range f.Assets {
		a := file.Asset
		a.ChangedAt, a.ChangedBy = by.At, by.Who
		old, known := s.assets[a.Name]
		switch earlier, twice := first[a.Name]; {
		case !schema.ValidID(a.Name):
			found = append(found, FileProblem{file.Path, schema.NewProblem("", score.CodeBadID, fmt.Sprintf("%q cannot be the name of an asset",
				a.Name), "rename the file: a to z, 0 to 9 and -, at most 63 characters")})
		case twice:
			found = append(found, FileProblem{file.Path, schema.NewProblem("", score.CodeDuplicateID,
				fmt.Sprintf("%s is also the name of the asset in %s", a.Name, earlier), "rename one of the files")})
		case known && old.SHA256 != a.SHA256 && old.Media.Kind() != a.Media.Kind():
			found = append(found, FileProblem{file.Path, schema.NewProblem("", CodeTaken, fmt.Sprintf("%s is a %s in fleetd, and this is a %s",
				a.Name, old.Media.Kind(), a.Media.Kind()), "rename the file, or delete the old asset first: fleetd asset delete "+a.Name)})
		default:
			done := AppliedAsset{Path: file.Path, Asset: a, Before: old}
			if known && old.SHA256 == a.SHA256 {
				done.Asset = old
			} else {
				done.Effect = EffectChange
				n := s.note(by, audit.ActionApplyFolder, "asset "+a.Name, fmt.Sprintf("%s, %d bytes", a.Media, a.Size))
				if n.After = audit.JSON(map[string]string{"sha256": a.SHA256}); known {
					n.Before = audit.JSON(map[string]string{"sha256": old.SHA256})
				} else {
					done.Effect = EffectCreate
				}
				s.assets[a.Name] = a
				s.changes.Assets = append(s.changes.Assets, a)
			}
			out.Assets = append(out.Assets, done)
		}
		first[a.Name] = file.Path
	}
	for _, ref := range f.Remove {
		if ref.Kind == KindAsset {
			if a, known := s.assets[ref.ID]; known {
				out.Removed = append(out.Removed, Removed{Of: ref, Asset: a})
				delete(s.assets, ref.ID)
			}
			continue
		}
		e, known := s.entries[ref]
		if !known || e.Deleted() {
			continue // somebody deleted it meanwhile
		}
		was, err := FolderTextOf(e, s.current(e))
		if err != nil {
			return Applied{}, nil, []FileProblem{{Problem: schema.NewProblem("", string(schema.ReasonInternal), err.Error(), "")}}
		}
		out.Removed = append(out.Removed, Removed{Of: ref, Before: was})
		e.DeletedAt, e.DeletedBy, e.DeletedWhy = by.At, by.Who, by.Why
		s.put(e)
		s.note(by, audit.ActionDelete, ref.String(), "the folder no longer has it").Before = draftJSON(e)
		if ref.Kind == KindAct {
			delete(s.acts, ref.ID)
		}
	}
	return out, s, found
}

// applyTexts saves and publishes texts, an act before what performs it.
func (s *snapshot) applyTexts(out *Applied, f Folder, checked []Checked, by audit.Attribution) (found []FileProblem) {
	changed := map[Ref]bool{}
	for _, a := range out.Assets {
		changed[Ref{KindAsset, a.Asset.Name}] = a.Effect != EffectNone
	}
	for _, r := range out.Removed {
		changed[r.Of] = true
	}
	out.Texts = make([]AppliedText, len(f.Texts))
	refuse := func(path string, problems []schema.Problem) {
		for _, p := range problems {
			found = append(found, FileProblem{path, p})
		}
	}
	for _, i := range inOrder(f.sources()) {
		t := f.Texts[i]
		of := Ref{t.Kind, checked[i].ID}
		done := AppliedText{Path: t.Path, Of: of}
		e, known := s.entries[of]
		newest := s.current(e)
		if known && !e.Deleted() && e.Rev > 0 {
			var err error
			if done.Before, err = FolderTextOf(e, newest); err != nil {
				return []FileProblem{{t.Path, schema.NewProblem("", string(schema.ReasonInternal), err.Error(), "")}}
			}
		}
		unpublished := known && !e.Deleted() && (e.Rev == 0 || !sameContent(t.Kind, e.Draft, newest))
		switch {
		case done.Before == nil:
			done.Effect = EffectCreate
		case !sameContent(t.Kind, t.Body, newest):
			done.Effect = EffectChange
		default:
			done.Because = s.changedIn(t, changed)
			switch {
			case len(done.Because) > 0:
				done.Effect = EffectRepublish
			case !unpublished && e.DraftSHA256 != digest(t.Body):
				done.Effect = EffectText
			}
		}
		if done.Effect != EffectNone {
			if unpublished && e.DraftSHA256 != digest(t.Body) {
				done.Replaces = &e
			}
			if _, problems := s.save(t.Kind, t.Body, nil, by); len(problems) > 0 {
				refuse(t.Path, problems)
				continue
			}
		}
		if done.Effect != EffectNone && done.Effect != EffectText {
			p, problems := s.publishDraft(t.Kind, of.ID, nil, by)
			if len(problems) > 0 {
				refuse(t.Path, problems)
				continue
			}
			if p.Unchanged && done.Effect == EffectRepublish {
				done.Effect, done.Because = EffectNone, nil // only drafts of its acts change
			}
			changed[of] = changed[of] || !p.Unchanged
		}
		done.Rev = s.entries[of].Rev
		if done.Effect != EffectNone && t.Kind != KindAct {
			done.Robots = s.assignedTo(of, 0)
		}
		out.Texts[i] = done
	}
	return found
}

// changedIn lists what a story or an activity uses, directly or through its acts, of what changes.
func (s *snapshot) changedIn(t FolderText, changed map[Ref]bool) (because []Ref) {
	if t.Kind == KindAct {
		return nil // its revision names what it performs, and contains nothing of it
	}
	found := map[Ref]bool{}
	story, _ := parseSequence(t.Kind, t.Body)
	for _, id := range score.Reached(story.ActIDs(), s.act) {
		if changed[Ref{KindAct, id}] {
			found[Ref{KindAct, id}] = true
		}
		for _, n := range s.acts[id].Named() {
			if changed[Ref{KindAsset, n.Name}] {
				found[Ref{KindAsset, n.Name}] = true
			}
		}
	}
	return sortedRefs(found)
}

// removeUnused deletes what a folder no longer has, or says what still uses it.
func (s *snapshot) removeUnused(remove []Ref, out *Applied, by audit.Attribution) (found []FileProblem) {
	uses := s.uses()
	for _, r := range out.Removed {
		var users []string
		switch r.Of.Kind {
		case KindAsset:
			for _, u := range uses[r.Of.ID] {
				users = append(users, u.String())
			}
			for _, e := range s.notDeleted(KindAct) {
				if slices.Contains(RefsOfDraft(KindAct, e.Draft), r.Of) {
					users = append(users, "the draft of act "+e.ID)
				}
			}
		case KindAct:
			users = s.usersOfAct(r.Of.ID)
		default:
			if robots := s.assignedTo(r.Of, 0); len(robots) > 0 {
				users = append(users, RobotsText(robots))
			}
		}
		if len(users) > 0 {
			found = append(found,
				FileProblem{Problem: schema.NewProblem("", CodeInUse, fmt.Sprintf("%s is not in the folder any more, and is used by %s", r.Of,
					strings.Join(users, "; ")),
					"apply without --prune; prune when nothing uses it any more, such as after the rollout, or put its file back")})
			continue
		}
		if r.Of.Kind == KindAsset {
			s.changes.Removed = append(s.changes.Removed, r.Of.ID)
			s.note(by, audit.ActionDelete, r.Of.String(), "the folder no longer has it").Before = audit.JSON(
				map[string]string{"sha256": r.Asset.SHA256})
			s.revalidateUsers(r.Of.ID)
		}
	}
	return found
}

// usersOfAct lists what performs an act that is to be deleted: drafts, newest revisions, and revisions that robots have.
func (s *snapshot) usersOfAct(act string) (users []string) {
	of := Ref{KindAct, act}
	for _, e := range s.notDeleted(kinds...) {
		at := Ref{e.Kind, e.ID}
		switch {
		case slices.Contains(RefsOfRevision(e.Kind, s.current(e).Body), of):
			users = append(users, at.String())
		case slices.Contains(RefsOfDraft(e.Kind, e.Draft), of):
			users = append(users, "the draft of "+at.String())
		}
	}
	var older []string
	for at, b := range s.published {
		if _, contains := b.Acts[act]; !contains {
			continue
		}
		if robots := s.assignedTo(at.Ref, at.rev); len(robots) > 0 {
			older = append(older, fmt.Sprintf("%s revision %d of %s", at.Ref, at.rev, RobotsText(robots)))
		}
	}
	slices.SortFunc(older, cmp.Compare[string])
	return append(users, older...)
}
