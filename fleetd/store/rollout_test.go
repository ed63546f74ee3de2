package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// rolloutOf returns a rollout of two waves and its robots, the first of which is the canary.
func rolloutOf(id string, created int, ids ...string) (rollout.Rollout, []rollout.Robot) {
	no := false
	o := rollout.Rollout{
		ID: id, Version: 1, Name: "spring „story“", State: rollout.Running, Why: "started", Cause: rollout.ByPolicy, CauseID: "lobby",
		Content: content.Content{Story: &content.Story{ID: "s1", Rev: 2, Apply: schema.ApplyNow}}, Digest: "d", Robots: "--all",
		Spec: rollout.Spec{OffersPerMin: 60, Offline: rollout.OfflineSkip, WatchHealth: &no}, Seed: 1<<63 + 7, Wave: 1,
		CreatedAt: at(created), CreatedBy: "anna", ApprovedAt: at(2), ApprovedBy: "ben", NotBefore: at(3), StartedAt: at(4), NextAt: at(5),
	}
	var robots []rollout.Robot
	for i, robot := range ids {
		robots = append(robots, rollout.Robot{ID: robot, Wave: min(i, 1), Place: i, State: rollout.Planned, ChangedAt: at(created)})
	}
	o.Waves = []rollout.Wave{
		{Number: 0, Name: "canary", State: rollout.WavePassed, Why: "all confirmed", Gate: rollout.Gate{SuccessPercent: 100, SoakS: 600},
			Total:     1,
			StartedAt: at(4), SoakFrom: at(5), EndedAt: at(6), Counts: map[rollout.RobotState]int{rollout.Planned: 1}},
		{Number: 1, Name: "rest", State: rollout.WavePlanned, Total: len(ids) - 1,
			Counts: map[rollout.RobotState]int{rollout.Planned: len(ids) - 1}},
	}
	return o, robots
}

func addRollout(t testing.TB, s *store.Store, o rollout.Rollout, robots []rollout.Robot) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		return tx.AddRollouts(t.Context(), store.NewRollout{Rollout: o, Members: robots})
	})
}

func rolloutsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	o, members := rolloutOf("o1", 1, "r3", "r1", "r2")
	addRollout(t, s, o, members)
	wantEqual(t, "the rollout", must[rollout.Rollout](t)(s.Rollout(t.Context(), "o1")), o)
	wantEqual(t, "its robots", must[[]rollout.Robot](t)(s.RolloutRobots(t.Context(), store.RolloutRobotQuery{Rollout: "o1"})), members)
	_, err := s.Rollout(t.Context(), "o2")
	wantErr(t, "an unknown rollout", err, store.ErrNotFound)

	members[1] = rollout.Robot{
		ID: "r1", Wave: 1, Place: 1, State: rollout.Failed, Phase: schema.DeployFailed, Why: "no space left", Group: "disk_full", Rev: 12,
		Tries: 3,
		Had: &content.Content{Config: &desired.Config{Set: map[string]jsontext.Value{"volume": jsontext.Value("0.5")},
			Unset: []string{"language"}}},
		ChangedAt: at(10), OfferedAt: at(9), ActiveAt: at(8), RetryAt: at(20), Spent: 1500 * time.Millisecond, SpentAt: at(10),
		RetryFor: time.Minute,
	}
	o.State, o.Why, o.Wave, o.EndedAt, o.NextAt = rollout.Paused, "a wave failed", 1, at(11), at(12)
	o.Waves[1].State, o.Waves[1].Why, o.Waves[1].StartedAt, o.Waves[1].SoakFrom, o.Waves[1].EndedAt = rollout.WaveFailed, "1 of 2", at(7),
		at(8), at(9)
	o.Waves[1].Gate.Waived, o.Waves[1].Gate.AcceptedFailures = true, 3
	o.Waves[1].Counts = map[rollout.RobotState]int{rollout.Planned: 1, rollout.Failed: 1}
	transact(t, s, func(tx *store.Tx) error {
		return tx.SaveRollout(t.Context(), rollout.Changes{Rollout: o, Robots: members[1:2]})
	})
	o.Version = 2
	wantEqual(t, "the changed rollout", must[rollout.Rollout](t)(s.Rollout(t.Context(), "o1")), o)
	wantEqual(t, "its changed robots", must[[]rollout.Robot](t)(s.RolloutRobots(t.Context(), store.RolloutRobotQuery{Rollout: "o1"})), members)
	wantEqual(t, "its version", must[int64](t)(s.RolloutVersionOf(t.Context(), "o1")), int64(2))
}

// A change of an earlier version writes nothing, whatever it changes.
func rolloutOfAnotherVersionIsAConflict(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	o, members := rolloutOf("o1", 1, "r1", "r2")
	addRollout(t, s, o, members)
	paused := rollout.Changes{Rollout: o}
	paused.Rollout.State = rollout.Paused
	transact(t, s, func(tx *store.Tx) error { return tx.SaveRollout(t.Context(), paused) })
	offered := rollout.Changes{Rollout: o, Robots: slices.Clone(members)}
	for i := range offered.Robots {
		offered.Robots[i].State = rollout.Offered
	}
	err := s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SaveRollout(t.Context(), offered) })
	wantErr(t, "an offer after the pause", err, store.ErrConflict)
	wantEqual(t, "the robots", must[[]rollout.Robot](t)(s.RolloutRobots(t.Context(), store.RolloutRobotQuery{Rollout: "o1"})), members)
	// A robot that the rollout does not have is a fault of the caller, and writes nothing either.
	strange := rollout.Changes{Rollout: o, Robots: []rollout.Robot{{ID: "r9", State: rollout.Offered}}}
	strange.Rollout.Version = 2
	wantErr(t, "an unknown robot", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SaveRollout(t.Context(), strange) }),
		store.ErrConflict)
	wantEqual(t, "the version", must[int64](t)(s.RolloutVersionOf(t.Context(), "o1")), int64(2))
}

func rolloutsAreSelected(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3")
	transact(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.SetLabels(t.Context(), "r1", map[string]string{"site": "museum"}),
			tx.SetLabels(t.Context(), "r2", map[string]string{"site": "museum"}),
			tx.SetLabels(t.Context(), "r3", map[string]string{"site": "shop"}))
	})
	for i, members := range [][]string{{"r1", "r2"}, {"r2", "r3"}, {"r3", "r1"}} {
		o, rows := rolloutOf(fmt.Sprintf("o%d", i+1), i+1, members...)
		if i == 2 {
			o.State, o.EndedAt, o.Content = rollout.Succeeded, at(9), content.Content{Mode: &desired.Mode{Mode: schema.ModeAto}}
		}
		addRollout(t, s, o, rows)
	}
	for _, test := range []struct {
		what string
		q    store.RolloutQuery
		want []string
	}{
		{"all", store.RolloutQuery{}, []string{"o3", "o2", "o1"}},
		{"the newest", store.RolloutQuery{Limit: 1}, []string{"o3"}},
		{"open", store.RolloutQuery{Open: true}, []string{"o2", "o1"}},
		{"succeeded", store.RolloutQuery{State: rollout.Succeeded}, []string{"o3"}},
		{"of r3", store.RolloutQuery{Robot: "r3"}, []string{"o3", "o2"}},
		{"of the museum", store.RolloutQuery{Sites: []string{"museum"}}, []string{"o1"}},
		{"of both", store.RolloutQuery{Sites: []string{"museum", "shop"}}, []string{"o3", "o2", "o1"}},
		{"one of the museum", store.RolloutQuery{ID: "o1", Sites: []string{"museum"}}, []string{"o1"}},
		{"one of both", store.RolloutQuery{ID: "o2", Sites: []string{"museum"}}, nil},
		{"of another site", store.RolloutQuery{Sites: []string{"lab"}}, nil},
	} {
		var got []string
		for _, o := range must[[]rollout.Rollout](t)(s.Rollouts(t.Context(), test.q)) {
			got = append(got, o.ID)
			if len(o.Waves) != 2 {
				t.Errorf("%s: %s has %d waves", test.what, o.ID, len(o.Waves))
			}
		}
		wantEqual(t, test.what, got, test.want)
	}
	wantEqual(t, "open versions", must[[]store.RolloutVersion](t)(s.OpenRollouts(t.Context())),
		[]store.RolloutVersion{{ID: "o1", Version: 1, State: rollout.Running}, {ID: "o2", Version: 1, State: rollout.Running}})
	wantEqual(t, "robots of open rollouts", must[[]store.RobotOfRollout](t)(s.RobotsOfOpenRollouts(t.Context(), schema.TopicDesiredStory,
		selector.IDs("r2", "r3"),
		[]rollout.RobotState{rollout.Planned})), []store.RobotOfRollout{{Rollout: "o1", Robot: "r2"}, {Rollout: "o2", Robot: "r2"},
		{Rollout: "o2", Robot: "r3"}})
	wantEqual(t, "offered robots of open rollouts", must[[]store.RobotOfRollout](t)(s.RobotsOfOpenRollouts(t.Context(),
		schema.TopicDesiredStory, selector.All(),
		[]rollout.RobotState{rollout.Offered})), []store.RobotOfRollout(nil))
}

// A rollout that was started later takes robots from the ones before it, also when it is over.
func laterRolloutsAreFound(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2", "r3", "r4")
	wantEqual(t, "without rollouts", must[map[schema.TopicKind]time.Time](t)(s.NewestStarts(t.Context())), map[schema.TopicKind]time.Time{})
	first, members := rolloutOf("o1", 1, "r1", "r2", "r3", "r4")
	addRollout(t, s, first, members)
	second, members := rolloutOf("o2", 2, "r2", "r4")
	second.StartedAt, second.EndedAt, second.State = at(30), at(40), rollout.Succeeded
	members[0].Rev, members[0].State, members[1].Rev, members[1].State = 7, rollout.Confirmed, 8, rollout.Rejected
	addRollout(t, s, second, members)
	nothing, members := rolloutOf("o5", 5, "r1", "r3") // which gave nothing, or took it back
	nothing.StartedAt, nothing.EndedAt, nothing.State = at(20), at(21), rollout.RolledBack
	members[0].State, members[1].State, members[1].Rev = rollout.Cancelled, rollout.Restored, 3
	addRollout(t, s, nothing, members)
	other, members := rolloutOf("o3", 3, "r1")
	other.StartedAt, other.Content = at(50), content.Content{Mode: &desired.Mode{Mode: schema.ModeAto}}
	addRollout(t, s, other, members)
	waits, members := rolloutOf("o4", 4, "r1")
	waits.StartedAt, waits.State = time.Time{}, rollout.Ready
	addRollout(t, s, waits, members)
	transact(t, s, func(tx *store.Tx) error {
		return tx.SetPins(t.Context(), []store.Pin{{Robot: "r1", Topic: schema.TopicDesiredStory}, {Robot: "r3", Topic: schema.TopicDesiredMode}})
	})
	wantEqual(t, "the newest", must[map[schema.TopicKind]time.Time](t)(s.NewestStarts(t.Context())),
		map[schema.TopicKind]time.Time{schema.TopicDesiredStory: at(30), schema.TopicDesiredMode: at(50)})
	wantEqual(t, "later than the first", must[map[string]string](t)(s.NewerRollouts(t.Context(), first)),
		map[string]string{"r2": "o2", "r4": "o2"})
	wantEqual(t, "later than the second", must[map[string]string](t)(s.NewerRollouts(t.Context(), second)), map[string]string{})
	transact(t, s, func(tx *store.Tx) error {
		wantEqual(t, "offerable", must[[]store.Offerable](t)(tx.Offerable(t.Context(), first, []string{"r3", "r2", "r1", "r9"})),
			[]store.Offerable{{Robot: "r1", Pinned: true}, {Robot: "r2", Newer: true}, {Robot: "r3"}})
		return nil
	})
}

func rolloutRobotsArePaged(t *testing.T, address string) {
	s := storetest.Open(t, address)
	ids := []string{"r5", "r4", "r3", "r2", "r1", "r6"}
	robots(t, s, ids...)
	o, members := rolloutOf("o1", 1, ids...)
	for i := range members {
		members[i].State = rollout.Failed
		members[i].Group, members[i].Why = "misfit", members[i].ID+" has no arm"
		if i%3 == 2 {
			members[i].Group, members[i].Why = "disk_full", members[i].ID+" is full"
		}
	}
	members[5].State = rollout.Confirmed
	addRollout(t, s, o, members)
	first := 1
	for _, test := range []struct {
		what string
		q    store.RolloutRobotQuery
		want []string
	}{
		{"first page", store.RolloutRobotQuery{Limit: 2}, ids[:2]},
		{"second page", store.RolloutRobotQuery{After: "r4", Limit: 2}, ids[2:4]},
		{"last page", store.RolloutRobotQuery{After: "r2"}, ids[4:]},
		{"after the last", store.RolloutRobotQuery{After: "r6"}, nil},
		{"of a wave", store.RolloutRobotQuery{Wave: &first}, ids[1:]},
		{"confirmed", store.RolloutRobotQuery{States: []rollout.RobotState{rollout.Confirmed}}, ids[5:]},
		{"failed page", store.RolloutRobotQuery{States: []rollout.RobotState{rollout.Failed, rollout.Silent}, After: "r4", Limit: 2}, ids[2:4]},
	} {
		test.q.Rollout = "o1"
		var got []string
		for _, m := range must[[]rollout.Robot](t)(s.RolloutRobots(t.Context(), test.q)) {
			got = append(got, m.ID)
		}
		wantEqual(t, test.what, got, test.want)
	}
	wantEqual(t, "failures", must[[]store.RolloutFailures](t)(s.RolloutFailures(t.Context(), "o1",
		[]rollout.RobotState{rollout.Failed})), []store.RolloutFailures{
		{Reason: "misfit", State: rollout.Failed, Count: 4, Detail: "r5 has no arm", Robots: []string{"r5", "r4", "r2", "r1"}},
		{Reason: "disk_full", State: rollout.Failed, Count: 1, Detail: "r3 is full", Robots: []string{"r3"}},
	})
}

func pinsAreReplacedAndRemoved(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	transact(t, s, func(tx *store.Tx) error { return tx.SetLabels(t.Context(), "r2", map[string]string{"site": "shop"}) })
	story, mode := schema.TopicDesiredStory, schema.TopicDesiredMode
	pins := []store.Pin{{"r1", mode, at(1), "anna", "a test"}, {"r1", story, at(1), "anna", ""}, {"r2", story, at(2), "ben", "it stays"}}
	transact(t, s, func(tx *store.Tx) error { return tx.SetPins(t.Context(), pins) })
	pins[1] = store.Pin{Robot: "r1", Topic: story, At: at(3), By: "ben", Why: "another reason"}
	transact(t, s, func(tx *store.Tx) error { return tx.SetPins(t.Context(), pins[1:2]) })
	for _, test := range []struct {
		what string
		q    store.PinQuery
		want []store.Pin
	}{
		{"all", store.PinQuery{}, pins}, {"of r1", store.PinQuery{Robot: "r1"}, pins[:2]}, {"of stories", store.PinQuery{Topic: story}, pins[1:]},
		{"of the shop", store.PinQuery{Sites: []string{"shop"}}, pins[2:]},
	} {
		wantEqual(t, test.what, must[[]store.Pin](t)(s.Pins(t.Context(), test.q)), test.want)
	}
	transact(t, s, func(tx *store.Tx) error { return tx.RemovePin(t.Context(), "r1", story) })
	wantEqual(t, "after one is removed", must[[]store.Pin](t)(s.Pins(t.Context(), store.PinQuery{Topic: story})), pins[2:])
	wantErr(t, "removed twice", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.RemovePin(t.Context(), "r1", story) }),
		store.ErrNotFound)
	wantErr(t, "a pin of an unknown robot",
		s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SetPins(t.Context(), []store.Pin{{Robot: "r9", Topic: story}}) }),
		store.ErrNotFound)
}

// A content of activities keeps their order and revisions.
func TestContentsOfRolloutsAreReadBack(t *testing.T) {
	s := storetest.Open(t, "sqlite:"+t.TempDir()+"/fleet.db")
	robots(t, s, "r1")
	for i, c := range []content.Content{
		{Activities: &content.Activities{Pins: []library.Pin{{ID: "b", Rev: 2},
			{ID: "a", Rev: 1}}}}, {Activities: &content.Activities{}}, {Story: &content.Story{}},
		{Places: &desired.Set{ID: "hall", Rev: 3, SHA256: "abc"}}, {Mode: &desired.Mode{Mode: schema.ModeMnl, Apply: schema.ApplyModeNow}},
	} {
		o, rows := rolloutOf(fmt.Sprintf("o%d", i), i, "r1")
		o.Content, rows[0].Had = c, &c
		addRollout(t, s, o, rows)
		got := must[rollout.Rollout](t)(s.Rollout(t.Context(), o.ID))
		had := must[[]rollout.Robot](t)(s.RolloutRobots(t.Context(), store.RolloutRobotQuery{Rollout: o.ID}))[0].Had
		want := must[string](t)(c.Digest())
		if must[string](t)(got.Content.Digest()) != want || must[string](t)(had.Digest()) != want {
			t.Errorf("%s: read back as %s and %s", c, got.Content, had)
		}
	}
}
