package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// Need says which rows of the library a plan looks at, so that its cost does not depend on
// how many others there are.
type Need struct {
	Acts, Stories, Activities []string // these, deleted or not
	// ActsWith are the acts, SequencesWith the stories and activities that refer to one of
	// these in their draft or in their newest revision. Deleted ones are left out.
	ActsWith, SequencesWith []Ref
	EntriesOnly             bool // of all these read the entry, but not its newest revision

	// AssignedRefs selects robots by what is assigned to them: those whose default story or one of
	// whose activities is among these contents, or refers to one of these acts or assets in its
	// assigned or in its newest revision. Their defaults or sets are read, and the assigned
	// revisions.
	AssignedRefs      []Ref
	AssignedRevisions bool  // the revisions that are assigned to the robots of the plan
	Sets              bool  // the activities of the robots of the plan, instead of their default stories
	Pins              []Pin // these revisions of stories

	Assets    bool // all assets: the check of a draft looks for similar names
	ActIDs    bool // the ids of all published acts, for the same reason
	FileBytes bool

	// Then is what the plan needs besides, judging by what was read so far; nil = nothing.
	Then func(Rows) Need
}

// ForDraft is what Save looks at.
func ForDraft(kind Kind, text []byte) Need { return ForValidate([]Source{{kind, text}}) }

// ForValidate is what Validate looks at.
func ForValidate(texts []Source) Need {
	n := textsNeed(texts)
	return withActIDs(withNestedActs(n), func(Rows) []string { return n.Acts })
}

// withActIDs adds to a need the ids of all acts if one of the acts that are named does not
// exist: the name of another one may be similar.
func withActIDs(n Need, named func(Rows) []string) Need {
	then := n.Then
	n.Then = func(rows Rows) Need {
		if then != nil {
			return withActIDs(then(rows), named)
		}
		exists := func(id string) bool {
			return slices.ContainsFunc(rows.Entries, func(e Entry) bool { return e.Kind == KindAct && e.ID == id })
		}
		return Need{ActIDs: slices.ContainsFunc(named(rows), func(id string) bool { return !exists(id) })}
	}
	return n
}

// textsNeed needs the entries of texts and the acts that these name.
func textsNeed(texts []Source) Need {
	acts, named := map[string]bool{}, map[Kind]map[string]bool{KindStory: {}, KindActivity: {}}
	for _, t := range texts {
		if t.Kind == KindAct {
			a, _ := score.ParseAct(t.Body)
			acts[a.ID] = true
			for _, id := range a.Nested() {
				acts[id] = true
			}
			continue
		}
		if named[t.Kind] == nil {
			continue // no kind of entry
		}
		s, _ := parseSequence(t.Kind, t.Body)
		named[t.Kind][s.ID] = true
		for _, id := range s.acts() {
			acts[id] = true
		}
	}
	return Need{
		Assets: true, Acts: slices.Sorted(maps.Keys(acts)),
		Stories: slices.Sorted(maps.Keys(named[KindStory])), Activities: slices.Sorted(maps.Keys(named[KindActivity])),
	}
}

// ForPublish is what Publish looks at. Another revision of an act makes published
// stories and activities stale, and adds or removes problems of drafts.
func ForPublish(kind Kind, id string, acts ...string) Need {
	n := Need{}
	if kind == KindAct {
		acts = append(slices.Clip(acts), id)
	} else {
		n = sequenceNeed(kind, id)
	}
	n.Assets, n.Acts = true, acts
	for _, act := range acts {
		n.ActsWith = append(n.ActsWith, Ref{KindAct, act})
	}
	n.SequencesWith = n.ActsWith
	named := func(rows Rows) (found []string) {
		if kind != KindAct {
			return actsOfDrafts(rows, "")
		}
		for _, act := range acts {
			found = append(found, actsOfDrafts(rows, act)...)
		}
		return found
	}
	n.Then = func(rows Rows) Need { return Need{Acts: named(rows)} }
	if kind == KindAct {
		return withNestedActs(n)
	}
	return withActIDs(withNestedActs(n), named)
}

// sequenceNeed needs one story or activity.
func sequenceNeed(kind Kind, id string) Need {
	if kind == KindActivity {
		return Need{Activities: []string{id}}
	}
	return Need{Stories: []string{id}}
}

// ForRecover is what Recover looks at.
func ForRecover(kind Kind, id string) Need { return ForPublish(kind, id) }

// ForDelete is what Delete looks at.
func ForDelete(kind Kind, id string) Need {
	if kind != KindAct {
		n := sequenceNeed(kind, id)
		n.AssignedRefs = []Ref{{kind, id}}
		n.Then = func(rows Rows) Need { return Need{Activities: assignedActivities(rows), EntriesOnly: true} }
		return n
	}
	act := []Ref{{kind, id}}
	return Need{
		Assets: true, Acts: []string{id}, ActsWith: act, SequencesWith: act, AssignedRefs: act,
		Then: func(rows Rows) Need {
			return Need{Stories: assignedStories(rows), Activities: assignedActivities(rows), Acts: actsOfDrafts(rows, id)}
		},
	}
}

// ForPutAsset is what PutAsset looks at: another file makes published stories and activities
// stale, and adds or removes problems of drafts of acts, and of what names these acts.
func ForPutAsset(name string) Need {
	asset := []Ref{{KindAsset, name}}
	return withNestedActs(Need{Assets: true, FileBytes: true, ActsWith: asset, SequencesWith: asset, Then: sequencesOfActs})
}

// ForDeleteAsset is what DeleteAsset looks at.
func ForDeleteAsset(name string) Need {
	n := ForPutAsset(name)
	n.FileBytes, n.AssignedRefs = false, []Ref{{KindAsset, name}}
	return n
}

// ForUses is what Uses looks at.
func ForUses() Need {
	return Need{Assets: true, Then: func(rows Rows) Need {
		var assets []Ref
		for _, a := range rows.Assets {
			assets = append(assets, Ref{KindAsset, a.Name})
		}
		return Need{SequencesWith: assets, AssignedRefs: assets}
	}}
}

// ForAssignment is what Assign looks at, beside the defaults of its robots.
func ForAssignment(story string, rev int64) Need {
	if story == "" {
		return Need{}
	}
	n := Need{Stories: []string{story}, Assets: true}
	if rev > 0 {
		n.Pins = []Pin{{ID: story, Rev: rev}}
	}
	n.Then = func(rows Rows) Need { // which of its acts are deleted
		return Need{Acts: actsOfRevision(rows, Ref{KindStory, story}, rev), EntriesOnly: true}
	}
	return n
}

// ForActivities is what AssignActivities looks at, beside the sets of its robots.
func ForActivities(activities []string) Need {
	return Need{Sets: true, Activities: activities, Assets: true, Then: func(rows Rows) Need {
		n := Need{EntriesOnly: true}
		for _, id := range activities {
			n.Acts = append(n.Acts, actsOfRevision(rows, Ref{KindActivity, id}, 0)...)
		}
		return n
	}}
}

// ForRenumber is what Renumber looks at, beside the defaults of its robots.
func ForRenumber() Need { return Need{AssignedRevisions: true} }

// sequencesOfActs needs the stories and activities that name the acts of rows, and the acts
// that these name.
func sequencesOfActs(rows Rows) Need {
	n := Need{Then: func(rows Rows) Need { return Need{Acts: actsOfDrafts(rows, "")} }}
	for _, e := range rows.Entries {
		if e.Kind == KindAct {
			n.SequencesWith = append(n.SequencesWith, Ref{KindAct, e.ID})
		}
	}
	return n
}

// assignedStories lists the default stories of robots.
func assignedStories(rows Rows) []string {
	found := map[string]bool{}
	for _, d := range rows.Defaults {
		if d.Story != "" {
			found[d.Story] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// assignedActivities lists the activities of robots.
func assignedActivities(rows Rows) []string {
	found := map[string]bool{}
	for _, set := range rows.Sets {
		for _, p := range set.Activities {
			found[p.ID] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// actsOfDrafts lists the acts that the drafts of stories and activities name; if act is not
// empty, only of those that name it.
func actsOfDrafts(rows Rows, act string) []string {
	found := map[string]bool{}
	for _, e := range rows.Entries {
		if e.Kind == KindAct {
			continue
		}
		if s, _ := parseSequence(e.Kind, e.Draft); act == "" || s.contains(act) {
			for _, id := range s.acts() {
				found[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// actsOfRevision lists the acts of a revision; rev 0 = the newest.
func actsOfRevision(rows Rows, of Ref, rev int64) []string {
	for _, v := range rows.Revisions {
		if v.Kind != of.Kind || v.ID != of.ID || rev > 0 && v.Rev != rev {
			continue
		}
		b, _ := parsePublished(v.Kind, v.Body)
		return slices.Sorted(maps.Keys(b.Acts))
	}
	return nil
}
