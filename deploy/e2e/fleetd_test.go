package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/schema"
)

// Fleetd has to keep its promises on either database, and on any broker.
var anyFleetd = []kind{ours, postgres, mosquitto}

// sees waits until fleetd sees a robot as it should be.
func (w *world) sees(rid, what string, holds func(api.Robot) bool) api.Robot {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	var newest string
	for late := time.Now().Add(patience); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
		answer, err := client.Get(w.http + api.Prefix + "/robots/" + rid)
		if err != nil {
			w.t.Fatal(err)
		}
		var d api.Detail
		err = json.NewDecoder(answer.Body).Decode(&d)
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK && err != nil {
			w.t.Fatal(err)
		}
		if answer.StatusCode == http.StatusOK && holds(d.Robot) {
			return d.Robot
		}
		newest = text(d.Robot)
	}
	w.t.Fatalf("waited %v for fleetd to see %s %s; it sees %s", patience, rid, what, newest)
	return api.Robot{}
}

// known waits until fleetd has taken the robots into its fleet.
func (w *world) known(ids ...string) {
	w.t.Helper()
	for _, rid := range ids {
		w.sees(rid, "online and its own", func(r api.Robot) bool { return r.Presence.View == "online" && r.Adopted })
	}
}

// file is a command line's way to name a file of testdata/scenarios.
func file(names ...string) []string {
	var args []string
	for _, name := range names {
		args = append(args, "-f", scenarioFile(name))
	}
	return args
}

// publishes brings acts and a story into fleetd's library.
func (w *world) publishes(story string, acts ...string) {
	w.t.Helper()
	var files []string
	for _, act := range acts {
		files = append(files, act+".yaml")
	}
	w.do(append([]string{"act", "publish"}, file(files...)...)...)
	w.do(append([]string{"story", "publish"}, file(story+".yaml")...)...)
}

// converged waits until robots have fleetd's revision of a story, and returns
// what they have.
func (w *world) converged(story string, rev int64, ids ...string) schema.ActiveStory {
	w.t.Helper()
	var one schema.ActiveStory
	for i, rid := range ids {
		r := w.reported(rid, "active with "+story, func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == story && r.Active.Rev == rev
		})
		if i > 0 && r.Active.SHA256 != one.SHA256 {
			w.t.Errorf("%s has other bytes than %s", rid, ids[0])
		}
		one = *r.Active
		w.sees(rid, "converged", func(r api.Robot) bool {
			return r.Desired.Converged && r.Desired.Story != nil && r.Desired.Story.Rev == rev
		})
	}
	return one
}

func TestStoryGoesFromFilesToRobotsThatPerformIt(t *testing.T) {
	in(t, anyFleetd, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")

		w.publishes("round", "nod", "smile")
		said := w.do("story", "assign", "round", "r1", "r2", "--wait")
		if !strings.Contains(said, "fulfilled") {
			w.t.Errorf("assign says\n%s", said)
		}
		w.converged("round", 1, "r1", "r2")

		batch := asked[api.Batch](w, "mode", "set", "ato", "r1", "r2", "--wait", "--by", "ann", "--why", "opening time")
		if batch.Outcome != command.OutcomeSucceeded || batch.Total != 2 || batch.By != "ann" {
			w.t.Errorf("batch %s", text(batch))
		}
		for _, rid := range []string{"r1", "r2"} {
			w.performing(rid)
			w.sees(rid, "performing", func(r api.Robot) bool { return r.Mode == schema.ModeAto && r.Auto == schema.AutoIdle })
		}

		// A refusal reaches the person with its reason, and is an exit code.
		if s := w.cli("mode", "set", "dance", "r1", "--wait"); s.code != 1 || !strings.Contains(s.out+s.err, "unknown_mode") {
			w.t.Errorf("mode set dance: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.performing("r1")
	})
}

// What the README shows, line by line.
func TestThreeProgramsPerformTheShippedStories(t *testing.T) {
	in(t, []kind{ours}, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		w.do("story", "publish", "-f", "../library")
		w.do("story", "assign", "museum-welcome", "r1", "r2", "--wait")
		w.do("safety", "enable", "r1", "r2", "--wait")
		w.do("mode", "set", "ato", "r1", "r2", "--wait")
		for _, rid := range []string{"r1", "r2"} {
			s := w.performing(rid)
			if s.Auto.Story.ID != "museum-welcome" || s.Safety.State != schema.SafetyEnabled {
				w.t.Errorf("%s: %s", rid, text(s))
			}
		}
		if list := w.do("robot", "list"); !strings.Contains(list, "museum-welcome") {
			w.t.Errorf("robot list says\n%s", list)
		}
	})
}

func TestDeletedActEmptiesItsStory(t *testing.T) {
	in(t, anyFleetd, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		w.publishes("round", "nod", "smile")
		w.do("story", "assign", "round", "r1", "r2", "--wait")
		w.do("mode", "set", "ato", "r1", "r2", "--wait")
		w.performing("r1")

		// First only what it would do, then with the numbers that were told.
		dry := asked[api.Deletion](w, "act", "delete", "smile", "--dry-run")
		if len(dry.Stories) != 1 || dry.Robots != 2 || len(dry.Clears) != 0 {
			w.t.Errorf("dry run %s", text(dry))
		}
		if s := w.cli("act", "delete", "smile"); s.code != 5 {
			w.t.Errorf("without the numbers: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.converged("round", 1, "r1", "r2")
		w.do("act", "delete", "smile", "--expect-stories", "1", "--expect-robots", "2")
		if has := w.converged("round", 2, "r1", "r2"); !slices.Equal(has.EffectiveActs, []string{"nod"}) {
			w.t.Errorf("the robots perform %v", has.EffectiveActs)
		}
		w.performing("r1")
		w.performing("r2")

		// The last act: the story goes with it, and needs to be named.
		if s := w.cli("act", "delete", "nod", "--expect-stories", "1", "--expect-robots", "2"); s.code != 5 || !strings.Contains(s.err, "--yes-clear-default round") {
			w.t.Errorf("without the name: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.performing("r1")
		w.do("act", "delete", "nod", "--expect-stories", "1", "--expect-robots", "2", "--yes-clear-default", "round")
		for _, rid := range []string{"r1", "r2"} {
			w.reported(rid, "withdrawn", func(r schema.ReportedStory) bool { return r.Phase == schema.DeployWithdrawn && r.Active == nil })
			w.state(rid, "stopped without a story", func(s schema.State) bool {
				return s.Auto.Status == schema.AutoStopped && s.Auto.Reason == schema.ReasonNoDefaultStory
			})
		}

		// Nothing vanished without a trace.
		all := asked[struct {
			Entries []api.Entry `json:"entries"`
		}](w, "story", "list", "--deleted")
		if len(all.Entries) != 1 || all.Entries[0].DeletedAt == 0 {
			w.t.Errorf("stories %s", text(all.Entries))
		}
		w.do("act", "recover", "nod")
		w.do("story", "recover", "round")
	})
}

func TestCommandToOfflineRobotExpires(t *testing.T) {
	in(t, []kind{ours, postgres}, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		w.robots["r1"].terminate()
		w.sees("r1", "offline", func(r api.Robot) bool { return r.Presence.View == "offline" })
		s := w.cli("mode", "set", "mnl", "r1", "--ttl", "1s", "--wait=30s", "-o", "json")
		var b api.Batch
		if err := json.Unmarshal([]byte(s.out), &b); err != nil || len(b.Commands) != 1 {
			w.t.Fatalf("status %d, %v\n%s%s", s.code, err, s.out, s.err)
		}
		if b.Commands[0].State != command.Undelivered || s.code == 0 {
			w.t.Errorf("status %d, %s", s.code, text(b))
		}
		if seen := w.eye.since(0, on("r1", "cmd/fleetd/#")); len(seen) > 0 {
			w.t.Errorf("it was sent: %v", seen)
		}
	})
}

func TestFleetdStopsRobotsAndEnablesThemAgain(t *testing.T) {
	in(t, anyFleetd, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		w.do("safety", "enable", "--all", "--wait")
		for _, rid := range []string{"r1", "r2"} {
			w.state(rid, "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
		}
		w.do("stop", "--all", "--why", "a child came near")
		for _, rid := range []string{"r1", "r2"} {
			w.state(rid, "DISABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyDisabled })
		}
		w.until("the stop persisted", func() bool {
			list := asked[struct {
				Commands []api.Command `json:"commands"`
			}](w, "command", "list", "--robot", "r1")
			return len(list.Commands) == 2 && list.Commands[0].Verb == "safety/stop" && list.Commands[0].State == command.Succeeded
		})
		held := w.heldStops()
		if len(held) != 1 || !held[0].All || held[0].Why != "a child came near" {
			w.t.Fatalf("held: %s", text(held))
		}
		if s := w.cli("safety", "enable", "r1", "--wait"); s.code != 1 || !strings.Contains(s.out, "latched") {
			w.t.Errorf("enabled while a stop is held: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.do("stop", "release", held[0].ID, "--why", "the child is with its parents")
		w.holds("r1")
		w.holds("r2")
		w.until("robots enabled by whoever saw them after the stop", func() bool { return w.cli("safety", "enable", "--all", "--wait").code == 0 })
	})
}
