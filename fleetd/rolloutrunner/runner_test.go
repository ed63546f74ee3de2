package rolloutrunner

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/decommission"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/trace"
	"troupe/fleetd/trace/tracetest"
	"troupe/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// states are the robots of a rollout by state.
func (w *world) states(id string) map[rollout.RobotState][]string {
	w.Helper()
	all := map[rollout.RobotState][]string{}
	for _, m := range w.members(id) {
		all[m.State] = append(all[m.State], m.ID)
	}
	for _, robots := range all {
		slices.Sort(robots)
	}
	return all
}

// assign gives robots a story at once, as people do.
func (w *world) assign(story string, robots ...string) {
	w.Helper()
	d := &change.Desired{Deps: w.changes.Deps}
	if _, _, found, err := d.Assign(w.Context(), auth.Principal{}, selector.IDs(robots...), library.Assignment{Story: story}, false,
		audit.Attribution{Who: "ben"}); err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
}

func (w *world) decide(id string, on rollout.Event) {
	w.Helper()
	if _, _, found, err := w.changes.Decide(w.Context(), auth.Principal{}, id, rollout.Decision{On: on, By: "anna"}, nil); err != nil ||
		len(found) > 0 {
		w.Fatal(on, found, err)
	}
}

// stories are the default stories of robots, as the database has them.
func (w *world) stories() map[string]string {
	w.Helper()
	all := map[string]string{}
	robots, err := w.db.Robots(w.Context(), selector.All())
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range robots {
		all[r.ID] = r.Story
	}
	return all
}

func wantStates(t *testing.T, w *world, id string, want map[rollout.RobotState][]string) {
	t.Helper()
	if got := w.states(id); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("the robots are %v, want %v", got, want)
	}
	w.checkCounts(id)
}

func TestBadStoryReachesTheCanaryOnlyAndEachRobotGetsBackItsOwn(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 4)
	w.assign("day", "r1", "r2")
	w.assign("night", "r3")
	for range 3 {
		w.step()
	}
	for _, id := range w.robots {
		w.refuse[id] = true
	}
	o := w.until(w.create("night").ID, rollout.Paused)
	if !strings.Contains(o.Why, "canary") {
		t.Errorf("it is paused because of %q", o.Why)
	}
	failed := w.states(o.ID)[rollout.Rejected]
	if len(failed) != 1 || len(w.states(o.ID)[rollout.Planned]) < 2 {
		t.Fatalf("the robots are %v", w.states(o.ID))
	}
	for range 10 {
		w.step()
	}
	_, failures, err := w.changes.Get(t.Context(), o.ID)
	if err != nil || len(failures) != 1 || failures[0].Count != 1 || failures[0].Robots[0] != failed[0] {
		t.Errorf("the failures are %+v, %v", failures, err)
	}
	w.refuse = map[string]bool{}
	w.decide(o.ID, rollout.OnRollback)
	w.until(o.ID, rollout.RolledBack)
	want := map[string]string{"r1": "day", "r2": "day", "r3": "night", "r4": ""}
	if got := w.stories(); !maps.Equal(got, want) {
		t.Errorf("the robots have %v, want %v", got, want)
	}
	w.checkCounts(o.ID)
}

func TestWavesAreTraced(t *testing.T) {
	c := tracetest.Start(t)
	w := newWorld(t, storetest.SQLite(t), 4)
	tracer, err := trace.New(t.Context(), trace.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w.runner.deps.Tracer = tracer
	o := w.until(w.create("day").ID, rollout.Succeeded)
	tracer.Close()
	spans := c.Named("rollout wave")
	if len(spans) != len(o.Waves) || len(spans) < 2 {
		t.Fatalf("%d waves were recorded as %+v", len(o.Waves), spans)
	}
	for i, s := range spans {
		wave := o.Waves[i]
		if !s.Start.Equal(wave.StartedAt) || !s.End.Equal(wave.EndedAt) || s.Failed || s.Attrs["troupe.rollout"] != o.ID ||
			s.Attrs["troupe.outcome"] != "PASSED" || s.Attrs["troupe.robots.confirmed"] != strconv.Itoa(wave.Total) {
			t.Errorf("wave %+v was recorded as %+v", wave, s)
		}
	}
}

// After a pause is committed no robot is offered the content, though the runner has decided the next offers already.
func TestNoOfferAfterAPauseIsCommitted(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 3)
	id := w.create("day").ID
	paused := false
	w.runner.deps.Save = func(ctx context.Context, run *rollout.Run, c rollout.Changes, _ time.Time) error {
		if len(c.Offers) > 0 && run.Rollout.Wave == 1 && !paused {
			paused = true
			w.decide(id, rollout.OnPause)
		}
		return w.changes.Step(ctx, run, c, w.now)
	}
	for range 20 {
		w.step()
	}
	if o := w.rollout(id); !paused || o.State != rollout.Paused {
		t.Fatalf("it is %+v", o)
	}
	if n := len(w.published()); n != 1 {
		t.Errorf("%d robots got a document", n)
	}
	if len(w.failed) > 0 {
		t.Errorf("a conflict is no failure: %v", w.failed)
	}
	w.decide(id, rollout.OnResume)
	w.until(id, rollout.Succeeded)
	w.checkCounts(id)
}

// What a person assigns while a rollout waits for its canary stays.
func TestLaterAssignmentTakesRobotsFromARollout(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 4)
	w.hold = true
	id := w.create("day").ID
	w.step()
	canary := w.states(id)[rollout.Offered]
	if len(canary) != 1 {
		t.Fatalf("the robots are %v", w.states(id))
	}
	rest := w.states(id)[rollout.Planned]
	w.assign("night", rest[:2]...)
	w.hold = false
	w.until(id, rollout.Succeeded)
	taken, others := rest[:2], slices.Sorted(slices.Values(append(rest[2:], canary...)))
	wantStates(t, w, id, map[rollout.RobotState][]string{rollout.Superseded: taken, rollout.Confirmed: others})
	for robot, story := range w.stories() {
		if want := map[bool]string{true: "night", false: "day"}[slices.Contains(taken, robot)]; story != want {
			t.Errorf("%s has %s, want %s", robot, story, want)
		}
	}
	open, err := w.db.OpenRollouts(t.Context())
	if err != nil || len(open) > 0 {
		t.Errorf("the assignment is open still: %v %v", open, err)
	}
}

// A robot that is pinned at the moment of its offer keeps what it has.
func TestPinOfTheLastMomentCounts(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 3)
	id := w.create("day").ID
	pinned := ""
	w.runner.deps.Save = func(ctx context.Context, run *rollout.Run, c rollout.Changes, _ time.Time) error {
		if len(c.Offers) > 1 && pinned == "" {
			pinned = c.Offers[0]
			if _, err := w.changes.SetPin(ctx, auth.Principal{}, pinned, schema.TopicDesiredStory, audit.Attribution{Who: "ben"}); err != nil {
				t.Fatal(err)
			}
		}
		return w.changes.Step(ctx, run, c, w.now)
	}
	w.until(id, rollout.Succeeded)
	if got := w.states(id); len(got[rollout.Pinned]) != 1 || got[rollout.Pinned][0] != pinned || w.stories()[pinned] != "" {
		t.Errorf("%s was pinned, the robots are %v and have %v", pinned, got, w.stories())
	}
	w.checkCounts(id)
}

// The same content under a higher revision, as after a robot reported one above fleetd's, is nothing newer.
func TestRenumberedDocumentIsStillTheOffer(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 1)
	w.hold = true
	id := w.create("day").ID
	w.step()
	w.tx(func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), library.ForRenumber(), selector.All())
		if err != nil {
			return err
		}
		rows.Reported = func(string, schema.TopicKind) schema.ReportedRev { return schema.ReportedRev{Rev: 41} }
		_, c, _ := library.Renumber(rows, w.robots, audit.Attribution{Who: "fleetd", At: w.now})
		return tx.Apply(t.Context(), c, w.now)
	})
	w.step()
	w.hold = false
	w.until(id, rollout.Succeeded)
	if m := w.members(id)[0]; m.State != rollout.Confirmed || m.Rev != 42 || m.Tries != 1 {
		t.Errorf("the robot is %+v", m)
	}
}

// A rollback of a rollout that is over ends without robots that have something else since or left the fleet. What was
// taken back again does not count.
func TestRollbackEndsWithoutRobotsThatWentTheirWay(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 4)
	id := w.create("day").ID
	w.until(id, rollout.Succeeded)
	w.assign("night", "r1")
	w.assign("night", "r2")
	later := w.newest()
	w.until(later, rollout.Succeeded)
	w.decide(later, rollout.OnRollback)
	w.until(later, rollout.RolledBack)
	w.tx(func(tx *store.Tx) error { return tx.BeginDecommission(t.Context(), "r3", "anna", "", w.now) })
	w.archive("r3")
	w.unseen = map[string]bool{"r3": true}
	w.decide(id, rollout.OnRollback)
	w.until(id, rollout.RolledBack)
	wantStates(t, w, id, map[rollout.RobotState][]string{rollout.Superseded: {"r1"}, rollout.Decommissioned: {"r3"},
		rollout.Restored: {"r2", "r4"}})
	if got := w.stories(); got["r1"] != "night" || got["r2"] != "" || got["r4"] != "" {
		t.Errorf("the robots have %v", got)
	}
}

// newest is the rollout that was made last.
func (w *world) newest() string {
	w.Helper()
	all, err := w.db.Rollouts(w.Context(), store.RolloutQuery{Limit: 1})
	if err != nil || len(all) == 0 {
		w.Fatal(all, err)
	}
	return all[0].ID
}

// archive ends the decommission of a robot.
func (w *world) archive(robot string) {
	w.Helper()
	for _, to := range []decommission.Step{decommission.DeletingDocuments, decommission.Archived} {
		d, err := w.db.Decommission(w.Context(), robot)
		if err != nil {
			w.Fatal(err)
		}
		w.tx(func(tx *store.Tx) error { return tx.StepDecommission(w.Context(), d, to, w.now) })
	}
}

// A robot that was pinned after it waited keeps what it has, and does not keep the others from being offered the content.
func TestPinOfAWaitingRobotCounts(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 3)
	w.away = map[string]bool{"r1": true, "r2": true, "r3": true}
	id := w.create("day").ID
	for range 3 {
		w.step()
	}
	waiting := w.states(id)[rollout.WaitingOffline]
	if len(waiting) == 0 {
		t.Fatalf("the robots are %v", w.states(id))
	}
	if _, err := w.changes.SetPin(t.Context(), auth.Principal{}, waiting[0], schema.TopicDesiredStory,
		audit.Attribution{Who: "ben"}); err != nil {
		t.Fatal(err)
	}
	w.away = nil
	for range 20 {
		w.step()
	}
	if got := w.states(id)[rollout.Pinned]; !slices.Equal(got, waiting[:1]) {
		t.Errorf("%s was pinned, the robots are %v", waiting[0], w.states(id))
	}
}

func TestRenumberedModeIsStillTheOffer(t *testing.T) {
	mode := func(m schema.ModeID, apply schema.ApplyMode) content.Content {
		return content.Content{Mode: &desired.Mode{Mode: m, Apply: apply}}
	}
	given := mode(schema.ModeAto, schema.ApplyModeNow)
	for held, want := range map[desired.Mode]bool{
		{Mode: schema.ModeAto, Apply: schema.ApplyModeNow}:  true,
		{Mode: schema.ModeAto, Apply: schema.ApplyModeBoot}: true,
		{Mode: schema.ModeMnl, Apply: schema.ApplyModeBoot}: false,
	} {
		if got := given.Within(content.Content{Mode: &held}); got != want {
			t.Errorf("a robot that was given %s and has %+v still has it: %v", given, held, got)
		}
	}
}

func TestLaterAssignmentCountsAfterTheClockWasSetBack(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 3)
	w.hold = true
	id := w.create("day").ID
	w.step()
	rest := w.states(id)[rollout.Planned]
	w.now = w.now.Add(-time.Minute)
	w.assign("night", rest[0])
	w.hold = false
	w.until(id, rollout.Succeeded)
	if got := w.stories()[rest[0]]; got != "night" {
		t.Errorf("%s has %s", rest[0], got)
	}
}

func TestFollowerDoesNothing(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 2)
	leads := false
	w.runner.deps.Leads = func() bool { return leads }
	id := w.create("day").ID
	for range 5 {
		w.step()
	}
	if o := w.rollout(id); o.Version != 1 || len(w.published()) > 0 {
		t.Errorf("a follower made version %d", o.Version)
	}
	leads = true
	w.until(id, rollout.Succeeded)
}

// A robot that another instance adopted a moment ago is no robot that left the fleet.
func TestRobotThatTheViewDoesNotKnowHasNotLeft(t *testing.T) {
	w := newWorld(t, storetest.SQLite(t), 3)
	w.unseen = map[string]bool{"r2": true, "r3": true}
	id := w.create("day").ID
	w.tx(func(tx *store.Tx) error { return tx.BeginDecommission(t.Context(), "r3", "anna", "", w.now) })
	for range 5 {
		w.step()
	}
	if got := w.states(id); len(got[rollout.Decommissioned]) > 0 {
		t.Errorf("the robots are %v", got)
	}
	w.archive("r3")
	w.unseen = map[string]bool{"r3": true}
	for range 20 {
		w.step()
	}
	wantStates(t, w, id, map[rollout.RobotState][]string{rollout.Decommissioned: {"r3"}, rollout.Confirmed: {"r1", "r2"}})
}
