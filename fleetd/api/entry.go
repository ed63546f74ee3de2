package api

import (
	"troupe/fleetd/library"
	"troupe/schema/score"
)

func entryOf(e library.Entry) Entry {
	out := Entry{
		Kind: string(e.Kind), ID: e.ID, DraftRev: e.DraftRev, Rev: e.Rev, Problems: nonNil(e.Problems),
		ChangedAt: timeOf(e.ChangedAt), ChangedBy: e.ChangedBy, DeletedAt: timeOf(e.DeletedAt), DeletedBy: e.DeletedBy, DeletedWhy: e.DeletedWhy,
		Draft: string(e.Draft),
	}
	switch e.Kind {
	case library.KindAct:
		a, _ := score.ParseAct(e.Draft)
		out.Name = a.Name.In("en")
	case library.KindStory:
		story, _ := score.ParseStory(e.Draft)
		out.Name = story.Name.In(story.Languages...)
	}
	return out
}

func revisionOf(v library.Revision) Revision {
	return Revision{Rev: v.Rev, SHA256: v.SHA256, Size: v.Size, At: timeOf(v.CreatedAt), By: v.CreatedBy, Why: v.Why}
}

func deletionOf(i library.Impact) Deletion {
	out := Deletion{Kind: string(i.Kind), ID: i.ID, Robots: i.Robots, Clears: nonNil(i.Clears), Stories: []StoryImpact{}}
	for _, one := range i.Stories {
		out.Stories = append(out.Stories, StoryImpact{
			Story: one.Story, Before: one.Before, After: one.After, Rev: one.Rev,
			Repinned: nonNil(one.Repinned), Cleared: nonNil(one.Cleared), DraftOnly: one.DraftOnly,
		})
	}
	return out
}

// nonNil makes a nil list empty, so that JSON has [] and not null.
func nonNil[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}
