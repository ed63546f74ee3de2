package score

import (
	"fmt"
	"slices"
)

// window is when something happens, or how long it takes, in milliseconds: at
// least lo and at most hi, whatever its units do.
type window struct{ lo, hi int64 }

func (w window) plus(v window) window { return window{w.lo + v.lo, w.hi + v.hi} }
func (w window) fixed() bool          { return w.lo == w.hi }

// moment is one action on a clock. What ends by timeout_ms has no length here:
// whoever comes after it waits for it, and that fails nothing.
type moment struct {
	pointer string
	row     ActionRow
	start   window
	length  int64
}

// child is one member of a group, measured from its own start.
type child struct {
	pointer string
	action  *Action
	alone   bool // exclusive
	length  window
	moments []moment
	busy    int64 // an exclusive one: when, on its group's clock, all before it are over
}

// timeline refuses an act in which actions of fixed times meet. The clocks are
// these: a group's runs from its start, but stands while an exclusive child of
// the group performs; an exclusive child that is due while others of its group
// perform waits, and the clock goes on.
//
// What it accepts keeps three promises. An act without timeout_ms never waits.
// The first action that has to wait for another of its class waits for one with
// timeout_ms (all after it may then be late, too). Until then nothing that lasts
// overtakes an exclusive action that waits.
func (c *checks) timeline(a Act) {
	length, _ := c.layOut("", a.Actions)
	if length.hi > MaxActMS {
		c.add("/actions", CodeTooLong, fmt.Sprintf("the act may take %d s, over one hour", length.hi/1000), "split it in two, or allow less with timeout_ms")
	}
	if length.hi == 0 && c.errors == 0 {
		c.warn("/actions", CodeZeroLength, "nothing in the act lasts", "add a wait, or put its actions into another act")
	}
}

// Lasts returns how long a performs without pauses: at least and at most, in
// milliseconds, if nobody has to wait for another of its class.
func (a Act) Lasts() (least, most int64) {
	length, _ := (*checks)(nil).layOut("", a.Actions)
	return length.lo, length.hi
}

// layOut judges one list of actions on its own clock. It returns how long the
// list takes and all that happens in it, counted from its start. Without checks
// it only measures.
func (c *checks) layOut(base string, list []Action) (window, []moment) {
	if len(list) == 0 {
		row, _ := RowOf(TypeGroup)
		return window{}, []moment{{pointer: base, row: row}}
	}
	children := make([]child, len(list))
	for i := range list {
		children[i] = c.measure(at(base+"/actions", i), &list[i])
	}
	for i := range children {
		if children[i].alone {
			children[i].busy = busyUntil(children, i)
		}
		switch {
		case c == nil:
		case children[i].alone:
			c.alone(children, i)
		default:
			c.beside(children, i)
		}
	}
	var length window
	var all []moment
	for i := range children {
		start := begins(children, i)
		end := start.plus(children[i].length)
		length = window{max(length.lo, end.lo), max(length.hi, end.hi)}
		for _, m := range children[i].moments {
			m.start = m.start.plus(start)
			all = append(all, m)
		}
	}
	return length, all
}

func (c *checks) measure(p string, x *Action) child {
	ch := child{pointer: p, action: x, alone: MethodOf(*x) == MethodExclusive}
	if x.Type == TypeGroup {
		ch.length, ch.moments = c.layOut(p, x.Actions)
		return ch
	}
	row, _ := RowOf(x.Type)
	m := moment{pointer: p, row: row}
	switch {
	case x.EndMS != nil:
		m.length = *x.EndMS - x.StartMS
		ch.length = window{m.length, m.length}
	case x.TimeoutMS != nil:
		ch.length = window{0, *x.TimeoutMS}
	}
	ch.moments = []moment{m}
	return ch
}

// alone judges an exclusive child. Among equal starts the order of the list
// counts: what stands before it goes first, what stands after it waits.
func (c *checks) alone(children []child, i int) {
	x := &children[i]
	start := x.action.StartMS
	for _, other := range children[:i] {
		if !other.alone && other.action.StartMS+other.length.lo > start {
			c.add(at(x.pointer, "start_ms"), CodeOverlap, fmt.Sprintf("is exclusive, but %s of its group still performs at %d ms", other.pointer, start),
				"start it when that is over, or leave exclusive out")
			return
		}
	}
	brush := slices.ContainsFunc(children[:i], func(other child) bool { return other.brushes(x.busy) })
	for _, other := range children[i+1:] {
		begin := other.action.StartMS
		if !other.alone && other.length.hi > 0 && (begin < x.busy || begin == x.busy && brush) {
			c.add(at(x.pointer, "start_ms"), CodeStarvation,
				fmt.Sprintf("is exclusive and may have to wait until %d ms for those before it; %s starts at %d ms and would overtake it", x.busy, other.pointer, other.action.StartMS),
				"make the one it waits for exclusive too, or start the other later")
			return
		}
	}
}

// busyUntil returns when, on the clock of its group, all before child i are over
// at the latest, and at the earliest its own start.
func busyUntil(children []child, i int) int64 {
	busy := children[i].action.StartMS
	for _, other := range children[:i] {
		if !other.alone {
			busy = max(busy, other.action.StartMS+other.length.hi)
		}
	}
	return busy
}

// brushes reports whether a group may have something to do at once in the
// instant t: it is not over before that is done.
func (ch *child) brushes(t int64) bool {
	if ch.action.Type != TypeGroup || ch.alone {
		return false
	}
	t -= ch.action.StartMS
	for _, m := range ch.moments {
		if m.length == 0 && m.start.lo <= t && t <= m.start.hi {
			return true
		}
	}
	return false
}

// beside judges a child that shares its group's clock with those before it. The
// clock stands only while none of them performs, so that what happens in two of
// them compares by it.
func (c *checks) beside(children []child, i int) {
	for _, m := range children[i].moments {
		m.start = m.start.plus(window{children[i].action.StartMS, children[i].action.StartMS})
		if with, ok := meets(children, i, m); ok {
			kind := "at the same time as"
			if !m.start.fixed() || !with.start.fixed() {
				kind = "perhaps at the same time as"
			}
			c.add(at(m.pointer, "start_ms"), CodeOverlap, fmt.Sprintf("%s would perform %s %s, which lasts until %d ms", m.row.Type, kind, with.pointer, with.start.hi+with.length),
				"one unit does one thing at a time: move one of the two")
		}
	}
}

// meets finds the first of what happens in the children before i that m, which
// happens in i, would meet.
func meets(children []child, i int, m moment) (moment, bool) {
	if m.row.Shares() {
		return moment{}, false
	}
	for j := i - 1; j >= 0; j-- {
		other, clock := &children[j], children[j].action.StartMS
		if other.alone {
			// The clock stood for it: whatever was to happen until now is over.
			if clock == children[i].action.StartMS && other.length.hi > 0 {
				return moment{}, false
			}
			continue
		}
		for _, o := range other.moments {
			o.start = o.start.plus(window{clock, clock})
			if o.row.Class == m.row.Class && o.collides(m) {
				return o, true
			}
		}
	}
	return moment{}, false
}

// collides reports whether two may meet. A duration holds its start and not its
// end: back to back is well. Two that only happen meet if it is sure to be at
// once.
func (a moment) collides(b moment) bool {
	if a.length == 0 && b.length == 0 {
		return a.start == b.start && a.start.fixed()
	}
	return a.start.lo < b.start.hi+max(b.length, 1) && b.start.lo < a.start.hi+max(a.length, 1)
}

// begins returns when a child starts, in time since its group's start: its time
// on the clock, and what the clock stood for exclusive ones before it.
func begins(children []child, i int) window {
	x := &children[i]
	start := window{x.action.StartMS, x.action.StartMS}
	if x.alone {
		start.hi = x.busy
	}
	for _, before := range children[:i] {
		if !before.alone {
			continue
		}
		start.hi += before.length.hi
		// One that still waits lets others pass, but never another exclusive one.
		if x.alone || before.busy <= x.action.StartMS {
			start.lo += before.length.lo
		}
	}
	return start
}
