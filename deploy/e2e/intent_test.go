package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
)

const exampleFolder = "../examples/responder"

// performLongTale starts a robot that performs an act of a minute, over and over.
func (w *world) performLongTale() {
	w.t.Helper()
	w.recorder.Allow(robotTopic("r1", "sim/#"))
	w.runRobot("r1", "", "--sim-faults", "--sim-at", "entrance", "--link-loss-ato", "continue")
	w.awaitState("r1", "calibrated", func(s schema.State) bool { return s.Mode.Calibrated })
	w.enable("r1")
	w.performStory("r1", "patient", "tell", "nod", "smile")
}

// setIntents sets what r1 does about intents.
func (w *world) setIntents(rev int, table string) {
	w.t.Helper()
	w.publish("admin", robotTopic("r1", "desired/config"),
		fmt.Sprintf(`{"rev":%d,"fleet_id":%q,"ts":"2026-01-01T00:00:00.000Z","by":"e2e","values":{"intents":%s}}`, rev, manualFleetID, table),
		"-r")
	awaitDocument(w, robotTopic("r1", "reported/config"), "the table", func(c schema.ReportedConfig) bool {
		return c.DesiredRev == int64(rev) && c.Phase == schema.DeployActive && len(c.Rejected) == 0
	})
}

// brokerFlags are the flags of the examples for a broker.
func (w *world) brokerFlags() []string {
	return []string{"--broker", strings.TrimPrefix(w.toolsProxy.url(), "mqtt://")}
}

// TestIntentsAreAnsweredByTableOrResponder posts intents as people do, with a robot's table and
// the example responder answering.
func TestIntentsAreAnsweredByTableOrResponder(t *testing.T) {
	python := mosquittotest.PythonWithPaho(t)
	runIn(t, anyBroker, func(w *world) {
		w.performLongTale()
		w.setIntents(1, `[{"intent":"greet","act":"smile","resulting_emotion":"joy"},{"intent":"perform","mode":"ato"}]`)
		responder := launch(w.t, "responder", python, append([]string{filepath.Join(exampleFolder, "responder.py"), "r1"}, w.brokerFlags()...),
			nil,
			func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "PYTHONDONTWRITEBYTECODE=1") })
		responder.ready()
		said := func(line string) {
			w.t.Helper()
			responder.log.await(w.t, "responder", line, func(l string) bool { return l == line })
		}

		// The table answers: the poster gets the answer of the act, and the responder nothing to do.
		mark := w.observer.mark()
		w.mustRequest("op1", "r1", "intent/post", `{"args":{"name":"greet","text":"Hello"}}`)
		e := w.awaitEvent(mark, "r1", "the intent", func(e schema.Event) bool { return e.Type == "intent" && e.Cause == "greet" })
		if e.Source != "op1" || strings.Contains(string(e.Data), "Hello") {
			w.t.Errorf("the event is %s: it names the client, and not what the person said", jsonText(e))
		}
		w.awaitState("r1", "joyful", func(s schema.State) bool {
			return s.Intent != nil && s.Intent.Emotion == "joy" && s.Intent.Newest.Name == "greet" && s.Intent.Newest.Reaction.Act == "smile"
		})

		// The responder answers what the table has no row for, in an interrupt of the story.
		mark = w.observer.mark()
		if a := w.request("op1", "r1", "intent/post", `{"args":{"name":"sing"}}`); a.Status != schema.StatusSucceeded ||
			a.Reason != schema.ReasonUnknownIntent {
			w.t.Errorf("the answer to an unknown intent is %s", jsonText(a))
		}
		w.awaitEvent(mark, "r1", "ai asks for the act", func(e schema.Event) bool { return e.Type == "interrupt_started" && e.Source == "ai" })
		said("sing: SUCCEEDED")
		w.awaitState("r1", "performing the story again", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoPerforming &&
				slices.ContainsFunc(s.Queue.CompletedActs, func(a schema.QueuedAct) bool { return strings.HasPrefix(a.ReqID, "resp1/") })
		})

		// The body hears, too: what it is not sure of is published, and the responder asks again.
		mark = w.observer.mark()
		w.simInput("r1", "intent", `{"name":"perform","confidence":0.2}`)
		w.awaitEvent(mark, "r1", "a doubtful intent", func(e schema.Event) bool {
			return e.Type == "intent_ignored" && e.Source == "body" && strings.Contains(string(e.Data), string(schema.ReasonLowConfidence))
		})
		said("perform: SUCCEEDED")

		// The fleet's table applies at once. A refusal reaches the client that posted the intent.
		w.setIntents(2, `[{"intent":"greet","act":"unheard"}]`)
		if a := w.request("op1", "r1", "intent/post", "greet"); a.Status != schema.StatusRejected || a.Reason != schema.ReasonUnknownID {
			w.t.Errorf("the answer to an intent for an act that the robot lacks is %s", jsonText(a))
		}

		// fleetd posts intents for programs and people; each of them is a command.
		w.startFleetd()
		w.awaitAdopted("r1")
		if out := w.mustRunCLI("intent", "post", "r1", "--name", "sing", "--text", "Sing!", "--slots", "song=Ode", "--confidence", "0.9",
			"--wait"); !strings.Contains(out, "SUCCEEDED") {
			w.t.Errorf("fleetd intent post: %s", out)
		}
		said("sing: SUCCEEDED")
	})
}

// TestEnamourExamples runs the counterparts of the examples of ENAMOUR's API.
func TestEnamourExamples(t *testing.T) {
	python := mosquittotest.PythonWithPaho(t)
	runIn(t, []variant{ownBroker}, func(w *world) {
		client := filepath.Join(exampleFolder, "enamour.py")
		w.recorder.Allow(robotTopic("r1", "cmd/resp1/intent/post")) // one of them has no name
		w.performLongTale()
		w.setIntents(1, runProgram(w.t, "", python, "-B", client))
		out := runProgram(w.t, "", python, append([]string{"-B", client, "r1"}, w.brokerFlags()...)...)
		if n := strings.Count(out, "\nok ") + 1; n < 27 {
			w.t.Errorf("only %d examples were performed:\n%s", n, out)
		}
	})
}
