package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/view"
	"troupe/schema"
)

// startInstance starts one of several fleetd instances; the world's commands go to
// it from then on.
func (w *world) startInstance(name string) *process {
	w.t.Helper()
	w.startFleetd("--name", name, "--spool", filepath.Join(w.folder, name+".stops"))
	return w.fleetd
}

// awaitLeader waits until a fleetd instance logs that it leads.
func (w *world) awaitLeader(p *process, name string) {
	w.t.Helper()
	p.log.await(w.t, name, "that it leads", func(line string) bool {
		return strings.Contains(line, `msg="this instance is the leader`) && strings.Contains(line, "name="+name)
	})
}

// awaitFleetdPresence waits until the condition holds for the fleet's presence
// document after the mark.
func (w *world) awaitFleetdPresence(mark int, what string, holds func(schema.Presence) bool) schema.Presence {
	w.t.Helper()
	return awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetPresence), what, holds)
}

func TestKilledLeaderIsReplaced(t *testing.T) {
	runIn(t, []variant{postgres}, func(w *world) {
		a := w.startInstance("fleetd-a")
		w.awaitLeader(a, "fleetd-a")
		atA := w.http
		w.startInstance("fleetd-b")
		w.runRobotsIn(schema.ModeMnl, "robot.yaml", "r1", "r2")
		w.awaitAdopted("r1", "r2")
		before := w.awaitFleetdPresence(0, "fleetd to be online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })

		// All commands go to the follower.
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "--wait")
		w.awaitPerforming("r1")
		if says := w.mustRunCLI("version"); !strings.Contains(says, "leader: fleetd-a") {
			w.t.Errorf("fleetd-b prints\n%s", says)
		}

		// The leader is killed while one of its commands is under way.
		mark := w.observer.mark()
		w.robots["r1"].signal(syscall.SIGSTOP)
		atB := w.http
		w.http = atA
		batch := mustRunJSON[api.Batch](w, "auto", "pause", "r1", "--ttl", "60s")
		w.http = atB
		w.observer.awaitMessage(w.t, mark, robotTopic("r1", "cmd/fleetd-a/auto/pause"), "the command to be sent",
			func(message) bool { return true })
		a.kill()
		w.robots["r1"].signal(syscall.SIGCONT)
		w.awaitState("r1", "paused", func(s schema.State) bool { return s.Auto.Status == schema.AutoPaused && s.Auto.PauseCount == 1 })

		// No instance leads at this moment: a stop works, and is latched.
		w.mustRunCLI("stop", "--all", "--why", "fleetd is gone")
		latched := w.latchedStops()
		if len(latched) != 1 {
			w.t.Fatalf("latched: %s", jsonText(latched))
		}
		w.awaitLatches("r1", latched[0].ID)
		w.awaitLatches("r2", latched[0].ID)
		w.mustRunCLI("story", "assign", "tale", "r2")

		w.awaitLeader(w.fleetd, "fleetd-b")
		w.awaitConverged("tale", 1, "r1", "r2")
		after := w.awaitFleetdPresence(mark, "the new leader's presence", func(p schema.Presence) bool {
			return p.State == schema.PresenceOnline && p.Session != before.Session
		})
		if after.Boot == before.Boot {
			w.t.Errorf("the presence is that of the killed instance: %s", jsonText(after))
		}
		awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetStop), "the stop to be persisted",
			func(s schema.FleetStop) bool {
				return s.Active && s.ID == latched[0].ID
			})
		w.until("the result of the killed instance's command to be known", func() bool {
			c := mustRunJSON[api.Batch](w, "command", "get", batch.ID).Commands[0]
			return c.State == command.Succeeded && c.Instance == "fleetd-a"
		})

		// The killed instance is started again, follows, and releases the other's stop.
		restarted := w.startInstance("fleetd-a")
		restarted.log.await(w.t, "fleetd-a", "that it follows", func(line string) bool { return strings.Contains(line, `why="fleetd-b leads"`) })
		w.awaitAdopted("r1", "r2")
		w.mustRunCLI("stop", "release", latched[0].ID, "--why", "both fleetd instances are there")
		w.awaitLatches("r1")
		w.awaitLatches("r2")
		w.awaitState("r1", "paused by each command once", func(s schema.State) bool { return s.Auto.PauseCount == 1 })
	})
}

// A fleetd instance that hangs keeps all its connections, so the database would
// still take it for the leader.
func TestHangingLeaderIsReplaced(t *testing.T) {
	runIn(t, []variant{postgres}, func(w *world) {
		a := w.startInstance("fleetd-a")
		w.awaitLeader(a, "fleetd-a")
		b := w.startInstance("fleetd-b")
		w.runRobotsIn(schema.ModeMnl, "robot.yaml", "r1")
		w.awaitAdopted("r1")
		w.publishStory("tale", "tell", "nod")
		a.signal(syscall.SIGSTOP)
		w.mustRunCLI("story", "assign", "tale", "r1")
		w.awaitLeader(b, "fleetd-b")
		w.awaitConverged("tale", 1, "r1")
		mark := w.observer.mark()
		a.signal(syscall.SIGCONT)
		a.log.await(w.t, "fleetd-a", "that it follows", func(line string) bool { return strings.Contains(line, `why="fleetd-b leads"`) })
		w.stopRobots("r1")
		for _, m := range w.observer.since(mark, schema.DefaultNamespace.Topic(schema.TopicFleetPresence)) {
			if p, _ := schema.Decode[schema.Presence]([]byte(m.Payload)); p.State == schema.PresenceOnline {
				w.t.Errorf("the instance that hung publishes: %s", m)
			}
		}
	})
}

// Mosquitto runs with the shipped configuration. It knows robots and fleetd
// instances by their certificates alone.
func TestTwoInstancesWithCertificatesServeAFleetOnMosquitto(t *testing.T) {
	t.Parallel()
	twoInstancesServeAFleet(t, variant{mosquitto: true, postgres: true})
}

// NATS finds the users that the broker generates by the certificates of the fleet's CA.
func TestTwoInstancesWithCertificatesServeAFleetOnNATS(t *testing.T) {
	t.Parallel()
	twoInstancesServeAFleet(t, variant{nats: true, postgres: true})
}

// twoInstancesServeAFleet: one instance continues what the other began, and a stop holds until it is
// released, whichever instance leads.
func twoInstancesServeAFleet(t *testing.T, k variant) {
	t.Helper()
	s := newSecuredIn(t, k)
	recorder := brokertest.Record(t, s.dialerAs("admin"))
	if k.nats {
		recorder.AllowLiveAtQoS0()
	}
	first := s.fleetd
	s.awaitLeader(first, "fleetd")
	for _, rid := range []string{"r7", "r8"} {
		s.enrol(rid)
		s.runEnrolledRobot(rid)
	}
	s.startFleetd("--name", "fleetd-b", "--spool", filepath.Join(s.folder, "b.stops"), "--enrol", "127.0.0.1:0")
	second := s.fleetd
	s.awaitPresenceStatus("r7", "online")
	s.awaitPresenceStatus("r8", "online")

	s.publishStory("tale", "tell", "nod")
	s.mustRunCLI("story", "assign", "tale", "r7", "r8", "--wait")
	first.kill()
	s.mustRunCLI("stop", "--all", "--why", "a drill")
	s.awaitStopped("r7", 1)
	s.awaitStopped("r8", 1)
	s.awaitLeader(second, "fleetd-b")
	s.publishStory("round", "nod", "smile")
	s.mustRunCLI("story", "assign", "round", "r7", "r8", "--wait")
	for _, rid := range []string{"r7", "r8"} {
		if d := mustRunJSON[view.Detail](s.world, "robot", "get", rid); !d.Desired.Converged || d.Reported == nil || d.Reported.Active == nil ||
			d.Reported.Active.ID != "round" {
			t.Errorf("%s has %s", rid, jsonText(d.Reported))
		}
	}
	s.mustRunCLI("stop", "release", s.latchedStops()[0].ID, "--why", "it is over")
	s.awaitStopped("r7", 0)
	s.awaitStopped("r8", 0)
	s.until("enable to be accepted after the release", func() bool { return s.runCLI("safety", "enable", "--all", "--wait").code == 0 })
}

// awaitStopped waits until fleetd shows the robot DISABLED with that number of
// latched stops.
func (s *secured) awaitStopped(rid string, stops int) {
	s.t.Helper()
	s.until(rid+" to be stopped", func() bool {
		d := mustRunJSON[view.Detail](s.world, "robot", "get", rid)
		return d.State != nil && d.State.Safety.State == schema.SafetyDisabled && len(d.State.Safety.Latches) == stops
	})
}
