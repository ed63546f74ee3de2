package e2e

import (
	"fmt"
	"os"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
	"troupe/schema/score"
)

// manualFleetID is the fleet id of desired documents that a test publishes without
// fleetd.
const manualFleetID = "00000000-0000-4000-8000-00000000000a"

// setDesiredStory gives a robot a default story without fleetd, as an
// administrator could with mosquitto_pub: first the blob under its digest, then
// the desired story that refers to it.
func (w *world) setDesiredStory(rid string, rev int64, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	return w.setDesiredStoryAs(manualFleetID, rid, rev, story, acts...)
}

// setDesiredStoryAs is setDesiredStory with the id of a fleet.
func (w *world) setDesiredStoryAs(fleetID, rid string, rev int64, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	ref, blob := w.encodeStory(rev, story, acts...)
	w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), blob)
	w.publishDesiredStory(rid, fleetID, ref, len(blob), schema.ApplyNow)
	return ref
}

// encodeStory returns a revision of a story with these of its acts, and its bytes.
func (w *world) encodeStory(rev int64, story string, acts ...string) (schema.StoryRef, []byte) {
	w.t.Helper()
	s, problems := score.ParseStory([]byte(readScenario(w.t, story+".yaml")))
	if len(problems) > 0 {
		w.t.Fatalf("%s: %v", story, problems)
	}
	bundle := map[string]score.Act{}
	for _, id := range acts {
		if bundle[id], problems = score.ParseAct([]byte(readScenario(w.t, id+".yaml"))); len(problems) > 0 {
			w.t.Fatalf("%s: %v", id, problems)
		}
	}
	blob, sum, err := score.EncodePublishedStory(s, bundle, rev)
	if err != nil {
		w.t.Fatal(err)
	}
	return schema.StoryRef{ID: story, Rev: rev, SHA256: sum}, blob
}

// publishRetained publishes a retained message.
func (w *world) publishRetained(topic string, bytes []byte) {
	w.t.Helper()
	f, err := os.CreateTemp(w.folder, "kept-")
	if err == nil {
		_, err = f.Write(bytes)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	if r := mosquittotest.Pub(w.t, w.toolsProxy.url(), "-V", "mqttv311", "-i", "admin", "-u", "admin", "-q", "1", "-r", "-t", topic, "-f",
		f.Name()); r.Code != 0 {
		w.t.Fatalf("publish %d bytes on %s: %+v", len(bytes), topic, r)
	}
}

// publishDesiredStory publishes which revision of a story a fleet desires of a
// robot.
func (w *world) publishDesiredStory(rid, fleetID string, ref schema.StoryRef, size int, apply schema.Apply) {
	w.t.Helper()
	w.publish("admin", robotTopic(rid, "desired/story"),
		fmt.Sprintf(`{"rev":%d,"fleet_id":%q,"story":{"id":%q,"rev":%[1]d,"sha256":%[4]q,"size":%d},"apply":%q,"by":"e2e","ts":"2026-01-01T00:00:00.000Z"}`,
			ref.Rev, fleetID, ref.ID, ref.SHA256, size, apply), "-r")
}

// awaitActiveStory waits until the story is active on the robot.
func (w *world) awaitActiveStory(rid string, story schema.StoryRef) schema.ReportedStory {
	w.t.Helper()
	return w.awaitReportedStory(rid, "active with "+story.ID, func(r schema.ReportedStory) bool {
		return r.Phase == schema.DeployActive && r.Active != nil && r.Active.SHA256 == story.SHA256
	})
}

// performStory gives a robot a story and has the robot perform it.
func (w *world) performStory(rid, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	ref := w.setDesiredStory(rid, 1, story, acts...)
	w.awaitActiveStory(rid, ref)
	w.mustRequest("op1", rid, "mode/set", "ato")
	w.awaitState(rid, "performing "+story, func(s schema.State) bool {
		return s.Mode.Active == schema.ModeAto && s.Auto.Story != nil && s.Auto.Story.ID == story && s.Auto.Status == schema.AutoPerforming
	})
	return ref
}
