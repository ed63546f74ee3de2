package api

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/latch"
	"troupe/fleetd/retained"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

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
		for _, topic := range []string{"robots/r1/cmd/op1/mode/set", "robots/x1/cmd/op1/mode/set", "robots/r9/cmd/op1/mode/set", "fleet/cmd/op1/stop"} {
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
