package bus

import (
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/fsm/fsmtest"
)

func TestSupervisionIsSound(t *testing.T) {
	fsmtest.Check(t, table, absent, healths)
	fsmtest.CheckDiagram(t, "testdata/watch.md", table, absent)
}

func TestEveryFaultHasAWayOut(t *testing.T) {
	for _, h := range healths {
		if h != good && wayOut[h] == "" {
			t.Errorf("%s has none", h)
		}
	}
	for _, row := range table {
		if row.To == good && row.On != seen && row.On != behaved {
			t.Errorf("%s leads to trust", row.On)
		}
	}
}

// trusted is a watch of an adapter with a speaker that has behaved so far.
func trusted(t *testing.T) *watch {
	w := &watch{health: absent}
	w.onPresence(presence("a", "speaker"))
	on, what := say(w, state("a", 1, 20))
	if w.step(on, what); w.health != good {
		t.Fatalf("it is %s: %s", w.health, w.detail)
	}
	w.fixed = true
	return w
}

func presence(session string, units ...string) *bus.Presence {
	p := &bus.Presence{V: 1, Present: true, Session: session, Describe: &bus.Describe{Model: "m", StateMS: 20}}
	for _, id := range units {
		p.Describe.Units = append(p.Describe.Units, schema.Unit{ID: id, Kind: schema.UnitSpeaker})
	}
	return p
}

func state(session string, seq, tms int64) *bus.State {
	return &bus.State{V: 1, Session: session, Seq: seq, TMS: tms, Units: map[string]bus.UnitState{"speaker": {State: "idle"}}}
}

// say lets the adapter send a state.
func say(w *watch, s *bus.State) (observation, string) {
	ok, on, what := w.onSession(s.Session)
	if ok {
		_, on, what = w.onState(s)
	}
	return on, what
}

func TestEachFaultIsFoundAndHeals(t *testing.T) {
	for _, c := range []struct {
		what string
		show func(w *watch) (observation, string)
		want health
		says string
	}{
		{"a will", func(w *watch) (observation, string) { return w.onPresence(&bus.Presence{V: 1, Session: "a"}) }, absent,
			"start the adapter, and see in its log why it ended"},
		{"a will after 15 s of silence", func(w *watch) (observation, string) {
			w.step(ticks(w, 750))
			return w.onPresence(&bus.Presence{V: 1, Session: "a"})
		}, absent, "silent until its connection ended (no state for 15 s): if its process still runs, it hangs or is suspended: end it first"},
		{"a bus that cannot be reached", func(*watch) (observation, string) { return cutOff, "" }, absent,
			"the bus cannot be reached: start the MQTT server of the bus"},
		{"the will of an earlier process", func(w *watch) (observation, string) { return w.onPresence(&bus.Presence{V: 1, Session: "z"}) }, good,
			""},
		{"a restart before the will", func(w *watch) (observation, string) { return w.onPresence(presence("b", "speaker")) }, restarted,
			"if two run, end one"},
		{"an older seq", func(w *watch) (observation, string) { return say(w, state("a", 1, 40)) }, timeBack, "seq 1 after 1"},
		{"an older clock", func(w *watch) (observation, string) { return say(w, state("a", 2, 19)) }, timeBack, "t_ms 19 after 20"},
		{"another session", func(w *watch) (observation, string) { return say(w, state("b", 2, 40)) }, doubled, "sessions a and b"},
		{"other units", func(w *watch) (observation, string) {
			w.onPresence(presence("a", "speaker", "face"))
			return w.onTick()
		}, changed, "new unit face): restart robotd"},
		{"other units after an end", func(w *watch) (observation, string) {
			w.step(w.onPresence(&bus.Presence{V: 1, Session: "a"}))
			w.onPresence(presence("b", "face"))
			return w.onTick()
		}, changed, "without unit speaker, new unit face"},
		{"another model after an end", func(w *watch) (observation, string) {
			w.step(w.onPresence(&bus.Presence{V: 1, Session: "a"}))
			p := presence("b", "speaker")
			p.Describe.Model = "n"
			w.onPresence(p)
			return w.onTick()
		}, changed, "its model, points"},
		{"the states of the earlier process after a restart", func(w *watch) (observation, string) {
			w.step(w.onPresence(presence("b", "speaker")))
			return say(w, state("a", 2, 40))
		}, doubled, "sessions b and a"},
		{"a missing unit", func(w *watch) (observation, string) {
			return say(w, &bus.State{V: 1, Session: "a", Seq: 2, TMS: 40, Units: map[string]bus.UnitState{}})
		}, badData, "driver check"},
		{"a temperature in kelvin", func(w *watch) (observation, string) {
			kelvin := 310.0
			return say(w, &bus.State{V: 1, Session: "a", Seq: 2, TMS: 40,
				Units: map[string]bus.UnitState{"speaker": {State: "idle", Celsius: &kelvin}}})
		}, wrongUnits, "degrees Celsius"},
		{"nine missing states", func(w *watch) (observation, string) { return ticks(w, 9) }, good, ""},
		{"eleven missing states", func(w *watch) (observation, string) { return ticks(w, 11) }, silent, "no state for 200 ms"},
		{"fifty missing states while nothing may move", func(w *watch) (observation, string) { w.mayNotMove = true; return ticks(w, 50) }, good,
			""},
		{"a second of silence while nothing may move", func(w *watch) (observation, string) { w.mayNotMove = true; return ticks(w, 51) }, silent,
			"no state for 1000 ms"},
		{"an order to run while states are missing", func(w *watch) (observation, string) {
			w.mayNotMove = true
			ticks(w, 40)
			w.mayNotMove = false
			return w.onTick()
		}, silent, "no state for 200 ms"},
		{"another adapter with its unit", func(w *watch) (observation, string) {
			w.rival = "adapter b has the unit speaker too"
			return w.onTick()
		}, doubled, "adapter b"},
	} {
		w := trusted(t)
		on, what := c.show(w)
		w.step(on, what)
		if w.health != c.want || !strings.Contains(w.detail, c.says) {
			t.Errorf("after %s it is %s: %s", c.what, w.health, w.detail)
		}
		if w.health == good {
			continue
		}
		// It behaves again.
		w.rival = ""
		on, what = w.onPresence(presence(w.session, "speaker"))
		w.step(on, what)
		for i := range int64(healTicks) {
			on, what := say(w, state(w.session, 100+i, 1000+i))
			w.step(on, what)
			if i < int64(healTicks)-1 && w.health == good && c.want != absent {
				t.Errorf("after %s it was trusted again after %d ticks", c.what, i)
				break
			}
			on, what = w.onTick()
			w.step(on, what)
		}
		if w.health != good || w.detail != "" {
			t.Errorf("after %s it behaved again and is %s: %s", c.what, w.health, w.detail)
		}
	}
}

func ticks(w *watch, n int) (on observation, what string) {
	for range n {
		on, what = w.onTick()
	}
	return on, what
}

// TestSilentAdapterHasAWayOutForEachCause: one that hangs, and one that is starved for a moment.
func TestSilentAdapterHasAWayOutForEachCause(t *testing.T) {
	w := trusted(t)
	w.step(ticks(w, 11))
	for _, says := range []string{"if it stays silent, a method of it does not return: restart the adapter",
		"if it comes and goes, the computer is too busy"} {
		if !strings.Contains(w.detail, says) {
			t.Errorf("%q does not say %q", w.detail, says)
		}
	}
}

// TestPresenceOfASilentAdapterIsNoState: an adapter may publish its presence again, and a bus may deliver it twice.
func TestPresenceOfASilentAdapterIsNoState(t *testing.T) {
	w := trusted(t)
	again := presence("a", "speaker")
	w.described.StateMS, again.Describe.StateMS = bus.MaxStateMS, bus.MaxStateMS
	w.step(ticks(w, w.maxMissing()+1))
	w.step(w.onPresence(again))
	for i := range healTicks {
		if w.step(w.onTick()); w.health != silent {
			t.Fatalf("%d ticks after its presence came again it is %s: %s", i+1, w.health, w.detail)
		}
	}
	if on, what := w.onPresence(&bus.Presence{V: 1, Session: "a"}); on != timedOut || what != "no state for 2 s" {
		t.Errorf("its will is %q (%s)", on, what)
	}
}

func TestProcessThatWasReplacedIsNoticed(t *testing.T) {
	w := trusted(t)
	w.onPresence(presence("b", "speaker"))
	if on, _ := say(w, state("a", 2, 40)); on != twoSenders {
		t.Errorf("its state is %q", on)
	}
	if on, _ := w.onPresence(presence("a", "speaker")); on != twoSenders {
		t.Errorf("its presence is %q", on)
	}
	if on, _ := w.onPresence(&bus.Presence{V: 1, Session: "a"}); on != nothing {
		t.Errorf("its will is %q", on)
	}
	// The newer process ends, and the earlier one takes its place again.
	w.step(w.onPresence(&bus.Presence{V: 1, Session: "b"}))
	w.step(w.onPresence(presence("a", "speaker")))
	if w.step(say(w, state("a", 90, 900))); w.health != good {
		t.Errorf("the earlier process is alone again, and it is %s: %s", w.health, w.detail)
	}
}
