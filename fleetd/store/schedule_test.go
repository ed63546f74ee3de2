package store_test

import (
	"sync"
	"testing"
	"time"

	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

func sitesAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	none := must[string](t)(s.SitesRev(t.Context()))
	want := store.Site{ID: "Berlin, Mitte", Owner: "museum", ChangedAt: at(1), ChangedBy: "anna", Calendar: schedule.Calendar{
		Site: site.Site{Zone: "Europe/Berlin", Hours: site.Week{Mon: []string{"09:00-18:00"}},
			Exceptions: []site.Exception{{Date: "2026-12-24", Name: "Eve „ü“"}},
			Windows:    []site.Window{{Days: []string{"mon"}, Span: "22:00-05:00"}}},
		Open: &schedule.Action{Mode: "ato"},
	}}
	transact(t, s, func(tx *store.Tx) error { return tx.PutSite(t.Context(), want) })
	want.Version = 1
	wantEqual(t, "the site", must[store.Site](t)(s.Site(t.Context(), want.ID)), want)
	first := must[string](t)(s.SitesRev(t.Context()))
	want.Zone, want.Close = "Europe/Paris", &schedule.Action{Performance: "stop"}
	transact(t, s, func(tx *store.Tx) error { return tx.PutSite(t.Context(), want) })
	wantErr(t, "a change of an earlier version", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.PutSite(t.Context(), want) }),
		store.ErrConflict)
	again := want
	again.Version = 0
	wantErr(t, "a new site of the same name", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.PutSite(t.Context(), again) }),
		store.ErrConflict)
	want.Version = 2
	wantEqual(t, "the sites", must[[]store.Site](t)(s.Sites(t.Context())), []store.Site{want})
	if second := must[string](t)(s.SitesRev(t.Context())); none == first || first == second {
		t.Errorf("the revision of the sites is %q, then %q and %q", none, first, second)
	}
	transact(t, s, func(tx *store.Tx) error { return tx.DeleteSite(t.Context(), want.ID) })
	wantErr(t, "deleting it again", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.DeleteSite(t.Context(), want.ID) }),
		store.ErrNotFound)
}

func siteMapsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	want := store.SiteMap{Site: "Berlin, Mitte", ChangedAt: at(1), ChangedBy: "anna", Map: site.Map{
		ResolutionM: 0.05, XM: -12.25, YM: 3, ThetaRad: 0.1, MapSHA256: "ab", Image: site.Image{SHA256: "cd", Size: 3, Width: 20, Height: 10}}}
	transact(t, s, func(tx *store.Tx) error { return tx.PutSiteMap(t.Context(), want, []byte("old")) })
	want.XM = 7
	transact(t, s, func(tx *store.Tx) error { return tx.PutSiteMap(t.Context(), want, []byte("new")) })
	wantEqual(t, "the map", must[store.SiteMap](t)(s.SiteMap(t.Context(), want.Site)), want)
	wantEqual(t, "all maps", must[[]store.SiteMap](t)(s.SiteMaps(t.Context())), []store.SiteMap{want})
	wantEqual(t, "the image", string(must[[]byte](t)(s.SiteMapImage(t.Context(), want.Site))), "new")
	transact(t, s, func(tx *store.Tx) error { return tx.DeleteSiteMap(t.Context(), want.Site) })
	_, err := s.SiteMapImage(t.Context(), want.Site)
	wantErr(t, "the image of a deleted map", err, store.ErrNotFound)
	wantErr(t, "deleting it again", s.Tx(t.Context(), func(tx *store.Tx) error { return tx.DeleteSiteMap(t.Context(), want.Site) }),
		store.ErrNotFound)
}

func scheduleOf(id string, next time.Time) store.Schedule {
	robots := selector.Labelled(selector.Label{Key: "site", Value: "berlin"})
	return store.Schedule{
		ID: id, NextAt: next, OfSite: "berlin", Owner: "museum", ChangedAt: at(1), ChangedBy: "anna", Author: schedule.Author{User: "anna",
			Rights: []string{"assign"}, Sites: []string{"berlin"}},
		Schedule: schedule.Schedule{Times: schedule.Times{Cron: "0 9 * * *", Zone: "Europe/Berlin"}, Missed: schedule.RunOnce, WithinS: 60,
			Action: schedule.Action{Mode: "ato"}, Selector: &robots, Why: "„why“"},
	}
}

func schedulesAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	want := scheduleOf("morning", at(60))
	transact(t, s, func(tx *store.Tx) error { return tx.PutSchedule(t.Context(), want) })
	want.Version = 1
	wantEqual(t, "the schedule", must[store.Schedule](t)(s.Schedule(t.Context(), "morning")), want)
	no := false
	want.Enabled, want.NextAt = &no, time.Time{}
	transact(t, s, func(tx *store.Tx) error { return tx.PutSchedule(t.Context(), want) })
	wantErr(t, "a change of an earlier version", s.Tx(t.Context(),
		func(tx *store.Tx) error { return tx.PutSchedule(t.Context(), want) }), store.ErrConflict)
	want.Version = 2
	wantEqual(t, "the schedules", must[[]store.Schedule](t)(s.Schedules(t.Context())), []store.Schedule{want})
	transact(t, s, func(tx *store.Tx) error { return tx.DeleteSchedule(t.Context(), "morning") })
	_, err := s.Schedule(t.Context(), "morning")
	wantErr(t, "a deleted schedule", err, store.ErrNotFound)
}

func dueSchedulesAreListed(t *testing.T, address string) {
	s := storetest.Open(t, address)
	transact(t, s, func(tx *store.Tx) error {
		for id, next := range map[string]time.Time{"never": {}, "later": at(61), "now": at(60), "before": at(59)} {
			if err := tx.PutSchedule(t.Context(), scheduleOf(id, next)); err != nil {
				return err
			}
		}
		return nil
	})
	wantEqual(t, "due schedules", must[[]string](t)(s.DueSchedules(t.Context(), at(60))), []string{"before", "now"})
	transact(t, s, func(tx *store.Tx) error { return tx.SetNextInstant(t.Context(), "now", at(60), at(120)) })
	wantErr(t, "advancing it again", s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.SetNextInstant(t.Context(), "now", at(60), at(180))
	}), store.ErrConflict)
	wantEqual(t, "due schedules after one was advanced", must[[]string](t)(s.DueSchedules(t.Context(), at(60))), []string{"before"})
}

// Several instances, of which each believes that it leads: one of them decides each instant.
func instantsAreDecidedOnce(t *testing.T, address string) {
	s := storetest.Open(t, address)
	transact(t, s, func(tx *store.Tx) error { return tx.PutSchedule(t.Context(), scheduleOf("morning", at(60))) })
	const instances, instants = 4, 5
	var wg sync.WaitGroup
	var mu sync.Mutex
	decided := map[time.Time]int{}
	for range instances {
		wg.Go(func() {
			for i := range instants {
				instant := at(60 + i)
				var added int64
				for {
					err := s.Tx(t.Context(), func(tx *store.Tx) (err error) {
						added, err = tx.AddScheduleRuns(t.Context(), store.ScheduleRun{Schedule: "morning", Instant: instant, At: instant,
							Outcome: schedule.Done})
						return err
					})
					if err == nil {
						break
					}
				}
				mu.Lock()
				decided[instant] += int(added)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for i := range instants {
		if n := decided[at(60+i)]; n != 1 {
			t.Errorf("instant %d was decided %d times", i, n)
		}
	}
}

func scheduleRunsAreSelected(t *testing.T, address string) {
	s := storetest.Open(t, address)
	run := func(id string, instant int, outcome schedule.Outcome) store.ScheduleRun {
		return store.ScheduleRun{Schedule: id, Instant: at(instant), At: at(instant + 1), Outcome: outcome, Why: "„why“", Robots: 3,
			Batch: "b1", Rollout: "o1"}
	}
	all := []store.ScheduleRun{run("a", 1, schedule.Done), run("a", 2, schedule.WasMissed), run("b", 3, schedule.Failed)}
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.PutSchedule(t.Context(), scheduleOf("a", at(60))); err != nil {
			return err
		}
		_, err := tx.AddScheduleRuns(t.Context(), all...)
		return err
	})
	list := func(q store.ScheduleRunQuery) []store.ScheduleRun {
		return must[[]store.ScheduleRun](t)(s.ScheduleRuns(t.Context(), q))
	}
	wantEqual(t, "all runs", list(store.ScheduleRunQuery{}), []store.ScheduleRun{all[2], all[1], all[0]})
	wantEqual(t, "of one schedule", list(store.ScheduleRunQuery{Schedules: []string{"a"}, Limit: 1}), []store.ScheduleRun{all[1]})
	if none := list(store.ScheduleRunQuery{Schedules: []string{}}); len(none) > 0 {
		t.Errorf("runs of no schedule: %v", none)
	}
	wantEqual(t, "failed ones", list(store.ScheduleRunQuery{Outcome: schedule.Failed}), all[2:])
	wantEqual(t, "newer ones", list(store.ScheduleRunQuery{Since: at(3)}), all[2:])
	wantEqual(t, "the last run of each schedule", must[map[string]store.ScheduleRun](t)(s.LastScheduleRuns(t.Context())),
		map[string]store.ScheduleRun{"a": all[1]})
	if !must[bool](t)(s.HasScheduleRun(t.Context(), "a", at(2))) || must[bool](t)(s.HasScheduleRun(t.Context(), "a", at(3))) {
		t.Error("what was decided is not what was written")
	}
	wantEqual(t, "deleted runs", must[int64](t)(s.PruneScheduleRuns(t.Context(), at(3), 10)), int64(2))
	wantEqual(t, "the rest", list(store.ScheduleRunQuery{}), all[2:])
}
