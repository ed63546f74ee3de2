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
	instant     span = iota // as soon as it is started
	fixed                   // after its duration
	untilReport             // when the unit reports, or at the timeout
	detached                // as soon as it is started, for the clock of the act; its unit goes on
	untilEmpty              // a group: when all its children have ended
)

// node is one action or group of a compiled act. Parents come before their
// children, and children are in the order of their start.
type node struct {
	do             *score.Action
	id             string
	parent         int // index; the root's is -1
	children       int
	unit           int // index, none for groups and waits
	row            score.ActionRow
	exclusive      bool
	shares         bool // may run together with others of its class
	span           span
	start          time.Duration
	length         time.Duration // fixed: the duration; untilReport: the timeout
	rest           time.Duration // fixed: how long before its end its unit is stopped
	resume         score.OnResume
	text           string
	choices        []string // texts of the choices
	failsOnTimeout bool     // its timeout fails the act
}

const none = -1

// competes reports whether two nodes need the same unit for themselves.
func (n *node) competes(with *node) bool { return n.unit == with.unit && n.row.Competes(with.row) }

// performance is one queued or current entry: the compiled act, which does not
// change, and the state of each node.
type performance struct {
	Entry
	nodes         []node
	runs          []run
	elapsed       time.Duration // performed, without pauses
	sinceComplete time.Duration // since the root group completed
}

// run is the state of one node.
type run struct {
	stage   Stage
	elapsed time.Duration // executing time; for a group its clock
	waited  time.Duration // deferred or suspended
	warned  bool

	key          uint64 // of the command on the unit, 0 = none
	tick         uint64 // in which it was started
	stopNextTick bool   // complete, but its unit is stopped only with the next tick

	report   report
	reportIn time.Duration // time of the report, relative to lane.at
	reason   schema.Reason
	detail   string

	unfinished int  // children of a group that have not ended
	active     int  // children that are executing or suspended
	frozen     bool // an exclusive child executes
}

type report uint8

const (
	noReport report = iota
	succeeded
	failed
)

// compile prepares an entry for performing, or returns why this robot cannot
// perform it.
func (x *Executor) compile(e Entry) (*performance, *Refusal) {
	if e.Act == nil {
		return nil, &Refusal{Reason: schema.ReasonBadRequest, Detail: "there is no act to perform"}
	}
	p := &performance{Entry: e}
	root := &score.Action{Method: e.Act.Method, Do: score.Group{Actions: e.Act.Actions}}
	if r := x.layOut(p, root, none, "", texts(e)); r != nil {
		return nil, r
	}
	p.runs = make([]run, len(p.nodes))
	for i := range p.runs {
		p.runs[i].stage, p.runs[i].unfinished = Pending, p.nodes[i].children
	}
	return p, nil
}

// texts returns a replacer for the act's parameters in texts.
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

func (x *Executor) layOut(p *performance, a *score.Action, parent int, pointer string, texts *strings.Replacer) *Refusal {
	n, r := x.newNode(a, pointer)
	if r != nil {
		return r
	}
	n.parent = parent
	if text := a.Text(); len(text) > 0 {
		n.text = texts.Replace(text.In(p.Languages...))
	}
	for _, choice := range a.Choices() {
		n.choices = append(n.choices, texts.Replace(choice.Text.In(p.Languages...)))
	}
	if p.OnResume != "" {
		n.resume = p.OnResume
	}
	at := len(p.nodes)
	p.nodes = append(p.nodes, n)
	if n.span != untilEmpty {
		return nil
	}
	inner := a.Inner()
	order := make([]int, len(inner))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(inner[i].StartMS, inner[j].StartMS) })
	for _, i := range order {
		if r := x.layOut(p, &inner[i], at, fmt.Sprintf("%s/actions/%d", pointer, i), texts); r != nil {
			return r
		}
	}
	p.nodes[at].children = len(order)
	return nil
}

// newNode compiles one action. The table of actions in package score defines its
// meaning; its values are checked by the validator and the unit.
func (x *Executor) newNode(a *score.Action, pointer string) (node, *Refusal) {
	refuse := func(at string, why schema.Reason, format string, args ...any) (node, *Refusal) {
		return node{}, &Refusal{Reason: why, Pointer: pointer + at, Detail: fmt.Sprintf(format, args...)}
	}
	row, known := score.RowOf(a.Type())
	if !known {
		return refuse("/type", schema.ReasonBadRequest, "there is no action of type %q", a.Type())
	}
	if nested, ok := a.Do.(score.PerformAct); ok {
		return refuse("", schema.ReasonInternal, "the actions of the act %s are missing here", nested.Act)
	}
	n := node{
		do: a, id: cmp.Or(a.ID, strings.TrimPrefix(pointer, "/")), unit: none, row: row,
		start: milliseconds(a.StartMS), resume: score.OnResumeOf(*a),
		exclusive: a.Method == score.MethodExclusive,
		shares:    a.Method == score.MethodMultiple || a.Method != score.MethodNoSameType && row.Shares(),
	}
	switch {
	case row.Type == score.TypeGroup:
		n.span = untilEmpty
		if a.EndMS != nil || a.TimeoutMS != nil {
			return refuse("", schema.ReasonBadRequest, "a group ends when its actions have ended; it has neither end_ms nor timeout_ms")
		}
	case a.EndMS != nil:
		n.span, n.length = fixed, max(0, milliseconds(*a.EndMS-a.StartMS))
	case a.TimeoutMS != nil:
		// After a motion that timed out the robot is not where the act expects it,
		// so the act fails; after a sentence or a turn of the head it can go on.
		n.span, n.length, n.failsOnTimeout = untilReport, milliseconds(*a.TimeoutMS), row.Class == score.ClassBody
	case row.AtOnce, !row.NeedsUnit():
		n.span = instant
	default:
		n.span = detached
	}
	if !row.NeedsUnit() {
		return n, nil
	}
	body, found := a.Performer(x.body)
	listed, _ := a.Do.(score.Motion)
	switch {
	case found:
	case a.Unit != "":
		return refuse("/unit", schema.ReasonBadRequest, "this robot has no %s %q", cmp.Or(string(row.Unit), "unit for "+listed.Motion), a.Unit)
	default:
		return refuse("/type", schema.ReasonBadRequest, "this robot has no %s", cmp.Or(string(row.Unit), "motion "+listed.Motion))
	}
	n.unit = slices.IndexFunc(x.units, func(u unit) bool { return u.id == body.ID })
	n.rest = milliseconds(row.RestMS)
	return n, nil
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
