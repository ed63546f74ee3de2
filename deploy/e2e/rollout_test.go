package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/rollout"
	"troupe/fleetd/view"
	"troupe/schema"
)

// rolloutFiles are the library and the plans of the test: glow needs the light alone, so it fails where that is broken.
var rolloutFiles = map[string]string{
	"rest.yaml":   "act: rest\nname: {en: Rest}\nactions:\n- {type: wait, start_ms: 0, end_ms: 500}\n",
	"light.yaml":  "act: light\nname: {en: Light}\nactions:\n- {type: led, start_ms: 0, end_ms: 200, colour: \"#20c0ff\", pattern: solid}\n",
	"walk.yaml":   "act: walk\nname: {en: Walk}\nactions:\n- {type: goto, start_ms: 0, end_ms: 60000, point: entrance}\n",
	"still.yaml":  "story: still\nname: {en: Still}\nlanguages: [en]\nrepeat: loop\nacts:\n- {act: rest}\n",
	"quiet.yaml":  "story: quiet\nname: {en: Quiet}\nlanguages: [en]\nrepeat: loop\nacts:\n- {act: rest}\n",
	"glow.yaml":   "story: glow\nname: {en: Glow}\nlanguages: [en]\nrepeat: loop\nacts:\n- {act: light}\n",
	"stroll.yaml": "story: stroll\nname: {en: Stroll}\nlanguages: [en]\nrepeat: loop\nacts:\n- {act: walk}\n",
	"waves.yaml": "waves:\n- {name: canary, selector: {labels: [{key: ring, value: first}]}, soak_s: 2}\n" +
		"- {name: second, selector: {labels: [{key: ring, value: second}]}, max_failure_percent: 20, min_decided: 3, soak_s: 2}\n" +
		"- {name: rest, percent: 100, soak_s: 2}\nconfirm_s: 10\nactivate_s: 10\nwatch_health: false\n",
	"watched.yaml": "waves:\n- {name: canary, selector: {labels: [{key: ring, value: first}]}, soak_s: 30}\n" +
		"- {name: rest, percent: 100, soak_s: 2}\nwatch_health: false\n",
}

// rolloutRobot is how far a robot of a rollout is.
func (w *world) rolloutRobot(id, robot string) api.RolloutRobot {
	w.t.Helper()
	robots := mustRunJSON[api.RolloutRobots](w, "rollout", "robots", id).Robots
	i := slices.IndexFunc(robots, func(r api.RolloutRobot) bool { return r.Robot == robot })
	if i < 0 {
		w.t.Fatalf("rollout %s does not have %s", id, robot)
	}
	return robots[i]
}

// awaitRollout waits until the condition holds for a rollout.
func (w *world) awaitRollout(id, what string, holds func(api.RolloutDetail) bool) (d api.RolloutDetail) {
	w.t.Helper()
	deadline := time.Now().Add(waitLimit)
	for d = mustRunJSON[api.RolloutDetail](w, "rollout", "get", id); !holds(d); d = mustRunJSON[api.RolloutDetail](w, "rollout", "get", id) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited %v for rollout %s to be %s; it is %s", waitLimit, id, what, jsonText(d))
		}
		time.Sleep(100 * time.Millisecond)
	}
	return d
}

// TestRolloutStopsAtTheWaveThatFailsAndGivesEachRobotItsOwnBack has 20 robots, each a process.
func TestRolloutStopsAtTheWaveThatFailsAndGivesEachRobotItsOwnBack(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		for name, text := range rolloutFiles {
			if err := os.WriteFile(filepath.Join(w.folder, name), []byte(text), 0o600); err != nil {
				w.t.Fatal(err)
			}
		}
		file := func(name string) string { return filepath.Join(w.folder, name) }
		w.startFleetd()
		var all []string
		for n := range maxRobots {
			id := fmt.Sprintf("r%d", n+1)
			all = append(all, id)
			var more []string
			if n+1 >= 4 && n+1 <= 6 {
				w.recorder.Allow(robotTopic(id, "sim/#"))
				more = append(more, "--sim-faults")
			}
			if id == "r20" {
				more = append(more, "--sim-no-map")
			}
			w.runRobot(id, "", more...)
		}
		w.awaitAdopted(all...)
		w.mustRunCLI("act", "publish", "-f", file("rest.yaml"), "-f", file("light.yaml"), "-f", file("walk.yaml"))
		w.mustRunCLI("story", "publish", "-f", file("still.yaml"), "-f", file("quiet.yaml"), "-f", file("glow.yaml"), "-f", file("stroll.yaml"))
		for i, id := range all[:9] {
			w.mustRunCLI("robot", "label", id, "ring="+[]string{"first", "second", "second"}[i/3])
		}
		earlier := map[string]string{}
		for i, story := range []string{"still", "quiet"} {
			half := all[10*i : 10*i+10]
			w.mustRunCLI(append([]string{"story", "assign", story}, half...)...)
			for _, id := range half {
				earlier[id] = story
			}
		}
		performs := func(id, story string) {
			w.t.Helper()
			w.awaitRobot(id, "performing "+story, func(r view.Robot) bool {
				return r.Auto == schema.AutoPerforming && r.Story != nil && r.Story.ID == story
			})
		}
		for _, id := range all {
			w.awaitState(id, "calibrated", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		}
		w.mustRunCLI("safety", "enable", "--all", "--wait")
		w.mustRunCLI("mode", "set", "ato", "--all", "--wait")
		for _, id := range all {
			performs(id, earlier[id])
		}
		w.until("the assignments to be decided", func() bool {
			return len(mustRunJSON[api.RolloutList](w, "rollout", "list", "--state", "open").Rollouts) == 0
		})
		for _, id := range all[3:6] {
			w.simInput(id, "break", `{"unit":"led","what":"no light"}`)
		}

		// Another body is refused in the plan.
		plan := mustRunJSON[api.RolloutPlan](w, "rollout", "plan", "--story", "stroll", "--all")
		if len(plan.Refused) != 1 || plan.Refused[0].Robot != "r20" || plan.Refused[0].Reason != "misfit" || plan.Refused[0].Detail == "" {
			w.t.Errorf("the plan refuses %+v", plan.Refused)
		}

		// The canary passes, three of the six robots of the second wave fail, and the others keep what they have.
		made := mustRunJSON[api.RolloutDetail](w, "rollout", "create", "--story", "glow", "--all", "--plan", file("waves.yaml"), "--start",
			"--apply", "now")
		d := w.awaitRollout(made.ID, "paused, with its offers decided", func(d api.RolloutDetail) bool {
			return d.State == rollout.Paused && d.Waves[1].Counts["FAILED"]+d.Waves[1].Counts["TIMED_OUT"] >= 3
		})
		if d.Waves[0].State != rollout.WavePassed || d.Waves[1].State != rollout.WaveFailed || d.Waves[2].State != rollout.WavePlanned ||
			d.Waves[2].Counts["PLANNED"] != 11 {
			w.t.Errorf("it stops as %s", jsonText(d.Waves))
		}
		if len(d.Failures) != 1 || d.Failures[0].Count != 3 || !slices.Equal(slices.Sorted(slices.Values(d.Failures[0].Robots)), all[3:6]) ||
			d.Failures[0].Detail == "" {
			w.t.Errorf("its failures are %s", jsonText(d.Failures))
		}
		if s := w.runCLI("rollout", "watch", made.ID); s.code != 5 || !strings.Contains(s.out, "FAILED") {
			w.t.Errorf("watch ends with %d\n%s%s", s.code, s.out, s.err)
		}
		if out := w.mustRunCLI("alert", "list"); !strings.Contains(out, "rollout_paused") || !strings.Contains(out, made.ID) {
			w.t.Errorf("the alerts are\n%s", out)
		}
		for _, id := range all[9:] {
			performs(id, earlier[id])
		}

		// Each robot gets its own story back.
		w.mustRunCLI("rollout", "rollback", made.ID, "--why", "it fails")
		if s := w.runCLI("rollout", "watch", made.ID); s.code != 0 {
			w.t.Errorf("watch ends with %d\n%s%s", s.code, s.out, s.err)
		}
		for _, id := range all {
			performs(id, earlier[id])
		}
		if restored := mustRunJSON[api.RolloutRobots](w, "rollout", "robots", made.ID, "--state", "RESTORED").Robots; len(restored) != 9 {
			w.t.Errorf("restored are %s", jsonText(restored))
		}

		// A robot whose process ends after it activated the content is silent within three heartbeats; when it returns, it
		// is judged anew.
		made = mustRunJSON[api.RolloutDetail](w, "rollout", "create", "--story", "glow", "--all", "--plan", file("watched.yaml"), "--start",
			"--apply", "now")
		w.awaitRollout(made.ID, "watched", func(d api.RolloutDetail) bool { return d.Waves[0].Counts["ACTIVE"] == 3 })
		w.robots["r1"].kill()
		gone := time.Now()
		d = w.awaitRollout(made.ID, "paused", func(d api.RolloutDetail) bool { return d.State == rollout.Paused })
		if r := w.rolloutRobot(made.ID, "r1"); r.State != rollout.Silent {
			w.t.Errorf("r1, whose process ended %v ago, is %s", time.Since(gone), jsonText(r))
		}
		w.runRobot("r1", "")
		w.awaitRollout(made.ID, "judged anew", func(api.RolloutDetail) bool {
			r := w.rolloutRobot(made.ID, "r1")
			return r.State == rollout.Active || r.State == rollout.Confirmed
		})
		w.mustRunCLI("rollout", "resume", made.ID, "--why", "r1 had no power")
		w.mustRunCLI("rollout", "abort", made.ID)
	})
}
