package library

import (
	"maps"
	"slices"

	"troupe/schema"
	"troupe/schema/score"
)

// Summary is what lists show of an entry besides its row.
type Summary struct {
	Edited    bool     // the draft differs from the newest published revision, or there is none
	LengthMS  int64    // of one round, estimated; 0 if the draft has errors
	Languages []string // that it declares, or else those of its texts
	Steps     int      // actions of an act, acts of a story or an activity
}

// ForSummaries reads what Summaries looks at.
func ForSummaries(kind Kind, ids []string) Reading {
	return func(r Reader) {
		r.Newest(kind, ids...)
		readActsOfDrafts(r)
	}
}

// Summaries summarises the entries of a kind, by id.
func Summaries(rows Rows, kind Kind) (map[string]Summary, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	lookup := s.withDrafts()
	out := map[string]Summary{}
	for at, e := range s.entries {
		if at.Kind == kind {
			out[at.ID] = s.summary(e, lookup)
		}
	}
	return out, nil
}

// withDrafts finds acts as published, or else as drafts.
func (s *snapshot) withDrafts() score.Lookup {
	drafts := map[string]score.Act{}
	for _, e := range s.notDeleted(KindAct) {
		if a, problems := score.ParseAct(e.Draft); len(problems) == 0 && len(schema.Errors(e.Problems)) == 0 {
			drafts[e.ID] = a
		}
	}
	return func(id string) (score.Act, bool) {
		if a, ok := s.act(id); ok {
			return a, true
		}
		a, ok := drafts[id]
		return a, ok
	}
}

func (s *snapshot) summary(e Entry, lookup score.Lookup) Summary {
	valid := len(schema.Errors(e.Problems)) == 0
	if e.Kind == KindAct {
		a, _ := score.ParseAct(e.Draft)
		out := Summary{Edited: e.Rev == 0 || string(encode(a.Sorted())) != string(s.current(e).Body), Languages: a.Languages(),
			Steps: len(a.Actions)}
		if valid {
			t, _ := score.ActTimeline(a, lookup)
			out.LengthMS = t.LengthMS
		}
		return out
	}
	draft, _ := parseSequence(e.Kind, e.Draft)
	published := s.published[revisionKey{Ref{e.Kind, e.ID}, e.Rev}]
	out := Summary{Edited: e.Rev == 0 || string(draft.source()) != string(published.sequence().source()), Languages: draft.Languages,
		Steps: len(draft.Acts)}
	if len(out.Languages) == 0 {
		found := map[string]bool{}
		for _, id := range draft.ActIDs() {
			a, _ := lookup(id)
			for _, lang := range a.Languages() {
				found[lang] = true
			}
		}
		out.Languages = slices.Sorted(maps.Keys(found))
	}
	if valid {
		t, _ := score.StoryTimeline(draft.Story, lookup)
		out.LengthMS = t.LengthMS
	}
	return out
}
