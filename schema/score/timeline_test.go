package score

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

// part is one action of an act in a simple simulation with steps of one millisecond, which
// is independent of the code under test.
type part struct {
	Action
	name   string
	parent *part
	kids   []*part
	alone  bool // exclusive
	begun  bool
	over   bool
	clock  int64 // of a group: its clock; of others: the remaining time
	takes  int64 // with timeout_ms: the duration in this run
	from   int64 // when it began
	to     int64 // when it was over
}

// performance is the result of a simulation.
type performance struct {
	root     *part
	now      int64
	waits    []string // an action waits for another of its class, in order
	blockers []*part  // for each of waits, the other action
	patient  []*part  // exclusive actions that wait for their group
	everWait bool     // an exclusive action has waited for some time
	overtook []string
	met      bool // two actions of a class started in the same instant, one without duration
	instants map[Class]int64
}

func newPart(x Action, name string, parent *part, takes func(*Action) int64) *part {
	p := &part{Action: x, name: name, parent: parent, alone: MethodOf(x) == MethodExclusive}
	if x.TimeoutMS != nil {
		p.takes = takes(&x)
	}
	for i, k := range x.Inner() {
		p.kids = append(p.kids, newPart(k, fmt.Sprintf("%s/%d", name, i), p, takes))
	}
	return p
}

// perform simulates an act to its end. takes returns the duration of an action with
// timeout_ms.
func perform(list []Action, takes func(*Action) int64) *performance {
	r := &performance{instants: map[Class]int64{}}
	r.root = newPart(Action{Do: Group{Actions: list}}, "", nil, takes)
	r.root.begun = true
	for ; r.now < 100_000; r.now++ {
		for again := true; again; {
			r.finish(r.root)
			again = r.begin(r.root)
		}
		if r.root.over {
			return r
		}
		for _, x := range r.patient {
			r.everWait = r.everWait || !x.begun && !x.parent.frozen()
		}
		r.pass(r.root)
	}
	panic("the act never ends")
}

func (p *part) performs() bool { return p.begun && !p.over }

// frozen reports whether the clock of a group is stopped.
func (p *part) frozen() bool {
	for _, k := range p.kids {
		if k.alone && k.performs() {
			return true
		}
	}
	return false
}

func (r *performance) finish(p *part) {
	done := p.performs()
	for _, k := range p.kids {
		r.finish(k)
		done = done && k.over
	}
	switch {
	case p.Type() == TypeGroup:
		p.over = p.over || done
	case p.performs() && p.clock <= 0:
		p.over, p.to = true, r.now
	}
}

// begin starts the actions that are due, in the order of the act.
func (r *performance) begin(g *part) (changed bool) {
	for _, k := range g.kids {
		if !g.performs() || g.frozen() && !k.performs() {
			continue
		}
		if k.begun {
			changed = r.begin(k) || changed
			continue
		}
		if k.StartMS > g.clock || r.inTheWay(g, k) {
			continue
		}
		changed, k.begun, k.from, k.to = true, true, r.now, r.now
		for _, x := range r.patient {
			if x.parent == g && !x.begun && !k.alone && r.lasts(k) {
				r.overtook = append(r.overtook, fmt.Sprintf("%s overtakes %s at %d", k.name, x.name, r.now))
			}
		}
		switch {
		case k.EndMS != nil:
			k.clock = *k.EndMS - k.StartMS
		case k.TimeoutMS != nil:
			k.clock = k.takes
		}
		if k.Type() != TypeGroup {
			row, _ := RowOf(k.Type())
			if at, ok := r.instants[row.Class]; ok && at == r.now && !row.Shares() {
				r.met = true
			}
			if k.clock == 0 && k.TimeoutMS == nil {
				r.instants[row.Class] = r.now
			}
			if k.clock == 0 {
				k.over = true
			}
		}
	}
	return changed
}

// lasts reports whether k can have a duration.
func (r *performance) lasts(k *part) bool {
	if k.Type() != TypeGroup {
		return k.EndMS != nil || k.TimeoutMS != nil
	}
	_, most := Act{Actions: k.Inner()}.Lasts()
	return most > 0
}

func (r *performance) inTheWay(g, k *part) bool {
	if k.alone {
		for _, other := range g.kids {
			if other.performs() {
				r.patient = append(r.patient, k)
				return true
			}
		}
	}
	row, _ := RowOf(k.Type())
	if k.Type() == TypeGroup || row.Shares() {
		return false
	}
	if other := find(r.root, func(p *part) bool { return p.Type() == k.Type() && p.performs() }); other != nil {
		r.waits = append(r.waits, fmt.Sprintf("%s waits for %s at %d", k.name, other.name, r.now))
		r.blockers = append(r.blockers, other)
		return true
	}
	return false
}

func find(p *part, is func(*part) bool) *part {
	if is(p) {
		return p
	}
	for _, k := range p.kids {
		if found := find(k, is); found != nil {
			return found
		}
	}
	return nil
}

// pass advances the simulation by one millisecond.
func (r *performance) pass(p *part) {
	if !p.performs() {
		return
	}
	if p.Type() != TypeGroup {
		p.clock--
		return
	}
	if !p.frozen() {
		p.clock++
	}
	for _, k := range p.kids {
		r.pass(k)
	}
}

// drawList draws a sorted list of actions that are valid except for their times.
func drawList(t *rapid.T, depth int, open bool) []Action {
	var list []Action
	start := int64(0)
	for range rapid.IntRange(1, 5).Draw(t, "n") {
		start += rapid.Int64Range(0, 10).Draw(t, "gap")
		x := Action{StartMS: start}
		length := rapid.Int64Range(1, 12).Draw(t, "length")
		types := []ActionType{TypeFace, TypeLED, TypeWait, TypeHead}
		if depth < 3 {
			types = append(types, TypeGroup, TypeGroup)
		}
		if open {
			types = append(types, TypeSay, TypeGoto)
		}
		row, _ := RowOf(rapid.SampledFrom(types).Draw(t, "type"))
		switch x.Do = row.Do; row.Type {
		case TypeFace:
			x.Do = Face{"smile"}
		case TypeLED:
			x.Do = LED{Colour: "#ffffff"}
		case TypeHead:
			x.Do = Head{Axes: Axes{YawRad: new(float64)}}
		case TypeSay:
			x.Do = Say{Text: Text{"en": "hello"}}
		case TypeGoto:
			x.Do = Goto{Point: "desk"}
		case TypeGroup:
			x.Do = Group{drawList(t, depth+1, open)}
		}
		switch {
		case row.Type == TypeGroup:
		case row.AtOnce && rapid.Bool().Draw(t, "at once"):
		case row.Timeout && open && rapid.Bool().Draw(t, "until done"):
			x.TimeoutMS = ms(length)
		default:
			x.EndMS = ms(start + length)
		}
		if rapid.IntRange(0, 3).Draw(t, "alone") == 0 {
			x.Method = MethodExclusive
		}
		list = append(list, x)
	}
	return list
}

func TestValidActsWithFixedTimesNeverWait(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			a := Act{ID: "a", Actions: drawList(t, 0, false)}
			errs := schema.Errors(ValidateAct(a))
			r := perform(a.Actions, nil)
			least, most := a.Lasts()
			switch {
			case len(errs) > 0 && len(r.waits) == 0 && !r.everWait && !r.met:
				t.Fatalf("refused %q, but no action waits", errs)
			case len(errs) > 0:
				refused++
			case len(r.waits) > 0 || r.everWait:
				t.Fatalf("valid, but %q (an exclusive action waited: %v)\n%+v", r.waits, r.everWait, a.Actions)
			case r.now != least || r.now != most || r.now != a.DurationMS():
				t.Fatalf("took %d ms, expected %d to %d, guessed %d", r.now, least, most, a.DurationMS())
			default:
				taken++
			}
		}
	})
	if taken < 100 || refused < 100 {
		t.Errorf("%d acts were valid and %d invalid: too few for this test", taken, refused)
	}
}

func TestFirstWaitIsForActionWithTimeout(t *testing.T) {
	taken, waited, patient := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 80 {
			a := Act{ID: "a", Actions: drawList(t, 0, true)}
			if len(schema.Errors(ValidateAct(a))) > 0 {
				continue
			}
			taken++
			r := perform(a.Actions, func(x *Action) int64 { return rapid.Int64Range(0, *x.TimeoutMS).Draw(t, "takes") })
			if len(r.waits) > 0 {
				waited++
				if r.blockers[0].TimeoutMS == nil {
					t.Fatalf("valid, but %s, which has fixed times\n%+v", r.waits[0], a.Actions)
				}
				continue // all later actions are late too
			}
			if r.everWait {
				patient++
			}
			if len(r.overtook) > 0 {
				t.Fatalf("valid, but %s\n%+v", r.overtook[0], a.Actions)
			}
			if least, most := a.Lasts(); r.now < least || r.now > most {
				t.Fatalf("took %d ms, expected %d to %d\n%+v", r.now, least, most, a.Actions)
			}
		}
	})
	if taken < 100 || waited == 0 || patient == 0 { // about 45 and 100; a fifth of that with -short
		t.Errorf("of %d valid acts, an action waited for its class in %d and an exclusive one in %d: too few for this test", taken,
			waited, patient)
	}
}
