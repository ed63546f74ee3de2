package e2e

import (
	"slices"
	"testing"

	"troupe/broker/brokertest"
	"troupe/schema"
)

// retainedCommands returns the topics of retained commands and live stops.
func (w *world) retainedCommands() (topics []string) {
	w.t.Helper()
	c := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "admin", ClientID: "admin_kept"})
	defer c.Close()
	root := schema.DefaultNamespace.Root()
	c.Subscribe(root+"robots/+/cmd/#", root+"fleet/cmd/+/stop")
	c.Ping()
	for _, m := range c.Inbox(root + "#") {
		if m.Retain {
			topics = append(topics, m.Topic)
		}
	}
	return topics
}

func TestRetainedStopIsLatchedUntilItsRelease(t *testing.T) {
	runIn(t, []variant{mosquitto, nats}, func(w *world) {
		stopTopic := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "op1")
		w.recorder.Allow(stopTopic)
		w.startFleet("", "r1")
		mark := w.observer.mark()
		w.publish("op1", stopTopic, "stop!", "-r")
		w.awaitLatches("r1", "op1")
		w.awaitPersistedStops("op1")
		awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicNotice, "op1"), "the notice to op1", func(n schema.Notice) bool {
			return n.Reason == schema.ReasonRetainedCommand && n.Topic == stopTopic
		})
		w.until("the retained message to be removed", func() bool { return len(w.retainedCommands()) == 0 })
		w.awaitLatches("r1", "op1")

		w.mustRunCLI("stop", "release", "op1", "--why", "the stage is clear")
		w.awaitLatches("r1")
		w.robots["r1"].kill()
		w.fleetd.kill()
		w.startFleet("", "r1")
		w.enable("r1")
		w.awaitPersistedStops()

		// A stop that is sent while fleetd is not running is recorded when fleetd is
		// back, and then treated like any other.
		buttonTopic := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.fleetd.kill()
		w.recorder.Allow(buttonTopic)
		w.publish("stop1", buttonTopic, "stop!", "-r")
		w.awaitLatches("r1", "stop1")
		w.startFleetd()
		w.awaitPersistedStops("stop1")
		w.until("the retained message to be removed", func() bool { return len(w.retainedCommands()) == 0 })
		w.mustRunCLI("stop", "release", "stop1", "--why", "the stage is clear")
		w.awaitLatches("r1")
		w.awaitPersistedStops()
	})
}

func TestRetainedCommandIsRemovedAndNotExecuted(t *testing.T) {
	runIn(t, []variant{mosquitto, nats}, func(w *world) {
		w.startFleet("", "r1")
		topic := robotTopic("r1", "cmd/op1/safety/enable")
		w.recorder.Allow(topic)
		// With the retain flag it is executed once: a connected robot does not see the flag.
		mark := w.observer.mark()
		w.publish("op1", topic, `{"id":"once"}`, "-r")
		w.awaitFinalAck(mark, "op1", "r1", "once")

		// After a restart the robot refuses it, and fleetd removes it.
		w.robots["r1"].kill()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicNotice, "op1"), "the notice to op1", func(n schema.Notice) bool {
			return n.Reason == schema.ReasonRetainedCommand && n.Topic == topic
		})
		w.until("the retained message to be removed", func() bool { return len(w.retainedCommands()) == 0 })
		s := w.awaitState("r1", "without an alert about it", func(s schema.State) bool {
			return !slices.ContainsFunc(s.Alerts, func(a schema.Alert) bool { return a.Type == string(schema.ReasonRetainedCommand) })
		})
		if s.Safety.State != schema.SafetyDisabled {
			w.t.Errorf("r1 is %s", s.Safety.State)
		}
		for _, m := range w.observer.since(mark, robotTopic("r1", "ack/op1")) {
			a, _ := schema.Decode[schema.Ack]([]byte(m.Payload))
			if a.Status == schema.StatusSucceeded && *a.ID != "once" {
				w.t.Errorf("the removal was executed as a command: %s", jsonText(a))
			}
		}
	})
}
