package fleet_test

import (
	"context"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// rollouts are the changes of rollouts of an instance.
func (w *world) rollouts() *change.Rollouts {
	return &change.Rollouts{Name: "fleetd", Candidate: func(string) (rollout.Candidate,
		bool) {
		return rollout.Candidate{Online: true}, true
	}, Deps: change.Deps{
		Now: time.Now, Store: w.Store, Changed: func(context.Context, []string) {}, Caps: func(string) *schema.Caps { return nil },
		Catalogue: func() library.Catalogue { return library.Catalogue{} },
	}}
}

// roll starts a rollout of the story museum to all robots: a canary of one robot, then the others.
func (w *world) roll() string {
	w.Helper()
	soak := int64(30)
	o, _, found, err := w.rollouts().Create(w.Context(), auth.Principal{}, change.RolloutRequest{
		Content: content.Content{Story: &content.Story{ID: "museum"}}, Robots: selector.All(), Start: true,
		Spec: rollout.Spec{Waves: []rollout.WaveSpec{{Name: "canary", Count: 1, SoakS: &soak}, {Name: "rest", Percent: 100, SoakS: &soak}},
			OffersPerMin: 6000},
	}, audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
	return o.ID
}

func (w *world) decide(id string, on rollout.Event) {
	w.Helper()
	if _, _, found, err := w.rollouts().Decide(w.Context(), auth.Principal{}, id, rollout.Decision{On: on, By: "anna"},
		nil); err != nil || len(found) > 0 {
		w.Fatal(on, found, err)
	}
}

func rolloutOf(t *testing.T, db *store.Store, id string) rollout.Rollout {
	t.Helper()
	o, err := db.Rollout(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestNewLeaderGoesOnWithARollout(t *testing.T) {
	state := func(s rollout.State) func(rollout.Rollout) bool {
		return func(o rollout.Rollout) bool { return o.State == s }
	}
	wave := func(n int, s rollout.WaveState) func(rollout.Rollout) bool {
		return func(o rollout.Rollout) bool { return o.Waves[n].State == s }
	}
	for _, test := range []struct {
		name    string
		silent  bool // robots do not report until the leader is gone
		reach   func(rollout.Rollout) bool
		decide  rollout.Event // before the leader is gone
		resume  rollout.Event // after
		goes    func(rollout.Rollout) bool
		atLeast time.Duration // what has to pass anyway, such as the soak
	}{
		{name: "the canary was offered the content", silent: true, reach: wave(0, rollout.WaveRunning), goes: wave(0, rollout.WaveSoaking)},
		{name: "the canary soaks", reach: wave(0, rollout.WaveSoaking),
			goes: func(o rollout.Rollout) bool { return o.Wave == 1 && o.Waves[1].State != rollout.WavePlanned }, atLeast: 30 * time.Second},
		{name: "the last wave soaks", reach: wave(1, rollout.WaveSoaking), goes: state(rollout.Succeeded), atLeast: 30 * time.Second},
		{name: "it is paused", reach: wave(0, rollout.WaveSoaking), decide: rollout.OnPause, resume: rollout.OnRollback,
			goes: state(rollout.RolledBack)},
		{name: "it is aborted", silent: true, reach: wave(0, rollout.WaveRunning), decide: rollout.OnAbort,
			goes: func(o rollout.Rollout) bool { return !o.EndedAt.IsZero() }},
		{name: "it is rolled back", reach: state(rollout.Succeeded), decide: rollout.OnRollback, goes: state(rollout.RolledBack)},
	} {
		t.Run(test.name, func(t *testing.T) {
			instances(t, func(t *testing.T, a, b *instance, db *store.Store) {
				robots := map[string]*fleettest.Robot{}
				for _, id := range []string{"r1", "r2", "r3"} {
					robots[id] = fleettest.Start(t, id, b.broker.Load().Dial)
				}
				a.sees("r1", "r2", "r3")
				b.sees("r1", "r2", "r3")
				b.publish()
				for _, r := range robots {
					r.Silent(test.silent)
				}
				id := b.roll()
				b.within(10*time.Minute, "the rollout to get there", func() bool { return test.reach(rolloutOf(t, db, id)) })
				if test.decide != "" {
					b.decide(id, test.decide)
				}
				a.cutOff()
				gone := time.Now()
				for _, r := range robots {
					r.Silent(false)
				}
				if test.resume != "" {
					b.decide(id, test.resume)
				}
				b.within(10*time.Minute, "the rollout to go on", func() bool { return test.goes(rolloutOf(t, db, id)) })
				took := time.Since(gone) - test.atLeast
				if t.Logf("it went on after %s", took); took > 10*time.Second {
					t.Error("that is too late")
				}
				if !b.Status().Leadership.Leads {
					t.Error("another one went on")
				}
				members, err := db.RolloutRobots(t.Context(), store.RolloutRobotQuery{Rollout: id})
				if err != nil {
					t.Fatal(err)
				}
				counts := map[rollout.RobotState]int{}
				for _, m := range members {
					if counts[m.State]++; m.Tries > 1 {
						t.Errorf("%s was offered the content %d times", m.ID, m.Tries)
					}
				}
				for _, w := range rolloutOf(t, db, id).Waves {
					for s, n := range w.Counts {
						counts[s] -= n
					}
				}
				for s, n := range counts {
					if n != 0 {
						t.Errorf("%d robots %s more than counted", n, s)
					}
				}
			})
		})
	}
}
