package signal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/clock"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/interrupts"
)

// rig plays a script about one robot: "at what" a line, and says when its rules ask.
type rig struct {
	t     *testing.T
	s     State
	set   *CompiledRules
	known Known
	said  []string
}

// noon is that of a Friday.
const noon schema.Time = 1_800_014_400_000

func newRig(t *testing.T, rules ...interrupts.Rule) *rig {
	set, problems := Compile(rules)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return &rig{t: t, s: New(), set: set, known: Known{Mode: "ato"}}
}

// to lets time pass, as brain does: with a step when a deadline says so, and every 250 ms.
func (r *rig) to(from, to time.Duration) {
	for now := from; now <= to; {
		for _, a := range r.s.Step(clock.Now{Mono: now, Wall: noon.Add(now)}, r.set, r.known) {
			r.said = append(r.said, fmt.Sprintf("%v %s", now, a.Rule))
		}
		next := now + 250*time.Millisecond
		if at, ok := r.s.Deadline(); ok && at < next {
			next = at
		}
		if next <= now {
			r.t.Fatalf("at %v the next step is due at %v", now, next)
		}
		now = next
	}
}

// play senses what the lines say; the rest of a line is a reading.
func (r *rig) play(script string) string {
	now := time.Duration(0)
	for line := range strings.Lines(script) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		at, err := time.ParseDuration(w[0])
		if err != nil {
			r.t.Fatal(err)
		}
		r.to(now, at-1)
		now = at
		ev := driver.Event{Kind: driver.Sensed, On: true}
		ev.Signal = driver.Signal(w[1])
		for _, x := range w[2:] {
			switch {
			case x == "off":
				ev.On = false
			default:
				if n, err := fmt.Sscan(x, &ev.Level); n != 1 || err != nil {
					ev.Name = x
				}
			}
		}
		switch w[1] {
		case "mode":
			r.known.Mode = ev.Name
		case "end":
		default:
			r.s.Sense(at, ev)
		}
	}
	r.to(now, now)
	return strings.Join(r.said, "; ")
}

func TestRulesAsk(t *testing.T) {
	above := 70.0
	touch := interrupts.Rule{ID: "r", On: interrupts.Touch, Interrupter: "touch", Handler: "h"}
	with := func(change func(*interrupts.Rule)) interrupts.Rule {
		r := touch
		change(&r)
		return r
	}
	for _, c := range []struct {
		name, script string
		rule         interrupts.Rule
		want         string
	}{
		{"once a touch", "1s touch head\n2s touch head off\n3s touch head\n5s end", touch, "1.05s r; 3.05s r"},
		{"a loose contact is no touch", "1s touch head\n1.03s touch head off\n2s end", touch, ""},
		{"a touch that is lost for a moment is one touch", "1s touch head\n2s touch head off\n2.1s touch head\n4s end", touch, "1.05s r"},
		{"only that area", "1s touch head\n2s touch hand\n3s end", with(func(r *interrupts.Rule) { r.Name = "hand" }), "2.05s r"},
		{"held for a time", "1s touch head\n2s touch head off\n3s touch head\n9s end", with(func(r *interrupts.Rule) { r.For = "2s" }),
			"5.05s r"},
		{"not again before its cooldown is over", "1s touch head\n2s touch head off\n3s touch head\n4s touch head off\n20s touch head\n21s end",
			with(func(r *interrupts.Rule) { r.Cooldown = "10s" }), "1.05s r; 20.05s r"},
		{"the condition becomes true later", "1s touch head\n2s people 2\n3s end", with(func(r *interrupts.Rule) { r.When = "people > 1" }),
			"2.2s r"},
		{"a missing value is not true", "1s touch head\n2s end", with(func(r *interrupts.Rule) { r.When = "people < 1" }), ""},
		{"each press", "1s press help\n1.1s press help\n2s press help\n3s press other", interrupts.Rule{ID: "p", On: interrupts.Press},
			"1s p; 2s p; 3s p"},
		{"only that button", "1s press help\n2s press stop\n3s end", interrupts.Rule{ID: "p", On: interrupts.Press, Name: "stop"}, "2s p"},
		{"people stay", "1s people 1\n2s people 0\n2.5s people 1\n9s end", interrupts.Rule{ID: "p", When: "people > 0", For: "5s"}, "6.2s p"},
		{"a level", "1s heat head 60\n5s heat head 75\n5.5s heat head 75.5\n9s end", interrupts.Rule{ID: "hot", On: interrupts.Heat,
			Above: &above}, "6s hot"},
		{"since a signal", "1s push\n9s end", interrupts.Rule{ID: "s", When: `since_s("push") > 3.0`}, "4.001s s"},
		{"since a signal ends", "1s push\n2s end\n9s end", interrupts.Rule{ID: "s", When: `since_s("push") < 3.0`, For: "2.5s"}, "3.5s s"},
		{"since without a comparison", "1s push\n9s end", interrupts.Rule{ID: "s", When: `since_s("push") * 2.0 > 3.0`}, "3s s"},
		{"of the rest of the robot", "1s mode mnl\n2s mode ato\n3s end", interrupts.Rule{ID: "m", When: `mode == "mnl"`}, "1s m"},
		{"the hour", "1s end", interrupts.Rule{ID: "h", When: `hour == 12 && weekday == "fri"`}, "0s h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newRig(t, c.rule).play(c.script); got != c.want {
				t.Errorf("it asks at %q, want %q", got, c.want)
			}
		})
	}
}

func TestRobotDoesNotHearItself(t *testing.T) {
	r := newRig(t, interrupts.Rule{ID: "s", On: interrupts.Sound})
	r.known.MakesSound = true
	if got := r.play("1s sound 60\n1.5s sound off\n3s end"); got != "" {
		t.Errorf("it asks at %s while it makes a sound itself", got)
	}
}

func TestDefaultRulesAreValid(t *testing.T) {
	text, err := schema.Encode(interrupts.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	rules, problems := interrupts.ParseRules(jsontext.Value(text))
	if len(problems) > 0 || len(rules) != len(interrupts.DefaultRules()) {
		t.Fatal(rules, problems)
	}
	if _, problems := Compile(rules); len(problems) > 0 {
		t.Fatal(problems)
	}
}

// TestStepWithoutChangeCostsNothing: a condition is not evaluated, and nothing allocated,
// while no key that it names changes.
func TestStepWithoutChangeCostsNothing(t *testing.T) {
	r := newRig(t, append(interrupts.DefaultRules(), interrupts.Rule{ID: "x", When: `battery < 0.5 && since_s("touch") > 5.0 && labels.site == "museum"`})...)
	r.known = Known{Mode: "ato", Safety: "ENABLED", Story: "tour", Act: "greet", HasBattery: true, Battery: 0.4,
		Labels: map[string]string{"site": "museum"}}
	r.play("1s touch head\n2s people 3\n3s press help\n4s touch head off\n30s end")
	now, act := clock.Now{Mono: 30 * time.Second, Wall: noon.Add(30 * time.Second)}, []string{"greet", "walk"}
	n := 0
	got := testing.AllocsPerRun(100, func() {
		now.Mono += time.Millisecond
		n++
		r.known.Act = act[n%2] // names no rule
		r.s.Step(now, r.set, r.known)
	})
	if got > 1 { // the text of the act as a fact
		t.Errorf("a step allocates %v times", got)
	}
}

// TestMemoryIsBounded senses more names than there can be.
func TestMemoryIsBounded(t *testing.T) {
	r := newRig(t, interrupts.DefaultRules()...)
	for i := range 10_000 {
		at := time.Duration(i) * time.Millisecond
		for _, s := range []driver.Signal{driver.Touch, driver.Press, driver.Heat, "nonsense"} {
			r.s.Sense(at, driver.Event{Kind: driver.Sensed, Signal: s, Name: fmt.Sprint(i), On: true, Level: float64(i)})
		}
		r.s.Note(at, fmt.Sprint("event", i))
		r.s.Step(clock.Now{Mono: at, Wall: noon}, r.set, r.known)
	}
	if len(r.s.slots) > maxValues || len(r.s.happened) > maxNames || len(r.s.since) > maxNames {
		t.Errorf("it remembers %d values, %d names", len(r.s.slots), len(r.s.happened))
	}
}

func TestPlaceIsWhereTheLastWayEnded(t *testing.T) {
	var p Location
	at := func(want string) {
		t.Helper()
		if p.At != want {
			t.Errorf("it is at %q, want %q", p.At, want)
		}
	}
	p.Leaves(1, "dock")
	at("")
	p.Moved(true)
	p.Done(1)
	at("dock")
	p.Moved(false)
	at("dock")
	p.Moved(true) // by a person
	at("")
	p.Leaves(2, "stage")
	p.Done(1)
	at("")
	p.Done(2)
	at("stage")
	p.Leaves(3, "")
	p.Done(3)
	at("")
}

func TestEveryKeyOfConditionsHasAValue(t *testing.T) {
	r := newRig(t)
	r.known = Known{Mode: "ato", Safety: "ENABLED", Story: "tour", Act: "greet", Intent: "dance", HasBattery: true, Battery: 0.4,
		Labels: map[string]string{"site": "museum"}}
	r.s.Leaves(1, "dock")
	r.s.Done(1)
	r.play("1s touch head\n1s sound 60\n1s people 3\n1s dark\n4s end")
	facts := r.s.Facts(3 * time.Second)
	for _, k := range cond.Keys {
		v, known := facts[k.Name]
		if !known {
			t.Errorf("%s has no value", k.Name)
		}
		want := map[cond.Type]string{cond.Bool: "bool", cond.Int: "int64", cond.Double: "float64", cond.String: "string",
			cond.Labels: "map[string]string"}[k.Type]
		if got := fmt.Sprintf("%T", v); known && got != want {
			t.Errorf("%s is a %s, want %s", k.Name, got, want)
		}
	}
	if s := facts[cond.Since].(map[string]float64)["touch"]; s != 1.95 {
		t.Errorf("the touch began %v s ago, want 1.95", s)
	}
}
