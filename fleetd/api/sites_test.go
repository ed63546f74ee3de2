package api

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/latch"
	"troupe/fleetd/retained"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Who sees one site learns nothing of the opening hours of another one, also from schedules at its openings.
func TestHoursOfAnotherSiteAreNotShown(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	changes := change.Deps{Now: func() time.Time { return storetest.Start }, Store: storetest.Opened(db),
		Changed: func(context.Context, []string) {}}
	s := &server{Deps: Deps{Schedules: &change.Schedules{Deps: changes}, Now: changes.Now}}
	lobby := selector.Labelled(selector.Label{Key: auth.SiteLabel, Value: "lobby"})
	opening := func(site string) schedule.Schedule {
		return schedule.Schedule{Times: schedule.Times{Event: "opening", Site: site}, Action: schedule.Action{Mode: "ato"}, Selector: &lobby}
	}
	everybody := auth.Principal{ID: "anna", Kind: auth.KindSession, Rights: auth.All}
	for _, id := range []string{"lobby", "hall"} {
		hours := schedule.Calendar{Site: site.Site{Zone: "UTC", Hours: site.Week{Mon: []string{"09:00-18:00"}}}}
		if _, found, err := s.Schedules.PutSite(t.Context(), everybody, change.Site{ID: id, Calendar: hours}, false, audit.Attribution{}); err !=
			nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		row := change.Schedule{ID: "at-" + id, Schedule: opening(id)}
		if _, _, found, err := s.Schedules.PutSchedule(t.Context(), everybody, row, false, audit.Attribution{}); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	p := everybody
	p.Sites = []string{"lobby"}
	week, err := s.siteWeek(t.Context(), p, "lobby", "")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, d := range week.Body.Days {
		for _, r := range d.Runs {
			shown = append(shown, r.Schedule)
		}
	}
	if !slices.Equal(shown, []string{"at-lobby"}) {
		t.Errorf("the week shows %q", shown)
	}
	if _, err := s.nextInstants(t.Context(), p, opening("hall").Times); err == nil {
		t.Error("the next openings are shown")
	}
	if _, err := s.putSchedule(t.Context(), p, "new", ScheduleRequest{Schedule: opening("hall"), DryRun: true}); err == nil {
		t.Error("a dry run shows the next openings")
	}
}

func TestStatusNamesNoRobotOfAnotherSite(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	changes := change.Deps{Now: time.Now, Store: storetest.Opened(db), Changed: func(context.Context, []string) {}}
	for robot, site := range map[string]string{"r1": "lobby", "x1": "hall"} {
		if _, err := (&change.Adoptions{Deps: changes}).Adopt(t.Context(), auth.Principal{}, robot, audit.Attribution{}); err != nil {
			t.Fatal(err)
		}
		labels := map[string]string{auth.SiteLabel: site}
		if err := (&change.Labels{Deps: changes}).Set(t.Context(), auth.Principal{}, robot, labels, audit.Attribution{}); err != nil {
			t.Fatal(err)
		}
	}
	robots := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
	if err := robots.Reload(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	stops, err := latch.New(latch.Deps{Log: slog.New(slog.DiscardHandler), Spool: filepath.Join(t.TempDir(), "stops"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer stops.Close()
	s := &server{Deps: Deps{View: robots, Stops: stops, Status: func() (s Status) {
		for _, topic := range []string{"robots/r1/cmd/op1/mode/set", "robots/x1/cmd/op1/mode/set", "robots/r9/cmd/op1/mode/set",
			"fleet/cmd/op1/stop"} {
			s.RetainedCommands = append(s.RetainedCommands, retained.Command{Topic: topic})
		}
		return s
	}}}
	for user, want := range map[string]int{"lobby": 2, "": 4} {
		p := auth.Principal{ID: "anna", Kind: auth.KindSession}
		if user != "" {
			p.Sites = []string{user}
		}
		got := s.statusFor(p).RetainedCommands
		if len(got) != want || got[0].Topic != "robots/r1/cmd/op1/mode/set" || got[want-1].Topic != "fleet/cmd/op1/stop" {
			t.Errorf("a user of the site %q sees the retained commands %+v", user, got)
		}
	}
}
