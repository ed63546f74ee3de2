package brain

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// controlled is a robot in mnl that op1 has control of, with its answers.
func controlled(t *testing.T) (*rig, *[]schema.Ack) {
	r := newRig(t)
	acks := &[]schema.Ack{}
	r.sent = func(p effect.Publish) {
		if p.Topic != schema.TopicAck {
			return
		}
		a, problems := schema.Decode[schema.Ack](p.Payload)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		*acks = append(*acks, a)
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	r.until(200 * time.Millisecond)
	r.command("control/acquire", `{"args":{"ttl_ms":60000}}`)
	r.command("safety/enable", "")
	return r, acks
}

func (r *rig) command(id, payload string) {
	for _, v := range verb.All {
		if v.ID() == id {
			r.give(event.Command{Client: "op1", Group: v.Group, Verb: v.Name, Payload: []byte(payload)})
			r.until(r.now + 200*time.Millisecond)
			return
		}
	}
	r.t.Fatalf("there is no verb %s", id)
}

func TestVolumeAppliesToAllUnitsAndIsSaved(t *testing.T) {
	r, _ := controlled(t)
	var loud []float64
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			s, ok := e.(effect.Start)
			if !ok || s.Unit != "speaker" {
				continue
			}
			is := -1.0
			for n := range s.Do.Numbers() {
				if n.Name == "volume" {
					is = n.Value
				}
			}
			loud = append(loud, is)
		}
	}
	r.command("manual/say", "as loud as it is")
	r.command("manual/volume", "0.5")
	r.command("manual/say", "half")
	r.command("manual/say", `{"args":{"text":"a quarter","volume":0.5}}`)
	r.boot()
	r.give(event.Connected{Session: "s2"})
	r.until(r.now + 200*time.Millisecond)
	r.command("control/acquire", "")
	r.command("manual/say", "still half")
	want := []float64{-1, 0.5, 0.25, 0.5}
	if len(loud) != len(want) {
		t.Fatalf("said at %v, want %v", loud, want)
	}
	for i := range want {
		if loud[i] != want[i] {
			t.Fatalf("said at %v, want %v", loud, want)
		}
	}
}

func TestUnitThatNeverReportsEndHasFailed(t *testing.T) {
	for verb, payload := range map[string]string{
		"manual/say": "hello", "manual/face": "smile", "manual/head": `{"args":{"yaw_rad":0.2}}`, "manual/goto": "dock",
	} {
		r, acks := controlled(t)
		r.body.mute = true
		r.command(verb, payload)
		var last schema.Ack
		for n := 0; n < 20 && !last.Status.Final(); n++ { // up to ten minutes; the holder of control keeps it
			r.command("control/renew", `{"args":{"ttl_ms":60000}}`)
			r.until(r.now + 30*time.Second)
			for _, a := range *acks {
				if a.Verb == verb {
					last = a
				}
			}
		}
		if last.Status != schema.StatusFailed || last.Reason != schema.ReasonTimeout {
			t.Errorf("%s: answered %s %s", verb, last.Status, last.Reason)
		}
	}
}

// TestActIsPerformedForClientWithoutControl asks as a responder does, who never can
// have control, and as an operator without it: it is enough that nobody else has.
func TestActIsPerformedForClientWithoutControl(t *testing.T) {
	r := newRig(t)
	acks := map[string][]schema.Ack{}
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicAck {
			a, problems := schema.Decode[schema.Ack](p.Payload)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			acks[*a.ID] = append(acks[*a.ID], a)
		}
	}
	last := func(id string) (a schema.Ack) {
		if n := len(acks[id]); n > 0 {
			a = acks[id][n-1]
		}
		return a
	}
	ask := func(client, verb, payload string) {
		group, name, _ := strings.Cut(verb, "/")
		r.give(event.Command{Client: client, Group: group, Verb: name, Payload: []byte(payload)})
		r.until(r.now + 100*time.Millisecond)
	}
	r.boot()
	r.give(event.Connected{Session: "s"})
	pin := stories["talk"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.until(time.Second)
	for _, client := range []string{"resp1", "op1"} {
		ask(client, "act/perform", `{"id":"`+client+`","x_ticket":7,"args":{"act":"greet","x_for":"them"}}`)
		r.until(r.now + 5*time.Second)
		if a := last(client); a.Status != schema.StatusSucceeded {
			t.Errorf("%s was answered %s %s (%s)", client, a.Status, a.Reason, a.Detail)
		}
	}
	ask("op1", "manual/act", `{"id":"m1","args":{"act":"greet"}}`)
	if a := last("m1"); a.Reason != schema.ReasonNotInControl {
		t.Errorf("what needs control was answered %s %s", a.Status, a.Reason)
	}
	// control/acquire ends an act that another client without control has begun.
	ask("resp1", "act/perform", `{"id":"p1","args":{"act":"greet"}}`)
	ask("op1", "control/acquire", `{"id":"c1"}`)
	r.until(r.now + time.Second)
	if a := last("p1"); a.Status != schema.StatusCancelled || a.Reason != schema.ReasonNotInControl {
		t.Errorf("under way when somebody took control: %s %s", a.Status, a.Reason)
	}
	ask("resp1", "act/perform", `{"id":"p2","args":{"act":"greet"}}`)
	if a := last("p2"); a.Status != schema.StatusRejected || a.Reason != schema.ReasonNotInControl || a.Lease == nil ||
		a.Lease.Holder != "op1" {
		t.Errorf("while somebody has control: %s %s %+v", a.Status, a.Reason, a.Lease)
	}
}

// TestManualVerbTakesTheArgumentsOfItsAction compares the verb table with the action
// table, and each payload with what the unit is sent.
func TestManualVerbTakesTheArgumentsOfItsAction(t *testing.T) {
	said := map[string]string{
		"manual/goto":  `"x_m":1,"y_m":2,"theta_rad":0.5,"speed_mps":0.3`,
		"manual/head":  `"yaw_rad":0.3,"pitch_rad":-0.2,"roll_rad":0.1,"speed":0.5`,
		"manual/say":   `"text":"Guten Tag","language":"de","voice":"anna","volume":0.5,"rate":1.5`,
		"manual/sound": `"sound":"bell","volume":0.5,"loop":true`,
		"manual/face":  `"face":"smile"`,
		"manual/led":   `"led":"left","colour":"#20c0ff","pattern":"blink","period_ms":800`,
		"manual/view":  `"text":"Um drei","language":"de"`, "manual/head-motion": `"motion":"nod","speed":0.5`,
	}
	wanted := map[string]string{
		"manual/goto":  `{"type":"goto","start_ms":0,"timeout_ms":301000,"x_m":1,"y_m":2,"theta_rad":0.5,"speed_mps":0.3}`,
		"manual/head":  `{"type":"head","start_ms":0,"timeout_ms":11000,"yaw_rad":0.3,"pitch_rad":-0.2,"roll_rad":0.1,"speed":0.5}`,
		"manual/say":   `{"type":"say","start_ms":0,"timeout_ms":61000,"text":{"de":"Guten Tag"},"voice":"anna","volume":0.5,"rate":1.5}`,
		"manual/sound": `{"type":"sound","start_ms":0,"end_ms":60000,"volume":0.5,"sound":"bell","loop":true}`,
		"manual/face":  `{"type":"face","start_ms":0,"face":"smile"}`,
		"manual/led":   `{"type":"led","start_ms":0,"led":"left","colour":"#20c0ff","pattern":"blink","period_ms":800}`,
		"manual/view":  `{"type":"screen","start_ms":0,"text":{"de":"Um drei"}}`, "manual/head-motion": `{"type":"motion","start_ms":0,"timeout_ms":31000,"unit":"head","speed":0.5,"motion":"nod"}`,
	}
	for _, v := range verb.All {
		id := v.ID()
		if v.Class != verb.ClassManual || slices.Contains([]string{"manual/stop", "manual/act", "manual/volume", "manual/point-save",
			"manual/point-delete", "manual/act-record", "manual/act-delete"}, id) {
			continue // it is no action
		}
		r, acks := controlled(t)
		var do score.Action
		r.watch = func(_ event.Event, effects []effect.Effect) {
			for _, e := range effects {
				if s, ok := e.(effect.Start); ok {
					do = *s.Do
				}
			}
		}
		r.command(id, `{"args":{`+said[id]+`}}`)
		if got, err := schema.Encode(do); err != nil || string(got) != wanted[id] {
			t.Errorf("%s: the unit is sent %s, want %s (answers %+v)", id, got, wanted[id], *acks)
		}
		row, _ := score.RowOf(do.Type())
		// text is one text; a point is instead of a place
		takes := map[string]bool{"language": id == "manual/say" || id == "manual/view", "point": id == "manual/goto"}
		for _, f := range row.Fields {
			takes[f.Name] = f.Name != "choices" // a manual command has no answer of a visitor
		}
		for _, a := range v.Args() {
			if !takes[a.Name] {
				t.Errorf("%s takes %s, which its action does not", id, a.Name)
			}
			delete(takes, a.Name)
		}
		for name, missing := range takes {
			if missing {
				t.Errorf("%s does not take %s", id, name)
			}
		}
	}
}

func TestManualSoundLoopEndsAfterAMinute(t *testing.T) {
	r, acks := controlled(t)
	r.body.mute = true // no unit ends a loop
	r.command("manual/sound", `{"args":{"sound":"bell","loop":true}}`)
	for range 3 {
		r.command("control/renew", `{"args":{"ttl_ms":60000}}`)
		r.until(r.now + 25*time.Second)
	}
	for _, a := range *acks {
		if a.Verb == "manual/sound" && a.Status.Final() {
			if a.Status != schema.StatusSucceeded {
				t.Errorf("answered %s %s (%s)", a.Status, a.Reason, a.Detail)
			}
			return
		}
	}
	t.Error("it has not ended")
}

func TestManualArgumentOutOfRangeIsRefusedAtItsPointer(t *testing.T) {
	r, acks := controlled(t)
	for _, c := range []struct{ verb, args, pointer string }{
		{"manual/say", `"text":"hello","rate":0.4`, "/args/rate"},
		{"manual/say", `"text":"hello","rate":2.1`, "/args/rate"},
		{"manual/say", `"text":"hello","volume":-1`, "/args/volume"},
		{"manual/say", `"text":"hello","voice":"` + strings.Repeat("x", 65) + `"`, "/args/voice"},
		{"manual/sound", `"sound":"bell","volume":1.1`, "/args/volume"},
		{"manual/head", `"speed":2,"yaw_rad":0`, "/args/speed"},
		{"manual/head", `"roll_rad":2`, "/args/roll_rad"},
		{"manual/led", `"colour":"blue"`, "/args/colour"},
		{"manual/led", `"colour":"#000000","period_ms":99`, "/args/period_ms"},
		{"manual/led", `"pattern":"blink"`, "/args/colour"},
		{"manual/goto", `"point":"dock","speed_mps":9`, "/args/speed_mps"},
		{"manual/goto", `"x_m":1,"y_m":1,"theta_rad":7`, "/args/theta_rad"},
	} {
		r.command(c.verb, `{"args":{`+c.args+`}}`)
		if a := (*acks)[len(*acks)-1]; a.Verb != c.verb || a.Status != schema.StatusRejected || a.Pointer != c.pointer {
			t.Errorf("%s %s: %s %s at %q (%s), want %s", c.verb, c.args, a.Status, a.Reason, a.Pointer, a.Detail, c.pointer)
		}
	}
}

// TestRequestedActsWaitInOrder looks at the queue that the state shows.
func TestRequestedActsWaitInOrder(t *testing.T) {
	r, acks := controlled(t)
	var q schema.StateQueue
	sent := r.sent
	r.sent = func(p effect.Publish) {
		if sent(p); p.Topic == schema.TopicState {
			d, _ := schema.Decode[schema.State](p.Payload)
			q = d.Queue
		}
	}
	pin := stories["once"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.until(r.now + time.Second)
	r.body.mute = true
	queue := func(want string) {
		t.Helper()
		if got := strings.Join(append([]string{q.Current}, q.Waiting...), " "); got != want {
			t.Errorf("the queue is %q, want %q", got, want)
		}
	}
	r.command("act/perform", "greet")
	r.command("act/perform", `{"args":{"actions":[{"type":"wait","start_ms":0,"end_ms":1000}]}}`)
	r.command("act/perform", "nod")
	queue("greet inline nod")
	r.command("manual/face", "smile")
	if a := (*acks)[len(*acks)-1]; a.Reason != schema.ReasonResourceBusy {
		t.Errorf("an action beside an act: %s %s", a.Status, a.Reason)
	}
	r.command("act/perform", `{"args":{"act":"nod","clear":true}}`)
	queue("nod")
	r.command("act/perform", "greet")
	r.command("manual/act", "greet") // the holder of control does not wait for others
	queue("greet")
	r.command("manual/stop", "")
	queue("")
}

// TestPersonIsNamedBesideTheClient lets a client that is no fleetd claim
// to be one.
func TestPersonIsNamedBesideTheClient(t *testing.T) {
	r := newRig(t)
	var d schema.State
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicState {
			d, _ = schema.Decode[schema.State](p.Payload)
		}
	}
	r.cfg.Mode.Boot = schema.ModeAto
	r.boot()
	r.give(event.Connected{Session: "s"})
	pin := stories["talk"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.beats = true
	r.beat(0)
	r.until(time.Second)
	for i, c := range []struct{ client, by, want string }{
		{"op1", "fleet director", "fleet director at op1"}, {"op1", "", "op1"}, {"fleetd", "ann", "ann"}, {"fleetd", "", "fleetd"},
		{"op1", strings.Repeat("x", 256), strings.Repeat("x", 249) + " at op1"},
	} {
		r.give(event.Command{Client: c.client, Group: "auto", Verb: "pause", Payload: []byte(`{"by":"` + c.by + `"}`)})
		r.until(r.now + 200*time.Millisecond)
		if n := len(d.Auto.PauseHolders); n != i+1 || d.Auto.PauseHolders[n-1].By != c.want {
			t.Errorf("paused by %+v, want %s", d.Auto.PauseHolders, c.want)
		}
	}
	r.give(event.Command{Client: "stop1", Group: "safety", Verb: "estop", Payload: []byte(`{"by":"fleetd","args":{"latch":"l1"}}`)})
	r.give(event.LiveStop{Client: "stop1", Payload: []byte(`{"id":"l2","by":"ann"}`)})
	r.until(r.now + 200*time.Millisecond)
	if l := d.Safety.Latches; d.Safety.StoppedBy != "fleetd at stop1" || len(l) != 2 || l[0].By != "fleetd at stop1" ||
		l[1].By != "ann at stop1" {
		t.Errorf("stopped by %+v", d.Safety)
	}
}
