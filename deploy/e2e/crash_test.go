package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/view"
	"troupe/schema"
)

func TestKilledRobotKeepsStoryAndJournalAndDoesNotMove(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("robot.yaml", "r1")
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1", "--wait")
		w.mustRequest("op1", "r1", "safety/enable", "")
		const request = `{"id":"before","args":{"mode":"ato"}}`
		w.mustRequest("op1", "r1", "mode/set", request)
		before := w.awaitState("r1", "in the middle of the story", func(s schema.State) bool {
			return s.Auto.Act == "tell" && s.Safety.State == schema.SafetyEnabled
		})

		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		w.awaitRobot("r1", "lost", func(r view.Robot) bool { return r.Presence.Status == "lost" })
		w.fleetd.kill()
		w.killBroker()

		// Without broker and fleetd, the robot goes to its story and does not move.
		restarted := w.runRobot("r1", "robot.yaml")
		restarted.log.await(t, "r1", "that it performs", func(line string) bool {
			return strings.Contains(line, `msg="auto: halt -> `)
		})

		w.startBroker()
		mark := 0 // the new broker has no retained messages: all messages of this boot are new
		after := awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "the state of the new boot", func(s schema.State) bool {
			return s.Boot != before.Boot && s.Mode.Active == schema.ModeAto
		})
		if after.Auto.Story == nil || *after.Auto.Story != *before.Auto.Story || after.Safety.State != schema.SafetyDisabled {
			w.t.Errorf("after the restart: %s", jsonText(after))
		}
		for _, m := range w.observer.since(mark, robotTopic("r1", "state")) {
			s, _ := schema.Decode[schema.State]([]byte(m.Payload))
			if s.Boot != before.Boot && s.Safety.State != schema.SafetyDisabled {
				w.t.Errorf("the new boot was not DISABLED all the time: %s", m)
			}
		}
		// The journal has the earlier request, so it is not executed again.
		ack := w.request("op1", "r1", "mode/set", request)
		if !ack.Dup || ack.Status != schema.StatusSucceeded {
			w.t.Errorf("the same request again: %s", jsonText(ack))
		}
		w.startFleetd()
		w.awaitRobot("r1", "converged", func(r view.Robot) bool { return r.Desired.Converged && r.Presence.Status == "online" })
		w.mustRunCLI("safety", "enable", "r1", "--wait")
	})
}

// A command takes a moment, in which the robot can be killed. Which of many
// commands are cut short is a race, so the test repeats until one was.
func TestCommandCutShortByCrashIsAnsweredAfterRestart(t *testing.T) {
	const tries, commands = 50, 40
	runIn(t, anyBroker, func(w *world) {
		for try := range tries {
			w.runRobotsIn(schema.ModeMnl, "", "r1")
			mark := w.observer.mark()
			sender := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "op1", ClientID: "op1_many"})
			for n := range commands {
				sender.Publish(robotTopic("r1", "cmd/op1/interrupter/run"), fmt.Sprintf(`{"id":"%d-%d","args":{"interrupter":"touch"}}`, try, n))
			}
			w.robots["r1"].kill()
			sender.Close()
			w.awaitPresence("r1", schema.PresenceLost)

			w.runRobotsIn(schema.ModeMnl, "", "r1")
			w.mustRequest("op1", "r1", "sys/ping", "") // answered after all commands of the previous run
			cut := w.countCutShort(mark, "r1")
			w.robots["r1"].terminate()
			if cut > 0 {
				return
			}
		}
		w.t.Errorf("in %d tries every command had ended before the robot was killed", tries)
	})
}

// countCutShort counts the commands that were answered FAILED because the robot
// was restarted, and checks that no command has two different final answers.
func (w *world) countCutShort(mark int, rid string) (cut int) {
	w.t.Helper()
	ends := map[string]schema.Ack{}
	for _, m := range w.observer.since(mark, robotTopic(rid, "ack/op1")) {
		a, problems := schema.Decode[schema.Ack]([]byte(m.Payload))
		if len(problems) > 0 || a.ID == nil || !a.Status.Final() {
			continue
		}
		if before, twice := ends[*a.ID]; twice && (before.Status != a.Status || before.Reason != a.Reason) {
			w.t.Errorf("two final answers to one command: %s and %s", jsonText(before), jsonText(a))
		}
		ends[*a.ID] = a
		if a.Status == schema.StatusFailed && a.Reason == schema.ReasonRestarted {
			cut++
		}
	}
	return cut
}

func TestRestartedBrokerGetsEveryDocumentAgain(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("robot.yaml", "r1", "r2")
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "r1", "r2", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "r2", "--wait")
		story := w.awaitConverged("round", 1, "r1", "r2")
		before := w.awaitPerforming("r1")

		w.killBroker()
		w.awaitRobot("r1", "unknown", func(r view.Robot) bool { return r.Presence.Status == "unknown" })
		w.startBroker()

		mark := w.observer.mark()
		topics := []string{
			schema.DefaultNamespace.Topic(schema.TopicFleetPresence),
			schema.DefaultNamespace.Topic(schema.TopicBlob, story.SHA256),
		}
		for _, rid := range []string{"r1", "r2"} {
			for _, document := range []string{"presence", "state", "modes", "caps", "acts", "reported/story", "desired/story"} {
				topics = append(topics, robotTopic(rid, document))
			}
		}
		for _, topic := range topics {
			// The observer may have reconnected later than the document's publisher.
			w.observer.awaitMessage(w.t, max(0, mark-len(topics)), topic, topic+" to be back", func(m message) bool { return m.Payload != "" })
		}
		w.awaitAdopted("r1", "r2")
		after := awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "r1 to go on", isPerforming)
		if after.Boot != before.Boot || after.Mode.Since != before.Mode.Since {
			w.t.Errorf("r1 did not continue as before: %s, before %s", jsonText(after), jsonText(before))
		}
	})
}

func TestKilledFleetdLearnsTheResultsOfItsCommands(t *testing.T) {
	runIn(t, anyFleetd, func(w *world) {
		w.startFleet("robot.yaml", "r1")
		w.publishStory("tale", "tell", "nod")
		w.mustRunCLI("story", "assign", "tale", "r1", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "--wait")
		w.awaitPerforming("r1")

		// The robot's process is suspended, so that its answer comes when fleetd is
		// not running.
		mark := w.observer.mark()
		w.robots["r1"].signal(syscall.SIGSTOP)
		batch := mustRunJSON[api.Batch](w, "auto", "pause", "r1", "--ttl", "60s")
		w.observer.awaitMessage(w.t, mark, robotTopic("r1", "cmd/fleetd/auto/pause"), "the command to be sent",
			func(message) bool { return true })
		w.fleetd.kill()
		w.robots["r1"].signal(syscall.SIGCONT)
		w.awaitState("r1", "paused", func(s schema.State) bool { return s.Auto.Status == schema.AutoPaused && s.Auto.PauseCount == 1 })
		// Another client's request replaces the answer in the state, too.
		w.mustRequest("op1", "r1", "auto/pause", "visitors")

		w.startFleetd()
		w.awaitRobot("r1", "paused", func(r view.Robot) bool { return r.Presence.Status == "online" && r.Auto == schema.AutoPaused })
		var c api.Command
		w.until("fleetd to know that the command succeeded", func() bool {
			c = mustRunJSON[api.Batch](w, "command", "get", batch.ID).Commands[0]
			return c.State == command.Succeeded
		})
		if c.Answer == nil || c.Answer.Status != schema.StatusSucceeded {
			w.t.Errorf("fleetd has not persisted the answer: %s", jsonText(c))
		}
		// However often it was sent, each command was executed once.
		w.awaitState("r1", "paused by both, once each", func(s schema.State) bool { return s.Auto.PauseCount == 2 })
	})
}
