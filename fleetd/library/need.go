package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// Need says which rows of the library a plan looks at, so that its cost does not depend on
// how many others there are.
type Need struct {
	Acts, Stories []string // these, deleted or not
	// ActsWith and StoriesWith are those that refer to one of these in their draft or in
	// their newest revision. Deleted ones are left out.
	ActsWith, StoriesWith []Ref
	EntriesOnly           bool // of all these not the newest revision

	// Holders are the robots whose default story is one of these stories, or refers to one
	// of these acts or assets in the revision that they perform or in its newest one: their
	// defaults are read, and the revisions that they perform.
	Holders   []Ref
	Performed bool  // the revisions that the robots of the plan perform
	Pins      []Pin // these revisions of stories

	Assets    bool // all assets: the check of a draft looks for similar names
	FileBytes bool

	// Then is what the plan needs besides, judging by what was read so far; nil = nothing.
	Then func(Rows) Need
}

// ForDraft is what Save looks at.
func ForDraft(kind Kind, text []byte) Need { return ForValidate([]Text{{kind, text}}) }

// ForValidate is what Validate looks at.
func ForValidate(texts []Text) Need {
	acts, stories := map[string]bool{}, map[string]bool{}
	for _, t := range texts {
		if t.Kind == KindAct {
			a, _ := score.ParseAct(t.Body)
			acts[a.ID] = true
			for _, id := range a.Nested() {
				acts[id] = true
			}
			continue
		}
		s, _ := score.ParseStory(t.Body)
		stories[s.ID] = true
		for _, id := range actsOf(s) {
			acts[id] = true
		}
	}
	return nesting(Need{Assets: true, Acts: slices.Sorted(maps.Keys(acts)), Stories: slices.Sorted(maps.Keys(stories))})
}

// ForPublish is what Publish looks at. Another revision of an act makes published stories
// stale, and drafts of stories and acts right or wrong.
func ForPublish(kind Kind, id string) Need {
	if kind == KindAct {
		return nesting(Need{
			Assets: true, Acts: []string{id}, ActsWith: []Ref{{KindAct, id}}, StoriesWith: []Ref{{KindAct, id}},
			Then: func(rows Rows) Need { return Need{Acts: actsOfDrafts(rows, id)} },
		})
	}
	return nesting(Need{Assets: true, Stories: []string{id}, Then: func(rows Rows) Need { return Need{Acts: actsOfDrafts(rows, "")} }})
}

// ForRecover is what Recover looks at.
func ForRecover(kind Kind, id string) Need { return ForPublish(kind, id) }

// ForDelete is what Delete looks at.
func ForDelete(kind Kind, id string) Need {
	if kind == KindStory {
		return Need{Stories: []string{id}, Holders: []Ref{{kind, id}}}
	}
	act := []Ref{{kind, id}}
	return Need{
		Assets: true, Acts: []string{id}, ActsWith: act, StoriesWith: act, Holders: act,
		Then: func(rows Rows) Need { return Need{Stories: heldStories(rows), Acts: actsOfDrafts(rows, id)} },
	}
}

// ForPutAsset is what PutAsset looks at: another file makes published stories stale, and
// drafts of acts, and of stories that name these acts, right or wrong.
func ForPutAsset(name string) Need {
	asset := []Ref{{KindAsset, name}}
	return nesting(Need{Assets: true, FileBytes: true, ActsWith: asset, StoriesWith: asset, Then: storiesOfActs})
}

// ForDeleteAsset is what DeleteAsset looks at.
func ForDeleteAsset(name string) Need {
	n := ForPutAsset(name)
	n.FileBytes, n.Holders = false, []Ref{{KindAsset, name}}
	return n
}

// ForUses is what Uses looks at.
func ForUses() Need {
	return Need{Assets: true, Then: func(rows Rows) Need {
		var assets []Ref
		for _, a := range rows.Assets {
			assets = append(assets, Ref{KindAsset, a.Name})
		}
		return Need{StoriesWith: assets, Holders: assets}
	}}
}

// ForAssignment is what Assign looks at, beside the defaults of its robots.
func ForAssignment(story string, rev int64) Need {
	if story == "" {
		return Need{}
	}
	n := Need{Stories: []string{story}}
	if rev > 0 {
		n.Pins = []Pin{{ID: story, Rev: rev}}
	}
	n.Then = func(rows Rows) Need { // which of its acts are deleted
		return Need{Acts: actsOfRevision(rows, story, rev), EntriesOnly: true}
	}
	return n
}

// ForAgain is what Republish looks at, beside the defaults of its robots.
func ForAgain() Need { return Need{Performed: true} }

// storiesOfActs needs the stories that name the acts of rows, and the acts that these name.
func storiesOfActs(rows Rows) Need {
	n := Need{Then: func(rows Rows) Need { return Need{Acts: actsOfDrafts(rows, "")} }}
	for _, e := range rows.Entries {
		if e.Kind == KindAct {
			n.StoriesWith = append(n.StoriesWith, Ref{KindAct, e.ID})
		}
	}
	return n
}

// heldStories lists the default stories of robots.
func heldStories(rows Rows) []string {
	found := map[string]bool{}
	for _, d := range rows.Defaults {
		if d.Story != "" {
			found[d.Story] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// actsOfDrafts lists the acts that the drafts of stories name; if act is not empty, only
// of stories that name it.
func actsOfDrafts(rows Rows, act string) []string {
	found := map[string]bool{}
	for _, e := range rows.Entries {
		if e.Kind != KindStory {
			continue
		}
		if s, _ := score.ParseStory(e.Draft); act == "" || containsAct(s, act) {
			for _, id := range actsOf(s) {
				found[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// actsOfRevision lists the acts of a story's revision; rev 0 = the newest.
func actsOfRevision(rows Rows, story string, rev int64) []string {
	for _, v := range rows.Revisions {
		if v.Kind != KindStory || v.ID != story || rev > 0 && v.Rev != rev {
			continue
		}
		b, _ := score.ParseBlob(v.Body)
		return slices.Sorted(maps.Keys(b.Acts))
	}
	return nil
}

func actsOf(s score.Story) []string {
	ids := s.ActIDs()
	slices.Sort(ids)
	return slices.Compact(ids)
}
