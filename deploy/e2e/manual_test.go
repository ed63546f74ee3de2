package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// speed is a message of telemetry/drive.
type speed struct {
	monoMS int64
	vx     float64
	at     time.Time // of arrival
}

// speeds returns the speeds that the robot has published since a mark.
func (w *world) speeds(mark int, rid string) (all []speed) {
	for _, m := range w.observer.since(mark, robotTopic(rid, "telemetry/drive")) {
		figures, problems := schema.Decode[schema.Telemetry]([]byte(m.Payload))
		if len(problems) > 0 {
			w.t.Fatalf("%s: %v", m, problems)
		}
		var at struct {
			VX float64 `json:"vx_mps"`
			WZ float64 `json:"wz_radps"`
		}
		if err := json.Unmarshal(figures.Data, &at); err != nil {
			w.t.Fatalf("%s: %v", m, err)
		}
		all = append(all, speed{figures.MonoMS, at.VX, m.at})
	}
	return all
}

// awaitSpeed waits for telemetry and returns the newest speed.
func (w *world) awaitSpeed(mark int, rid string) speed {
	w.t.Helper()
	w.observer.awaitMessage(w.t, mark, robotTopic(rid, "telemetry/drive"), "the speed of "+rid, func(message) bool { return true })
	all := w.speeds(mark, rid)
	return all[len(all)-1]
}

// TestManualDrivingStopsWhenTheFramesEnd does what a person does with a joystick,
// with one frame for each telemetry message of the robot.
func TestManualDrivingStopsWhenTheFramesEnd(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "cmd/#"))
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.mustRequest("op1", "r1", "safety/enable", "")
		lease := w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`).Lease
		if lease == nil || lease.ID == "" || lease.Holder != "op1" {
			w.t.Fatalf("the answer holds the lease %s", jsonText(lease))
		}
		var seq int64
		frame := func(client string, vx float64) {
			seq++
			w.publish(client, robotTopic("r1", "cmd/"+client+"/manual/velocity"),
				fmt.Sprintf(`{"lease":%q,"seq":%d,"vx":%v,"wz":0,"ttl_ms":400,"seen_mono_ms":%d}`, lease.ID, seq, vx, w.awaitSpeed(0, "r1").monoMS))
		}

		// Frames of another client are refused, which only an event reports.
		mark := w.observer.mark()
		frame("op2", 0.3)
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the refusal of the other's frame", func(e schema.Event) bool {
			return e.Type == "teleop_refused" && e.Source == "op2" && e.Cause == string(schema.ReasonNotInControl)
		})

		// A joystick must have been at rest once before its frames count.
		mark = w.observer.mark()
		frame("op1", 0.3)
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the refusal of a joystick that was not at rest", func(e schema.Event) bool {
			return e.Type == "teleop_refused" && e.Source == "op1" && e.Cause == string(schema.ReasonPrecondition)
		})
		frame("op1", 0)

		mark = w.observer.mark()
		w.until("the robot to drive", func() bool {
			frame("op1", 0.3)
			return w.awaitSpeed(mark, "r1").vx > 0
		})
		mark = w.observer.mark()
		w.until("the robot to stop", func() bool { return w.awaitSpeed(mark, "r1").vx == 0 })
		for _, s := range w.speeds(0, "r1") {
			if s.vx > 0.3+1e-9 {
				w.t.Errorf("the robot drove at %v m/s; want at most 0.3", s.vx)
			}
		}

		// The lease ends, and with it the robot's telemetry.
		w.mustRequest("op1", "r1", "control/release", "")
		w.awaitState("r1", "without a controlling client", func(s schema.State) bool { return s.Control == nil })
	})
}

// TestFleetdTakesControlOnBehalfOfAPerson uses fleetd's command line. The lease
// ends when fleetd is killed.
func TestFleetdTakesControlOnBehalfOfAPerson(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.until("fleetd to know r1", func() bool {
			return w.runCLI("control", "acquire", "r1", "--ttl-ms", "60000", "--by", "ann", "--wait").code == 0
		})
		w.awaitState("r1", "controlled by ann", func(s schema.State) bool {
			return s.Control != nil && s.Control.Holder == "fleetd" && s.Control.By == "ann"
		})
		if s := w.runCLI("manual", "say", "r1", "--text", "hello", "--by", "bob", "--wait"); s.code == 0 ||
			!strings.Contains(s.out, "not_in_control") {
			w.t.Errorf("bob: %+v", s)
		}
		w.mustRunCLI("manual", "say", "r1", "--text", "hello", "--by", "ann", "--wait")
		w.until("fleetd to show who controls r1", func() bool { return strings.Contains(w.mustRunCLI("robot", "get", "r1"), "ann at fleetd") })
		w.fleetd.kill()
		w.awaitState("r1", "without a controlling client", func(s schema.State) bool { return s.Control == nil })
	})
}
