package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// faultRow is a fault or signal of the simulated robot. Its steps are lines:
//
//	sim NAME FIELDS          an administrator plays it
//	cmd VERB PAYLOAD         op1 sends a command, which succeeds
//	send VERB PAYLOAD        op1 sends a command, and goes on at once
//	reset                    op1 sends safety/reset until the units have settled
//	button                   a person presses the button reset until then
//	begin ID ARGS            op1 asks for the act of ARGS, and goes on at once
//	ends ID STATUS REASON    the act of that id ends so
//	refused REASON VERB PAYLOAD
//	safety STATE, mode ID, auto STATUS, interrupt HANDLER BY, signal NAME
//	calm                     no alert, interrupt, diagnosis or signal is left
//	unit ID STATE WORDS      its state, and what its detail contains
//	alert TYPE SOURCE
//	device ID WHAT           its diagnosis: nothing, or the effect, the heat and the alerts
//	event TYPE WORDS         since the row began, and what its data contains
//	moving                   the drive is at speed
//
// Those without a verb wait until the state of the robot is so. A row without an effect on
// safety leaves the robot ENABLED.
type faultRow struct {
	device, fault string
	effect        []string
	recovery      []string // to ENABLED in mnl, without alerts
}

const (
	smile = `{"actions":[{"type":"face","start_ms":0,"face":"smile","end_ms":1500}]}`
	blue  = `{"actions":[{"type":"led","start_ms":0,"colour":"#20c0ff","end_ms":1500}]}`
	clock = `{"actions":[{"type":"screen","start_ms":0,"view":"clock","end_ms":1500}]}`
	hello = `{"actions":[{"type":"say","start_ms":0,"text":{"en":"Hello"},"timeout_ms":3000}]}`
	look  = `{"actions":[{"type":"head","start_ms":0,"yaw_rad":%s,"timeout_ms":3000}]}`
	tour  = `{"actions":[{"type":"goto","start_ms":0,"point":"%s","timeout_ms":60000}]}`
)

// faultTable lists every device of the simulated robot with every fault, and every signal.
func faultTable() []faultRow {
	left, right, stage, dock := fmt.Sprintf(look, "0.5"), fmt.Sprintf(look, "-0.5"), fmt.Sprintf(tour, "stage"), fmt.Sprintf(tour, "dock")
	table := []faultRow{
		{"drive", "an obstacle in the way that it sees in time: a goto waits, and fails",
			[]string{"cmd control/acquire", "begin o1 " + stage, "moving", `sim obstacle {"on":true,"ahead_m":1}`, "ends o1 FAILED obstructed",
				"safety ENABLED", "unit drive run"},
			[]string{`sim obstacle {"on":false}`, "cmd control/release"}},
		{"drive", "an obstacle nearer than it can brake: it halts by its own means, and the robot with it",
			[]string{"cmd control/acquire", "begin o2 " + dock, "moving", `sim obstacle {"on":true}`, "event safety_changed HALT",
				"ends o2 CANCELLED stopped", "safety E_STOP", "unit drive error an obstacle is in the way", "alert unit_error drive",
				"refused unit_error safety/reset"},
			[]string{`sim obstacle {"on":false}`, "unit drive error", "reset", "safety DISABLED", "cmd safety/enable", "cmd control/release"}},
		{"stop input", "pressed: E_STOP, and only a person at the robot leads out",
			[]string{`sim stop-input {"name":"back","pressed":true}`, "safety E_STOP", "unit drive error a stop input is pressed"},
			[]string{`sim stop-input {"name":"back","pressed":false}`, "unit drive error", "refused local_only safety/reset", "button",
				"safety DISABLED", "cmd safety/enable"}},
		{"battery", "low: a robot in ato goes to charge",
			[]string{`sim battery {"level":0.5}`, "unit battery idle 50 %", `sim dock {"works":false}`, "cmd mode/set ato", "auto idle",
				`sim battery {"level":0.15}`, "interrupt power power", "auto paused", "event alert_raised battery"},
			[]string{`sim dock {"works":true}`, "unit battery idle charging", `sim battery {"level":0.9}`, "calm", "auto idle", "cmd mode/set mnl"}},
		{"all", "motion and speech are slow: an act does not end in time",
			[]string{`sim slow {"pace":0.05}`, "begin s1 " + left, "event act_warning timeout", "ends s1 SUCCEEDED"},
			[]string{`sim slow {"pace":1}`, "begin s2 " + left, "ends s2 SUCCEEDED"}},
		{"modes", "manual mode fails: the mode safe takes its place",
			[]string{`sim mode-fails {"mode":"mnl"}`, "event mode_fallback mnl", "mode safe"},
			[]string{"cmd mode/set mnl", "mode mnl", "safety DISABLED", "cmd safety/enable"}},
		{"modes", "automatic mode fails: manual mode takes its place",
			[]string{"cmd mode/set ato", "auto idle", `sim mode-fails {"mode":"ato"}`, "event mode_fallback ato", "mode mnl", "safety DISABLED"},
			[]string{"cmd safety/enable"}},
		{"touch area", "touched in ato: the robot attends",
			[]string{"cmd mode/set ato", "auto idle", `sim touch {"area":"head","on":true}`, "signal touch", "interrupt attend touch"},
			[]string{`sim touch {"area":"head","on":false}`, "calm", "auto idle", "cmd mode/set mnl"}},
		{"screen", "a person presses a button of it in ato: the robot serves",
			[]string{"cmd mode/set ato", "auto idle", `sim press {"choice":"help"}`, "interrupt service screen"},
			[]string{`sim press {"choice":"done"}`, "event screen_choice done", "calm", "auto idle", "cmd mode/set mnl"}},
		{"light sensor", "it gets dark", []string{`sim dark {"on":true}`, "signal dark"}, []string{`sim dark {"on":false}`, "calm"}},
		{"microphone", "a person wants something for which the robot has no reaction",
			[]string{`sim intent {"name":"sing","confidence":0.9}`, `event intent "name":"sing"`}, []string{"calm"}},
		{"camera", "persons are near", []string{`sim people {"count":2}`, "signal people"}, []string{`sim people {"count":0}`, "calm"}},
		{"microphone", "noise", []string{`sim sound {"on":true,"noise_db":62}`, "signal sound"}, []string{`sim sound {"on":false}`, "calm"}},
	}
	for stop, state := range map[string]string{"soft-stop": "SOFT_STOP", "stop": "STOP", "halt": "HALT", "estop": "E_STOP"} {
		row := faultRow{"drive", "asks for " + stop,
			[]string{fmt.Sprintf(`sim ask-stop {"unit":"drive","stop":%q}`, stop), "event safety_changed " + state},
			[]string{"safety DISABLED", "cmd safety/enable"}}
		if stop == "halt" || stop == "estop" {
			row.recovery = []string{"safety E_STOP", "reset", "safety DISABLED", "cmd safety/enable"}
		}
		table = append(table, row)
	}
	for _, u := range []struct{ unit, act, again string }{{"speaker", hello, hello}, {"face", smile, smile}, {"led", blue, blue},
		{"screen", clock, clock}, {"head", right, left}, {"drive", stage, dock}} {
		table = append(table, faultRow{u.unit, "a command fails",
			[]string{fmt.Sprintf(`sim fail-next {"unit":%q,"reason":"overloaded"}`, u.unit), "begin f-" + u.unit + " " + u.act,
				"ends f-" + u.unit + " FAILED overloaded"},
			[]string{"begin g-" + u.unit + " " + u.again, "ends g-" + u.unit + " SUCCEEDED"}})
	}
	uses := map[string]string{"speaker": `manual/say {"args":{"text":"hello"}}`, "face": `manual/face smile`,
		"led": `manual/led {"args":{"colour":"#20c0ff"}}`, "screen": `manual/view clock`}
	for _, unit := range slices.Sorted(maps.Keys(uses)) {
		table = append(table, faultRow{unit, "broken: taken from acts until it is repaired",
			[]string{"cmd control/acquire", into("break", unit, `"what":"loose wire"`), "device " + unit + " disabled device_disabled",
				"refused device_disabled " + uses[unit]},
			[]string{into("repair", unit, ""), "device " + unit, "cmd control/release"}})
	}
	for _, unit := range []string{"face", "led", "screen"} {
		table = append(table, faultRow{unit, "hangs: taken from acts until a person says that it answers again",
			[]string{"cmd control/acquire", into("hang", unit, `"on":true`), "send " + uses[unit], "device " + unit + " disabled device_disabled"},
			[]string{into("hang", unit, `"on":false`), "device " + unit + " disabled device_disabled", "cmd sys/ack-fault " + unit, "device " + unit,
				"cmd control/release"}})
	}
	for _, u := range []struct{ unit, act, end string }{{"head", right, "SUCCEEDED"}, {"speaker", hello, "SUCCEEDED"},
		{"drive", strings.Replace(stage, "60000", "1000", 1), "FAILED timeout"}} {
		table = append(table, faultRow{u.unit, "hangs: an act cuts off what it does, and fails if it leads somewhere",
			[]string{into("hang", u.unit, `"on":true`), "begin h-" + u.unit + " " + u.act, "ends h-" + u.unit + " " + u.end, "event act_ timeout"},
			[]string{into("hang", u.unit, `"on":false`)}})
	}
	table = append(table, faultRow{"head", "hangs for three actions in a row: an alert until it finishes one",
		[]string{into("hang", "head", `"on":true`), "begin l1 " + left, "ends l1 SUCCEEDED", "begin l2 " + right, "ends l2 SUCCEEDED",
			"begin l3 " + left, "ends l3 SUCCEEDED", "device head none device_late"},
		[]string{into("hang", "head", `"on":false`), "begin l4 " + right, "ends l4 SUCCEEDED"}})
	for _, unit := range []string{"head", "drive"} {
		table = append(table, faultRow{unit, "broken: E_STOP, because it moves",
			[]string{into("break", unit, `"what":"motor"`), "device " + unit + " disabled unit_error", "safety E_STOP",
				"refused unit_error safety/reset"},
			[]string{into("repair", unit, ""), "device " + unit, "reset", "safety DISABLED", "cmd safety/enable"}})
	}
	for signal, safeguard := range map[string]schema.Safeguard{"push": schema.SafeguardPushed, "lift": schema.SafeguardMoved,
		"fall": schema.SafeguardFell} {
		table = append(table, faultRow{"sensors", signal + ": nothing moves meanwhile",
			[]string{"cmd control/acquire", fmt.Sprintf(`sim %s {"on":true}`, signal), fmt.Sprintf("device %s safeguard", safeguard),
				`refused safeguard manual/head {"args":{"yaw_rad":0.2}}`, "cmd manual/face smile"},
			[]string{fmt.Sprintf(`sim %s {"on":false}`, signal), "device " + string(safeguard), `cmd manual/head {"args":{"yaw_rad":0.2}}`,
				"cmd control/release"}})
	}
	return append(table,
		faultRow{"battery", "broken: the robot comes to rest, and nobody may enable it until a person has seen to it",
			[]string{into("break", "battery", `"what":"cell 3 is low"`), "device battery rest device_critical", "safety DISABLED",
				"refused unit_critical safety/enable"},
			[]string{into("repair", "battery", ""), "device battery rest device_critical", "cmd sys/ack-fault battery", "device battery",
				"cmd safety/enable"}},
		faultRow{"battery", "too hot: the robot comes to rest until it has cooled",
			[]string{into("heat", "battery", `"celsius":70`), "device battery rest critical device_critical", "safety DISABLED",
				"refused unit_critical safety/enable"},
			[]string{into("heat", "battery", `"celsius":30`), "device battery", "cmd safety/enable"}},
		faultRow{"speaker", "warm: an alert", []string{into("heat", "speaker", `"celsius":62`), "device speaker none warm device_hot"},
			[]string{into("heat", "speaker", `"celsius":30`)}},
		faultRow{"head", "hot: taken from acts until it has cooled",
			[]string{into("heat", "head", `"celsius":72`), "device head disabled hot device_disabled"},
			[]string{into("heat", "head", `"celsius":30`)}},
		faultRow{"drive", "too hot: taken from acts until it has cooled",
			[]string{into("heat", "drive", `"celsius":82`), "device drive disabled critical device_disabled"},
			[]string{into("heat", "drive", `"celsius":30`)}},
	)
}

// into is the step that plays a fault into a unit.
func into(name, unit, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`sim %s {"unit":%q%s}`, name, unit, more)
}

func TestEachFaultOfEachDeviceHasItsEffectAlertAndRecovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ownBroker)
	w.recorder.Allow(robotTopic("r1", "cmd/#"))
	w.recorder.Allow(robotTopic("r1", "sim/#"))
	w.runRobot("r1", "", "--sim-faults", "--sim-at", "entrance")
	w.awaitActiveStory("r1", w.setDesiredStory("r1", 1, "tale", "tell", "nod"))
	w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
	w.enable("r1")
	played := map[string]bool{}
	for _, row := range faultTable() {
		p := &faultPlayer{world: w, mark: w.observer.mark(), what: row.device + ": " + row.fault, played: played}
		began := time.Now()
		for _, line := range slices.Concat(row.effect, row.recovery, []string{"safety ENABLED", "mode mnl", "calm"}) {
			p.step(line)
		}
		if took := time.Since(began); took > time.Second {
			t.Logf("%v for %s", took.Round(time.Millisecond), p.what)
		}
	}
	for _, in := range schema.SimInputs {
		if !played[in.Name] {
			t.Errorf("no row plays %s", in.Name)
		}
	}
}

type faultPlayer struct {
	*world
	mark   int
	what   string
	played map[string]bool
}

func (p *faultPlayer) step(line string) {
	p.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	name, payload, _ := strings.Cut(rest, " ")
	switch word {
	case "sim":
		p.played[name] = true
		p.simInput("r1", name, payload)
	case "cmd":
		p.mustRequest("op1", "r1", name, payload)
	case "reset":
		p.until(p.what+": "+line, func() bool { return p.request("op1", "r1", "safety/reset", "").Status != schema.StatusRejected })
	case "button":
		p.until(p.what+": "+line, func() bool {
			p.simInput("r1", "press", `{"choice":"reset"}`)
			return slices.ContainsFunc(p.observer.since(p.mark, robotTopic("r1", "event")),
				func(m message) bool { return strings.Contains(m.Payload, `"to":"DISABLED"`) })
		})
	case "send":
		p.publish("op1", robotTopic("r1", "cmd/op1/"+name), payload)
	case "begin":
		p.publish("op1", robotTopic("r1", "cmd/op1/act/perform"), fmt.Sprintf(`{"id":%q,"args":%s}`, name, payload))
	case "ends":
		if a := p.awaitFinalAck(p.mark, "op1", "r1", name); strings.TrimSpace(string(a.Status)+" "+string(a.Reason)) != payload &&
			string(a.Status) != payload {
			p.t.Errorf("%s: %s: %s", p.what, line, jsonText(a))
		}
	case "refused":
		verb, args, _ := strings.Cut(payload, " ")
		if a := p.request("op1", "r1", verb, args); a.Status != schema.StatusRejected || string(a.Reason) != name {
			p.t.Errorf("%s: %s: %s", p.what, line, jsonText(a))
		}
	case "event":
		p.awaitEvent(p.mark, "r1", p.what+": "+line, func(e schema.Event) bool {
			return strings.HasPrefix(e.Type, name) && strings.Contains(e.Source+" "+string(e.Data), payload)
		})
	case "moving":
		awaitDocumentAfter(p.world, p.mark, robotTopic("r1", "telemetry/drive"), p.what+": "+line, func(m schema.Telemetry) bool {
			return strings.Contains(string(m.Data), `"vx_mps":0.5`) || strings.Contains(string(m.Data), `"vx_mps":0.6`)
		})
	default:
		p.awaitState("r1", p.what+": "+line, func(s schema.State) bool { return faultShown(s, word, name, payload) })
	}
}

// faultShown reports whether a state is as a line says.
func faultShown(s schema.State, word, name, rest string) bool {
	switch word {
	case "safety":
		return string(s.Safety.State) == name
	case "mode":
		return string(s.Mode.Active) == name && s.Mode.Phase == schema.PhaseRunning
	case "auto":
		return string(s.Auto.Status) == name
	case "calm":
		return len(s.Alerts)+len(s.Interrupts)+len(s.Diagnosis)+len(s.Signals) == 0
	case "interrupt":
		return slices.ContainsFunc(s.Interrupts, func(i schema.Interrupt) bool { return i.Handler == name && i.Interrupter == rest })
	case "signal":
		return slices.ContainsFunc(s.Signals, func(i schema.SignalState) bool { return i.Signal == name })
	case "alert":
		return slices.ContainsFunc(s.Alerts, func(a schema.Alert) bool { return a.Type == name && a.Source == rest })
	case "device":
		is := []string{}
		for _, d := range s.Diagnosis {
			if d.ID == name {
				is = append(is, strings.Fields(fmt.Sprintf("%s %s", d.Effect, strings.TrimPrefix(string(d.Heat), string(schema.HeatNormal))))...)
			}
		}
		for _, a := range s.Alerts {
			if a.Source == name {
				is = append(is, a.Type)
			}
		}
		return strings.Join(is, " ") == rest
	case "unit":
		u := unitOf(s, name)
		state, words, _ := strings.Cut(rest, " ")
		return u.State == state && (words == "" && (u.Kind == "battery" || state != "error" || u.Detail == "") ||
			words != "" && strings.Contains(u.Detail, words))
	}
	panic("no such step: " + word)
}
