package library

import (
	"slices"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

// A folder is published with its acts before those that perform them, whatever the order of
// its files; of a folder with one error or with one name twice nothing is.
func TestFolderIsPublishedAsAWhole(t *testing.T) {
	w := newWorld()
	encore, bow := Source{KindAct, actText("encore", "performs:bow")}, Source{KindAct, actText("bow", "smile")}
	evening, idle := Source{KindStory, storyText("evening", []string{"encore"})}, Source{KindActivity, activityText("idle", []string{"bow"})}
	for _, c := range []struct {
		what  string
		texts []Source
		want  string // code and pointer of the problem
	}{
		{"an act that cannot be valid", []Source{evening, encore, bow, {KindAct, actText("last", "wrong")}}, score.CodeOutOfRange +
			" /3/actions/0/end_ms"},
		{"a story without its act", []Source{bow, evening}, score.CodeUnknownAct + " /1/acts/0/act"},
		{"one act twice", []Source{bow, encore, bow}, score.CodeDuplicateID + " /2/act"},
	} {
		done, problems := PublishAll(w.rows(), c.texts, nil, w.by(""))
		if len(problems) != 1 || problems[0].Code+" "+problems[0].Pointer != c.want || !done.Changes.Empty() {
			t.Errorf("%s: %v, changes %+v", c.what, problems, done.Changes)
		}
	}
	done, problems := PublishAll(w.rows(), []Source{evening, encore, idle, bow}, nil, w.by(""))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var order []string
	for _, v := range done.Changes.Revisions {
		order = append(order, v.ID)
	}
	if !slices.Equal(order, []string{"bow", "encore", "evening", "idle"}) || done.Results[0].Revision.ID != "evening" ||
		done.Results[0].Revision.Rev != 1 {
		t.Errorf("published %q; the first result is %+v", order, done.Results[0].Revision)
	}
}

// Acts of a folder make drafts of others right, which the plan needs to see.
func TestFolderMakesOtherDraftsRight(t *testing.T) {
	w := newWorld()
	saved, problems := Save(w.rows(), KindAct, actText("encore", "performs:bow"), nil, w.by(""))
	if len(problems) > 0 || len(saved.Entry.Problems) == 0 {
		t.Fatalf("the draft without its act: %v, %+v", problems, saved.Entry.Problems)
	}
	w.apply(t, saved.Changes)
	bow := []Source{{KindAct, actText("bow", "smile")}}
	done, problems := PublishAll(w.read(ForPublishAll(bow)), bow, nil, w.by(""))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	i := slices.IndexFunc(done.Changes.Entries, func(e Entry) bool { return e.ID == "encore" })
	if i < 0 || slices.ContainsFunc(done.Changes.Entries[i].Problems, func(p schema.Problem) bool { return p.Code == score.CodeUnknownAct }) {
		t.Errorf("changed entries %+v", done.Changes.Entries)
	}
}
