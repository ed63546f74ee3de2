package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"troupe/broker/brokertest"
	"troupe/robotd/recorder"
	"troupe/schema"
)

// TestKilledRobotLeavesReadableRecording kills robotd while it records 50 samples a second.
// What it wrote is readable, and the next start closes the file.
func TestKilledRobotLeavesReadableRecording(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "robot.yaml", "r1")
		w.mustRequest("op1", "r1", "safety/enable", "")
		dir := filepath.Join(w.folder, "r1", recorder.Folder)
		spans := func() []recorder.Span {
			all, err := recorder.List(dir)
			if err != nil {
				w.t.Fatal(err)
			}
			return all
		}
		brokertest.Eventually(w.t, "a recording of an enabled robot", func() bool {
			all := spans()
			return len(all) == 1 && all[0].Topics["/sample"] > 100
		})
		w.robots["r1"].kill()
		killed := spans()[0]
		if killed.Closed || killed.Err != nil || killed.Topics["/answer"] == 0 {
			w.t.Fatalf("after kill -9: %+v", killed)
		}
		if out, err := exec.Command(program(w.t, "robotd"), "record", "verify", "--data",
			filepath.Join(w.folder, "r1")).CombinedOutput(); err != nil {
			w.t.Errorf("verify: %v\n%s", err, out)
		}
		if out, err := exec.Command(program(w.t, "robotd"), "record", "verify", "none.mcap").CombinedOutput(); err == nil ||
			string(out) != "robotd: open none.mcap: no such file or directory\n" {
			w.t.Errorf("verify of a file that is not there: %v\n%s", err, out)
		}
		w.runRobot("r1", "robot.yaml")
		brokertest.Eventually(w.t, "the closed recording and a new one", func() bool {
			all := spans()
			return len(all) == 2 && all[0].Closed && all[1].Messages > 0
		})
		if c, err := recorder.Verify(killed.Path); err != nil || c.Messages != killed.Messages {
			w.t.Errorf("the closed recording has %d records, %v; before it had %d", c.Messages, err, killed.Messages)
		}
	})
}
