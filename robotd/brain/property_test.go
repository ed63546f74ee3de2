package brain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/mode/follow"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
	"troupe/schema/verb"
)

// world draws what happens to a robot.
type world struct {
	*rapid.T
	r *rig
	a *auditor
	n int

	rev     int64 // of the newest desired state
	stopRev int64 // about that of the newest document of stops
}

func newWorld(t *rapid.T) *world {
	r := newRig(t)
	a := &auditor{r: r, finals: map[command.Key]schema.Status{}, asked: map[command.Key]bool{}, unsaved: map[command.Key]bool{},
		fleeting: map[command.Key]bool{}, enables: map[command.Key]bool{}, writes: map[command.Key]int64{},
		verbs: map[command.Key]string{}, answered: map[command.Key]effect.Publish{}}
	r.watch, r.sent = a.see, a.published
	r.cfg.Mode.Boot = rapid.SampledFrom([]schema.ModeID{schema.ModeMnl, schema.ModeAto}).Draw(t, "boot mode")
	r.cfg.Mode.Modes = append(r.cfg.Mode.Modes, follow.Mode.Settings, askerMode.Settings)
	if err := r.cfg.Set("intents", jsontext.Value(`[{"intent":"welcome","act":"greet","resulting_emotion":"joy"},{"intent":"welcome","emotion":"joy","act":"x"},{"intent":"go","act":"walk","clear":true},
		{"intent":"help","interrupt":"service"},{"intent":"manual","mode":"mnl"},{"intent":"dance","activity":"greeting"}]`)); err != nil {
		t.Fatal(err)
	}
	if err := r.cfg.Set("interrupts.handlers", jsontext.Value(`[{"handler":"ask","http":{"url":"http://desk/"}},{"handler":"party","activity":"greeting","when":"people > 0"},
		{"handler":"hello","act":"greet","idle":"5s"},{"handler":"alarm","actions":[{"type":"face","start_ms":0,"face":"sad"}],"priority":30,"preempt":true}]`)); err != nil {
		t.Fatal(err)
	}
	r.accepts = rapid.SampledFrom([]int64{0, schema.RestHeartbeatMS}).Draw(t, "intervals that fleetd accepts")
	r.boot()
	r.give(event.Connected{Session: "first"})
	w := &world{T: t, r: r, a: a}
	if rapid.Bool().Draw(t, "on tour already") {
		w.tour()
	}
	return w
}

// tour brings the robot to where most can go wrong: it moves, and an operator
// watches.
func (w *world) tour() {
	r := w.r
	pin := stories["tour"]
	w.rev = 1
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: w.rev, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	set := sets["company"]
	activities := schema.DesiredSet{Rev: w.rev, Counter: w.rev, FleetID: "fleetd", Set: &set, TS: epoch}
	r.give(event.DesiredSet{Kind: sign.Activities, Document: activities, Digest: digestOf(r.t, activities)})
	r.beats = true
	r.beat(0)
	r.until(200 * time.Millisecond)
	w.command("mode/set", `"mode":"ato"`)
	w.command("safety/enable", "")
	r.until(1400 * time.Millisecond)
}

// command sends one and checks what holds for it at once.
func (w *world) command(what, args string) {
	if w.r.s.report.Session() == "" || w.r.over {
		return // commands come over a session of a robot that runs
	}
	w.n++
	id := fmt.Sprintf("c%d", w.n)
	group, name, _ := strings.Cut(what, "/")
	header, only := w.header()
	payload := fmt.Sprintf(`{"id":%q,%s"args":{%s}}`, id, header, args)
	key := command.KeyOf("op1", id)
	w.a.asked[key] = true
	w.a.verbs[key] = what
	v, _ := verb.Of(group, name)
	w.a.fleeting[key] = v.Journal == verb.JournalNever
	before := w.a.look()
	for range 10 { // what is due happens before: it is not the command's doing
		if w.r.give(event.Follow{}); w.a.look() == before {
			break
		}
		before = w.a.look()
	}
	if what == "safety/enable" {
		w.a.enables[key] = true
	}
	mode, failed := w.r.s.modes.Mode().Active, w.r.failed
	w.r.give(event.Command{Client: "op1", Group: group, Verb: name, Payload: []byte(payload)})
	if v.Class == verb.ClassStop {
		if group == "safety" && w.r.s.safety.At == schema.SafetyEnabled {
			w.Fatalf("%s left the robot ENABLED", what)
		}
		clear(w.a.enables)
		return
	}
	// The record is on its way to the disk; nothing else happens meanwhile.
	for i, c := range w.r.coming {
		if saved, ok := c.ev.(event.RequestsSaved); ok && slices.Contains(saved.Keys, key) {
			w.r.coming = slices.Delete(w.r.coming, i, i+1)
			w.r.give(saved)
			break
		}
	}
	if s := w.a.finals[key]; only != "" && only != mode && s == schema.StatusSucceeded {
		w.Fatalf("%s was to be done in %s only and was done in %s", what, only, mode)
	}
	if w.a.finals[key] == schema.StatusRejected && w.a.look() != before && w.r.failed == failed {
		w.Fatalf("%s %s was refused and yet changed something:\n%+v\n%+v", what, args, before, w.a.look())
	}
}

// header draws what a command says of its order and of the mode in which alone it
// is to be done.
func (w *world) header() (text string, only schema.ModeID) {
	switch rapid.IntRange(0, 5).Draw(w.T, "header") {
	case 0:
		only = rapid.SampledFrom([]schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto}).Draw(w.T, "only in")
		return fmt.Sprintf(`"if":{"mode":%q},`, only), only
	case 1:
		return fmt.Sprintf(`"session":"a","seq":%d,`, rapid.IntRange(1, 9).Draw(w.T, "seq")), ""
	case 2:
		return fmt.Sprintf(`"if":{"state_seq":%d},`, max(1, w.r.s.report.StateSeq()-int64(rapid.IntRange(0, 2).Draw(w.T, "states ago")))), ""
	}
	return "", ""
}

func (w *world) reported(ev driver.Event) { w.r.give(event.Reported{Event: ev}) }

// actions are what can happen; each is drawn again and again.
func (w *world) actions() map[string]func(*rapid.T) {
	ask := func(list ...string) func(*rapid.T) {
		return func(t *rapid.T) {
			what, args, _ := strings.Cut(rapid.SampledFrom(list).Draw(t, "verb"), " ")
			w.command(what, args)
		}
	}
	return map[string]func(*rapid.T){
		"time": func(t *rapid.T) {
			d := rapid.SampledFrom([]time.Duration{10 * time.Millisecond, 150 * time.Millisecond, time.Second, 7 * time.Second, 40 * time.Second}).
				Draw(t, "passes")
			w.r.until(w.r.now + d)
			w.a.showsModes()
		},
		"withheld": func(*rapid.T) {
			if w.r.give(event.MotionWithheld{}); w.r.s.safety.At == schema.SafetyEnabled {
				w.Fatalf("the robot is ENABLED although its motion was withheld")
			}
		},
		"stop":   ask("safety/stop", "safety/soft-stop", "safety/halt", "safety/estop"),
		"enable": ask("safety/enable", "safety/enable", "safety/reset"),
		"mode": ask(`mode/set "mode":"ato"`, `mode/set "mode":"mnl"`, `mode/set "mode":"str"`, `mode/set "mode":"safe"`, `mode/set "mode":"x"`, `mode/set "mode":"follow"`, `mode/set "mode":"asker"`,
			`mode/param "mode":"follow","name":"turn","value":0.2`, `mode/param "mode":"follow","name":"turn"`, `mode/param "mode":"follow","name":"turn","value":9`,
			"mode/pause", "mode/resume", "mode/kill", `mode/disable "mode":"ato"`, `mode/enable "mode":"ato"`,
			`controller/unload "mode":"ato"`, `controller/load "mode":"ato"`),
		"auto": ask("auto/start", "auto/stop", "auto/skip", `auto/skip "act":"greet"`, "auto/pause", "auto/pause", "auto/continue", "auto/continue"),
		"interrupt": ask(`interrupt/request "handler":"service"`, `interrupt/request "handler":"power","interrupter":"power"`, `interrupt/cancel "id":"service-1"`,
			`interrupt/request "handler":"ask"`, `interrupt/request "handler":"party"`, `interrupt/request "handler":"hello"`, `interrupt/request "handler":"alarm"`,
			`interrupter/stop "interrupter":"screen"`, `interrupter/run "interrupter":"screen"`),
		"intent": ask(`intent/post "name":"welcome"`, `intent/post "name":"welcome","emotion":"calm"`, `intent/post "name":"go"`, `intent/post "name":"help"`,
			`intent/post "name":"manual"`, `intent/post "name":"dance"`, `intent/post "name":"sing"`, `intent/post "name":"manual","confidence":0.1`, `intent/post "name":"a b"`),
		"focus": ask(`life/focus "activity":"talk","flags":"stop_and_stack_current"`, `life/focus "activity":"greet-all","flags":"stop_and_stack_current"`,
			`life/focus "activity":"look","flags":"stop_and_stack_current"`, `life/focus "activity":"talk"`, `life/focus "activity":"look"`, "life/stop-focus"),
		"life": ask(`life/focus "activity":"dream"`, `life/focus "activity":"fail"`, `life/focus "activity":"x"`, "life/stop-all",
			`life/set "state":"solitary"`, `life/set "state":"disabled"`, `life/set "state":"interactive"`, `life/launchpad "on":true`, `life/launchpad "on":false`,
			`life/plugin "name":"people","enabled":false`, `life/plugin "name":"intent","enabled":true`, `life/safeguard "name":"pushed","enabled":false`, `life/safeguard "name":"x"`),
		"activities": func(t *rapid.T) {
			w.rev++
			desired := schema.DesiredSet{Rev: w.rev, Counter: w.rev, FleetID: "fleetd", TS: epoch}
			if name := rapid.SampledFrom([]string{"company", "company", "visitors", "none"}).Draw(t, "set"); name != "none" {
				pin := sets[name]
				desired.Set = &pin
			}
			w.r.give(event.DesiredSet{Kind: sign.Activities, Document: desired, Digest: digestOf(w.r.t, desired)})
		},
		"hears": func(t *rapid.T) {
			w.reported(driver.Event{Kind: driver.Heard,
				Heard: &schema.Utterance{Name: rapid.SampledFrom([]string{"welcome", "go", "help", "manual", "dance", "sing", ""}).Draw(t, "intent")}})
		},
		"touch": func(t *rapid.T) {
			w.reported(driver.Event{Kind: driver.Sensed, Signal: driver.Touch, Name: rapid.SampledFrom([]string{"left", "right", "front", "fast",
				"nowhere", "slow", "soft-stop", "stop", "halt", "estop"}).Draw(t, "place"), On: rapid.Bool().Draw(t, "on")})
		},
		"answered": func(t *rapid.T) {
			if n := len(w.r.called); n > 0 {
				w.r.give(event.Called{ID: w.r.called[n-1].ID, Body: []byte(rapid.SampledFrom([]string{"", "{}", `{"act":"greet"}`, `{"act":"x"}`, "[]",
					`{"actions":[{"type":"group","start_ms":0,"actions":[{"type":"head","start_ms":0,"timeout_ms":3000,"yaw_rad":0.5},{"type":"goto","start_ms":0,"timeout_ms":5000,"point":"entrance"}]}]}`}).Draw(t, "body")),
					Reason: rapid.SampledFrom([]schema.Reason{"", "", "", schema.ReasonTimeout}).Draw(t, "reason")})
			}
		},
		"moves": func(t *rapid.T) {
			w.reported(driver.Event{Kind: driver.Position, X: rapid.Float64Range(-5, 5).Draw(t, "x"),
				Y: rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1)}).Draw(t, "y")})
		},
		"senses": func(t *rapid.T) {
			signal := rapid.SampledFrom([]driver.Signal{driver.People, driver.Sound, driver.Push, driver.Lift, driver.Fall, driver.Heat,
				driver.Press, "nonsense"}).Draw(t, "signal")
			w.reported(driver.Event{Kind: driver.Sensed, Signal: signal, Name: rapid.SampledFrom([]string{"", "head", "help"}).Draw(t, "name"),
				On: rapid.Bool().Draw(t, "on"), Level: float64(rapid.IntRange(0, 3).Draw(t, "level"))})
		},
		"mode fails": func(t *rapid.T) {
			m := rapid.SampledFrom(modes).Draw(t, "mode").ID
			do := rapid.SampledFrom([]mode.Do{mode.DoStart, mode.DoStop, mode.DoKill, mode.DoPause, mode.DoResume, mode.DoReady, mode.DoMayPause,
				mode.DoStep, mode.DoStep}).Draw(t, "call")
			w.r.faults = map[string]string{string(do) + " of " + string(m): "failed"}
			w.r.s.report.ModesChanged() // as the change of a fact does that an entry check depends on
			w.a.history = append(w.a.history, auditedStep{})
			w.reported(driver.Event{Kind: driver.Sensed, Signal: "nonsense"})
		},
		"control": ask("control/acquire", `control/acquire "scope":"all","ttl_ms":2000`, `control/acquire "scope":"some"`, "control/takeover",
			"control/renew", `control/renew "ttl_ms":60001`, "control/release", `control/release "lease":"x"`),
		"frame": func(t *rapid.T) {
			s := w.r.s
			if s.report.Session() == "" {
				return
			}
			f := schema.VelocityFrame{
				Lease: s.manual.Control().Lease.ID, Seq: rapid.Int64Range(1, 50).Draw(t, "seq"), TTLMS: 400,
				VXMPS: rapid.SampledFrom([]float64{0, 0.4, -0.4, 1}).Draw(t, "vx"), SeenMonoMS: (w.r.now - w.r.old).Milliseconds() - rapid.Int64Range(0,
					700).Draw(t, "age"),
			}
			w.r.give(event.Frame{Client: s.manual.Control().Lease.Who.Client, Frame: f})
		},
		"manually": ask("manual/goto \"point\":\"dock\"", `manual/goto "x_m":1,"y_m":2`, `manual/say "text":"hello"`, `manual/face "face":"smile"`, `manual/head "yaw_rad":0.5`,
			`manual/sound "sound":"chime"`, `manual/volume "volume":0.5`, `manual/volume "volume":2`, `manual/led "colour":"#00ff00"`, `manual/act "act":"greet"`, `act/perform "act":"x"`,
			`manual/view "view":"map"`, `manual/head-motion "motion":"nod"`, `manual/point-save "point":"window"`, `manual/goto "point":"window"`, `manual/point-delete "point":"window"`,
			`manual/act-record "do":"start","act":"unknown"`, `manual/act-record "do":"stop"`, `manual/act "act":"unknown"`, `manual/act-delete "act":"unknown"`),
		"hand off": ask("manual/stop"),
		"rival": func(t *rapid.T) {
			if w.r.s.report.Session() != "" {
				name := rapid.SampledFrom([]string{"acquire", "takeover", "takeover", "release"}).Draw(t, "verb")
				w.r.give(event.Command{Client: "op2", Group: "control", Verb: name})
			}
		},
		"late": func(t *rapid.T) { // the loop stood still
			w.r.give(event.Tick{Late: time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond})
		},
		"garbage": func(t *rapid.T) {
			v := rapid.SampledFrom(verb.All).Draw(t, "verb")
			if w.r.s.report.Session() == "" {
				return
			}
			least := 0
			if v.Name == "enable" {
				least = 1 // an empty payload is a request in order, without an id by which its answer is known
			}
			w.r.give(event.Command{Client: "op2", Group: v.Group, Verb: v.Name, Payload: rapid.SliceOfN(rapid.Byte(), least, 20).Draw(t, "bytes"),
				Retained: rapid.Bool().Draw(t, "retained")})
			if v.Class == verb.ClassStop && v.Group == "safety" && w.r.s.safety.At == schema.SafetyEnabled {
				t.Fatalf("%s left the robot ENABLED", v.ID())
			}
			if v.Class == verb.ClassStop {
				clear(w.a.enables)
			} else if v.Name == "enable" {
				w.a.enables["op2"] = true
			}
		},
		"desired": func(t *rapid.T) {
			w.rev++
			desired := schema.DesiredStory{Rev: w.rev, FleetID: "fleetd",
				Apply: rapid.SampledFrom([]schema.Apply{schema.ApplyNow, schema.ApplyNextAct, schema.ApplyNextStart}).Draw(t, "apply"), TS: epoch}
			if name := rapid.SampledFrom([]string{"talk", "tour", "once", "holes", "empty", "none"}).Draw(t, "story"); name != "none" {
				pin := stories[name]
				desired.Story = &pin
			}
			w.r.give(event.DesiredStory{Document: desired})
		},
		"link": func(t *rapid.T) {
			if rapid.Bool().Draw(t, "up") {
				w.r.give(event.Connected{Session: fmt.Sprint("s", w.r.now)})
			} else {
				w.r.give(event.Disconnected{})
				maps.DeleteFunc(w.a.asked, func(k command.Key, _ bool) bool { return w.a.fleeting[k] }) // its sender asks again
			}
		},
		"unknown": func(t *rapid.T) { // somebody else's word stands where the robot's should
			if w.r.s.report.Session() != "" {
				w.r.give(event.PresenceSeen{Presence: schema.Presence{State: rapid.SampledFrom([]schema.PresenceState{schema.PresenceOnline,
					schema.PresenceLost}).Draw(t, "says"), Session: "sx", Boot: "boot-x"}})
			}
		},
		"fleetd": func(t *rapid.T) {
			on := rapid.Bool().Draw(t, "heard")
			if on && !w.r.beats {
				w.r.coming = slices.DeleteFunc(w.r.coming, func(c coming) bool { _, beat := c.ev.(event.Heartbeat); return beat })
				w.r.beat(0)
			}
			w.r.beats = on
		},
		"body": func(t *rapid.T) {
			switch rapid.IntRange(0, 8).Draw(t, "what") {
			case 8: // a unit asks for a stop, later than whatever was asked before
				w.r.until(w.r.now + time.Millisecond)
				w.reported(driver.Event{Kind: driver.Asks, Unit: "drive", Name: rapid.SampledFrom([]string{"soft-stop", "stop", "halt", "estop", "?"}).
					Draw(t, "stop"), Detail: "it slips"})
				if w.r.s.safety.At == schema.SafetyEnabled {
					t.Fatal("a unit asked for a stop, and the robot is ENABLED")
				}
				clear(w.a.enables)
			case 0:
				w.reported(driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: "help", On: true})
			case 1:
				w.reported(driver.Event{Kind: driver.Battery, Unit: "battery", Level: rapid.Float64Range(0, 1).Draw(t, "level"),
					Charging: rapid.Bool().Draw(t, "charging")})
			case 2:
				w.reported(driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: "red", On: rapid.Bool().Draw(t, "pressed")})
			case 3:
				u := rapid.SampledFrom([]string{"head", "drive", "face", "battery"}).Draw(t, "unit")
				w.r.body.fault[u] = "broken"
				w.r.body.set(u, driver.Error, 0)
			case 4:
				for u := range w.r.body.fault {
					delete(w.r.body.fault, u)
					w.r.body.set(u, w.r.body.state[u], 0)
				}
			case 5:
				w.reported(driver.Event{Kind: driver.Sensed, Signal: driver.Heat, Name: rapid.SampledFrom([]string{"head", "drive", "battery"}).Draw(t,
					"hot unit"), Level: rapid.SampledFrom([]float64{20, 62, 72, 90}).Draw(t, "celsius")})
			case 6:
				w.reported(driver.Event{Kind: driver.Sensed, Signal: rapid.SampledFrom([]driver.Signal{driver.Push, driver.Lift, driver.Fall}).Draw(t,
					"signal"), On: rapid.Bool().Draw(t, "on")})
			case 7:
				w.r.body.mute = rapid.Bool().Draw(t, "mute")
			}
		},
		"held": func(t *rapid.T) {
			ids := []string{"a", "b", "wall1"}
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				if w.r.s.report.Session() == "" {
					return
				}
				w.r.give(event.LiveStop{Client: "wall1", Payload: []byte(rapid.SampledFrom([]string{"", "{{{", `{"id":"a"}`, `{"id":"b","robots":["r1"],"level":"halt"}`}).Draw(t, "says")), Retained: rapid.Bool().Draw(t, "retained")})
				if w.r.s.safety.At == schema.SafetyEnabled || len(w.r.s.latches.Latches()) == 0 {
					t.Fatalf("a live stop left the robot %s with %d latches", w.r.s.safety.At, len(w.r.s.latches.Latches()))
				}
				clear(w.a.enables)
			default:
				w.stopRev += int64(rapid.IntRange(-1, 2).Draw(t, "rev"))
				doc := event.StopDocument{From: rapid.SampledFrom([]event.StopSource{event.RobotStops, event.FleetStops}).Draw(t, "from"),
					Rev: max(1, w.stopRev), FleetID: rapid.SampledFrom([]string{"fleetd", "fleetd", "other"}).Draw(t, "fleet_id")}
				for _, id := range ids {
					if rapid.IntRange(0, 2).Draw(t, id) == 0 {
						doc.Stops = append(doc.Stops, schema.StopLatch{ID: id, Level: schema.StopStop})
					}
				}
				w.r.give(doc)
				if w.r.s.safety.At == schema.SafetyEnabled && len(w.r.s.latches.Latches()) > 0 {
					t.Fatal("ENABLED while a stop is held")
				}
			}
		},
		"sys": func(t *rapid.T) {
			ask(fmt.Sprintf(`sys/cancel "id":"c%d"`, w.n-rapid.IntRange(0, 2).Draw(t, "commands ago")), fmt.Sprintf(`sys/query "id":"c%d"`, w.n),
				"sys/resync", `sys/ack-fault "source":"battery"`, `sys/ack-fault "source":"face"`, `sys/replay "from":1`, `sys/replay "from":3,"to":5`)(t)
		},
		"disk": func(t *rapid.T) {
			w.r.diskFull = rapid.Bool().Draw(t, "full")
			w.r.diskDead = w.r.diskFull && rapid.Bool().Draw(t, "dead")
			w.r.diskStuck = rapid.IntRange(0, 3).Draw(t, "stuck") == 0
		},
		"slow disk": func(t *rapid.T) {
			if w.r.diskHangs = rapid.Bool().Draw(t, "hangs"); !w.r.diskHangs {
				w.r.answer()
			}
		},
		"restart": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
				return
			}
			w.restart()
			want := schema.SafetyDisabled
			if strings.Contains(string(w.r.memory.Latches), `"safety"`) {
				want = schema.SafetyEStop
			}
			if w.r.s.safety.At != want {
				t.Fatalf("a robot that restarts is %s, want %s", w.r.s.safety.At, want)
			}
		},
	}
}

// restart starts the robot again.
func (w *world) restart() {
	w.a.stateSeq, w.a.eventSeq = 0, 0
	clear(w.a.enables)
	clear(w.a.asked) // what did not reach the disk was never taken; what did is published or kept below
	for _, rec := range w.r.memory.Requests {
		if !rec.Delivered && !rec.IDUnreadable {
			w.a.asked[rec.Key()] = true
		}
	}
	w.a.history = nil
	w.r.boot()
}

// TestInvariantsHoldAfterRandomEvents lets anything happen to a robot, with an auditor beside it.
func TestInvariantsHoldAfterRandomEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(w.actions())
		w.end()
	})
}

// TestInvariantsHoldForRandomAutonomousLife is the same with a robot that lives in ato, and mostly with
// what life depends on.
func TestInvariantsHoldForRandomAutonomousLife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.tour()
		all, some := w.actions(), map[string]func(*rapid.T){}
		for _, name := range []string{"time", "life", "activities", "senses", "touch", "interrupt", "auto", "intent", "body", "enable", "stop",
			"held", "link", "restart"} {
			some[name] = all[name]
		}
		some["focus"], some["focus again"], some["time again"] = all["focus"], all["focus"], all["time"]
		some["back"] = func(t *rapid.T) {
			w.r.beats = true
			for _, c := range []string{"safety/reset", "safety/enable", `mode/set "mode":"ato"`, "auto/start", "auto/continue", "life/set \"state\":\"solitary\""} {
				what, args, _ := strings.Cut(c, " ")
				w.command(what, args)
				w.r.until(w.r.now + 300*time.Millisecond)
			}
		}
		t.Repeat(some)
		w.end()
	})
}

// end checks that everything that was asked is answered in the end, once, and that nothing is
// left of what was performed.
func (w *world) end() {
	t := w.T
	w.r.diskFull, w.r.diskDead, w.r.diskStuck = false, false, false
	w.r.answer()
	if w.r.over { // its service manager starts it again, and the disk has what it did not answer
		w.restart()
	}
	w.r.give(event.Connected{Session: "last"})
	w.command("safety/estop", "") // a requested act waits as long as ato is paused
	w.r.until(w.r.now + 40*time.Second)
	w.r.give(event.Connected{Session: "very last"})
	for k := range w.a.asked {
		t.Errorf("%s was never answered", k)
	}
	if _, run, _ := w.r.s.life.Focused(); run != "" {
		t.Errorf("%s still has the focus", run)
	}
	if n := w.r.s.requests.Open(); n > 0 {
		t.Errorf("%d commands are unfinished", n)
	}
}

// TestGateRefusesUnitsThatMayNotMove asks for motion past the executor, which never does.
func TestGateRefusesUnitsThatMayNotMove(t *testing.T) {
	r := newRig(t)
	r.boot()
	turn := step{State: r.s, now: r.wall()}
	for at, open := range map[schema.SafetyState]bool{
		schema.SafetyEnabled: true, schema.SafetyDisabled: false, schema.SafetySoftStop: false, schema.SafetyStop: false,
		schema.SafetyHalt: false, schema.SafetyEStop: false, schema.SafetyReset: false,
	} {
		for _, unit := range []string{"head", "drive"} {
			r.s.safety.At, turn.out = at, nil
			turn.toUnit(&act.Effect{Kind: act.Start, Key: 1, Unit: unit, Do: &score.Action{Do: score.Head{}}})
			if got := len(turn.out) > 0; got != open {
				t.Errorf("in %s the %s is started: %v, want %v", at, unit, got, open)
			}
		}
	}
}

// TestSameEventsGiveTheSameEffects plays a whole life a second time.
func TestSameEventsGiveTheSameEffects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		// A robot beside it, from the same memory, that does nothing to the world.
		actions := w.actions()
		delete(actions, "restart")
		t.Repeat(actions)
		cfg := w.r.cfg
		found := w.r.found
		twin, _ := New(&cfg, "boot-1", w.r.body.about(), Memory{Boots: 1}, mode.NewRunner(modes, func(c mode.Call) mode.Refusal {
			c.Run()
			fault := found[0]
			found = found[1:]
			return fault
		}), clock.Now{Wall: epoch})
		for i, st := range w.a.history {
			if st.ev == nil {
				twin.report.ModesChanged()
				continue
			}
			if got := said(Step(twin, st.now, st.ev, nil)); got != st.said {
				t.Fatalf("step %d, %T: the second time the robot does otherwise\n%s", i, st.ev, firstDifference(got, st.said))
			}
		}
	})
}
