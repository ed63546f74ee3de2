package e2e

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
)

// awaitDevice waits until the diagnosis of a unit is as want describes: nothing, or its
// effect, its heat and the type of its alert.
func (w *world) awaitDevice(unit, want string) schema.State {
	w.t.Helper()
	return w.awaitState("r1", unit+" "+want, func(s schema.State) bool {
		is := ""
		for _, d := range s.Diagnosis {
			if d.ID == unit {
				is = strings.TrimSpace(fmt.Sprintf("%s %s", d.Effect, strings.TrimPrefix(string(d.Heat), string(schema.HeatNormal))))
			}
		}
		for _, a := range s.Alerts {
			if a.Source == unit {
				is += " " + a.Type
			}
		}
		return strings.Join(strings.Fields(is), " ") == want
	})
}

// TestEachFaultOfEachUnitHasItsEffectAlertAndRecovery plays every fault that a unit of the
// simulated body can have. The faults of one kind are played into all units at once.
func TestEachFaultOfEachUnitHasItsEffectAlertAndRecovery(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		for _, topics := range []string{"cmd/#", "sim/#"} {
			w.recorder.Allow(robotTopic("r1", topics))
		}
		w.runRobot("r1", "", "--sim-faults")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		w.mustRequest("op1", "r1", "control/acquire", `{"args":{"ttl_ms":60000}}`)
		refused := func(verb, payload string, why schema.Reason, says string) {
			w.t.Helper()
			if a := w.request("op1", "r1", verb, payload); a.Status != schema.StatusRejected || a.Reason != why || !strings.Contains(a.Detail, says) {
				w.t.Errorf("%s %s: answer %s, want %s", verb, payload, jsonText(a), why)
			}
		}
		safetyIs := func(want schema.SafetyState) {
			w.t.Helper()
			w.awaitState("r1", string(want), func(s schema.State) bool { return s.Safety.State == want })
		}
		input := func(name, unit, more string) { w.simInput("r1", name, fmt.Sprintf(`{"unit":%q%s}`, unit, more)) }

		uses := map[string]string{ // a command that needs no permission to move
			"speaker": `manual/say {"args":{"text":"hello"}}`, "face": `manual/face smile`, "led": `manual/led {"args":{"colour":"#20c0ff"}}`,
		}
		// row is a fault of a unit: what begins and ends it, and what follows from it.
		type row struct {
			unit       string
			begin, end string // NAME MORE of an input
			want       string
			recovers   string // after its end; then a person acknowledges
		}
		for _, rows := range [][]row{
			{
				{"speaker", `break ,"what":"loose wire"`, "repair ", "disabled device_disabled", ""},
				{"face", `break ,"what":"loose wire"`, "repair ", "disabled device_disabled", ""},
				{"led", `break ,"what":"loose wire"`, "repair ", "disabled device_disabled", ""},
				{"screen", `break ,"what":"loose wire"`, "repair ", "disabled device_disabled", ""},
				{"battery", `break ,"what":"cell 3 is low"`, "repair ", "rest device_critical", "rest device_critical"},
			},
			{
				{"speaker", `heat ,"celsius":62`, `heat ,"celsius":30`, "none warm device_hot", ""},
				{"head", `heat ,"celsius":72`, `heat ,"celsius":30`, "disabled hot device_disabled", ""},
				{"drive", `heat ,"celsius":82`, `heat ,"celsius":30`, "disabled critical device_disabled", ""},
				{"battery", `heat ,"celsius":70`, `heat ,"celsius":30`, "rest critical device_critical", ""},
			},
			{ // a unit shows that it answers again when it is used again, so a person has to say so
				{"face", `hang ,"on":true`, `hang ,"on":false`, "disabled device_disabled", "disabled device_disabled"},
				{"led", `hang ,"on":true`, `hang ,"on":false`, "disabled device_disabled", "disabled device_disabled"},
			},
		} {
			w.enable("r1")
			play := func(r row, what string) {
				name, more, _ := strings.Cut(what, " ")
				input(name, r.unit, more)
			}
			for _, r := range rows {
				play(r, r.begin)
				if verb, payload, takes := strings.Cut(uses[r.unit], " "); takes && strings.HasPrefix(r.begin, "hang") {
					w.publish("op1", robotTopic("r1", "cmd/op1/"+verb), payload)
				}
			}
			for _, r := range rows {
				w.awaitDevice(r.unit, r.want)
				if verb, payload, takes := strings.Cut(uses[r.unit], " "); takes && strings.HasPrefix(r.want, "disabled") {
					refused(verb, payload, schema.ReasonDeviceDisabled, "switched off")
				}
				if strings.HasPrefix(r.want, "rest") {
					safetyIs(schema.SafetyDisabled)
					refused("safety/enable", "", schema.ReasonWakeForbidden, "unit "+r.unit)
				}
			}
			for _, r := range rows {
				play(r, r.end)
			}
			for _, r := range rows {
				w.awaitDevice(r.unit, r.recovers)
				if r.recovers != "" {
					w.mustRequest("op1", "r1", "sys/ack-fault", r.unit)
					w.awaitDevice(r.unit, "")
				}
			}
		}

		// A unit that moves stops the robot by its own fault.
		for _, u := range []string{"head", "drive"} {
			w.enable("r1")
			input("break", u, `,"what":"motor"`)
			w.awaitDevice(u, "disabled unit_error")
			safetyIs(schema.SafetyEStop)
			input("repair", u, "")
			w.awaitDevice(u, "")
			w.until("the reset", func() bool { return w.request("op1", "r1", "safety/reset", "").Status != schema.StatusRejected })
			safetyIs(schema.SafetyDisabled)
		}

		// A robot that is pushed, lifted or falls waits, and stays ENABLED.
		w.enable("r1")
		for signal, safeguard := range map[string]schema.Safeguard{"push": schema.SafeguardPushed, "lift": schema.SafeguardMoved, "fall": schema.SafeguardFell} {
			w.simInput("r1", signal, `{"on":true}`)
			w.awaitDevice(string(safeguard), "safeguard")
			refused("manual/head", `{"args":{"yaw_rad":0.2}}`, schema.ReasonSafeguard, "")
			w.mustRequest("op1", "r1", "manual/face", "smile")
			w.simInput("r1", signal, `{"on":false}`)
			w.awaitDevice(string(safeguard), "")
		}
		w.mustRequest("op1", "r1", "manual/head", `{"args":{"yaw_rad":0.2}}`)
		safetyIs(schema.SafetyEnabled)
	})
}
