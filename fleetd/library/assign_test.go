package library

import (
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
	if d := story.Changes.Defaults; len(problems) > 0 || len(d) != 1 || d[0].Robot != "r1" || d[0].DesiredRev != 6 || len(story.Unchanged) != 1 {
		t.Errorf("the story: %v %+v", problems, story)
	}
	set, problems := AssignActivities(rows, ActivitiesAssignment{Robots: robots}, w.by(""))
	if d := set.Changes.Sets; len(problems) > 0 || len(d) != 1 || d[0].Robot != "r1" || d[0].DesiredRev != 6 || len(set.Unchanged) != 1 {
		t.Errorf("the activities: %v %+v", problems, set)
	}
}
