package e2e

import (
	"slices"
	"testing"

	"troupe/schema"
)

// The robot keeps the story that it has when it cannot use a desired one, and one that waits on its
// disk outlasts a power cut.
func TestDesiredStoryThatFailsIsReportedAndTheRobotKeepsItsOwn(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(schema.DefaultNamespace.Topic(schema.TopicBlob, "+")) // one is damaged
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		active := w.performStory("r1", "tale", "tell", "nod")
		// expectReport waits for the report on a desired story, and checks that the active story is unchanged.
		expectReport := func(what string, rev int64, phase schema.DeployPhase, reason schema.Reason) schema.ReportedStory {
			w.t.Helper()
			r := w.awaitReportedStory("r1", what, func(r schema.ReportedStory) bool {
				return r.DesiredRev == rev && r.Phase == phase && r.Reason == reason
			})
			if r.Active == nil || r.Active.SHA256 != active.SHA256 {
				w.t.Errorf("%s: the robot has %s, not %s", what, jsonText(r), active.ID)
			}
			return r
		}

		// The blob does not match its digest.
		ref, blob := w.encodeStory(2, "round", "nod", "smile")
		damaged := slices.Clone(blob)
		damaged[len(damaged)/2] ^= 1
		w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), damaged)
		w.publishDesiredStory("r1", manualFleetID, ref, len(blob), schema.ApplyNow)
		if r := expectReport("damaged again", 2, schema.DeployFailed, schema.ReasonBadDigest); r.Retry != schema.RetryLater {
			w.t.Errorf("damaged bytes: %s", jsonText(r))
		}
		w.awaitPerforming("r1")

		// A story that waited on the disk at a power cut is applied after it, though the
		// broker has lost the desired document.
		ref, blob = w.encodeStory(3, "round", "smile")
		w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), blob)
		w.publishDesiredStory("r1", manualFleetID, ref, len(blob), schema.ApplyNextStart)
		expectReport("waiting on the disk", 3, schema.DeployWaiting, "")
		w.robots["r1"].kill()
		w.killBroker()
		w.startBroker()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		if r := w.awaitActiveStory("r1", ref); r.DesiredRev != 3 || r.Previous == nil || r.Previous.SHA256 != active.SHA256 {
			w.t.Errorf("after the power cut: %s", jsonText(r))
		}
	})
}
