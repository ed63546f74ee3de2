package act

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// span is what ends an action.
type span uint8

const (
	instant span = iota // complete as soon as it is told
	fixed               // after its duration
	open                // when the unit reports, or at the time-out
	loose               // complete for the act's time as soon as it is told, but the unit goes on
	whole               // a group: when it is empty
)

// node is one action or group of a compiled act. Parents stand before their
// children and children in the order of their start.
type node struct {
	do        *score.Action
	id        string
	parent    int // index; the root's is -1
	kids      int
	unit      int // index, none for groups and waits
	class     score.Class
	exclusive bool
	shares    bool // may run beside others of its class
	span      span
	start     time.Duration
	length    time.Duration // fixed: how long; open: at most so long
	resume    score.OnResume
	text      string
	fails     bool // its time-out fails the act
}

const none = -1

// performance is one entry that is performed or waits: the compiled act, which
// does not change, and where each of its nodes stands.
type performance struct {
	Entry
	nodes   []node
	runs    []run
	elapsed time.Duration // performed, pauses left out
	over    time.Duration // since the root group is complete
}

// run is where one node stands.
type run struct {
	stage  Stage
	ran    time.Duration // executing time; of a group its clock
	waited time.Duration // deferred or held
	warned bool

	key   uint64 // of the command at the unit, 0 = none
	tick  uint64 // in which it was told
	stays bool   // complete, but its unit is told with the next tick only

	report report
	doneIn time.Duration // the report came so long after the lane's instant
	reason schema.Reason
	detail string

	left   int  // a group's children that are not over
	active int  // of these, executing or held
	frozen bool // an exclusive child executes
}

type report uint8

const (
	nothing report = iota
	succeeded
	broken
)

// compile lays an entry out for performing, or says why this robot cannot.
func (x *Executor) compile(e Entry) (*performance, *Refusal) {
	if e.Act == nil {
		return nil, &Refusal{Reason: schema.ReasonBadRequest, Detail: "there is no act to perform"}
	}
	p := &performance{Entry: e}
	root := &score.Action{Type: score.TypeGroup, Method: e.Act.Method, Actions: e.Act.Actions}
	if r := x.lay(p, root, none, "", texts(e)); r != nil {
		return nil, r
	}
	p.runs = make([]run, len(p.nodes))
	for i := range p.runs {
		p.runs[i].stage, p.runs[i].left = Pending, p.nodes[i].kids
	}
	return p, nil
}

// texts replaces the parameters of an act in what it says.
func texts(e Entry) *strings.Replacer {
	pairs := make([]string, 0, 2*len(e.Act.Parameters))
	for name, p := range e.Act.Parameters {
		value, given := e.With[name]
		if !given {
			value = p.Default
		}
		pairs = append(pairs, "${"+name+"}", value)
	}
	return strings.NewReplacer(pairs...)
}

func (x *Executor) lay(p *performance, a *score.Action, parent int, pointer string, texts *strings.Replacer) *Refusal {
	n, r := x.node(a, pointer)
	if r != nil {
		return r
	}
	n.parent = parent
	if len(a.Text) > 0 {
		n.text = texts.Replace(a.Text.In(p.Languages...))
	}
	if p.OnResume != "" {
		n.resume = p.OnResume
	}
	at := len(p.nodes)
	p.nodes = append(p.nodes, n)
	if n.span != whole {
		return nil
	}
	order := make([]int, len(a.Actions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.Actions[i].StartMS, a.Actions[j].StartMS) })
	for _, i := range order {
		if r := x.lay(p, &a.Actions[i], at, fmt.Sprintf("%s/actions/%d", pointer, i), texts); r != nil {
			return r
		}
	}
	p.nodes[at].kids = len(order)
	return nil
}

// node reads one action. Everything about its meaning comes from the action
// table; values are the validator's business and the unit's.
func (x *Executor) node(a *score.Action, pointer string) (node, *Refusal) {
	refuse := func(at string, why schema.Reason, format string, args ...any) (node, *Refusal) {
		return node{}, &Refusal{Reason: why, Pointer: pointer + at, Detail: fmt.Sprintf(format, args...)}
	}
	row, known := score.RowOf(a.Type)
	if !known {
		return refuse("/type", schema.ReasonBadRequest, "there is no action of type %q", a.Type)
	}
	n := node{
		do: a, id: cmp.Or(a.ID, strings.TrimPrefix(pointer, "/")), unit: none, class: row.Class,
		start: milliseconds(a.StartMS), resume: score.OnResumeOf(*a),
		exclusive: a.Method == score.MethodExclusive,
		shares:    a.Method == score.MethodMultiple || a.Method != score.MethodNoSameType && row.Shares(),
	}
	switch {
	case a.Type == score.TypeGroup:
		n.span = whole
		if a.EndMS != nil || a.TimeoutMS != nil {
			return refuse("", schema.ReasonBadRequest, "a group ends when it is empty, not at a time")
		}
	case a.EndMS != nil:
		n.span, n.length = fixed, max(0, milliseconds(*a.EndMS-a.StartMS))
	case a.TimeoutMS != nil:
		// A robot that is not where the act believes it to be cannot go on with
		// it; a sentence or a turn of the head that is cut off spoils nothing.
		n.span, n.length, n.fails = open, milliseconds(*a.TimeoutMS), row.Class == score.ClassBody
	case row.AtOnce, row.Unit == "":
		n.span = instant
	default:
		n.span = loose
	}
	if row.Unit == "" {
		return n, nil
	}
	if n.unit = slices.IndexFunc(x.units, func(u unit) bool { return u.kind == row.Unit }); n.unit == none {
		return refuse("/type", schema.ReasonBadRequest, "this robot has no %s", row.Unit)
	}
	return n, nil
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
