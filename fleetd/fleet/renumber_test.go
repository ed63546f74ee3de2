package fleet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/rollout"
	"troupe/schema"
)

// republish gives the story another last act.
func (w *world) republish(text string) {
	w.Helper()
	var e api.Entry
	w.must("GET", "/stories/museum", nil, &e)
	w.must("PUT", "/stories/museum", text, nil, "If-Match", fmt.Sprintf("%q", fmt.Sprint(e.DraftRev)))
	w.must("POST", "/stories/museum/publish", audit.Attribution{Who: "ann"}, nil)
}

const (
	longer  = "story: museum\nname: {en: Museum}\nrepeat: loop\nacts:\n- {act: welcome}\n- {act: bow}\n- {act: welcome}\n"
	shorter = "story: museum\nname: {en: Museum}\nrepeat: loop\nacts:\n- {act: bow}\n"
)

func TestRestoredDatabaseRenumbersDesiredState(t *testing.T) {
	for _, known := range []bool{true, false} {
		t.Run(fmt.Sprintf("fleetd received messages of the robot before: %v", known), func(t *testing.T) {
			inWorld(t, func(w *world) {
				r := w.robot("r1")
				w.publish()
				w.assign("museum", "r1")
				w.converged("r1")
				w.stopFleetd()
				w.setBack(func() {
					w.startFleetd()
					w.republish(longer)
					w.assign("museum", "r1")
					w.until("r1 has the second desired state", func() bool { return w.converged("r1").Active.Rev == 2 })
					w.stopFleetd()
				})
				second := has(r)
				if !known {
					r.Silent(true)
					r.Raw(schema.TopicReportedStory, "")
				}
				w.startFleetd()
				w.republish(shorter)
				w.assign("museum", "r1")
				d, _ := w.Robot("r1")
				if d.Desired.Converged && has(r) == second {
					w.Fatalf("fleetd says %+v, and the robot performs something else", d.Desired)
				}
				r.Silent(false)
				desired := w.converged("r1")
				if desired.DesiredRev < 3 || desired.Active.Rev != 2 || desired.Active.SHA256 == second || has(r) != desired.Active.SHA256 {
					w.Errorf("in the end: %+v, and the robot has %s", desired, has(r))
				}
			})
		})
	}
}

// setBack runs what is lost when the database is put back to the state before.
func (w *world) setBack(lost func()) {
	w.Helper()
	path := strings.TrimPrefix(w.database, "sqlite:")
	copied := map[string][]byte{}
	names := filesOf(path)
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			w.Fatal(err)
		}
		copied[name] = body
	}
	lost()
	for _, name := range filesOf(path) {
		if err := os.Remove(name); err != nil {
			w.Fatal(err)
		}
	}
	for name, body := range copied {
		if err := os.WriteFile(name, body, 0o600); err != nil {
			w.Fatal(err)
		}
	}
}

// has is the digest of what a robot performs.
func has(r *fleettest.Robot) string {
	if a := r.Reported().Active; a != nil {
		return a.SHA256
	}
	return ""
}

// filesOf lists the files of a database. The folder of flight records beside them is no part of it.
func filesOf(database string) []string {
	names, _ := filepath.Glob(database + "*")
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".records") })
}

// A rollout that is open in the restored database does not go on where it was: its robots may have got something else since.
func TestRestoredDatabasePausesItsRollouts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.robot("r2")
		w.publish()
		w.publishCalm()
		var o api.RolloutDetail
		w.must("POST", "/rollouts", more(calmTo("r1", "r2"), "start", true, "spec",
			map[string]any{"waves": []any{map[string]any{"name": "canary", "count": 1, "soak_s": 3600}, map[string]any{"percent": 100}}}), &o)
		get := func() (d api.RolloutDetail) {
			w.must("GET", "/rollouts/"+o.ID, nil, &d)
			return d
		}
		w.until("the canary has the story", func() bool { return get().Counts["ACTIVE"] == 1 })
		w.stopFleetd()
		w.setBack(func() {
			w.startFleetd()
			w.assign("museum", "r1", "r2")
			w.converged("r1")
			w.converged("r2")
			w.stopFleetd()
		})
		w.startFleetd()
		w.until("the rollout is paused", func() bool { return get().State == rollout.Paused })
		if d := get(); !strings.Contains(d.Why, "restore") || d.Counts["PLANNED"] != 1 {
			w.Errorf("the rollout is paused because of %q, its robots are %v", d.Why, d.Counts)
		}
		if all := w.auditOf("rollout pause"); len(all) != 1 {
			w.Errorf("the audit says %q", all)
		}
	})
}
