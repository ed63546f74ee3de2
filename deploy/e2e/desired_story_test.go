package e2e

import (
	"slices"
	"testing"

	"troupe/schema"
)

// What becomes of each desired state stands in the report, and a robot that cannot fulfil one
// goes on with what it has.
func TestDesiredStoryThatFailsIsReportedAndTheRobotKeepsItsOwn(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(schema.DefaultNamespace.Topic(schema.TopicBlob, "+")) // one is damaged
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		active := w.performStory("r1", "tale", "tell", "nod")
		// told waits for the report on a desired state, and holds what the robot has then.
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

		// Bytes that are not those of the digest.
		ref, blob := w.encodeStory(2, "round", "nod", "smile")
		damaged := slices.Clone(blob)
		damaged[len(damaged)/2] ^= 1
		w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), damaged)
		w.publishDesiredStory("r1", manualFleetID, ref, len(blob), schema.ApplyNow)
		if r := expectReport("refused for its bytes", 2, schema.DeployRejected, schema.ReasonBadDigest); r.Retry != schema.RetryNever {
			w.t.Errorf("damaged bytes: %s", jsonText(r))
		}
		w.performing("r1")

		// An act that nobody sent is left out; without any act it is no story.
		active = setDesired(3, schema.ApplyNow, "round", "nod")
		r := w.awaitActiveStory("r1", active)
		if !slices.Equal(r.Active.EffectiveActs, []string{"nod"}) || !slices.Equal(r.Active.Pruned, []string{"smile"}) {
			w.t.Errorf("with an act that is missing: %s", jsonText(r))
		}
		// Another fleet's desired state, an older one, and none at all change nothing.
		mark := w.eye.mark()
		w.setDesiredStoryAs("00000000-0000-4000-8000-00000000000b", "r1", 90, "tale", "tell", "nod")
		expectReport("as it was, beside another fleet", 3, schema.DeployActive, schema.ReasonWrongFleet)
		setDesired(4, schema.ApplyNow, "round")
		expectReport("refused without an act", 4, schema.DeployRejected, schema.ReasonStoryEmpty)
		setDesired(1, schema.ApplyNow, "tale", "tell", "nod")
		becomes(w, mark, on("r1", "event"), "the refusal of an older desired state", func(e schema.Event) bool { return e.Type == string(schema.ReasonStaleRevision) })
		mark = w.eye.mark()
		w.publish("admin", on("r1", "desired/story"), "", "-r")
		w.mustRequest("op1", "r1", "sys/resync", "") // after it, everything is told again
		becomes(w, mark, on("r1", "reported/story"), "the report to be told again", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 4 && r.Active != nil && r.Active.SHA256 == active.SHA256
		})
		w.performing("r1")

		// A desired state that waits for its turn gives way to a newer one.
		setDesired(5, schema.ApplyNextStart, "tale", "tell", "nod")
		if r := expectReport("waiting", 5, schema.DeployWaiting, ""); r.Staged == nil || r.Staged.Rev != 5 {
			w.t.Errorf("while it waits: %s", jsonText(r))
		}
		mark = w.eye.mark()
		newer := setDesired(6, schema.ApplyNow, "round", "nod", "smile")
		becomes(w, mark, on("r1", "reported/story"), "the end of what waited", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 5 && r.Phase == schema.DeploySuperseded
		})
		w.awaitActiveStory("r1", newer)

		// What was on the disk when the power went takes its turn, though the broker has
		// forgotten that it was desired.
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

		// Only a fleet that says so takes the story away.
		w.publish("admin", on("r1", "desired/story"), `{"rev":8,"fleet_id":"`+manualFleetID+`","story":null,"apply":"now","by":"e2e","ts":"2026-01-01T00:00:00.000Z"}`, "-r")
		w.awaitReportedStory("r1", "without a story", func(r schema.ReportedStory) bool {
			return r.DesiredRev == 8 && r.Phase == schema.DeployWithdrawn && r.Active == nil
		})
		if a := w.request("op1", "r1", "mode/set", "ato"); a.Reason != schema.ReasonNoDefaultStory {
			w.t.Errorf("ato without a story: %s", jsonText(a))
		}
	})
}
