package e2e

import (
	"slices"
	"testing"

	"troupe/schema"
)

// The robot reports what became of each desired story; if it cannot use one, it
// keeps the story that it has.
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
		setDesired := func(rev int64, apply schema.Apply, story string, acts ...string) schema.StoryRef {
			w.t.Helper()
			ref, blob := w.encodeStory(rev, story, acts...)
			w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), blob)
			w.publishDesiredStory("r1", manualFleetID, ref, len(blob), apply)
			return ref
		}

		// The blob does not match its digest.
		ref, blob := w.encodeStory(2, "round", "nod", "smile")
		damaged := slices.Clone(blob)
		damaged[len(damaged)/2] ^= 1
		w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), damaged)
		w.publishDesiredStory("r1", manualFleetID, ref, len(blob), schema.ApplyNow)
		if r := expectReport("refused for its bytes", 2, schema.DeployRejected, schema.ReasonBadDigest); r.Retry != schema.RetryNever {
			w.t.Errorf("damaged bytes: %s", jsonText(r))
		}
		w.awaitPerforming("r1")

		// An act that is missing in the blob is left out; a story without any act is refused.
		active = setDesired(3, schema.ApplyNow, "round", "nod")
		r := w.awaitActiveStory("r1", active)
		if !slices.Equal(r.Active.EffectiveActs, []string{"nod"}) || !slices.Equal(r.Active.Pruned, []string{"smile"}) {
			w.t.Errorf("with an act that is missing: %s", jsonText(r))
		}
		// A desired story of another fleet, an older one, and an empty document change nothing.
		mark := w.observer.mark()
		w.setDesiredStoryAs("00000000-0000-4000-8000-00000000000b", "r1", 90, "tale", "tell", "nod")
		expectReport("unchanged by another fleet", 3, schema.DeployActive, schema.ReasonWrongFleet)
		setDesired(4, schema.ApplyNow, "round")
		expectReport("refused without an act", 4, schema.DeployRejected, schema.ReasonStoryEmpty)
		setDesired(1, schema.ApplyNow, "tale", "tell", "nod")
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the refusal of an older desired state", func(e schema.Event) bool { return e.Type == string(schema.ReasonStaleRevision) })
		mark = w.observer.mark()
		w.publish("admin", robotTopic("r1", "desired/story"), "", "-r")
		w.mustRequest("op1", "r1", "sys/resync", "") // has the robot publish everything again
		awaitDocumentAfter(w, mark, robotTopic("r1", "reported/story"), "the report to be published again", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 4 && r.Active != nil && r.Active.SHA256 == active.SHA256
		})
		w.awaitPerforming("r1")

		// A desired story that waits to be applied is superseded by a newer one.
		setDesired(5, schema.ApplyNextStart, "tale", "tell", "nod")
		if r := expectReport("waiting", 5, schema.DeployWaiting, ""); r.Staged == nil || r.Staged.Rev != 5 {
			w.t.Errorf("while it waits: %s", jsonText(r))
		}
		mark = w.observer.mark()
		newer := setDesired(6, schema.ApplyNow, "round", "nod", "smile")
		awaitDocumentAfter(w, mark, robotTopic("r1", "reported/story"), "the report that the waiting story is superseded", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 5 && r.Phase == schema.DeploySuperseded
		})
		w.awaitActiveStory("r1", newer)

		// A story that waited on the disk at a power cut is applied after it, though the
		// broker has lost the desired document.
		active = newer
		last := setDesired(7, schema.ApplyNextStart, "tale", "tell", "nod")
		expectReport("waiting on the disk", 7, schema.DeployWaiting, "")
		w.robots["r1"].kill()
		w.killBroker()
		w.startBroker()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		if r := w.awaitActiveStory("r1", last); r.DesiredRev != 7 || r.Previous == nil || r.Previous.SHA256 != newer.SHA256 {
			w.t.Errorf("after the power cut: %s", jsonText(r))
		}

		// The story is withdrawn only by a desired document that says so.
		w.publish("admin", robotTopic("r1", "desired/story"), `{"rev":8,"fleet_id":"`+manualFleetID+`","story":null,"apply":"now","by":"e2e","ts":"2026-01-01T00:00:00.000Z"}`, "-r")
		w.awaitReportedStory("r1", "without a story", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 8 && r.Phase == schema.DeployWithdrawn && r.Active == nil
		})
		if a := w.request("op1", "r1", "mode/set", "ato"); a.Reason != schema.ReasonNoDefaultStory {
			w.t.Errorf("ato without a story: %s", jsonText(a))
		}
	})
}
