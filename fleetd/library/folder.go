package library

import (
	"fmt"
	"slices"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

// PublishedAll is the result of PublishAll, in the order of its texts.
type PublishedAll struct {
	Results []Published
	Changes Changes
}

// PublishAll plans to save each text as a draft and to publish it, all or none of them. An act
// is published before those that perform it, so that each finds the new ones. The assets are
// those that are uploaded first. Problems point into the list of texts: /0/acts/1/act.
func PublishAll(rows Rows, texts []Source, assets []Asset, by audit.Attribution) (PublishedAll, []schema.Problem) {
	checked, problems := Validate(rows, texts, assets)
	if problems != nil {
		return PublishedAll{}, problems
	}
	first := map[Ref]int{}
	for i, c := range checked {
		problems = append(problems, withIndex(i, schema.Errors(c.Problems))...)
		at := Ref{texts[i].Kind, c.ID}
		if j, twice := first[at]; twice && c.ID != "" {
			problems = append(problems, schema.NewProblem(fmt.Sprintf("/%d/%s", i, at.Kind), score.CodeDuplicateID,
				fmt.Sprintf("%s is also the name of the %s in text %d", at.ID, at.Kind, j), "give one of them another name, or leave one out"))
		} else {
			first[at] = i
		}
	}
	if len(problems) > 0 {
		return PublishedAll{}, problems
	}
	s, problems := newSnapshot(rows)
	if problems != nil {
		return PublishedAll{}, problems
	}
	for _, a := range assets {
		s.assets[a.Name] = a
	}
	all := PublishedAll{Results: make([]Published, len(texts))}
	for _, i := range inOrder(texts) {
		kind, id := texts[i].Kind, checked[i].ID
		if _, problems := s.save(kind, texts[i].Body, nil, by); problems != nil {
			return PublishedAll{}, withIndex(i, problems)
		}
		if all.Results[i], problems = s.publishDraft(kind, id, nil, by); problems != nil {
			return PublishedAll{}, withIndex(i, problems)
		}
	}
	for i := range texts { // what is stale now that all are published
		all.Results[i].Stale = s.stale(s.entries[Ref{texts[i].Kind, checked[i].ID}])
	}
	all.Changes = s.changes
	return all, nil
}

// inOrder returns the places of texts in the order of their publication: acts first, each
// behind those that it performs.
func inOrder(texts []Source) []int {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return boolOrder(texts[a].Kind != KindAct) - boolOrder(texts[b].Kind != KindAct)
	})
	return score.PerformedFirst(order, func(i int) score.Act {
		var a score.Act
		if texts[i].Kind == KindAct {
			a, _ = score.ParseAct(texts[i].Body)
		}
		return a
	})
}

func boolOrder(later bool) int {
	if later {
		return 1
	}
	return 0
}

// withIndex prefixes the pointers of a text's problems with its place in the list.
func withIndex(i int, problems []schema.Problem) []schema.Problem {
	out := slices.Clone(problems)
	for j := range out {
		out[j].Pointer = fmt.Sprintf("/%d%s", i, out[j].Pointer)
	}
	return out
}

// ForPublishAll reads what PublishAll looks at: that of each text, and what another revision of
// its acts makes stale, or whose problems it changes.
func ForPublishAll(texts []Source) Reading {
	return func(r Reader) {
		named := readTexts(r, texts)
		var acts []Ref
		for _, t := range texts {
			if a, _ := score.ParseAct(t.Body); t.Kind == KindAct {
				acts = append(acts, Ref{KindAct, a.ID})
			}
		}
		r.Uses(kinds, acts...)
		readActsOfDrafts(r)
		readActIDs(r, named)
	}
}
