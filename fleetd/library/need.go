package library

import (
	"maps"
	"slices"

	"troupe/schema/score"
)

// Need says which rows of the library a plan looks at, so that a plan about one story reads
// neither all others nor what robots have that it does not concern. Of every act and story
// that it names, the entry is read and the newest revision.
type Need struct {
	All    bool // the whole library: every entry, the newest revisions, those that robots perform, and the assets
	Assets bool // the assets, which the check of a draft looks up by name

	AllStories bool
	Stories    []string
	Acts       []string
	Pins       []Pin // these revisions of stories
	Performed  bool  // the revisions that the robots of the plan perform

	// Named are the acts that the plan finds named in what was read so far; nil = none.
	Named func(Rows) []string
	// Deleted: of those acts the plan only asks whether they are deleted.
	Deleted bool
}

// ForDraft is what Save and Validate look at.
func ForDraft(kind Kind, text []byte) Need {
	if kind == KindAct {
		a, _ := score.ParseAct(text)
		return Need{Assets: true, Acts: []string{a.ID}}
	}
	s, _ := score.ParseStory(text)
	return Need{Assets: true, Stories: []string{s.ID}, Acts: actsOf(s)}
}

// ForPublish is what Publish looks at. Another state of an act makes published stories
// stale, and drafts of stories right or wrong, so it looks at all stories.
func ForPublish(kind Kind, id string) Need {
	if kind == KindAct {
		return Need{Assets: true, Acts: []string{id}, AllStories: true, Named: func(rows Rows) []string { return namedInDrafts(rows, id) }}
	}
	return Need{Assets: true, Stories: []string{id}, Named: func(rows Rows) []string { return namedInDrafts(rows, "") }}
}

// ForAssignment is what Assign looks at, beside the defaults of its robots.
func ForAssignment(story string, rev int64) Need {
	if story == "" {
		return Need{}
	}
	n := Need{Stories: []string{story}, Deleted: true}
	if rev > 0 {
		n.Pins = []Pin{{ID: story, Rev: rev}}
	}
	n.Named = func(rows Rows) []string { return namedInRevision(rows, story, rev) }
	return n
}

// ForAgain is what Again looks at, beside the defaults of its robots.
func ForAgain() Need { return Need{Performed: true} }

// namedInDrafts lists the acts that the drafts of stories name; if act is not empty, only
// of stories that name it.
func namedInDrafts(rows Rows, act string) []string {
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

// namedInRevision lists the acts of a story's revision; rev 0 = the newest.
func namedInRevision(rows Rows, story string, rev int64) []string {
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
	var ids []string
	for _, step := range s.Acts {
		ids = append(ids, step.Act)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
