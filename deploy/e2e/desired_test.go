package e2e

import (
	"fmt"
	"os"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
	"troupe/schema/score"
)

// manual names whoever writes desired documents without a fleetd instance.
const manual = "00000000-0000-4000-8000-00000000000a"

// desired gives a robot a default story without a fleetd instance, as an administrator could
// with mosquitto_pub: the bytes under their digest, then the desired state for them.
func (w *world) desire(rid string, rev int64, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	return w.desireAs(manual, rid, rev, story, acts...)
}

// desireAs is desired state in the name of a fleet.
func (w *world) desireAs(fleetID, rid string, rev int64, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	ref, blob := w.frozen(rev, story, acts...)
	w.keep(schema.DefaultNamespace.Topic(schema.TopicBlob, ref.SHA256), blob)
	w.desired(rid, fleetID, ref, len(blob), schema.ApplyNow)
	return ref
}

// frozen is a revision of a story with these of its acts, and its bytes.
func (w *world) frozen(rev int64, story string, acts ...string) (schema.StoryRef, []byte) {
	w.t.Helper()
	s, problems := score.ParseStory([]byte(read(w.t, story+".yaml")))
	if len(problems) > 0 {
		w.t.Fatalf("%s: %v", story, problems)
	}
	bundle := map[string]score.Act{}
	for _, id := range acts {
		if bundle[id], problems = score.ParseAct([]byte(read(w.t, id+".yaml"))); len(problems) > 0 {
			w.t.Fatalf("%s: %v", id, problems)
		}
	}
	blob, sum, err := score.EncodeBlob(s, bundle, rev)
	if err != nil {
		w.t.Fatal(err)
	}
	return schema.StoryRef{ID: story, Rev: rev, SHA256: sum}, blob
}

// keep has the broker keep these bytes on a topic.
func (w *world) keep(topic string, bytes []byte) {
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
	if r := mosquittotest.Pub(w.t, w.tools.url(), "-V", "mqttv311", "-i", "admin", "-u", "admin", "-q", "1", "-r", "-t", topic, "-f", f.Name()); r.Code != 0 {
		w.t.Fatalf("publish %d bytes on %s: %+v", len(bytes), topic, r)
	}
}

// desired tells a robot which revision a fleet desires it to have.
func (w *world) desired(rid, fleetID string, ref schema.StoryRef, size int, apply schema.Apply) {
	w.t.Helper()
	w.send("admin", on(rid, "desired/story"), fmt.Sprintf(`{"rev":%d,"fleet_id":%q,"story":{"id":%q,"rev":%[1]d,"sha256":%[4]q,"size":%d},"apply":%q,"by":"e2e","ts":"2026-01-01T00:00:00.000Z"}`,
		ref.Rev, fleetID, ref.ID, ref.SHA256, size, apply), "-r")
}

// has waits until the robot has taken the story.
func (w *world) has(rid string, story schema.StoryRef) schema.ReportedStory {
	w.t.Helper()
	return w.reported(rid, "active with "+story.ID, func(r schema.ReportedStory) bool {
		return r.Phase == schema.DeployActive && r.Active != nil && r.Active.SHA256 == story.SHA256
	})
}

// performs brings a robot with a story of its own to perform it.
func (w *world) performs(rid, story string, acts ...string) schema.StoryRef {
	w.t.Helper()
	ref := w.desire(rid, 1, story, acts...)
	w.has(rid, ref)
	w.told("op1", rid, "mode/set", "ato")
	w.state(rid, "performing "+story, func(s schema.State) bool {
		return s.Mode.Active == schema.ModeAto && s.Auto.Story != nil && s.Auto.Story.ID == story && s.Auto.Status == schema.AutoIdle
	})
	return ref
}
