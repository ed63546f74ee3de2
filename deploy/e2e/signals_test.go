package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/schema"
)

// TestSignalsAskForHandlers plays signals into the bodies of a robot in ato, until each
// interrupter has asked.
func TestSignalsAskForHandlers(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		asked := make(chan string, 10)
		desk := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked <- string(body)
			io.WriteString(out, `{"actions":[{"type":"say","start_ms":0,"text":{"en":"Somebody is coming."},"timeout_ms":9000}]}`)
		}))
		defer desk.Close()
		w.recorder.Allow(robotTopic("r1", "sim/#"))
		w.runRobot("r1", "", "--sim-faults", "--sim-at", "stage", "--link-loss-ato", "continue", "--interrupts-handlers", fmt.Sprintf(`[{"handler":"desk","http":{"url":%q}}]`, desk.URL))
		w.awaitState("r1", "calibrated", func(s schema.State) bool { return s.Mode.Calibrated })
		w.enable("r1")
		w.performStory("r1", "tale", "tell", "nod")
		finished := func(mark int, handler string) {
			w.t.Helper()
			w.awaitEvent(mark, "r1", "the end of "+handler, func(e schema.Event) bool {
				return e.Type == "interrupt_finished" && strings.Contains(string(e.Data), `"handler":"`+handler+`","outcome":"finished"`)
			})
		}
		started := func(mark int, handler, interrupter string) {
			w.t.Helper()
			w.awaitEvent(mark, "r1", interrupter+" asks for "+handler, func(e schema.Event) bool {
				return e.Type == "interrupt_started" && e.Source == interrupter && e.Cause == handler
			})
		}

		mark := w.observer.mark()
		w.simInput("r1", "touch", `{"area":"head","on":true}`)
		w.awaitState("r1", "touched", func(s schema.State) bool {
			return len(s.Signals) == 1 && s.Signals[0].Signal == "touch" && s.Signals[0].Name == "head"
		})
		started(mark, "attend", "touch")
		finished(mark, "attend")
		w.simInput("r1", "touch", `{"area":"head","on":false}`)

		// The fleet's rules are in force at once.
		w.publish("admin", robotTopic("r1", "desired/config"), `{"rev":1,"fleet_id":"`+manualFleetID+`","ts":"2026-01-01T00:00:00.000Z","by":"e2e","values":{"interrupts.rules":[`+
			`{"rule":"pressed","on":"press","interrupter":"screen","handler":"service"},{"rule":"help","on":"choice","name":"help","when":"people > 0","interrupter":"ai","handler":"desk"}]}}`, "-r")
		awaitDocument(w, robotTopic("r1", "reported/config"), "the rules", func(c schema.ReportedConfig) bool { return c.Applied["interrupts.rules"] != nil })
		w.simInput("r1", "people", `{"count":2}`)
		w.awaitState("r1", "sees people", func(s schema.State) bool { return len(s.Signals) == 1 && s.Signals[0].Level == 2 })
		mark = w.observer.mark()
		w.simInput("r1", "press", `{"choice":"hello"}`)
		started(mark, "service", "screen")
		w.awaitEvent(mark, "r1", "the question", func(e schema.Event) bool {
			return e.Type == "act_started" && strings.Contains(string(e.Data), "service")
		})
		w.simInput("r1", "press", `{"choice":"help"}`)
		finished(mark, "service")
		started(mark, "desk", "ai")
		if question := <-asked; !strings.Contains(question, `"handler":"desk"`) || !strings.Contains(question, `"interrupter":"ai"`) {
			w.t.Errorf("the call says %s", question)
		}
		finished(mark, "desk")

		// Refusals are counted: a stopped interrupter asks in vain.
		w.mustRequest("op1", "r1", "interrupter/stop", "screen")
		mark = w.observer.mark()
		w.simInput("r1", "press", `{"choice":"hello"}`)
		w.awaitEvent(mark, "r1", "the refusal", func(e schema.Event) bool {
			return e.Type == "interrupt_refused" && e.Source == "screen" && e.Cause == string(schema.ReasonInterrupterStopped) && strings.Contains(string(e.Data), `"count":1`)
		})

		mark = w.observer.mark()
		w.simInput("r1", "battery", `{"level":0.1}`)
		started(mark, "power", "power")
		w.awaitState("r1", "paused for power", func(s schema.State) bool { return s.Auto.Status == schema.AutoPaused && len(s.Interrupts) == 1 })
	})
}
