package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/view"
	"troupe/schema"
)

// anyFleetd: fleetd has to keep its promises on both databases and both brokers.
var anyFleetd = []variant{ownBroker, postgres, mosquitto}

// awaitRobot waits until the condition holds for a robot as fleetd shows it.
func (w *world) awaitRobot(rid, what string, holds func(view.Robot) bool) view.Robot {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	var newest string
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.http+api.Prefix+"/robots/"+rid, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if w.token != "" {
			request.Header.Set("Authorization", "Bearer "+w.token)
		}
		answer, err := client.Do(request)
		if err != nil {
			w.t.Fatal(err)
		}
		var d view.Detail
		err = json.NewDecoder(answer.Body).Decode(&d)
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK && err != nil {
			w.t.Fatal(err)
		}
		if answer.StatusCode == http.StatusOK && holds(d.Robot) {
			return d.Robot
		}
		newest = jsonText(d.Robot)
	}
	w.t.Fatalf("waited %v for fleetd to see %s %s; it sees %s", waitLimit, rid, what, newest)
	return view.Robot{}
}

// awaitAdopted waits until fleetd has adopted the robots and shows them online.
func (w *world) awaitAdopted(ids ...string) {
	w.t.Helper()
	for _, rid := range ids {
		w.awaitRobot(rid, "online and adopted", func(r view.Robot) bool { return r.Presence.Status == "online" && r.Adopted })
	}
}

// fileFlags returns the flags of a command line for files of testdata/scenarios.
func fileFlags(names ...string) []string {
	var args []string
	for _, name := range names {
		args = append(args, "-f", scenarioFile(name))
	}
	return args
}

// publishStory publishes acts and a story in fleetd's library.
func (w *world) publishStory(story string, acts ...string) {
	w.t.Helper()
	var files []string
	for _, act := range acts {
		files = append(files, act+".yaml")
	}
	w.mustRunCLI(append([]string{"act", "publish"}, fileFlags(files...)...)...)
	w.mustRunCLI(append([]string{"story", "publish"}, fileFlags(story+".yaml")...)...)
}

// awaitConverged waits until the robots have fleetd's revision of a story, and
// returns what they report as active.
func (w *world) awaitConverged(story string, rev int64, ids ...string) schema.ActiveStory {
	w.t.Helper()
	var first schema.ActiveStory
	for i, rid := range ids {
		r := w.awaitReportedStory(rid, "active with "+story, func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == story && r.Active.Rev == rev
		})
		if i > 0 && r.Active.SHA256 != first.SHA256 {
			w.t.Errorf("%s has another blob than %s", rid, ids[0])
		}
		first = *r.Active
		w.awaitRobot(rid, "converged", func(r view.Robot) bool {
			return r.Desired.Converged && r.Desired.Story != nil && r.Desired.Story.Rev == rev
		})
	}
	return first
}

func TestStoryGoesFromFilesToRobotsThatPerformIt(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("", "r1", "r2")

		w.publishStory("round", "nod", "smile")
		out := w.mustRunCLI("story", "assign", "round", "r1", "r2", "--wait")
		if !strings.Contains(out, "fulfilled") {
			w.t.Errorf("assign prints\n%s", out)
		}
		w.awaitConverged("round", 1, "r1", "r2")

		batch := mustRunJSON[api.Batch](w, "mode", "set", "ato", "r1", "r2", "--wait", "--by", "ann", "--why", "opening time")
		if batch.Outcome != command.OutcomeSucceeded || batch.Total != 2 || batch.By != "ann" {
			w.t.Errorf("batch %s", jsonText(batch))
		}
		for _, rid := range []string{"r1", "r2"} {
			w.awaitPerforming(rid)
			w.awaitRobot(rid, "performing", func(r view.Robot) bool { return r.Mode == schema.ModeAto && r.Auto == schema.AutoPerforming })
		}

		// A refusal reaches the person with its reason, and is an exit code.
		if s := w.runCLI("mode", "set", "dance", "r1", "--wait"); s.code != 1 || !strings.Contains(s.out+s.err, "unknown_mode") {
			w.t.Errorf("mode set dance: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.awaitPerforming("r1")
	})
}

// A robot performs: its events tell each act and round, fleetd lists them by level, and
// after its story was withdrawn, the next one waits for a person.
func TestObserverFollowsPerformance(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleet("", "r1")
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "r1", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "--wait")
		w.awaitPerforming("r1")
		type performed struct {
			Act, Entry, Lane, Outcome string
			MS                        int64
		}
		data := func(e schema.Event) (p performed) {
			_ = json.Unmarshal(e.Data, &p)
			return p
		}
		began := awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "an act begins",
			func(e schema.Event) bool { return e.Type == "act_started" && e.Level == schema.EventInfo })
		awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "that act ends", func(e schema.Event) bool {
			return e.Type == "act_ended" && data(e).Entry == data(began).Entry && data(e).Act == data(began).Act && data(e).Lane == "story" &&
				data(e).Outcome != ""
		})
		awaitDocumentAfter(w, 0, robotTopic("r1", "event"), "a round is over", func(e schema.Event) bool { return e.Type == "story_round" })

		mark := w.observer.mark()
		w.mustRunCLI("story", "withdraw", "r1", "--wait")
		w.awaitRobot("r1", "without a story", func(r view.Robot) bool {
			return r.Auto == schema.AutoStopped && r.AutoReason == schema.ReasonNoDefaultStory
		})
		if out := w.mustRunCLI("story", "assign", "round", "r1", "--wait"); !strings.Contains(out, "needs auto start") ||
			strings.Contains(out, "fulfilled") {
			w.t.Errorf("assign to a robot that stands stopped prints\n%s", out)
		}
		w.awaitState("r1", "it says what it waits for", func(s schema.State) bool { return s.Auto.Reason == schema.ReasonNeedsStart })
		w.mustRunCLI("auto", "start", "r1", "--wait")
		w.awaitPerforming("r1")
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "an act of the new story",
			func(e schema.Event) bool { return e.Type == "act_started" })
		w.until("fleetd lists what happened by level", func() bool {
			out := w.mustRunCLI("event", "list", "--robot", "r1", "--level", "info", "--limit", "1000")
			return strings.Contains(out, "act_ended") && strings.Contains(out, "story_round") && !strings.Contains(out, "safety_changed")
		})
		if out := w.mustRunCLI("event", "list", "--level", "safety"); strings.Contains(out, "act_ended") {
			w.t.Errorf("events of safety:\n%s", out)
		}
	})
}

// The commands are those of the README.
func TestThreeProgramsPerformTheShippedStories(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleet("", "r1", "r2")
		w.mustRunCLI("story", "publish", "-f", "../library")
		w.mustRunCLI("story", "assign", "museum-welcome", "r1", "r2", "--wait")
		w.mustRunCLI("safety", "enable", "r1", "r2", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "r2", "--wait")
		for _, rid := range []string{"r1", "r2"} {
			s := w.awaitPerforming(rid)
			if s.Auto.Story.ID != "museum-welcome" || s.Safety.State != schema.SafetyEnabled {
				w.t.Errorf("%s: %s", rid, jsonText(s))
			}
		}
		if list := w.mustRunCLI("robot", "list"); !strings.Contains(list, "museum-welcome") {
			w.t.Errorf("robot list prints\n%s", list)
		}
	})
}
