package e2e

import (
	"os/exec"
	"strings"
	"testing"

	"troupe/schema"
)

// mosquitto_sub --will-topic leaves a will without a payload.
func TestLostStopButtonStopsItsRobotByLastWill(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		sub, err := exec.LookPath("mosquitto_sub")
		if err != nil {
			w.t.Fatalf("%v: run deploy/setup/debian.sh", err)
		}
		w.startFleet("", "r1")
		w.enable("r1")
		host, port, _ := strings.Cut(strings.TrimPrefix(w.toolsProxy.url(), "mqtt://"), ":")
		mark := w.observer.mark()
		button := launch(w.t, "the button", sub, []string{
			"-h", host, "-p", port, "-V", "mqttv311", "-u", "op1", "-i", "op1_button", "-q", "1", "-t", robotTopic("r1", "ack/op1"),
			"--will-topic", robotTopic("r1", "cmd/op1/safety/stop"), "--will-qos", "1",
		}, nil)
		// The button is connected once it receives answers to op1.
		w.until("the button to be connected", func() bool {
			w.request("op1", "r1", "sys/ping", "")
			return button.log.contains("sys/ping")
		})
		w.awaitState("r1", "still ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
		button.kill()
		awaitDocumentAfter(w, mark, robotTopic("r1", "ack/op1"), "r1 to answer the stop", func(a schema.Ack) bool {
			return a.Verb == "safety/stop" && a.Status == schema.StatusSucceeded
		})
		w.awaitState("r1", "stopped", func(s schema.State) bool { return s.Safety.State != schema.SafetyEnabled })
	})
}
