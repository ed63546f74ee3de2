package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// These tests lead the state machines of a robot (mode, safety, interrupts) through transitions that only faults, played
// into its simulated body, bring about.

// faultyRobot starts r1, which takes faults, and waits until it is in mnl.
func (w *world) faultyRobot(configuration string) {
	w.t.Helper()
	w.recorder.Allow(robotTopic("r1", "sim/#"))
	w.runRobot("r1", configuration, "--sim-faults", "--sim-at", "entrance")
	w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
}

func (w *world) awaitMode(mode schema.ModeID) schema.State {
	w.t.Helper()
	return w.awaitState("r1", "in "+string(mode), func(s schema.State) bool {
		return s.Mode.Active == mode && (s.Mode.Phase == schema.PhaseRunning || mode == schema.ModeSafe)
	})
}

func TestModeThatFailsIsReplaced(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.faultyRobot("")
		w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "round", "nod", "smile"))

		// ato does not start: mnl takes its place.
		mark := w.observer.mark()
		w.simInput("r1", "mode-fails", `{"mode":"ato"}`)
		w.awaitEvent(mark, "r1", "the fault", func(e schema.Event) bool { return e.Type == "sim_input" })
		ack := w.request("op1", "r1", "mode/set", "ato")
		if !ack.Status.Final() {
			ack = w.awaitFinalAck(mark, "op1", "r1", *ack.ID)
		}
		if ack.Status != schema.StatusFailed || ack.Reason != schema.ReasonModeFailed {
			w.t.Errorf("answer %s", jsonText(ack))
		}
		w.awaitEvent(mark, "r1", "the fall-back", func(e schema.Event) bool {
			return e.Type == "mode_fallback" && strings.Contains(string(e.Data), `"from":"ato"`)
		})
		w.awaitMode(schema.ModeMnl)
		w.mustRequest("op1", "r1", "mode/set", "ato") // it failed once

		// ato fails while it runs, and mnl, which takes its place, too: safe.
		w.simInput("r1", "mode-fails", `{"mode":"mnl"}`)
		w.simInput("r1", "mode-fails", `{"mode":"ato"}`)
		w.awaitMode(schema.ModeSafe)
		w.mustRequest("op1", "r1", "mode/set", "mnl")

		// With safe failing as well no mode is in charge, and the robot stops.
		w.mustRequest("op1", "r1", "safety/enable", "")
		mark = w.observer.mark()
		w.simInput("r1", "mode-fails", `{"mode":"safe"}`)
		w.simInput("r1", "mode-fails", `{"mode":"mnl"}`)
		w.awaitEvent(mark, "r1", "the stop", func(e schema.Event) bool {
			return e.Type == "safety_changed" && strings.Contains(string(e.Data), `"from":"ENABLED","to":"STOP"`)
		})
		w.awaitState("r1", "DISABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyDisabled })
		w.request("op1", "r1", "mode/set", "mnl")
		w.awaitMode(schema.ModeMnl)
		for _, m := range w.observer.since(mark, robotTopic("r1", "event")) {
			if strings.Contains(m.Payload, `"to":"ENABLED"`) && !strings.Contains(m.Payload, `"req_id"`) {
				w.t.Errorf("it enabled itself: %s", m)
			}
		}
	})
}

func TestStoryIsPausedUntilTheLastInterruptEnds(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.faultyRobot("")
		w.performStory("r1", "tale", "tell", "nod")
		interrupts := func(what string, handlers ...string) schema.State {
			w.t.Helper()
			return w.awaitState("r1", what, func(s schema.State) bool {
				var run []string
				for _, i := range s.Interrupts {
					run = append(run, i.Handler)
				}
				paused := schema.AutoPaused
				if len(handlers) == 0 {
					paused = schema.AutoPerforming
				}
				return slices.Equal(run, handlers) && s.Auto.PauseCount == len(handlers) && s.Auto.Status == paused
			})
		}
		// Two interrupters ask for one handler.
		w.mustRequest("op1", "r1", "interrupt/request", `{"args":{"handler":"service"}}`)
		if a := w.request("op1", "r1", "interrupt/request", `{"args":{"handler":"service","interrupter":"ai"}}`); a.Status != schema.StatusRejected || a.Reason != schema.ReasonAlreadyRunning {
			w.t.Errorf("the second request was answered %s", jsonText(a))
		}
		service := interrupts("paused by service", "service").Interrupts[0].ID

		// A second handler: the end of one leaves the story paused.
		w.simInput("r1", "battery", `{"level":0.15}`)
		interrupts("paused by both", "service", "power")
		w.mustRequest("op1", "r1", "interrupt/cancel", service)
		interrupts("paused by power", "power")
		w.simInput("r1", "battery", `{"level":0.9}`)
		interrupts("performing")

		// A handler that fails leaves nothing behind.
		mark := w.observer.mark()
		w.simInput("r1", "fail-next", `{"unit":"face","reason":"unit_error"}`)
		w.mustRequest("op1", "r1", "interrupt/request", "service")
		w.awaitEvent(mark, "r1", "the failure", func(e schema.Event) bool {
			return e.Type == "interrupt_finished" && strings.Contains(string(e.Data), `"outcome":"failed"`)
		})
		interrupts("performing after the failure")

		// Leaving ato ends the handlers.
		w.mustRequest("op1", "r1", "interrupt/request", "service")
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		w.awaitState("r1", "halted without interrupts", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoNotActive && s.Auto.PauseCount == 0 && len(s.Interrupts) == 0
		})
	})
}

func TestEStopWinsInEverySafetyState(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.faultyRobot("")
		w.mustRequest("op2", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)
		state := func(want schema.SafetyState) {
			w.t.Helper()
			w.awaitState("r1", string(want), func(s schema.State) bool { return s.Safety.State == want })
		}
		// send does not wait for the answer, nor reset for the final one. Neither is op1's: request takes the first answer.
		send := func(verb string) { w.publish("op2", robotTopic("r1", "cmd/op2/safety/"+verb), "") }
		reset := func() { // which is refused for a second after the stop
			w.t.Helper()
			w.until("a reset to be granted", func() bool { return w.request("op3", "r1", "safety/reset", "").Status != schema.StatusRejected })
		}
		// drive has the robot turn with brakes that take long.
		drive := func() {
			w.t.Helper()
			w.mustRequest("op2", "r1", "safety/enable", "")
			mark := w.observer.mark()
			w.publish("op2", robotTopic("r1", "cmd/op2/act/perform"), `{"args":{"actions":[{"type":"drive","start_ms":0,"end_ms":10000,"wz_radps":1.5}]}}`)
			w.awaitEvent(mark, "r1", "the act to begin", func(e schema.Event) bool { return e.Type == "act_started" })
			w.until("the robot to turn", func() bool { return w.turns(mark, "r1") > 1.4 })
			w.simInput("r1", "slow", `{"pace":0.01}`)
		}
		for _, c := range []struct {
			from schema.SafetyState
			lead func()
		}{
			{schema.SafetyDisabled, func() {}},
			{schema.SafetyEnabled, func() { w.mustRequest("op2", "r1", "safety/enable", "") }},
			{schema.SafetySoftStop, func() {
				w.mustRequest("op2", "r1", "safety/enable", "")
				w.mustRequest("op2", "r1", "manual/head", `{"args":{"yaw_rad":0.5}}`)
				w.simInput("r1", "hang", `{"unit":"head","on":true}`)
				send("soft-stop")
			}},
			{schema.SafetyStop, func() { drive(); send("stop") }},
			{schema.SafetyHalt, func() { drive(); send("halt") }},
			{schema.SafetyEStop, func() { send("estop") }},
			{schema.SafetyReset, func() { drive(); send("estop"); state(schema.SafetyEStop); reset() }},
		} {
			c.lead()
			state(c.from)
			mark := w.observer.mark()
			if a := w.request("op1", "r1", "safety/estop", ""); a.Status != schema.StatusSucceeded {
				w.t.Errorf("in %s: answer %s", c.from, jsonText(a))
			}
			state(schema.SafetyEStop)
			if c.from != schema.SafetyEStop {
				w.awaitEvent(mark, "r1", "E_STOP after "+string(c.from), func(e schema.Event) bool {
					return e.Type == "safety_changed" && strings.Contains(string(e.Data), fmt.Sprintf(`"from":%q,"to":"E_STOP"`, c.from))
				})
			}
			if c.from == schema.SafetyReset {
				continue
			}
			w.simInput("r1", "hang", `{"unit":"head","on":false}`)
			w.simInput("r1", "slow", `{"pace":1}`)
			reset()
			state(schema.SafetyDisabled)
		}

		// A reset that the units do not follow in time ends in E_STOP.
		mark := w.observer.mark()
		reset()
		w.awaitEvent(mark, "r1", "the end of the reset", func(e schema.Event) bool {
			return e.Type == "safety_changed" && strings.Contains(string(e.Data), `"from":"RESET","to":"E_STOP"`) && strings.Contains(string(e.Data), string(schema.ReasonTimeout))
		})
	})
}

// turns is the newest turning speed that the robot has published since a mark, in rad/s.
func (w *world) turns(mark int, rid string) float64 {
	var at struct {
		WZ float64 `json:"wz_radps"`
	}
	for _, m := range w.observer.since(mark, robotTopic(rid, "telemetry/drive")) {
		if figures, problems := schema.Decode[schema.Telemetry]([]byte(m.Payload)); len(problems) == 0 {
			_ = json.Unmarshal(figures.Data, &at)
		}
	}
	return at.WZ
}

// TestActsKeepTheirTime performs acts whose length shows the order of their actions.
func TestActsKeepTheirTime(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		for _, c := range []struct {
			what, actions string
			defers        bool
			least, most   int64 // ms
		}{
			{
				what:    "parallel actions advance their clock once",
				actions: `{"type":"wait","start_ms":0,"end_ms":1000},{"type":"wait","start_ms":0,"end_ms":1000},{"type":"led","start_ms":0,"end_ms":1000,"colour":"#20c0ff"}`,
				least:   1000, most: 1800,
			},
			{
				what:    "a group beside others does not delay them",
				actions: `{"type":"group","method":"multiple","start_ms":0,"actions":[{"type":"wait","start_ms":0,"end_ms":2000}]},{"type":"wait","start_ms":500,"end_ms":2000}`,
				least:   2000, most: 2800,
			},
			{
				what:    "an exclusive group waits until it is alone",
				actions: `{"type":"wait","start_ms":0,"end_ms":1000},{"type":"group","method":"exclusive","start_ms":500,"actions":[{"type":"wait","start_ms":0,"end_ms":1000}]}`,
				defers:  true, least: 2000, most: 2800,
			},
		} {
			mark := w.observer.mark()
			w.mustRequest("op1", "r1", "act/perform", fmt.Sprintf(`{"args":{"actions":[%s],"defer":%t}}`, c.actions, c.defers))
			e := w.awaitEvent(mark, "r1", "the end of the act", func(e schema.Event) bool { return e.Type == "act_ended" })
			var ended struct {
				Outcome string `json:"outcome"`
				MS      int64  `json:"ms"`
			}
			if err := json.Unmarshal(e.Data, &ended); err != nil || ended.Outcome != "completed" || ended.MS < c.least || ended.MS > c.most {
				w.t.Errorf("%s: %s, want %d to %d ms", c.what, e.Data, c.least, c.most)
			}
		}
		overlap := `{"args":{"actions":[{"type":"head","start_ms":0,"end_ms":2000,"yaw_rad":0.3},{"type":"head","start_ms":1000,"end_ms":3000,"yaw_rad":-0.3}]}}`
		if a := w.request("op1", "r1", "act/perform", overlap); a.Status != schema.StatusRejected || a.Pointer != "/args/actions/1/start_ms" {
			w.t.Errorf("overlapping actions: answer %s", jsonText(a))
		}
	})
}
