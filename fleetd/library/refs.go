package library

import (
	"cmp"
	"maps"
	"slices"

	"troupe/schema/score"
)

// KindAsset is the kind of a Ref to an asset. An asset is no entry.
const KindAsset Kind = "asset"

// Ref names an entry or an asset.
type Ref struct {
	Kind Kind
	ID   string
}

func (r Ref) String() string { return string(r.Kind) + " " + r.ID }

// RefsOfDraft lists what a draft refers to: the acts of a story or an activity, or the acts
// that an act performs and its sounds and faces, which may be assets. A text that cannot be parsed refers to nothing.
func RefsOfDraft(kind Kind, text []byte) []Ref {
	found := map[Ref]bool{}
	if kind != KindAct {
		s, _ := parseSequence(kind, text)
		for _, id := range s.ActIDs() {
			found[Ref{KindAct, id}] = true
		}
	} else {
		a, _ := score.ParseAct(text)
		for _, id := range a.Nested() {
			found[Ref{KindAct, id}] = true
		}
		for _, n := range a.Named() {
			found[Ref{KindAsset, n.Name}] = true
		}
	}
	return sortedRefs(found)
}

// RefsOfRevision lists what a published revision refers to: the acts and assets that a story
// or an activity contains, or those of an act as for its draft.
func RefsOfRevision(kind Kind, body []byte) []Ref {
	if kind == KindAct {
		return RefsOfDraft(kind, body)
	}
	b, _ := parsePublished(kind, body)
	found := map[Ref]bool{}
	for id := range b.Acts {
		found[Ref{KindAct, id}] = true
	}
	for _, f := range b.Assets {
		found[Ref{KindAsset, f.Name}] = true
	}
	return sortedRefs(found)
}

func sortedRefs(found map[Ref]bool) []Ref {
	return slices.SortedFunc(maps.Keys(found), func(a, b Ref) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}
