package manual

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/robotd/taught"
	"troupe/schema"
	"troupe/schema/verb"
)

// fakeBody is a body whose units the test breaks.
type fakeBody struct {
	units  []schema.Unit
	broken map[string]string
	volume verb.Number
}

func (b *fakeBody) Units() []schema.Unit { return b.units }
func (b *fakeBody) First(k schema.UnitKind) (schema.Unit, bool) {
	return schema.FindUnit(b.units, k, "")
}
func (b *fakeBody) Broken(id string) string { return b.broken[id] }
func (b *fakeBody) Capabilities(l []string) schema.Caps {
	return schema.Caps{Units: b.units, Languages: l}
}
func (b *fakeBody) Position() (taught.Point, bool) { return taught.Point{}, false }
func (b *fakeBody) HasPoint(string) bool           { return false }
func (b *fakeBody) Elsewhere(string) string        { return "" }
func (b *fakeBody) Volume() verb.Number            { return b.volume }
func (b *fakeBody) SetVolume(v verb.Number)        { b.volume = v }
func (w *world) fixVolume() {
	w.body.units[slices.IndexFunc(w.body.units, func(u schema.Unit) bool { return u.Kind == schema.UnitSpeaker })].FixedVolume = true
}
func (b *fakeBody) remove(id string) {
	b.units = slices.DeleteFunc(slices.Clone(b.units), func(u schema.Unit) bool { return u.ID == id })
}
func number(v float64) verb.Number            { return verb.Number{Value: v, Given: true} }
func head(unit string, yaw float64) verb.Args { return verb.Head{YawRad: number(yaw), Unit: unit} }
func say() verb.Args                          { return verb.Say{Text: "hello"} }

// world is a robot in which op1 has control, without faults.
type world struct {
	t     *testing.T
	state State
	facts Facts
	body  *fakeBody
	lanes act.Lanes
	out   effect.List
	now   time.Duration
	n     int

	replies map[string]effect.Reply // the newest of each command
	busy    map[string]uint64       // command of each unit
	moves   []effect.Move
	health  health
}

// health is what the diagnosis says: one unit that nobody may use, and why nothing may move.
type health struct {
	unit   string
	motion schema.Reason
}

// inAto are the modes of a robot that is in ato.
type inAto struct{}

func (inAto) NotManual() string { return "the robot is in ato; mode/set mnl starts mnl" }

func (h *health) MotionBarred() schema.Reason { return h.motion }
func (h *health) MotionDetail() string        { return "somebody pushes the robot; it moves again later" }

func (h *health) Unusable(unit string) string {
	if unit == h.unit && unit != "" {
		return "it is hot; the unit is used again when it has cooled"
	}
	return ""
}

func newWorld(t *testing.T) *world {
	cfg := config.Defaults("r1")
	reach := &schema.Range{Min: -1, Max: 1}
	w := &world{t: t, state: New(&cfg, "boot", nil), replies: map[string]effect.Reply{}, busy: map[string]uint64{},
		body: &fakeBody{broken: map[string]string{}, units: []schema.Unit{
			{ID: "head", Kind: schema.UnitHead, YawRad: reach}, {ID: "head-2", Kind: schema.UnitHead, YawRad: reach},
			{ID: "speaker", Kind: schema.UnitSpeaker}, {ID: "drive", Kind: schema.UnitDrive, MaxSpeedMPS: 1},
		}}}
	w.lanes.Executor = act.New(act.Config{Units: w.body.units, Lanes: Lanes(w.body.units), Limits: act.Defaults()})
	w.lanes.Gate(act.Gate{})
	w.facts = Facts{Safety: schema.SafetyEnabled, Manual: true, Modes: inAto{}, Reachable: true, Session: "s1", Body: w.body,
		Health: &w.health}
	w.control("op1", "acquire", verb.Acquire{TTLMS: 60_000})
	return w
}

func (w *world) part() Step {
	return Step{State: &w.state, Facts: w.facts, Now: clock.Now{Mono: w.now}, Lanes: &w.lanes, Out: &w.out}
}

// order is a command of a client.
func (w *world) order(client, group, name string, args verb.Args) effect.Dispatch {
	w.n++
	id := fmt.Sprintf("k%d", w.n)
	return effect.Dispatch{Key: command.KeyOf(client, id), Client: client, ID: id, Verb: verb.Must(group, name), Args: args}
}

func (w *world) control(client, name string, args verb.Args) {
	w.part().AskControl(w.order(client, "control", name, args))
	for w.state.Pending() {
		w.part().StepControl()
	}
}

// ask lets op1 order something, and returns the newest answer to it.
func (w *world) ask(name string, args verb.Args) effect.Reply {
	o := w.order("op1", "manual", name, args)
	w.part().Ask(o, "Anna")
	w.tick()
	return w.replies[string(o.Key)]
}

// tick lets 20 ms pass, as brain does.
func (w *world) tick() {
	w.now += 20 * time.Millisecond
	p := w.part()
	p.UpdateSetPoint()
	for p.CarryOut(); w.state.Pending(); p.CarryOut() {
	}
	w.lanes.Tick(w.now)
	w.settle()
}

func (w *world) settle() {
	for len(w.lanes.Effects) > 0 {
		o := w.lanes.Effects[0]
		w.lanes.Effects = w.lanes.Effects[1:]
		switch o.Kind {
		case act.Start:
			w.busy[o.Unit] = o.Key
		case act.Stop:
			delete(w.busy, o.Unit)
		case act.Ended:
			w.part().Ended(&o)
		}
	}
	for i := range w.out.Len() {
		switch e := w.out.At(i).(type) {
		case effect.Reply:
			w.replies[string(e.To)] = e
		case effect.Move:
			w.moves = append(w.moves, e)
		}
	}
	w.out.Cut(0)
}

func TestManualVerbIsRefusedWithItsReason(t *testing.T) {
	takeover := func(w *world) { w.control("op2", "takeover", verb.TakeOver{}) }
	for _, c := range []struct {
		name   string
		change func(*world)
		verb   string
		args   verb.Args
		want   schema.Reason // empty = it is accepted
		at     string
	}{
		{"no fault", nil, "head", head("", 0.5), "", ""},
		{"outside mnl", func(w *world) { w.facts.Manual = false }, "say", say(), schema.ReasonNotInMnl, ""},
		{"without control", takeover, "say", say(), schema.ReasonNotInControl, ""},
		{"a motion while disabled", func(w *world) { w.facts.Safety = schema.SafetyDisabled }, "head", head("", 0.5), schema.ReasonSafetyDisabled,
			""},
		{"speech while disabled", func(w *world) { w.facts.Safety = schema.SafetyDisabled }, "say", say(), "", ""},
		{"speech in a stop", func(w *world) { w.facts.Safety = schema.SafetyStop }, "say", say(), schema.ReasonStopped, ""},
		{"speech in E_STOP", func(w *world) { w.facts.Safety = schema.SafetyEStop }, "say", say(), schema.ReasonNeedsReset, ""},
		{"a motion while nobody is reachable", func(w *world) { w.facts.Reachable = false }, "head", head("", 0.5), schema.ReasonLinkLost, ""},
		{"speech while nobody is reachable", func(w *world) { w.facts.Reachable = false }, "say", say(), "", ""},
		{"the unit is broken", func(w *world) { w.body.broken["head-2"] = "stuck" }, "head", head("head-2", 0.5), schema.ReasonUnitError, ""},
		{"the unit is switched off", func(w *world) { w.health = health{unit: "head-2"} }, "head", head("head-2", 0.5),
			schema.ReasonDeviceDisabled, ""},
		{"a motion while a safeguard holds", func(w *world) { w.health = health{motion: schema.ReasonSafeguard} }, "head", head("", 0.5),
			schema.ReasonSafeguard, ""},
		{"speech while a safeguard holds", func(w *world) { w.health = health{motion: schema.ReasonSafeguard} }, "say", say(), "", ""},
		{"another unit of the kind is broken", func(w *world) { w.body.broken["head-2"] = "stuck" }, "head", head("", 0.5), "", ""},
		{"no such unit", nil, "head", head("head-3", 0.5), schema.ReasonBadRequest, "/args/unit"},
		{"no unit of the kind", func(w *world) { w.body.remove("speaker") }, "say", say(), schema.ReasonUnknownVerb, ""},
		{"beyond the unit", nil, "head", head("head-2", 1.5), schema.ReasonOutOfRange, "/args/yaw_rad"},
		{"an axis that the head has not", nil, "head", verb.Head{PitchRad: number(0.1)}, schema.ReasonOutOfRange, "/args/pitch_rad"},
		{"a volume that cannot be changed", (*world).fixVolume, "volume", verb.SetVolume{Volume: number(0.5)}, schema.ReasonOutOfRange, ""},
		{"speech at a volume that cannot be changed", (*world).fixVolume, "say", say(), "", ""},
		{"louder than can be", nil, "volume", verb.SetVolume{Volume: number(2)}, schema.ReasonOutOfRange, "/args/volume"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.change != nil {
				c.change(w)
			}
			r := w.ask(c.verb, c.args)
			if r.Reason != c.want || r.Pointer != c.at || (r.Status == schema.StatusRejected) != (c.want != "") {
				t.Errorf("answered %+v, want %q at %q", r.Verdict, c.want, c.at)
			}
		})
	}
}

func TestRefusalNamesTheUnitAndTheWayOut(t *testing.T) {
	rests := func(at schema.SafetyState, latches ...safety.Latch) func(*world) {
		return func(w *world) {
			w.facts.Safety, w.facts.Standstill = at, safety.Standstill{At: at, Latches: latches}
		}
	}
	for want, change := range map[string]func(*world){
		"the robot is in ato; mode/set mnl starts mnl": func(w *world) { w.facts.Manual = false },

		"the head-2 may not move: the safety core is DISABLED; safety/enable": rests(
			schema.SafetyDisabled),
		"the head-2 may not move: a stop is latched; release the latched stop s-1 at fleetd, then safety/enable": rests(
			schema.SafetyDisabled, safety.Latch{ID: "s-1"}),
		"the head-2 may not move: no heartbeat of fleetd or of a panel reaches the robot; connect fleetd, or open the " +
			"robot's own page": func(w *world) { w.facts.Reachable = false },
		"the head-2 may not move: somebody pushes the robot; it moves again later": func(w *world) {
			w.health = health{motion: schema.ReasonSafeguard}
		},
		"the head-2 cannot be used: it is hot; the unit is used again when it has cooled": func(w *world) {
			w.health = health{unit: "head-2"}
		},
		"the head-2 is out of order: stuck; check what caused it, then send safety/reset and safety/enable": func(w *world) {
			w.body.broken["head-2"] = "stuck"
		},
	} {
		w := newWorld(t)
		change(w)
		if r := w.ask("head", head("head-2", 0.5)); r.Detail != want {
			t.Errorf("got  %q\nwant %q", r.Detail, want)
		}
	}
}

// Control alone would not help: the same command would be refused for the mode.
func TestManualCommandOutsideMnlWithoutControlNamesBothSteps(t *testing.T) {
	const both = "the robot is in ato; mode/set mnl starts mnl; then acquire control with control/acquire"
	free := func(w *world) { w.control("op1", "release", verb.Release{}) }
	all := func(w *world) { free(w); w.state.cfg.Control.Required = control.RequireAll }
	others := func(w *world) { w.control("op2", "takeover", verb.TakeOver{}) }
	for _, c := range []struct {
		name   string
		change func(*world)
		mnl    bool
		verb   string
		args   verb.Args
		want   string
	}{
		{"outside mnl", free, false, "say", say(), both},
		{"in mnl", free, true, "say", say(), "no client has control; acquire it with control/acquire"},
		{"what works in every mode", free, false, "point-delete", verb.DeletePoint{Point: "dock"},
			"no client has control; acquire it with control/acquire"},
		{"where the mode needs control too", all, false, "say", say(), "no client has control; acquire it with control/acquire"},
		{"while another client has control", others, false, "say", say(),
			"op2 has control of this robot; wait until it is free, or take it with control/takeover"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.change(w)
			w.facts.Manual = c.mnl
			reason := schema.ReasonNotInControl
			if c.want == both {
				reason = schema.ReasonNotInMnl
			}
			if r := w.ask(c.verb, c.args); r.Reason != reason || r.Detail != c.want {
				t.Errorf("answered %+v, want %q", r.Verdict, c.want)
			}
		})
	}
}

// What would be refused now does not go on either.
func TestManualMotionEndsWhenItMayNotGoOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*world)
		head   schema.Reason // the motion ends with it; empty = it goes on
		speech schema.Reason
	}{
		{"nothing happens", func(*world) {}, "", ""},
		{"a stop", func(w *world) { w.facts.Safety = schema.SafetyStop }, schema.ReasonStopped, schema.ReasonStopped},
		{"mnl is left", func(w *world) { w.facts.Manual = false }, schema.ReasonNotInMnl, schema.ReasonNotInMnl},
		{"control is lost", func(w *world) { w.control("op2", "takeover", verb.TakeOver{}) }, schema.ReasonNotInControl,
			schema.ReasonNotInControl},
		{"the link is lost", func(w *world) { w.facts.Reachable = false }, schema.ReasonLinkLost, ""},
		{"a safeguard begins to hold", func(w *world) { w.health = health{motion: schema.ReasonSafeguard} }, schema.ReasonSafeguard, ""},
		{"the head does not answer", func(w *world) { w.now += 11 * time.Second }, schema.ReasonTimeout, ""},
		{"manual/stop", func(w *world) { w.ask("stop", verb.StopManual{}) }, schema.ReasonStopped, schema.ReasonStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("head", head("", 0.5))
			w.ask("say", say())
			moving, speaking := command.KeyOf("op1", "k2"), command.KeyOf("op1", "k3")
			c.change(w)
			w.tick()
			for key, want := range map[command.Key]schema.Reason{moving: c.head, speaking: c.speech} {
				if r := w.replies[string(key)]; r.Reason != want || r.Status.Final() != (want != "") {
					t.Errorf("%s ended with %+v, want %q", key, r.Verdict, want)
				}
			}
			if _, turns := w.busy["head"]; turns != (c.head == "") {
				t.Errorf("the head turns: %v", turns)
			}
		})
	}
}

func TestNewerOrderTakesThePlaceOfTheOlderOnItsUnitOnly(t *testing.T) {
	w := newWorld(t)
	w.ask("head", head("", 0.5))        // k2
	w.ask("head", head("head-2", 0.5))  // k3
	w.ask("say", say())                 // k4
	w.ask("head", head("head-2", -0.5)) // k5
	for id, want := range map[string]schema.Status{"k2": schema.StatusAccepted, "k3": schema.StatusSuperseded, "k4": schema.StatusAccepted,
		"k5": schema.StatusAccepted} {
		if r := w.replies["op1/"+id]; r.Status != want {
			t.Errorf("%s: %+v, want %s", id, r.Verdict, want)
		}
	}
	if len(w.busy) != 3 {
		t.Errorf("at work are %v, want both heads and the speaker", w.busy)
	}
}

func TestSupersededOrderNamesTheOneThatReplacedIt(t *testing.T) {
	w := newWorld(t)
	w.ask("head", head("", 0.5))  // k2
	w.ask("say", say())           // k3
	w.ask("head", head("", -0.5)) // k4
	w.ask("say", say())           // k5
	for id, by := range map[string]string{"k2": "k4", "k3": "k5"} {
		if r := w.replies["op1/"+id]; r.Status != schema.StatusSuperseded || !slices.Equal(r.Refs, command.KeyOf("op1", by).Refs()) {
			t.Errorf("%s: %+v, want it superseded by %s", id, r.Verdict, by)
		}
	}
}

// Frames move the drive only for the holder of the lease; the set-point is zero as soon
// as the sender may not drive.
func TestFramesDriveForTheHolderOnly(t *testing.T) {
	frame := func(w *world, client, lease string, seq int64) {
		w.state.Frame(event.Frame{Client: client, Frame: schema.VelocityFrame{Lease: lease, Seq: seq, VXMPS: 0.2, TTLMS: 400,
			SeenMonoMS: w.now.Milliseconds()}})
		w.tick()
		w.part().SendSetPoint()
		w.settle()
	}
	for _, c := range []struct {
		name   string
		client string
		change func(*world)
		drives bool
	}{
		{"the holder", "op1", func(*world) {}, true},
		{"another client", "op2", func(*world) {}, false},
		{"the holder while disabled", "op1", func(w *world) { w.facts.Safety = schema.SafetyDisabled }, false},
		{"the holder whose link is lost", "op1", func(w *world) { w.facts.Reachable = false }, false},
		{"the holder after manual/stop", "op1", func(w *world) { w.ask("stop", verb.StopManual{}) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			lease := w.state.Control().Lease.ID
			for seq := range int64(50) { // a stick that was let go before it moves, as teleop wants it
				w.state.Frame(event.Frame{Client: "op1", Frame: schema.VelocityFrame{Lease: lease, Seq: seq + 1, TTLMS: 400,
					SeenMonoMS: w.now.Milliseconds()}})
				w.tick()
			}
			frame(w, "op1", lease, 51)
			if len(w.moves) == 0 || w.state.Control().At != control.Held {
				t.Fatal("the holder does not drive: this test shows nothing")
			}
			w.moves = nil
			c.change(w)
			for seq := range int64(40) { // longer than the newest frame of op1 counts
				frame(w, c.client, lease, 52+seq)
			}
			last := w.state.stick
			if drives := last.VX != 0; drives != c.drives {
				t.Errorf("the drive is sent %v m/s at last", last.VX)
			}
			if !c.drives && (len(w.moves) == 0 || w.moves[len(w.moves)-1].VX != 0) {
				t.Errorf("the last set-point is %+v", w.moves)
			}
		})
	}
}
