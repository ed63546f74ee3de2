package publish

import (
	"testing"
	"time"

	"troupe/schema"
)

// fakeRobots are the robots of a test.
type fakeRobots struct {
	Robots // panics: the test needs no more
	away   map[string]bool
}

func (r fakeRobots) Reachable(robot string) bool { return !r.away[robot] }

func TestBlobIsPublishedAgainOnlyForReachableRobots(t *testing.T) {
	robots, now := fakeRobots{away: map[string]bool{}}, time.Unix(0, 0)
	b := &blobs{deps: Deps{Robots: robots}, at: map[reportKey]fetching{}}
	b.reported(reportKey{"r1", schema.TopicReportedStory}, schema.DeployFetching, "abc", now)
	due := func(want bool) {
		t.Helper()
		now = now.Add(fetchGrace + time.Millisecond)
		if got := len(b.due(now)["abc"]) == 1; got != want {
			t.Errorf("published again: %v, want %v", got, want)
		}
	}
	due(true)
	robots.away["r1"] = true
	due(false)
	due(false)
	robots.away["r1"] = false
	due(true)
}
