package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// runRobotWith starts a robot with a data directory and flags of its own.
func (w *world) runRobotWith(id, disk string, flags ...string) *process {
	w.t.Helper()
	if w.robotProxies[id] == nil {
		w.robotProxies[id] = newProxy(w.t, w.address)
	}
	args := append([]string{"--id", id, "--broker", w.robotProxies[id].url(), "--data", filepath.Join(w.folder, disk)},
		append(w.engineFlag(), flags...)...)
	return launch(w.t, disk, program(w.t, "robotd"), args, nil)
}

func TestTwoRobotsWithOneNameAreReportedAndBackOff(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleet("", "r1")
		clone := w.runRobotWith("r1", "clone")
		w.awaitRobot("r1", "disputed", func(r view.Robot) bool { return r.Presence.Disputed })
		if out := w.mustRunCLI("robot", "list"); !strings.Contains(out, "(name used by two robots)") {
			w.t.Errorf("the list does not show two robots:\n%s", out)
		}
		w.until("one of them to back off", func() bool {
			return slices.ContainsFunc([]*process{w.robots["r1"], clone}, func(p *process) bool {
				return p.log.contains("another client connects under this robot's name")
			})
		})
		// The other one stays connected meanwhile, and can be stopped.
		w.awaitRobot("r1", "online", func(r view.Robot) bool { return r.Presence.Status == "online" && r.Presence.Disputed })
		w.mustRunCLI("stop", "r1")
	})
}

func TestTwoInstancesWithOneNameReportIt(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd()
		first := w.http
		w.store = "sqlite:" + filepath.Join(w.folder, "other.db")
		other := launch(w.t, "other", program(w.t, "fleetd"), append([]string{
			"serve", "--dev", "--http", "127.0.0.1:0", "--broker", w.fleetdProxy.url(), "--database", w.store, "--spool",
			filepath.Join(w.folder, "other.stops"),
		}, w.engineFlag()...), nil)
		second := "http://" + strings.TrimPrefix(other.ready()["http"], "http://")
		w.until("one of them to report it", func() bool {
			for _, w.http = range []string{first, second} {
				if s := w.runCLI("version"); strings.Contains(s.out, "DISPUTED") {
					list := w.runCLI("robot", "list")
					return strings.Contains(list.err, "two clients with the same name")
				}
			}
			return false
		})
	})
}

// TestLastWillOfKilledRobotDoesNotHideItsNextSession lets the network hide the
// death of robotd from the broker, so that the next session takes the old one
// over. On a broker that allows any client any will, another will comes later
// still.
func TestLastWillOfKilledRobotDoesNotHideItsNextSession(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleet("", "r1")
		isOnline := func(p schema.Presence) bool { return p.State == schema.PresenceOnline }
		before := awaitDocument(w, robotTopic("r1", "presence"), "r1 to be online", isOnline)
		will := before
		will.State, will.TS, will.Since, will.Reason = schema.PresenceLost, 0, 0, "will"
		var lateWill *brokertest.Client
		if w.variant.mosquitto {
			lateWill = brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "r1", ClientID: "ghost"},
				brokertest.WithWill(brokertest.Message{Topic: robotTopic("r1", "presence"), Payload: []byte(jsonText(will)), QoS: 1, Retain: true}))
		}

		w.robotProxies["r1"].hideDisconnects()
		mark := w.observer.mark()
		w.robots["r1"].kill()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		after := awaitDocumentAfter(w, mark, robotTopic("r1", "presence"), "r1 to be online again", func(p schema.Presence) bool {
			return isOnline(p) && p.Boot != before.Boot
		})
		if lateWill != nil {
			// Mosquitto publishes the will of a session that is taken over; our broker does not.
			awaitDocumentAfter(w, mark, robotTopic("r1", "presence"), "the will of the old session", func(p schema.Presence) bool {
				return p.State == schema.PresenceLost && p.Session == before.Session
			})
			mark = w.observer.mark()
			lateWill.Cut()
			awaitDocumentAfter(w, mark, robotTopic("r1", "presence"), "the late will",
				func(p schema.Presence) bool { return p.State == schema.PresenceLost })
			awaitDocumentAfter(w, mark, robotTopic("r1", "presence"), "its repair",
				func(p schema.Presence) bool { return isOnline(p) && p.Session == after.Session })
			awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the event of the repair", func(e schema.Event) bool {
				return e.Type == "presence_repaired" && e.Cause == "presence_of_earlier_session"
			})
		}
		w.mustRequest("op1", "r1", "sys/ping", "") // a session that took another one over receives what it subscribed to
		w.awaitRobot("r1", "online", func(r view.Robot) bool { return r.Presence.Status == "online" && !r.Presence.Disputed })
		w.awaitState("r1", "without the alert presence_overwritten", func(s schema.State) bool {
			return s.Boot == after.Boot && !slices.ContainsFunc(s.Alerts, func(a schema.Alert) bool { return a.Type == "presence_overwritten" })
		})
	})
}

func TestSuspendedRobotProcessIsDegradedThenLost(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleet("", "r1")
		w.robots["r1"].signal(syscall.SIGSTOP)
		began := time.Now()
		w.awaitRobot("r1", "degraded", func(r view.Robot) bool { return r.Presence.Status == "degraded" })
		if waited := time.Since(began); waited < 2*time.Second { // the newest heartbeat was two seconds old at most
			w.t.Errorf("degraded after %v", waited)
		}
		w.awaitRobot("r1", "lost", func(r view.Robot) bool { return r.Presence.Status == "lost" })
		w.robots["r1"].signal(syscall.SIGCONT)
		w.awaitRobot("r1", "online again", func(r view.Robot) bool { return r.Presence.Status == "online" })
	})
}

// The first broker is back, and a robot connects to it while fleetd stays with the standby: fleetd lists the robot all the same.
func TestStrayRobotIsListed(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		first := launch(w.t, "first broker", program(w.t, "broker"), []string{"--dev", "--mqtt", "127.0.0.1:0", "--http", ""}, nil)
		w.startFleetd()
		w.robotProxies["r1"] = newProxy(w.t, first.ready()["mqtt"])
		w.runRobot("r1", "robot.yaml", "--broker", "mqtt://"+w.address)
		w.awaitAdopted("r1")
	})
}
