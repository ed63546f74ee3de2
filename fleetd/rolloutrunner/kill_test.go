package rolloutrunner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// world is a database with robots that do at once what is desired of them, and the rollouts of a fleetd that can be killed.
type world struct {
	testing.TB
	db      *store.Store
	now     time.Time
	robots  []string
	changes *change.Rollouts
	runner  *Runner
	desired map[string]desiredDocument
	refuse  map[string]bool // robots that refuse every content
	unseen  map[string]bool // robots that the view does not know yet
	away    map[string]bool // robots that are not reachable
	hold    bool            // robots report nothing new
	failed  []string

	survives bool // the last end of a transaction was not the end of the process
}

// desiredDocument is the newest desired story of a robot, as the robot knows it.
type desiredDocument struct {
	rev   int64
	known int64 // the revision that it reports about
}

func newWorld(t testing.TB, address string, robots int) *world {
	w := &world{TB: t, db: storetest.Open(t, address), now: storetest.Start.Add(time.Hour), desired: map[string]desiredDocument{},
		refuse: map[string]bool{}}
	for i := range robots {
		w.robots = append(w.robots, fmt.Sprintf("r%d", i+1))
	}
	w.tx(func(tx *store.Tx) error {
		for _, id := range w.robots {
			if _, err := tx.AddRobot(t.Context(), id, storetest.Start); err != nil {
				return err
			}
		}
		return nil
	})
	deps := change.Deps{
		Now: func() time.Time { return w.now }, Store: func() (*store.Store, error) { return w.db, nil }, Changed: func(context.Context,
			[]string) {
		},
		Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
	}
	w.changes = &change.Rollouts{Deps: deps, Name: "fleetd", Candidate: func(id string) (rollout.Candidate, bool) {
		return rollout.Candidate{Robot: selector.Robot{ID: id}, Online: true}, true
	}}
	lib := &change.Library{Deps: deps}
	for _, d := range []struct {
		kind library.Kind
		id   string
		text string
	}{
		{library.KindAct, "a", "act: a\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n"},
		{library.KindStory, "day", "story: day\nname: {en: Story}\nrepeat: loop\nacts: [{act: a}]\n"},
		{library.KindStory, "night", "story: night\nname: {en: Story}\nrepeat: loop\nacts: [{act: a}]\n"},
	} {
		if _, found, err := lib.Save(t.Context(), auth.Principal{}, d.kind, d.id, []byte(d.text), nil, audit.Attribution{}); err != nil ||
			len(found) > 0 {
			t.Fatal(found, err)
		}
		if _, found, err := lib.Publish(t.Context(), auth.Principal{}, d.kind, d.id, nil, nil, audit.Attribution{}); err != nil ||
			len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	w.restart()
	return w
}

func (w *world) tx(do func(tx *store.Tx) error) {
	w.Helper()
	if err := w.db.Tx(w.Context(), do); err != nil {
		w.Fatal(err)
	}
}

// restart makes a runner that knows nothing, as a new leader.
func (w *world) restart() {
	w.runner = New(Deps{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }, Leads: func() bool { return true },
		Failed: func(what string, err error) { w.failed = append(w.failed, what+": "+err.Error()) }, Save: w.changes.Step,
		Fleetd: w.fleetd, Robot: w.robot, HealthOfOthers: func(func(string) bool, time.Time) rollout.Health { return rollout.Health{} },
	})
}

// create creates and starts a rollout of a story to all robots: a canary of one, then the others.
func (w *world) create(story string) rollout.Rollout {
	w.Helper()
	soak, watch := int64(2), false
	o, _, found, err := w.changes.Create(w.Context(), auth.Principal{}, change.RolloutRequest{
		Content: content.Content{Story: &content.Story{ID: story}}, Robots: selector.All(), Start: true,
		Spec: rollout.Spec{Waves: []rollout.WaveSpec{{Name: "canary", Count: 1, SoakS: &soak}, {Name: "rest", Percent: 100, SoakS: &soak}},
			OffersPerMin: 100_000, WatchHealth: &watch},
	}, audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
	return o
}

// step lets a second pass: robots receive what is desired and report it, and the runner looks at the rollouts.
func (w *world) step() {
	w.receive()
	w.runner.stepAll(w.Context(), w.db)
}

// receive lets a second pass, in which robots receive what is desired.
func (w *world) receive() {
	w.now = w.now.Add(time.Second)
	documents, err := w.db.NewestDesired(w.Context(), schema.TopicDesiredStory, selector.All())
	if err != nil {
		w.Fatal(err)
	}
	for id, d := range documents {
		known := w.desired[id].known
		if !w.hold {
			known = d.Rev
		}
		w.desired[id] = desiredDocument{d.Rev, known}
	}
}

func (w *world) fleetd() presence.Fleetd {
	return presence.Fleetd{Connected: true, Since: storetest.Start}
}

func (w *world) robot(robot string, _ schema.TopicKind, _ time.Time) (view.Known, bool) {
	d := w.desired[robot]
	phase := schema.DeployActive
	if w.refuse[robot] {
		phase = schema.DeployRejected
	}
	return view.Known{RobotFacts: rollout.RobotFacts{
		Online: !w.away[robot], SeenAt: w.now, Idle: true, DesiredRev: d.rev,
		Report: rollout.Report{Rev: d.known, Phase: phase, Active: phase == schema.DeployActive, Detail: "as the test says"},
	}}, !w.unseen[robot]
}

// until steps until a rollout is in this state.
func (w *world) until(id string, want rollout.State) rollout.Rollout {
	w.Helper()
	for range 100 {
		if o := w.rollout(id); o.State == want {
			return o
		}
		w.step()
	}
	w.Fatalf("the rollout is not %s, but %+v; failures: %v", want, w.rollout(id), w.failed)
	return rollout.Rollout{}
}

func (w *world) rollout(id string) rollout.Rollout {
	w.Helper()
	o, err := w.db.Rollout(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return o
}

func (w *world) members(id string) []rollout.Robot {
	w.Helper()
	all, err := w.db.RolloutRobots(w.Context(), store.RolloutRobotQuery{Rollout: id})
	if err != nil {
		w.Fatal(err)
	}
	return all
}

// checkCounts compares the counts of a rollout with a recount of its robots.
func (w *world) checkCounts(id string) {
	w.Helper()
	o := w.rollout(id)
	counted := make([]map[rollout.RobotState]int, len(o.Waves))
	for _, m := range w.members(id) {
		if counted[m.Wave] == nil {
			counted[m.Wave] = map[rollout.RobotState]int{}
		}
		counted[m.Wave][m.State]++
	}
	for i, wave := range o.Waves {
		if !maps.Equal(wave.Counts, counted[i]) {
			w.Fatalf("wave %d counts %v, its robots are %v", i, wave.Counts, counted[i])
		}
	}
}

// published counts the desired stories of each robot in the outbox.
func (w *world) published() map[string]int {
	w.Helper()
	n := map[string]int{}
	all, err := w.db.Unsent(w.Context(), 0, 100_000)
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range all {
		if m.Topic == schema.TopicDesiredStory {
			n[m.Target]++
		}
	}
	return n
}

var errKilled = errors.New("killed")

// killAfter lets every statement after the first n fail, as if the process had ended there.
func (w *world) killAfter(n int) (killed func() bool) {
	left := n
	w.db.SetBeforeStatement(func() error {
		if left--; left < 0 {
			return errKilled
		}
		return nil
	})
	return func() bool { return left < 0 }
}

// runAndRollBack steps a rollout until it has succeeded, rolls it back, and steps until that is done. After the process was
// killed, a new one goes on, and a person whose decision failed repeats it.
func (w *world) runAndRollBack(o rollout.Rollout, killed func() bool) {
	w.Helper()
	for range 100 {
		switch w.rollout(o.ID).State {
		case rollout.Succeeded:
			_, _, found, err := w.changes.Decide(w.Context(), auth.Principal{}, o.ID, rollout.Decision{On: rollout.OnRollback, By: "anna"}, nil)
			if len(found) > 0 || err != nil && !killed() {
				w.Fatal(found, err)
			}
		case rollout.RolledBack:
			return
		}
		if killed() {
			w.db.SetBeforeStatement(nil)
			if w.survives = !w.survives; !w.survives { // the database failed for a moment, and the process did not end
				w.restart()
			}
			killed = func() bool { return false }
		}
		w.step()
		w.checkCounts(o.ID)
	}
	w.Fatalf("it is %+v", w.rollout(o.ID))
}

// A process that ends between any two statements of any step has done all of a transaction or nothing, and the next one goes
// on: each robot is offered the content once and gets back what it had once, and the counts are right all the time.
func TestKillBetweenAnyTwoStatementsGoesOnExactlyOnce(t *testing.T) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, address(t), 5)
			w.until(w.create("night").ID, rollout.Succeeded)
			o, statements := w.create("day"), 0
			w.db.SetBeforeStatement(func() error { statements++; return nil })
			w.runAndRollBack(o, func() bool { return false })
			if statements < 90 {
				t.Fatalf("a rollout takes %d statements; the test is about a hundred places between them", statements)
			}
			for n := 0; n < statements; n += killEvery {
				w.db.SetBeforeStatement(nil)
				o, before := w.create("day"), w.published()
				w.runAndRollBack(o, w.killAfter(n))
				w.db.SetBeforeStatement(nil)
				for id, sent := range w.published() {
					if sent != before[id]+2 {
						t.Fatalf("killed after %d of %d statements: %s got %d documents, not one and one", n, statements, id, sent-before[id])
					}
				}
				for _, m := range w.members(o.ID) {
					if m.State != rollout.Restored || m.Tries != 1 || m.Had.Story.ID != "night" || m.Rev != w.desired[m.ID].rev {
						t.Fatalf("killed after %d of %d statements: %+v", n, statements, m)
					}
				}
			}
			t.Logf("killed at %d of %d places", (statements+killEvery-1)/killEvery, statements)
		})
	}
}
