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
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("", "r1")

		w.mustRunCLI("desired", "config", "event_rate=7", "r1")
		awaitDocument(w, robotTopic("r1", "reported/config"), "the report on settings", func(r schema.ReportedConfig) bool {
			return r.DesiredRev > 0 && r.Phase == schema.DeployActive && string(r.Applied["event_rate"]) == "7"
		})
		if s := w.runCLI("desired", "config", "event_rtae=7", "r1"); s.code == 0 || !strings.Contains(s.err, "there is no setting event_rtae") {
			t.Errorf("a misspelt setting: %+v", s)
		}

		places := filepath.Join(w.folder, "places.yaml")
		if err := os.WriteFile(places, []byte("schema: 1\npoints:\n  door: {x_m: 1.5, y_m: 0.2}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.mustRunCLI("desired", "places", "-f", places, "--id", "hall", "r1")
		awaitDocument(w, robotTopic("r1", "reported/places"), "the report on places", func(r schema.ReportedSet) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == "hall"
		})
		awaitDocument(w, robotTopic("r1", "caps"), "what r1 can go to", func(c schema.Caps) bool { return slices.Contains(c.Points, "door") })

		w.mustRunCLI("desired", "mode", "mnl", "r1", "--apply", "now")
		awaitDocument(w, robotTopic("r1", "reported/mode"), "the report on the mode", func(r schema.ReportedMode) bool {
			return r.Phase == schema.DeployActive && r.Mode == schema.ModeMnl && !r.Diverged
		})
		w.until("fleetd to show all three as active", func() bool {
			out := w.mustRunCLI("desired", "get", "r1")
			return strings.Count(out, "active (revision") == 3
		})

		// After a restart the robot applies them from its own disk.
		w.robots["r1"].kill()
		mark := w.observer.mark()
		w.runRobot("r1", "")
		awaitDocumentAfter(w, mark, robotTopic("r1", "caps"), "r1 to know its places after a restart",
			func(c schema.Caps) bool { return slices.Contains(c.Points, "door") })
	})
}

func TestRobotThatRequiresSignaturesAcceptsOnlySignedDocuments(t *testing.T) {
	runIn(t, []variant{ownBroker, postgres}, func(w *world) {
		key, other := filepath.Join(w.folder, "fleetd.key"), filepath.Join(w.folder, "other.key")
		trusted := strings.TrimSpace(w.mustRunCLI("key", "new", key))
		w.mustRunCLI("key", "new", other)
		w.startFleetd("--sign-key", other)
		w.runRobot("r1", "", "--signing", "require", "--trust-key", trusted)
		w.awaitAdopted("r1")

		w.mustRunCLI("desired", "config", "event_rate=7", "r1")
		awaitDocument(w, robotTopic("r1", "reported/config"), "the refusal of a signature with another key", func(r schema.ReportedConfig) bool {
			return r.Phase == schema.DeployRejected && r.Reason == schema.ReasonBadSignature
		})

		w.fleetd.kill()
		w.startFleetd("--sign-key", key)
		w.mustRunCLI("desired", "config", "event_rate=8", "r1")
		awaitDocument(w, robotTopic("r1", "reported/config"), "the report on settings", func(r schema.ReportedConfig) bool {
			return r.Phase == schema.DeployActive && string(r.Applied["event_rate"]) == "8"
		})
	})
}

func TestRobotThatRequiresSignaturesReleasesStopsOnlyBySignedDocuments(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		stopTopic, fleetTopic := robotTopic("r1", "desired/stop"), schema.DefaultNamespace.Topic(schema.TopicFleetStop)
		w.recorder.Allow(stopTopic)
		w.recorder.Allow(fleetTopic)
		key := filepath.Join(w.folder, "fleetd.key")
		trusted := strings.TrimSpace(w.mustRunCLI("key", "new", key))
		w.startFleetd() // without a signing key yet
		w.runRobot("r1", "", "--signing", "require", "--trust-key", trusted)
		w.awaitAdopted("r1")
		w.enable("r1")
		robotStop, fleetStop := w.stopRobots("r1"), w.stopRobots("--all")
		w.awaitLatches("r1", robotStop, fleetStop)
		w.awaitPersistedStops(robotStop, fleetStop)

		w.fleetd.kill()
		w.startFleetd("--sign-key", key)
		signed := awaitDocument(w, stopTopic, "the robot's stops, signed",
			func(d schema.DesiredStop) bool { return d.Sig != nil && len(d.Stops) == 2 })
		awaitDocument(w, fleetTopic, "the stop of all, signed", func(d schema.FleetStop) bool { return d.Sig != nil && d.Active })

		// Another client that may write these topics.
		forged := `{"rev":9000000000000000,"fleet_id":"` + signed.FleetID + `","ts":"2026-11-21T12:00:00.000Z",`
		mark := w.observer.mark()
		w.publish("admin", stopTopic, forged+`"stops":[]}`, "-r")
		w.publish("admin", fleetTopic, forged+`"active":false}`, "-r")
		for _, cause := range []string{"robot stop", "fleet stop"} {
			awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the refusal of the forged "+cause, func(e schema.Event) bool {
				return e.Type == string(schema.ReasonBadSignature) && e.Cause == cause && strings.Contains(string(e.Data), "9000000000000000")
			})
		}
		w.awaitLatches("r1", robotStop, fleetStop)
		w.expectEnableRefused("r1", robotStop)

		w.mustRunCLI("stop", "release", robotStop, fleetStop, "--why", "the stage is clear")
		w.awaitLatches("r1")
		w.enable("r1")
	})
}
