package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

func TestStoryPublishedManuallyIsReplacedByFleetd(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("", "r1", "r2")
		fleet := mustRunJSON[struct{ Server api.Status }](w, "version").Server.FleetID

		manual := w.setDesiredStoryAs(fleet, "r1", 50, "round", "smile", "nod")
		w.awaitActiveStory("r1", manual)
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1", "--wait")
		w.awaitConverged("tale", 1, "r1")
		w.awaitReportedStory("r1", "on a higher revision", func(r schema.ReportedStory) bool { return r.DesiredRev == 51 })

		// Manually once more, over fleetd's desired story: fleetd publishes it again.
		w.setDesiredStoryAs(fleet, "r1", 70, "round", "smile", "nod")
		w.awaitReportedStory("r1", "back with fleetd's desired story", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 71 && r.Phase == schema.DeployActive && r.Active.ID == "tale"
		})
		w.awaitRobot("r1", "fulfilled", func(r view.Robot) bool { return r.Desired.Converged && r.Desired.DesiredRev == 71 })

		// This fleetd does not decide for a robot of another fleet, and shows why.
		w.awaitActiveStory("r2", w.setDesiredStory("r2", 3, "round", "smile", "nod"))
		w.mustRunCLI("story", "assign", "tale", "r2")
		w.awaitRobot("r2", "another fleet's",
			func(r view.Robot) bool { return !r.Desired.Converged && r.Desired.Reason == schema.ReasonWrongFleet })
	})
}

func TestRobotThatTrustsAReleaseKeyRefusesStoryNotSignedWithIt(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		key, releaser := filepath.Join(w.folder, "fleetd.key"), filepath.Join(w.folder, "releaser.key")
		fleetd, release := strings.TrimSpace(w.mustRunCLI("key", "new", key)), strings.TrimSpace(w.mustRunCLI("key", "new", releaser))
		w.startFleetd("--sign-key", key)
		w.runRobot("r1", "", "--signing", "require", "--trust-key", fleetd, "--trust-key", "release:"+strings.TrimPrefix(release, "desired:"))
		w.awaitAdopted("r1")
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1")
		w.awaitReportedStory("r1", "without the story that has no release", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployRejected && r.Reason == schema.ReasonBadSignature && r.Active == nil
		})

		w.fleetd.kill()
		w.startFleetd("--sign-key", key, "--release-key", releaser)
		w.mustRunCLI("story", "withdraw", "r1")
		w.mustRunCLI("story", "assign", "tale", "r1", "--wait")
		w.awaitConverged("tale", 1, "r1")
	})
}
