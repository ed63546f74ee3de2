package library

import (
	"fmt"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

// Imported is the result of Import: of each text its problems, and the drafts that were saved.
type Imported struct {
	Checked []Checked
	Saved   []Saved // without changes, zero for texts that were left out; nil = nothing is saved
	Changes Changes
}

// Import plans to save texts as drafts, in YAML of fleetd's own form if they are JSON. If one has
// errors it saves none, or with skipWrong those without errors. An act counts as known if a draft without errors exists, so that acts and
// the stories of them can be imported before anything is published. A draft with the same content stays
// as it is.
func Import(rows Rows, texts []Source, assets []Asset, skipWrong bool, by audit.Attribution) (Imported, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return Imported{}, problems
	}
	drafts := s.withDrafts()
	for _, e := range s.notDeleted(KindAct) {
		if a, ok := drafts(e.ID); ok {
			s.acts[e.ID] = a
		}
	}
	out := Imported{Checked: s.checkTexts(texts, assets)}
	wrong := 0
	first := map[Ref]bool{}
	for i, c := range out.Checked {
		at := Ref{texts[i].Kind, c.ID}
		if c.ID != "" && first[at] {
			out.Checked[i].Problems = append(c.Problems, schema.NewProblem("/"+string(at.Kind), score.CodeDuplicateID,
				fmt.Sprintf("%s is twice among what is imported", at), "give one of them another name"))
		}
		first[at] = true
		if len(schema.Errors(out.Checked[i].Problems)) > 0 {
			wrong++
		}
	}
	if wrong > 0 && !skipWrong || wrong == len(texts) {
		return out, nil
	}
	if s, problems = newSnapshot(rows); problems != nil {
		return Imported{}, problems
	}
	for _, a := range assets {
		s.assets[a.Name] = a
	}
	out.Saved = make([]Saved, len(texts))
	for _, i := range inOrder(texts) {
		if len(schema.Errors(out.Checked[i].Problems)) > 0 {
			continue
		}
		kind, text := texts[i].Kind, texts[i].Body
		old, known := s.entries[Ref{kind, out.Checked[i].ID}]
		is, _ := Content(kind, text)
		if was, _ := Content(kind, old.Draft); known && !old.Deleted() && string(was) == string(is) {
			out.Saved[i] = Saved{Entry: old, Unchanged: true}
			continue
		}
		if len(text) > 0 && text[0] == '{' {
			text, _ = Formatted(kind, text)
		}
		if out.Saved[i], problems = s.save(kind, text, nil, by); problems != nil {
			return Imported{}, problems
		}
		out.Saved[i].Changes = Changes{}
	}
	out.Changes = s.changes
	return out, nil
}

// ForImport reads what Import looks at.
func ForImport(texts []Source) Reading { return ForValidate(texts) }
