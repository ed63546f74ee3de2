package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// Reader reads rows of the library in one transaction, and lists each once. How many queries a call takes depends neither
// on how many rows there are nor on how many it names. After an error it reads nothing more.
type Reader interface {
	// Rows are what was read so far.
	Rows() *Rows
	// Newest reads entries, deleted or not, with their newest revisions; Entries reads the entries only.
	Newest(kind Kind, ids ...string)
	Entries(kind Kind, ids ...string)
	// Uses reads the entries of these kinds that refer to one of refs in their draft or in their newest
	// revision, with that revision. Deleted entries are left out.
	Uses(kinds []Kind, refs ...Ref)
	// Revisions reads single revisions of stories or activities.
	Revisions(kind Kind, pins ...Pin)
	// RobotStories reads the default stories of the robots of the plan, and with their revisions if wanted;
	// RobotSets reads their activities.
	RobotStories(withRevisions bool)
	RobotSets()
	// Assigned selects robots by what is assigned to them: those whose default story or one of whose
	// activities is among these contents, or refers to one of these acts or assets in its assigned or in its
	// newest revision. It reads their defaults or sets, and the assigned revisions.
	Assigned(refs ...Ref)
	// Assets and ActIDs read all assets and the ids of all published acts: the check of a draft looks for
	// similar names.
	Assets()
	ActIDs()
	// FileBytes reads how many bytes all files have together.
	FileBytes()
}

// Reading reads what a plan looks at. It runs again if its transaction does.
type Reading func(Reader)

// ForDraft reads what Save looks at.
func ForDraft(kind Kind, text []byte) Reading { return ForValidate([]Source{{kind, text}}) }

// ForValidate reads what Validate looks at.
func ForValidate(texts []Source) Reading {
	return func(r Reader) {
		named := readTexts(r, texts)
		readNestedActs(r)
		readActIDs(r, named)
	}
}

// readTexts reads the entries of texts and the acts that these name, which it returns.
func readTexts(r Reader, texts []Source) (acts []string) {
	ids := map[Kind][]string{}
	for _, t := range texts {
		switch t.Kind {
		case KindAct:
			a, _ := score.ParseAct(t.Body)
			acts = append(append(acts, a.ID), a.Nested()...)
		case KindStory, KindActivity:
			s, _ := parseSequence(t.Kind, t.Body)
			ids[t.Kind] = append(ids[t.Kind], s.ID)
			acts = append(acts, s.acts()...)
		}
	}
	r.Newest(KindAct, acts...)
	for _, kind := range sequences {
		r.Newest(kind, ids[kind]...)
	}
	r.Assets()
	return acts
}

// readActIDs reads the ids of all acts if one of those that are named does not exist: the name of
// another one may be similar.
func readActIDs(r Reader, named []string) {
	exists := func(id string) bool {
		return slices.ContainsFunc(r.Rows().Entries, func(e Entry) bool { return e.Kind == KindAct && e.ID == id })
	}
	if slices.ContainsFunc(named, func(id string) bool { return !exists(id) }) {
		r.ActIDs()
	}
}

// ForPublish reads what Publish looks at. Another revision of an act makes published
// stories and activities stale, and adds or removes problems of drafts.
func ForPublish(kind Kind, id string, acts ...string) Reading {
	if kind == KindAct {
		acts = append(slices.Clip(acts), id)
	}
	return func(r Reader) {
		if kind != KindAct {
			r.Newest(kind, id)
		}
		r.Newest(KindAct, acts...)
		r.Uses(kinds, refsTo(KindAct, acts)...)
		r.Assets()
		if kind == KindAct {
			readActsOfDrafts(r, acts...)
		} else {
			readActIDs(r, readActsOfDrafts(r))
		}
	}
}

func refsTo(kind Kind, ids []string) (refs []Ref) {
	for _, id := range ids {
		refs = append(refs, Ref{kind, id})
	}
	return refs
}

// ForRecover reads what Recover looks at.
func ForRecover(kind Kind, id string) Reading { return ForPublish(kind, id) }

// ForDelete reads what Delete looks at.
func ForDelete(kind Kind, id string) Reading {
	return func(r Reader) {
		r.Newest(kind, id)
		r.Assigned(Ref{kind, id})
		stories, activities := assigned(r.Rows())
		if kind != KindAct {
			r.Entries(KindActivity, activities...)
			return
		}
		r.Uses(kinds, Ref{kind, id})
		r.Assets()
		r.Newest(KindAct, actsOfDrafts(r.Rows(), id)...)
		r.Newest(KindStory, stories...)
		r.Newest(KindActivity, activities...)
	}
}

// ForPutAsset reads what PutAsset looks at: another file makes published stories and activities
// stale, and adds or removes problems of drafts of acts, and of what names these acts.
func ForPutAsset(name string) Reading {
	return func(r Reader) {
		r.FileBytes()
		readAssetUses(r, name)
	}
}

// ForDeleteAsset reads what DeleteAsset looks at.
func ForDeleteAsset(name string) Reading {
	return func(r Reader) {
		r.Assigned(Ref{KindAsset, name})
		readAssetUses(r, name)
	}
}

// readAssetUses reads what refers to an asset, the stories and activities that name those acts, and the acts that
// these name.
func readAssetUses(r Reader, name string) {
	r.Assets()
	r.Uses(kinds, Ref{KindAsset, name})
	var acts []string
	for _, e := range r.Rows().Entries {
		if e.Kind == KindAct {
			acts = append(acts, e.ID)
		}
	}
	r.Uses(sequences, refsTo(KindAct, acts)...)
	readActsOfDrafts(r)
}

// ForUses reads what Uses looks at.
func ForUses() Reading {
	return func(r Reader) {
		r.Assets()
		var names []string
		for _, a := range r.Rows().Assets {
			names = append(names, a.Name)
		}
		assets := refsTo(KindAsset, names)
		r.Uses(sequences, assets...)
		r.Assigned(assets...)
	}
}

// ForAssignment reads what Assign looks at.
func ForAssignment(story string, rev int64) Reading {
	return func(r Reader) {
		r.RobotStories(false)
		if story == "" {
			return
		}
		r.Newest(KindStory, story)
		r.Assets()
		if rev > 0 {
			r.Revisions(KindStory, Pin{story, rev})
		}
		r.Entries(KindAct, actsOfRevision(r.Rows(), Ref{KindStory, story}, rev)...) // which of its acts are deleted
	}
}

// ForActivities reads what AssignActivities looks at.
func ForActivities(activities []Pin) Reading {
	return func(r Reader) {
		r.RobotSets()
		var ids []string
		var pinned []Pin
		for _, p := range activities {
			ids = append(ids, p.ID)
			if p.Rev > 0 {
				pinned = append(pinned, p)
			}
		}
		r.Newest(KindActivity, ids...)
		r.Revisions(KindActivity, pinned...)
		r.Assets()
		var acts []string
		for _, p := range activities {
			acts = append(acts, actsOfRevision(r.Rows(), Ref{KindActivity, p.ID}, p.Rev)...)
		}
		r.Entries(KindAct, acts...)
	}
}

// ForRenumber reads what Renumber looks at.
func ForRenumber() Reading { return func(r Reader) { r.RobotStories(true) } }

// readActsOfDrafts reads the acts that the drafts of the stories and activities name, which it returns, and
// those that these perform; with acts, only of the drafts that name one of them.
func readActsOfDrafts(r Reader, acts ...string) []string {
	named := actsOfDrafts(r.Rows(), acts...)
	r.Newest(KindAct, named...)
	readNestedActs(r)
	return named
}

func actsOfDrafts(rows *Rows, acts ...string) (named []string) {
	for _, e := range rows.Entries {
		if e.Kind == KindAct {
			continue
		}
		if s, _ := parseSequence(e.Kind, e.Draft); len(acts) == 0 || slices.ContainsFunc(acts, s.contains) {
			named = append(named, s.acts()...)
		}
	}
	return named
}

// assigned lists the default stories and the activities of robots.
func assigned(rows *Rows) (stories, activities []string) {
	for _, d := range rows.Defaults {
		if d.Story != "" {
			stories = append(stories, d.Story)
		}
	}
	for _, set := range rows.Sets {
		for _, p := range set.Activities {
			activities = append(activities, p.ID)
		}
	}
	return stories, activities
}

// actsOfRevision lists the acts of a revision; rev 0 = the newest.
func actsOfRevision(rows *Rows, of Ref, rev int64) []string {
	for _, v := range rows.Revisions {
		if v.Kind != of.Kind || v.ID != of.ID || rev > 0 && v.Rev != rev {
			continue
		}
		b, _ := parsePublished(v.Kind, v.Body)
		return slices.Sorted(maps.Keys(b.Acts))
	}
	return nil
}
