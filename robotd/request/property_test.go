package request

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// simulation drives the package at random, with a disk that may be slow or refuse,
// components that may be slow, and power cuts between any two effects. It checks
// the invariants after every effect.
type simulation struct {
	t          *rapid.T
	s          State
	now        clock.Now
	boot       int64
	disk       map[command.Key]command.Record
	writing    []event.RequestsSaved   // results of the disk that are not reported yet
	unsaved    map[command.Key]bool    // final answers that the disk refused
	performing []command.Key           // performed, not ended yet
	arrived    map[command.Key]int     // number of the arrival that was accepted
	performed  map[command.Key]int     // how often each command was performed, without stops
	final      map[command.Key]verdict // the final answer of each command
	arrivals   int
	lastStop   int
	newest     map[string]int64 // highest performed seq per client, session and group
}

// fleetID is the fleet id in sys/adopt.
const fleetID = "b108326f-f261-4a6b-ad48-fee8efb991ba"

// verdict is the part that must be equal in two copies of an answer.
type verdict struct {
	status schema.Status
	reason schema.Reason
}

func newSimulation(t *rapid.T) *simulation {
	sim := &simulation{t: t, boot: 1, disk: map[command.Key]command.Record{}, arrived: map[command.Key]int{}, performed: map[command.Key]int{},
		final: map[command.Key]verdict{}, unsaved: map[command.Key]bool{}, newest: map[string]int64{}}
	sim.s = Restore(1, nil, nil)
	return sim
}

var verbs = [][2]string{{"mode", "set"}, {"mode", "kill"}, {"auto", "start"}, {"auto", "pause"}, {"safety", "enable"}, {"sys", "adopt"},
	{"sys", "ping"}, {"sys", "cancel"}, {"sys", "cancel"}, {"sys", "replay"}, {"safety", "stop"}, {"safety", "estop"}}

func (sim *simulation) step(do func(Step)) {
	sim.now.Wall = noon.Add(sim.now.Mono)
	sim.perform(sim.s.at(sim.now, do))
}

// perform does the effects in order; sometimes it cuts the power between two of
// them.
func (sim *simulation) perform(effects []any) {
	cut := len(effects)
	if len(effects) > 0 && rapid.IntRange(0, 40).Draw(sim.t, "power cut") == 0 {
		cut = rapid.IntRange(0, len(effects)).Draw(sim.t, "after")
		defer sim.restart()
	}
	refused := false
	for _, e := range effects[:cut] {
		switch e := e.(type) {
		case effect.SaveRequests:
			if rapid.IntRange(0, 20).Draw(sim.t, "disk full") == 0 {
				refused = true
				sim.report(e, schema.ReasonNoSpace)
				continue
			}
			for _, k := range e.Forget {
				delete(sim.disk, k)
			}
			for _, r := range e.Put {
				sim.disk[r.Key()] = r
			}
			sim.report(e, "")
		case effect.Dispatch:
			sim.performing = append(sim.performing, e.Key)
			if e.Verb.Class == verb.ClassStop || e.Verb.Journal == verb.JournalNever {
				continue
			}
			sim.inOrder(e)
			if v, ended := sim.final[e.Key]; ended {
				sim.t.Fatalf("%s was performed after it had been answered %v", e.Key, v)
			}
			if sim.performed[e.Key]++; sim.performed[e.Key] > 1 {
				sim.t.Fatalf("%s was performed twice", e.Key)
			}
			if _, ok := sim.disk[e.Key]; !ok {
				sim.t.Fatalf("%s was performed and is not on the disk", e.Key)
			}
			if sim.arrived[e.Key] < sim.lastStop {
				sim.t.Fatalf("%s came before a stop and was performed after it", e.Key)
			}
		case SendAck:
			if !refused {
				sim.checkAnswer(e)
			}
		}
	}
}

// inOrder checks that no command is performed after one with a higher seq of the
// same client, session and group.
func (sim *simulation) inOrder(p effect.Dispatch) {
	r := sim.disk[p.Key]
	order := r.Client + " " + r.Session + " " + p.Verb.Group
	if r.Seq != 0 && r.Seq <= sim.newest[order] {
		sim.t.Fatalf("%s with seq %d was performed after %d", p.Key, r.Seq, sim.newest[order])
	}
	sim.newest[order] = max(sim.newest[order], r.Seq)
}

// report queues the disk's answer.
func (sim *simulation) report(s effect.SaveRequests, refused schema.Reason) {
	var keys []command.Key
	for _, r := range s.Put {
		keys = append(keys, r.Key())
		sim.unsaved[r.Key()] = r.Answer.Status != "" && sim.disk[r.Key()].Answer.Status == ""
	}
	sim.writing = append(sim.writing, event.RequestsSaved{Keys: keys, Refused: refused})
}

func (sim *simulation) checkAnswer(e SendAck) {
	if e.Key == "" || !e.Ack.Status.Final() || verbOf(e.Ack.Verb).Class == verb.ClassStop {
		return // a stop is answered before it is written, so a power cut may lose its record
	}
	now := verdict{e.Ack.Status, e.Ack.Reason}
	if was, ok := sim.final[e.Key]; ok && was != now && !sim.unsaved[e.Key] {
		sim.t.Fatalf("%s was answered %v, then %v", e.Key, was, now)
	}
	sim.final[e.Key] = now
	if rapid.Bool().Draw(sim.t, "confirmed") {
		sim.s.Delivered(e.Key)
	}
}

func (sim *simulation) restart() {
	var saved []command.Record
	for _, r := range sim.disk {
		saved = append(saved, r)
	}
	sim.writing, sim.performing = nil, nil
	for k := range sim.unsaved { // answers that were only in memory are lost
		if sim.unsaved[k] {
			delete(sim.final, k)
			sim.unsaved[k] = false
		}
	}
	sim.boot++
	var out []any
	sim.s, out = restored(sim.boot, saved)
	sim.lastStop = sim.arrivals // no command from before a restart may be performed after it
	for _, e := range out {
		for _, r := range e.(effect.SaveRequests).Put {
			sim.disk[r.Key()] = r
		}
	}
}

func (sim *simulation) arrive() {
	v := rapid.SampledFrom(verbs).Draw(sim.t, "verb")
	id := rapid.SampledFrom([]string{"k1", "k2", "k3", "k4", "k5", "k6"}).Draw(sim.t, "id")
	args := rapid.SampledFrom([]string{`,"args":{"mode":"ato"}`, `,"args":{"fleet_id":"` + fleetID + `"}`, ``, `,"ttl_ms":50`, `,"args":5`}).Draw(sim.t, "args")
	if rapid.IntRange(0, 3).Draw(sim.t, "well-formed") > 0 {
		args = map[string]string{"set": `,"args":{"mode":"ato"}`, "adopt": `,"args":{"fleet_id":"` + fleetID + `"}`, "replay": `,"args":{"from":1}`}[v[1]]
	}
	if v[1] == "cancel" {
		args = fmt.Sprintf(`,"args":{"id":"k%d"}`, rapid.IntRange(1, 6).Draw(sim.t, "target"))
	}
	if rapid.Bool().Draw(sim.t, "ordered") {
		args += fmt.Sprintf(`,"session":%q,"seq":%d`, rapid.SampledFrom([]string{"a", "b"}).Draw(sim.t, "session"), rapid.IntRange(1, 12).Draw(sim.t, "seq"))
	}
	a := event.Command{Client: rapid.SampledFrom([]string{"op1", "op2"}).Draw(sim.t, "client"), Group: v[0], Verb: v[1], Payload: []byte(fmt.Sprintf(`{"id":%q%s}`, id, args))}
	a.Behind = rapid.IntRange(0, 8).Draw(sim.t, "disk behind") == 0
	sim.arrivals++
	if sim.s.find(command.KeyOf(a.Client, id)) == nil {
		sim.arrived[command.KeyOf(a.Client, id)] = sim.arrivals
	}
	stop := v[1] == "stop" || v[1] == "estop"
	if stop {
		sim.lastStop = sim.arrivals
		a.Payload = rapid.SampledFrom([][]byte{nil, []byte("{{{"), a.Payload, {0xff}, make([]byte, 9000)}).Draw(sim.t, "payload")
		a.Retained = rapid.Bool().Draw(sim.t, "retained")
	}
	sim.now.Wall = noon.Add(sim.now.Mono)
	out := sim.s.at(sim.now, arrives(a))
	if stop {
		if p, ok := out[0].(effect.Dispatch); !ok || p.Verb.Class != verb.ClassStop {
			sim.t.Fatalf("a stop's first effect is %T", out[0])
		}
	}
	sim.perform(out)
}

func (sim *simulation) endOne() {
	if len(sim.performing) == 0 {
		return
	}
	k := sim.performing[0]
	sim.performing = sim.performing[1:]
	status := rapid.SampledFrom([]schema.Status{schema.StatusAccepted, schema.StatusSucceeded, schema.StatusRejected, schema.StatusFailed}).
		Draw(sim.t, "status")
	if status == schema.StatusAccepted {
		sim.performing = append(sim.performing, k)
	}
	sim.step(ends(k, schema.Verdict{Status: status}))
}

func (sim *simulation) saveOne() {
	if len(sim.writing) > 0 {
		ev := sim.writing[0]
		sim.writing = sim.writing[1:]
		sim.step(saved(ev.Refused, ev.Keys...))
	}
}

func TestEveryCommandHasOneEffectAndOneAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sim := newSimulation(t)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			sim.now.Mono += time.Duration(rapid.IntRange(0, 100).Draw(t, "ms")) * time.Millisecond
			switch rapid.IntRange(-2, 6).Draw(t, "what") {
			case -2, 0, 1:
				sim.arrive()
			case -1, 2:
				sim.saveOne()
			case 3:
				sim.endOne()
			case 4:
				sim.step(Step.tick)
			case 5:
				sim.step(Step.Connected)
			case 6:
				if rapid.IntRange(0, 5).Draw(t, "restart") == 0 {
					sim.restart()
				}
			}
			if len(sim.s.open) > MaxOpen {
				t.Fatalf("%d unfinished", len(sim.s.open))
			}
		}
		// In the end every performed command has its answer.
		for len(sim.writing) > 0 || len(sim.performing) > 0 {
			sim.saveOne()
			sim.endOne()
		}
		for _, e := range sim.s.at(sim.now, Step.Connected) {
			sim.checkAnswer(e.(SendAck))
		}
		for k := range sim.performed {
			if _, ok := sim.final[k]; !ok {
				t.Fatalf("%s was performed and never answered", k)
			}
		}
		if n := sim.s.Open(); n > 0 {
			t.Fatalf("%d commands stay unfinished", n)
		}
	})
}

func TestRepeatedCommandGetsSameAnswerAfterRestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Restore(1, nil, nil)
		ask := arrives(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"k1","args":{"mode":"ato"}}`)})
		now := clock.Now{Wall: noon}
		record := s.at(now, ask)[0].(effect.SaveRequests).Put[0]
		s.at(now, saved("", "op1/k1"))
		if rapid.Bool().Draw(t, "ended") {
			status := rapid.SampledFrom([]schema.Status{schema.StatusSucceeded, schema.StatusRejected, schema.StatusFailed, schema.StatusCancelled}).
				Draw(t, "status")
			reason := rapid.SampledFrom([]schema.Reason{"", schema.ReasonUnchanged, schema.ReasonUnknownMode}).Draw(t, "reason")
			out := s.at(now, ends("op1/k1", schema.Verdict{Status: status, Reason: reason, Detail: "so it is", Pointer: "/args"}))
			record = out[0].(effect.SaveRequests).Put[0]
		}
		s, _ = restored(2, []command.Record{record})
		first := s.at(now, ask)
		now.Mono = time.Hour
		second := s.at(now, ask)
		if !reflect.DeepEqual(first, second) || len(first) != 1 {
			t.Fatalf("first %v, then %v", first, second)
		}
		a := first[0].(SendAck).Ack
		if record.Answer.Status == "" {
			record.Answer = command.Answer{Verdict: schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady,
				Reason: schema.ReasonRestarted, Detail: a.Detail}}
		}
		got := command.Answer{Verdict: schema.Verdict{Status: a.Status, Result: a.Result, Reason: a.Reason, Detail: a.Detail, Pointer: a.Pointer}}
		if !reflect.DeepEqual(got, record.Answer) || !a.Dup {
			t.Fatalf("got %+v dup %v, want %+v", got, a.Dup, record.Answer)
		}
	})
}

func TestMemoryAndDiskAreBounded(t *testing.T) {
	s := Restore(1, nil, nil)
	disk := map[command.Key]command.Record{}
	do := func(effects []any) (answer []SendAck) {
		for _, e := range effects {
			switch e := e.(type) {
			case effect.SaveRequests:
				for _, k := range e.Forget {
					delete(disk, k)
				}
				for _, r := range e.Put {
					disk[r.Key()] = r
				}
			case SendAck:
				answer = append(answer, e)
			}
		}
		return answer
	}
	ask := func(client, id string) []SendAck {
		return do(s.at(clock.Now{}, arrives(event.Command{Client: client, Group: "auto", Verb: "pause", Payload: []byte(`{"id":"` + id + `"}`)})))
	}
	finish := func(k command.Key) {
		do(s.at(clock.Now{}, saved("", k)))
		do(s.at(clock.Now{}, ends(k, schema.Verdict{Status: schema.StatusSucceeded})))
	}
	for c := range MaxClients + 8 {
		for i := range MaxPerClient + 20 {
			client, id := fmt.Sprintf("c%d", c), fmt.Sprintf("k%d", i)
			ask(client, id)
			finish(command.KeyOf(client, id))
		}
	}
	if len(s.journals) != MaxClients || len(disk) != MaxClients*MaxPerClient {
		t.Errorf("%d clients in memory, %d records on disk; want %d and %d", len(s.journals), len(disk), MaxClients, MaxClients*MaxPerClient)
	}
	if got := ask("c39", "k275"); len(got) != 1 || !got[0].Ack.Dup {
		t.Errorf("a repeated command in the journal was not recognized: %v", got)
	}
	if got := ask("c0", "k275"); len(got) != 0 {
		t.Errorf("a command of an evicted client was answered %v", got)
	}
	if want := int64(40*(MaxPerClient+20) - MaxClients*MaxPerClient + MaxPerClient); s.Dropped() != want {
		t.Errorf("dropped %d unconfirmed answers, want %d", s.Dropped(), want)
	}

	for i := range MaxOpen - 1 {
		ask("c39", fmt.Sprintf("open%d", i))
	}
	got := ask("c39", "one-too-many")
	if len(got) != 1 || got[0].Ack.Reason != schema.ReasonOverloaded || got[0].Ack.RetryMS == 0 {
		t.Fatalf("with %d unfinished: %v", s.Open(), got)
	}
	stop := s.at(clock.Now{}, arrives(event.Command{Client: "c39", Group: "safety", Verb: "stop"}))
	if _, ok := stop[0].(effect.Dispatch); !ok {
		t.Fatalf("a full queue kept a stop from being performed: %v", stop)
	}
	do(s.at(clock.Now{}, ends(stop[0].(effect.Dispatch).Key, schema.Verdict{Status: schema.StatusSucceeded})))
	if s.Open() != 0 {
		t.Errorf("%d commands are open after a stop", s.Open())
	}
	if got := ask("c39", "one-too-many"); len(got) != 0 {
		t.Errorf("a command that was refused as overloaded is still refused: %v", got)
	}
}

func TestDeadlineIsWhenTickHasEffect(t *testing.T) {
	s := Restore(1, nil, nil)
	if d, ok := s.Deadline(); ok {
		t.Fatalf("nothing is open and the deadline is %s", d)
	}
	s.at(clock.Now{Mono: time.Second}, arrives(event.Command{Client: "op1", Group: "auto", Verb: "pause", Payload: []byte(`{"id":"k1","ttl_ms":200}`)}))
	d, ok := s.Deadline()
	if out := s.at(clock.Now{Mono: d - 1}, Step.tick); !ok || len(out) != 0 {
		t.Fatalf("before the deadline %v, %v: %v", d, ok, out)
	}
	if out := s.at(clock.Now{Mono: d}, Step.tick); len(out) != 2 || out[1].(SendAck).Ack.Status != schema.StatusExpired {
		t.Fatalf("at the deadline %v: %v", d, out)
	}
}
