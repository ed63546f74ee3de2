package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"troupe/schema"
)

// Activities are published, assigned as a set, and lose a deleted act, on fleetd and on the
// robot alike.
func TestRobotGetsItsActivitiesAndLosesADeletedAct(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("", "r1")
		folder := filepath.Join(w.folder, "life")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"hello.yaml": "act: hello\nactions: [{type: face, start_ms: 0, end_ms: 500, face: smile}]\n",
			"wink.yaml":  "act: wink\nactions: [{type: wait, start_ms: 0, end_ms: 500}]\n",
			"greet.yaml": "activity: greet\nname: {en: Greet}\nrepeat: once\nnature: interactive\n" +
				"launch: {when: people > 0, for: 2s, cooldown: 1m}\nacts: [{act: hello}, {act: wink}]\n",
			"rest.yaml": "activity: rest\nname: {en: Rest}\nrepeat: once\nnature: solitary\nlaunch: {when: people == 0, cooldown: 1m}\n" +
				"acts: [{act: wink}]\n",
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w.mustRunCLI("activity", "publish", "-f", folder)
		w.mustRunCLI("activity", "assign", "greet,rest", "r1", "--wait")
		active := func(rev int64) func(schema.ReportedSet) bool {
			return func(r schema.ReportedSet) bool {
				return r.Phase == schema.DeployActive && r.DesiredRev == rev && r.Active != nil && r.Active.Rev == rev
			}
		}
		awaitDocument(w, robotTopic("r1", "reported/activities"), "both activities", active(1))
		w.until("fleetd to show both as those of r1", func() bool {
			return strings.Contains(w.mustRunCLI("robot", "get", "r1"), "greet@1, rest@1\n")
		})
		w.until("r1 to say of each why it does not start", func() bool {
			out := w.mustRunCLI("activity", "explain", "r1", "greet")
			return strings.Contains(out, "people > 0, for 2s") && strings.Contains(out, "life is disabled")
		})
		w.until("r1 itself to say it", func() bool {
			return regexp.MustCompile(`robot +people > 0 is not true: people is `).MatchString(w.mustRunCLI("activity", "explain", "r1", "greet"))
		})

		if r := w.runCLI("act", "delete", "wink"); r.code == 0 || !strings.Contains(r.err,
			"--expect-stories 0 --expect-activities 2 --expect-robots 1") {
			t.Fatalf("without the numbers: %+v", r)
		}
		w.mustRunCLI("act", "delete", "wink", "--expect-activities", "2", "--expect-robots", "1")
		awaitDocument(w, robotTopic("r1", "reported/activities"), "what is left of them", active(2))
		w.until("fleetd to show what is left", func() bool {
			return strings.Contains(w.mustRunCLI("robot", "get", "r1"), "greet@2\n")
		})

		// A robot that starts again has them from its own disk.
		w.robots["r1"].kill()
		mark := w.observer.mark()
		w.runRobot("r1", "")
		awaitDocumentAfter(w, mark, robotTopic("r1", "reported/activities"), "the same after a restart", active(2))

		// An activity that the body cannot perform is left out, and the others are in use.
		lacking := filepath.Join(w.folder, "lacking")
		if err := os.Mkdir(lacking, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"walk.yaml": "act: walk\nactions: [{type: goto, start_ms: 0, point: attic, timeout_ms: 60000}]\n",
			"show.yaml": "activity: show\nname: {en: Show}\nrepeat: once\nnature: interactive\nacts: [{act: walk}]\n",
		} {
			if err := os.WriteFile(filepath.Join(lacking, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w.mustRunCLI("activity", "publish", "-f", lacking)
		if out := w.mustRunCLI("activity", "assign", "greet,show", "r1", "--dry-run"); !strings.Contains(out,
			`warning: r1 cannot perform show: /acts/walk/actions/0/point: this robot has no point "attic"`) {
			t.Errorf("the dry run: %s", out)
		}
		if r := w.runCLI("activity", "assign", "greet,show", "r1", "--wait"); r.code != 1 || !strings.Contains(r.out, "without show: ") {
			t.Errorf("an activity that r1 cannot perform: %+v", r)
		}
		partly := awaitDocument(w, robotTopic("r1", "reported/activities"), "one of them", active(3))
		if len(partly.Refused) != 1 || partly.Refused[0].ID != "show" || partly.Refused[0].Reason != schema.ReasonStoryInvalid {
			t.Errorf("left out: %+v", partly.Refused)
		}
		if out := w.mustRunCLI("activity", "explain", "r1", "show"); !strings.Contains(out, "its body cannot perform it") {
			t.Errorf("explained: %s", out)
		}

		w.mustRunCLI("activity", "withdraw", "r1", "--wait")
		awaitDocument(w, robotTopic("r1", "reported/activities"), "none",
			func(r schema.ReportedSet) bool { return r.Phase == schema.DeployWithdrawn && r.Active == nil })
	})
}
