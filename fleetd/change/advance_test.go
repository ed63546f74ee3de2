package change_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// scheduleWorld is a database with two robots and a schedule for every minute.
type scheduleWorld struct {
	*testing.T
	db        *store.Store
	schedules *change.Schedules
	mu        sync.Mutex
	now       time.Time
}

// withSchedules runs a test on both databases.
func withSchedules(t *testing.T, test func(w *scheduleWorld)) {
	for name, address := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			w := &scheduleWorld{T: t, db: storetest.Open(t, address(t)), now: time.Date(2026, 12, 1, 9, 0, 30, 0, time.UTC)}
			w.schedules = &change.Schedules{Deps: change.Deps{
				Now:   func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.now },
				Store: func() (*store.Store, error) { return w.db, nil }, Changed: func(context.Context, []string) {},
				Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
			}}
			for _, id := range []string{"r1", "r2"} {
				if _, err := w.db.AddRobot(t.Context(), id, w.now); err != nil {
					t.Fatal(err)
				}
			}
			test(w)
		})
	}
}

func (w *scheduleWorld) put(id string, a schedule.Action) {
	w.Helper()
	s := schedule.Schedule{Times: schedule.Times{Cron: "* * * * *", Zone: "UTC"}, Action: a}
	if a.Rollout == "" {
		all := selector.All()
		s.Selector = &all
	}
	p := auth.Principal{ID: "anna", Kind: auth.KindToken, Rights: auth.All}
	if _, _, found, err := w.schedules.PutSchedule(w.Context(), p, store.Schedule{ID: id, Schedule: s}, false,
		audit.Attribution{Who: "anna"}); len(found) > 0 || err != nil {
		w.Fatal(found, err)
	}
}

// send saves commands as the scheduler does.
func send(ctx context.Context, tx *store.Tx, s change.Sending) (change.Sent, []schema.Problem, error) {
	b := command.Batch{ID: fmt.Sprint(s.Schedule, s.Instant.Unix()), Verb: s.Verb, Total: len(s.Robots), CreatedAt: s.Instant}
	var all []command.Command
	for _, robot := range s.Robots {
		all = append(all, command.Command{ID: b.ID + robot, Batch: b.ID, Robot: robot, Verb: s.Verb, CreatedAt: s.Instant, State: command.Queued})
	}
	return change.Sent{Batch: b.ID, Total: len(all)}, nil, tx.AddBatch(ctx, b, all)
}

func asWritten(s selector.Selector) selector.Selector { return s }

// advance runs a schedule until nothing is due, as the next look of a scheduler does after an error.
func (w *scheduleWorld) advance(id string, may func(error) bool) {
	w.Helper()
	for range 20 {
		_, err := w.schedules.Advance(w.Context(), id, asWritten, send)
		switch {
		case err == nil:
			return
		case !may(err):
			w.Fatal(err)
		}
	}
	w.Fatal("it does not end")
}

// decided are what was decided about an instant, and what was done for it.
func (w *scheduleWorld) decided(id string) (done, commands int) {
	w.Helper()
	runs, err := w.db.ScheduleRuns(w.Context(), store.ScheduleRunQuery{Schedules: []string{id}, Limit: 500})
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range runs {
		if r.Outcome == schedule.Done {
			done++
		}
	}
	all, err := w.db.Commands(w.Context(), store.CommandQuery{Limit: 500})
	if err != nil {
		w.Fatal(err)
	}
	return done, len(slices.DeleteFunc(all, func(c command.Command) bool { return c.Verb != "mode/set" }))
}

func TestInstantIsRunOnceByTwoInstances(t *testing.T) {
	withSchedules(t, func(w *scheduleWorld) {
		w.put("minute", schedule.Action{Mode: "ato"})
		const instants = 5
		for range instants {
			w.mu.Lock()
			w.now = w.now.Add(time.Minute)
			w.mu.Unlock()
			var both sync.WaitGroup
			for range 3 {
				both.Go(func() {
					w.advance("minute", func(err error) bool { return errors.Is(err, change.ErrBusy) || errors.Is(err, change.ErrConflict) })
				})
			}
			both.Wait()
		}
		if done, commands := w.decided("minute"); done != instants || commands != 2*instants {
			t.Errorf("%d instants: %d runs with %d commands", instants, done, commands)
		}
	})
}

var errEnded = errors.New("fleetd ended")

// fleetd ends between any two statements of the transaction: all of it is done, or nothing, and the next fleetd goes on.
func TestKillBetweenAnyTwoStatementsRunsAnInstantOnce(t *testing.T) {
	withSchedules(t, func(w *scheduleWorld) {
		w.put("minute", schedule.Action{Mode: "ato"})
		w.put("content", schedule.Action{Assign: &content.Content{Mode: &desired.Mode{Mode: "ato"}}})
		for _, id := range []string{"minute", "content"} {
			statements := 0
			for n := 0; ; n++ {
				w.now = w.now.Add(time.Minute)
				was, commandsBefore := w.decided(id)
				left, killed := n, false
				w.db.SetBeforeStatement(func() error {
					if left--; left < 0 {
						killed = true
						return errEnded
					}
					return nil
				})
				_, err := w.schedules.Advance(t.Context(), id, asWritten, send)
				w.db.SetBeforeStatement(nil)
				if (err != nil) != killed {
					t.Fatalf("%s, ended after %d statements: %v", id, n, err)
				}
				if done, _ := w.decided(id); killed && done != was {
					t.Fatalf("%s, ended after %d statements: it is decided all the same", id, n)
				}
				w.advance(id, func(error) bool { return false })
				w.advance(id, func(error) bool { return false })
				done, commands := w.decided(id)
				if done != was+1 || id == "minute" && commands != commandsBefore+2 {
					t.Fatalf("%s, ended after %d statements: %d runs and %d commands more, not 1 and 2", id, n, done-was, commands-commandsBefore)
				}
				if statements = n; !killed {
					break
				}
			}
			if statements < 8 {
				t.Errorf("%s takes %d statements", id, statements)
			}
			t.Logf("%s: ended after each of %d statements", id, statements)
		}
	})
}

// A schedule starts only rollouts whose robots its author saw, when it is saved and when it runs. Saved by others it says no more
// than of a rollout that does not exist.
func TestRolloutOfAnotherSiteIsNotStarted(t *testing.T) {
	withSchedules(t, func(w *scheduleWorld) {
		o := rollout.Rollout{ID: "o1", State: rollout.Ready, Content: content.Content{Mode: &desired.Mode{Mode: "ato"}}, CreatedAt: w.now,
			CreatedBy: "anna",
			Waves:     []rollout.Wave{{State: rollout.WavePlanned, Total: 2}}}
		label := func(robot, site string) {
			if err := w.db.Tx(t.Context(), func(tx *store.Tx) error {
				return tx.SetLabels(t.Context(), robot, map[string]string{"site": site})
			}); err != nil {
				t.Fatal(err)
			}
		}
		label("r1", "berlin")
		if err := w.db.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.AddRollouts(t.Context(), store.NewRollout{Rollout: o, Members: []rollout.Robot{{ID: "r1", State: rollout.Planned},
				{ID: "r2", Place: 1, State: rollout.Planned}}})
		}); err != nil {
			t.Fatal(err)
		}
		p := auth.Principal{ID: "ben", Kind: auth.KindToken, Rights: auth.All, Sites: []string{"berlin"}}
		put := func(id string) string {
			t.Helper()
			s := schedule.Schedule{Times: schedule.Times{Cron: "* * * * *", Zone: "UTC"}, Action: schedule.Action{Rollout: id}}
			_, _, schedules, err := w.schedules.PutSchedule(t.Context(), p, store.Schedule{ID: "night", Schedule: s}, false,
				audit.Attribution{Who: "ben"})
			if err != nil {
				t.Fatal(err)
			}
			berlin := store.Site{ID: "berlin", Calendar: schedule.Calendar{Open: &s.Action}}
			berlin.Zone = "UTC"
			_, sites, err := w.schedules.PutSite(t.Context(), p, berlin, true, audit.Attribution{Who: "ben"})
			if err != nil {
				t.Fatal(err)
			}
			return strings.ReplaceAll(fmt.Sprint(schedules, sites), id, "ID")
		}
		if other, unknown := put("o1"), put("o9"); other != unknown || !strings.Contains(other, "there is no rollout") {
			t.Errorf("a rollout of another site: %s; an unknown one: %s", other, unknown)
		}
		label("r2", "berlin")
		if found := put("o1"); found != "[] []" {
			t.Fatalf("a rollout of the own site: %s", found)
		}
		label("r2", "paris")
		w.now = w.now.Add(time.Minute)
		w.advance("night", func(error) bool { return false })
		runs, err := w.db.ScheduleRuns(t.Context(), store.ScheduleRunQuery{})
		if err != nil || len(runs) != 1 || runs[0].Outcome != schedule.Failed || !strings.Contains(runs[0].Why, "does not see every robot") {
			t.Errorf("the runs are %+v: %v", runs, err)
		}
		if o, err := w.db.Rollout(t.Context(), "o1"); err != nil || o.State != rollout.Ready {
			t.Errorf("the rollout is %s: %v", o.State, err)
		}
	})
}

func TestRolloutIsStartedOnceByItsSchedule(t *testing.T) {
	withSchedules(t, func(w *scheduleWorld) {
		o := rollout.Rollout{ID: "o1", State: rollout.Ready, Content: content.Content{Mode: &desired.Mode{Mode: "ato"}}, CreatedAt: w.now,
			CreatedBy: "anna",
			Waves:     []rollout.Wave{{State: rollout.WavePlanned, Total: 1}}}
		if err := w.db.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.AddRollouts(t.Context(), store.NewRollout{Rollout: o, Members: []rollout.Robot{{ID: "r1", State: rollout.Planned}}})
		}); err != nil {
			t.Fatal(err)
		}
		w.put("night", schedule.Action{Rollout: "o1"})
		for range 2 {
			w.now = w.now.Add(time.Minute)
			w.advance("night", func(error) bool { return false })
		}
		runs, err := w.db.ScheduleRuns(t.Context(), store.ScheduleRunQuery{})
		if err != nil || len(runs) != 2 || runs[1].Outcome != schedule.Done || runs[1].Rollout != "o1" || runs[0].Outcome != schedule.Failed {
			t.Errorf("the runs are %+v: %v", runs, err)
		}
		if started, err := w.db.Rollout(t.Context(), "o1"); err != nil || started.State != rollout.Running {
			t.Errorf("the rollout is %s: %v", started.State, err)
		}
	})
}
