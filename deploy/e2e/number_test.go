package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/schema"
)

func TestStoryPublishedManuallyIsReplacedByFleetd(t *testing.T) {
	in(t, anyFleetd, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		fleet := asked[struct{ Fleetd api.Status }](w, "version").Fleetd.FleetID

		byHand := w.desireAs(fleet, "r1", 50, "round", "smile", "nod")
		w.has("r1", byHand)
		w.publishes("tale", "tell", "nod")
		w.do("story", "assign", "tale", "r1", "--wait")
		w.converged("tale", 1, "r1")
		w.reported("r1", "on a number above", func(r schema.ReportedStory) bool { return r.DesiredRev == 51 })

		// Manually once more, over fleetd's desired state: it is told again.
		w.desireAs(fleet, "r1", 70, "round", "smile", "nod")
		w.reported("r1", "back with fleetd's desired state", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 71 && r.Phase == schema.DeployActive && r.Active.ID == "tale"
		})
		w.sees("r1", "fulfilled", func(r api.Robot) bool { return r.Desired.Converged && r.Desired.DesiredRev == 71 })

		// A robot of another fleet is not this instance's to desired state for, and that is said.
		w.has("r2", w.desire("r2", 3, "round", "smile", "nod"))
		w.do("story", "assign", "tale", "r2")
		w.sees("r2", "another fleet's", func(r api.Robot) bool { return !r.Desired.Converged && r.Desired.Reason == schema.ReasonWrongFleet })
	})
}

func TestRobotThatTrustsAReleaserRefusesStoryWithoutRelease(t *testing.T) {
	in(t, []kind{ours}, func(w *world) {
		key, releaser := filepath.Join(w.folder, "fleetd.key"), filepath.Join(w.folder, "releaser.key")
		fleetd, release := strings.TrimSpace(w.do("key", "new", key)), strings.TrimSpace(w.do("key", "new", releaser))
		w.startFleetd("--sign-key", key)
		w.robot("r1", "", "--signing", "require", "--trust-key", fleetd, "--trust-key", "release:"+strings.TrimPrefix(release, "desired:"))
		w.known("r1")
		w.publishes("tale", "tell", "nod")
		w.do("story", "assign", "tale", "r1")
		w.reported("r1", "without a story that nobody released", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployRejected && r.Reason == schema.ReasonBadSignature && r.Active == nil
		})

		w.fleetd.kill()
		w.startFleetd("--sign-key", key, "--release-key", releaser)
		w.do("story", "withdraw", "r1")
		w.do("story", "assign", "tale", "r1", "--wait")
		w.converged("tale", 1, "r1")
	})
}
