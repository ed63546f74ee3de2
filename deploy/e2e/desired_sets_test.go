package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

func TestRobotAppliesDesiredSettingsModeAndPlaces(t *testing.T) {
	in(t, anyFleetd, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")

		w.do("desired", "config", "event_rate=7", "r1")
		is(w, on("r1", "reported/config"), "the report on settings", func(r schema.ReportedConfig) bool {
			return r.DesiredRev > 0 && r.Phase == schema.DeployActive && string(r.Applied["event_rate"]) == "7"
		})
		if s := w.cli("desired", "config", "event_rtae=7", "r1"); s.code == 0 || !strings.Contains(s.err, "there is no setting event_rtae") {
			t.Errorf("a misspelt setting: %+v", s)
		}

		places := filepath.Join(w.folder, "places.yaml")
		if err := os.WriteFile(places, []byte("schema: 1\npoints:\n  door: {x_m: 1.5, y_m: 0.2}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.do("desired", "places", "-f", places, "--id", "hall", "r1")
		is(w, on("r1", "reported/places"), "the report on places", func(r schema.ReportedSet) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == "hall"
		})
		is(w, on("r1", "caps"), "what r1 can go to", func(c schema.Caps) bool { return slices.Contains(c.Points, "door") })

		w.do("desired", "mode", "mnl", "r1", "--apply", "now")
		is(w, on("r1", "reported/mode"), "the report on the mode", func(r schema.ReportedMode) bool {
			return r.Phase == schema.DeployActive && r.Mode == schema.ModeMnl && !r.Diverged
		})
		w.until("fleetd to know all of it", func() bool {
			out := w.do("desired", "get", "r1")
			return strings.Count(out, "active (revision") == 3
		})

		// It is in force again without anybody: the settings are the robot's own now.
		w.robots["r1"].kill()
		mark := w.eye.mark()
		w.robot("r1", "")
		becomes(w, mark, on("r1", "caps"), "r1 to know its places after a restart", func(c schema.Caps) bool { return slices.Contains(c.Points, "door") })
	})
}

func TestRobotThatRequiresSignaturesAcceptsOnlySignedDocuments(t *testing.T) {
	in(t, []kind{ours, postgres}, func(w *world) {
		key, other := filepath.Join(w.folder, "fleetd.key"), filepath.Join(w.folder, "other.key")
		trusted := strings.TrimSpace(w.do("key", "new", key))
		w.do("key", "new", other)
		w.startFleetd("--sign-key", other)
		w.robot("r1", "", "--signing", "require", "--trust-key", trusted)
		w.known("r1")

		w.do("desired", "config", "event_rate=7", "r1")
		is(w, on("r1", "reported/config"), "the refusal of a unknown client's signature", func(r schema.ReportedConfig) bool {
			return r.Phase == schema.DeployRejected && r.Reason == schema.ReasonBadSignature
		})

		w.fleetd.kill()
		w.startFleetd("--sign-key", key)
		w.do("desired", "config", "event_rate=8", "r1")
		is(w, on("r1", "reported/config"), "the report on settings", func(r schema.ReportedConfig) bool {
			return r.Phase == schema.DeployActive && string(r.Applied["event_rate"]) == "8"
		})
	})
}

func TestRobotThatRequiresSignaturesAcceptsOnlySignedReleases(t *testing.T) {
	in(t, []kind{ours, mosquitto}, func(w *world) {
		own, all := on("r1", "desired/stop"), schema.DefaultNamespace.Topic(schema.TopicFleetStop)
		w.recorder.Allow(own)
		w.recorder.Allow(all)
		key := filepath.Join(w.folder, "fleetd.key")
		trusted := strings.TrimSpace(w.do("key", "new", key))
		w.startFleetd() // that does not sign yet
		w.robot("r1", "", "--signing", "require", "--trust-key", trusted)
		w.known("r1")
		w.enabled("r1")
		one, every := w.stops("r1"), w.stops("--all")
		w.holds("r1", one, every)
		w.persisted(one, every)

		w.fleetd.kill()
		w.startFleetd("--sign-key", key)
		signed := is(w, own, "what is held, signed", func(d schema.DesiredStop) bool { return d.Sig != nil && len(d.Stops) == 2 })
		is(w, all, "the stop of all, signed", func(d schema.FleetStop) bool { return d.Sig != nil && d.Active })

		// Whoever can write to the broker.
		forged := `{"rev":9000000000000000,"fleet_id":"` + signed.FleetID + `","ts":"2026-11-21T12:00:00.000Z",`
		mark := w.eye.mark()
		w.send("admin", own, forged+`"stops":[]}`, "-r")
		w.send("admin", all, forged+`"active":false}`, "-r")
		for _, said := range []string{"robot stop", "fleet stop"} {
			becomes(w, mark, on("r1", "event"), "the refusal of the forged "+said, func(e schema.Event) bool {
				return e.Type == string(schema.ReasonBadSignature) && e.Cause == said && strings.Contains(string(e.Data), "9000000000000000")
			})
		}
		w.holds("r1", one, every)
		w.refusesEnable("r1", one)

		w.do("stop", "release", one, every, "--why", "the stage is clear")
		w.holds("r1")
		w.enabled("r1")
	})
}
