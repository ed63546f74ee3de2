package library

import (
	"slices"
	"testing"

	"troupe/schema/score"
)

// A folder is published with its acts before those that perform them, whatever the order of
// its files; of a folder with one error or with one name twice nothing is.
func TestFolderIsPublishedAsAWhole(t *testing.T) {
	w := newWorld()
	encore, bow := Text{KindAct, actText("encore", "performs:bow")}, Text{KindAct, actText("bow", "smile")}
	evening, idle := Text{KindStory, storyText("evening", []string{"encore"})}, Text{KindActivity, activityText("idle", []string{"bow"})}
	for _, c := range []struct {
		what  string
		texts []Text
		want  string // code and pointer of the problem
	}{
		{"an act that cannot be valid", []Text{evening, encore, bow, {KindAct, actText("last", "wrong")}}, score.CodeOutOfRange + " /3/actions/0/end_ms"},
		{"a story without its act", []Text{bow, evening}, score.CodeUnknownAct + " /1/acts/0/act"},
		{"one act twice", []Text{bow, encore, bow}, score.CodeDuplicateID + " /2/act"},
	} {
		done, problems := PublishAll(w.rows(), c.texts, nil, w.by(""))
		if len(problems) != 1 || problems[0].Code+" "+problems[0].Pointer != c.want || !done.Changes.Empty() {
			t.Errorf("%s: %v, changes %+v", c.what, problems, done.Changes)
		}
	}
	done, problems := PublishAll(w.rows(), []Text{evening, encore, idle, bow}, nil, w.by(""))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var order []string
	for _, v := range done.Changes.Revisions {
		order = append(order, v.ID)
	}
	if !slices.Equal(order, []string{"bow", "encore", "evening", "idle"}) || done.Results[0].Revision.ID != "evening" || done.Results[0].Revision.Rev != 1 {
		t.Errorf("published %q; the first result is %+v", order, done.Results[0].Revision)
	}
}
