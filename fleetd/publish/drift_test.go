package publish

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/bubble"
)

func TestRobotThatDiffersIsAskedAtGrowingIntervals(t *testing.T) {
	var d driftChecker
	start := time.Unix(0, 0)
	var asked []time.Duration
	for at := time.Duration(0); at <= time.Hour; at += driftLook {
		lacking := []string{"r1"}
		if at >= 30*time.Minute {
			lacking = []string{"r2"} // r1 has what it should
		}
		for _, id := range d.due(lacking, start.Add(at), maxAsked) {
			if id == "r1" {
				asked = append(asked, at)
			}
		}
	}
	want := []time.Duration{10, 30, 70, 150, 310, 610, 910, 1210, 1510}
	for i := range want {
		want[i] *= time.Second
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked at %v, want %v", asked, want)
	}
	if len(d.at) != 1 {
		t.Errorf("%d robots are remembered, one differs", len(d.at))
	}
}

func TestRobotThatDiffersBrieflyIsNotAsked(t *testing.T) {
	var d driftChecker
	start := time.Unix(0, 0)
	for at := time.Duration(0); at < 10*time.Minute; at += driftLook {
		var lacking []string
		if at%(20*time.Second) < driftGrace {
			lacking = []string{"r1"}
		}
		if ask := d.due(lacking, start.Add(at), maxAsked); len(ask) > 0 {
			t.Fatalf("asked after %v", at)
		}
	}
}

// fleetWithoutStates are robots whose states did not arrive, as after the broker cut fleetd's connection.
type fleetWithoutStates struct {
	overtakenRobots
	robots int
}

func (fleetWithoutStates) Overtaken(map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string {
	return nil
}

func (f fleetWithoutStates) StatesOutdated(time.Time) (ids []string) {
	for i := range f.robots {
		ids = append(ids, fmt.Sprintf("r%d", i))
	}
	return ids
}

func (f fleetWithoutStates) NotConverged(map[string]map[schema.TopicKind]int64, time.Time) []string {
	return f.StatesOutdated(time.Time{})
}

func (s *countingStore) DesiredRevs(context.Context) (map[string]map[schema.TopicKind]int64, error) {
	return nil, nil
}

func (s *countingStore) DesiredDocuments(context.Context, selector.Selector) ([]store.Outgoing, error) {
	return nil, nil
}

func TestFleetIsAskedAFewRobotsAtATime(t *testing.T) {
	const robots = 3000
	bubble.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked, inSecond := map[string]int{}, map[int]int{}
		start := time.Now()
		d := driftChecker{deps: Deps{
			Log: slog.New(slog.DiscardHandler), Leads: func() bool { return true }, Robots: fleetWithoutStates{robots: robots}, Now: time.Now,
			Send: func(_ context.Context, c command.Command) {
				mu.Lock()
				defer mu.Unlock()
				asked[c.Robot]++
				inSecond[int(time.Since(start).Seconds())]++
			},
		}, renumbered: backoff{}, askedForState: backoff{}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { d.run(ctx, &countingStore{}); close(done) }()
		time.Sleep(90 * time.Second)
		cancel()
		<-done
		for second, n := range inSecond {
			if n > 150 {
				t.Errorf("%d robots asked in second %d", n, second)
			}
		}
		if len(asked) < robots*9/10 {
			t.Errorf("%d of %d robots asked within 90 s", len(asked), robots)
		}
	})
}

func TestTwoDatabasesWithOneFleetIDRenumberAtGrowingIntervals(t *testing.T) {
	o, start := backoff{}, time.Unix(0, 0)
	published := 0
	for at := time.Duration(0); at < time.Hour; at += driftLook {
		if o.allows("r1", start.Add(at)) {
			published++
		}
	}
	if published < 5 || published > 20 {
		t.Errorf("within an hour the desired state was published again %d times", published)
	}
	if !o.allows("r1", start.Add(2*time.Hour)) || !o.allows("r1", start.Add(2*time.Hour+2*driftGrace)) {
		t.Error("after a quiet time it still waits")
	}
}

// overtakenRobots are robots of which r1 has higher revisions of two documents than the database.
type overtakenRobots struct{ Robots }

func (overtakenRobots) Overtaken(map[string]map[schema.TopicKind]int64) map[schema.TopicKind][]string {
	return map[schema.TopicKind][]string{schema.TopicDesiredConfig: {"r1"}, schema.TopicDesiredPlaces: {"r1"}}
}

// countingStore counts transactions, and runs none.
type countingStore struct {
	Store
	n int
}

func (s *countingStore) Tx(context.Context, func(tx *store.Tx) error) error {
	s.n++
	return nil
}

// As after a restore of the database.
func TestAllDocumentsOfARobotAreRenumberedAtOnce(t *testing.T) {
	d, db, now := driftChecker{deps: Deps{Robots: overtakenRobots{}}, renumbered: backoff{}}, &countingStore{}, time.Unix(0, 0)
	for range 2 { // the second look is too early for another attempt
		if d.renumberOvertaken(t.Context(), db, nil, now); db.n != 2 {
			t.Errorf("%d documents were renumbered, want 2", db.n)
		}
		now = now.Add(driftLook)
	}
}
