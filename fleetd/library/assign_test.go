package library

import (
	"crypto/ed25519"
	"testing"

	"troupe/schema"
)

// As after a restore of the database: the robot has received documents that are not in it.
func TestWithdrawalReachesRobotsWithoutADocumentInTheDatabase(t *testing.T) {
	w := newWorld()
	rows := w.rows()
	rows.Reported = func(robot string, _ schema.TopicKind) (h schema.ReportedRev) {
		if robot == "r1" {
			h.Rev = 5
		}
		return h
	}
	robots := []string{"r1", "r2"}
	story, problems := Assign(rows, Assignment{Robots: robots}, w.by(""))
	if d := story.Changes.Defaults; len(problems) > 0 || len(d) != 1 || d[0].Robot != "r1" || d[0].DesiredRev != 6 ||
		len(story.Unchanged) != 1 {
		t.Errorf("the story: %v %+v", problems, story)
	}
	set, problems := AssignActivities(rows, ActivitiesAssignment{Robots: robots}, w.by(""))
	if d := set.Changes.Sets; len(problems) > 0 || len(d) != 1 || d[0].Robot != "r1" || d[0].DesiredRev != 6 || len(set.Unchanged) != 1 {
		t.Errorf("the activities: %v %+v", problems, set)
	}
}

func TestAssigningWhatARobotRejectedIsANewAttempt(t *testing.T) {
	w := newWorld()
	publishTour(t, w)
	for _, step := range []struct {
		reported schema.ReportedRev
		updated  int
	}{{schema.ReportedRev{}, 1}, {schema.ReportedRev{Rev: 1}, 0}, {schema.ReportedRev{Rev: 1, Unfulfilled: true}, 1},
		{schema.ReportedRev{Rev: 1, Unfulfilled: true}, 0}} {
		rows := w.rows()
		rows.Reported = func(string, schema.TopicKind) schema.ReportedRev { return step.reported }
		story, problems := Assign(rows, Assignment{Story: "tour", Robots: []string{"r1"}}, w.by(""))
		set, found := AssignActivities(rows, ActivitiesAssignment{Activities: []Pin{{ID: "greet"}}, Robots: []string{"r1"}}, w.by(""))
		if len(problems)+len(found) > 0 || len(story.Updated) != step.updated || len(set.Updated) != step.updated {
			t.Errorf("after %+v: %v %v, story %v, activities %v, want %d", step.reported, problems, found, story.Updated, set.Updated, step.updated)
		}
		w.apply(t, story.Changes)
		w.apply(t, set.Changes)
	}
}

// publishTour publishes a story and an activity.
func publishTour(t *testing.T, w *world) {
	t.Helper()
	for _, d := range []struct {
		kind Kind
		id   string
		text []byte
	}{{KindAct, "a", actText("a", "smile")}, {KindStory, "tour", storyText("tour", []string{"a"})},
		{KindActivity, "greet", activityText("greet", []string{"a"})}} {
		saved, _ := Save(w.rows(), d.kind, d.text, nil, w.by(""))
		w.apply(t, saved.Changes)
		published, problems := Publish(w.rows(), d.kind, d.id, nil, w.by(""))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		w.apply(t, published.Changes)
	}
}

// A robot that trusts a release key refuses content that was assigned without one.
func TestContentIsAssignedAgainWithAReleaseKey(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld()
	publishTour(t, w)
	for _, step := range []struct {
		release ed25519.PrivateKey
		updated int
	}{{nil, 1}, {nil, 0}, {key, 1}, {key, 0}} {
		rows := w.rows()
		rows.Signer.Key, rows.Signer.Release = key, step.release
		story, problems := Assign(rows, Assignment{Story: "tour", Robots: []string{"r1"}}, w.by(""))
		set, found := AssignActivities(rows, ActivitiesAssignment{Activities: []Pin{{ID: "greet"}}, Robots: []string{"r1"}}, w.by(""))
		if len(problems)+len(found) > 0 || len(story.Updated) != step.updated || len(set.Updated) != step.updated {
			t.Errorf("release key %v: %v %v, story %v, activities %v, want %d", step.release != nil, problems, found, story.Updated, set.Updated,
				step.updated)
		}
		w.apply(t, story.Changes)
		w.apply(t, set.Changes)
	}
}
