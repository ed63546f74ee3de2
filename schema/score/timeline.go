package score

import (
	"fmt"
	"slices"
)

// window is a time or a duration in milliseconds: at least lo and at most hi, depending on
// how long the units take.
type window struct{ lo, hi int64 }

func (w window) plus(v window) window { return window{w.lo + v.lo, w.hi + v.hi} }
func (w window) fixed() bool          { return w.lo == w.hi }

// moment is one action on a clock. An action with timeout_ms has length 0 here, because
// later actions wait for its end, which is no error.
type moment struct {
	pointer string
	row     ActionRow
	unit    string // as the action names it
	start   window
	length  int64
}

// child is one member of a group, with times since its own start.
type child struct {
	pointer string
	action  *Action
	alone   bool // exclusive
	length  window
	moments []moment
	busy    int64 // if alone: when, on the group's clock, all previous actions are over
}

// checkOverlaps refuses an act in which actions with fixed times overlap on one unit. Whether an
// action that names no unit and one that names a unit meet on the same one depends on the
// robot: Fit decides that. Each group has a
// clock that runs from its start and stops while an exclusive child of the group runs. An
// exclusive child that is due while others of its group run waits, and the clock goes on.
//
// An accepted act has three properties. Without timeout_ms no action waits. The first
// action that has to wait for another of its class waits for one with timeout_ms (all later
// ones may then be late too; for a head and a motion see warnAboutWaits). Until then, no action
// with a duration overtakes a waiting exclusive action.
func (c *checks) checkOverlaps(a Act) {
	length, _ := c.layOut("", a.Actions)
	if length.hi > MaxActMS {
		c.add("/actions", CodeTooLong, fmt.Sprintf("the act may take %d s, over one hour", length.hi/1000),
			"split it in two, or allow less with timeout_ms")
	}
	if length.hi == 0 && c.errors == 0 {
		c.warn("/actions", CodeZeroLength, "nothing in the act lasts",
			"add {type: wait, start_ms: 0, end_ms: 2000}, or put its actions into another act")
	}
}

// Lasts returns the shortest and the longest duration of a without pauses, in
// milliseconds, if no action has to wait for another of its class.
func (a Act) Lasts() (least, most int64) {
	length, _ := (*checks)(nil).layOut("", a.Actions)
	return length.lo, length.hi
}

// layOut checks one list of actions on its own clock. It returns the duration of the list
// and its moments, with times since its start. If c is nil, it only measures.
func (c *checks) layOut(base string, list []Action) (window, []moment) {
	if len(list) == 0 {
		row, _ := RowOf(TypeGroup)
		return window{}, []moment{{pointer: base, row: row}}
	}
	children := make([]child, 0, len(list))
	for _, i := range inOrder(list) {
		children = append(children, c.measure(at(base+"/actions", i), &list[i]))
	}
	for i := range children {
		if children[i].alone {
			children[i].busy = busyUntil(children, i)
		}
		switch {
		case c == nil:
		case children[i].alone:
			c.checkExclusive(children, i)
		default:
			c.checkShared(children, i)
		}
	}
	var length window
	var all []moment
	for i := range children {
		start := startOf(children, i)
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
	if g, ok := x.Do.(Group); ok {
		ch.length, ch.moments = c.layOut(p, g.Actions)
		return ch
	}
	row, _ := RowOf(x.Type())
	m := moment{pointer: p, row: row, unit: x.Unit}
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

// checkExclusive checks an exclusive child. Actions with equal starts run in the order of the list:
// those before it run first, those after it wait.
func (c *checks) checkExclusive(children []child, i int) {
	x := &children[i]
	start := x.action.StartMS
	report := c.add
	if c.defers {
		report = c.warn
	}
	for _, other := range children[:i] {
		if !other.alone && other.action.StartMS+other.length.lo > start {
			report(at(x.pointer, "start_ms"), CodeOverlap, fmt.Sprintf("is exclusive, but %s of its group still performs at %d ms",
				other.pointer, start),
				"start it when that is over, or leave exclusive out")
			return
		}
	}
	instant := slices.ContainsFunc(children[:i], func(other child) bool { return other.hasInstantAt(x.busy) })
	for _, other := range children[i+1:] {
		begin := other.action.StartMS
		if !other.alone && other.length.hi > 0 && (begin < x.busy || begin == x.busy && instant) {
			report(at(x.pointer, "start_ms"), CodeStarvation,
				fmt.Sprintf("is exclusive and may have to wait until %d ms for those before it; %s starts at %d ms and would overtake it", x.busy,
					other.pointer, other.action.StartMS),
				"make the one it waits for exclusive too, or start the other later")
			return
		}
	}
}

// busyUntil returns the latest time, on the clock of the group, at which all children
// before i are over; at least the start of i.
func busyUntil(children []child, i int) int64 {
	busy := children[i].action.StartMS
	for _, other := range children[:i] {
		if !other.alone {
			busy = max(busy, other.action.StartMS+other.length.hi)
		}
	}
	return busy
}

// hasInstantAt reports whether a group may have an action without duration at time t, so that
// it is not over before t.
func (ch *child) hasInstantAt(t int64) bool {
	if ch.action.Type() != TypeGroup || ch.alone {
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

// checkShared checks a child that is not exclusive against the children before it. The clock of
// the group stops only while none of them runs, so their times are comparable.
func (c *checks) checkShared(children []child, i int) {
	for _, m := range children[i].moments {
		m.start = m.start.plus(window{children[i].action.StartMS, children[i].action.StartMS})
		if with, ok := firstOverlap(children, i, m); ok {
			kind := "at the same time as"
			if !m.start.fixed() || !with.start.fixed() {
				kind = "perhaps at the same time as"
			}
			hint := "one unit does one thing at a time: move one of the two"
			if m.unit == "" && m.row.Type != with.row.Type {
				hint += ", or, if two units perform them, name the unit of each"
			}
			c.add(at(m.pointer, "start_ms"), CodeOverlap, fmt.Sprintf("%s would perform %s %s, which lasts until %d ms", m.row.Type, kind,
				with.pointer, with.start.hi+with.length),
				hint)
		}
	}
}

// firstOverlap returns a moment of the children before i that overlaps m, a moment of child i.
func firstOverlap(children []child, i int, m moment) (moment, bool) {
	if m.row.Shares() {
		return moment{}, false
	}
	for j := i - 1; j >= 0; j-- {
		other, clock := &children[j], children[j].action.StartMS
		if other.alone {
			// The clock stopped for it, so all earlier actions are over.
			if clock == children[i].action.StartMS && other.length.hi > 0 {
				return moment{}, false
			}
			continue
		}
		for _, o := range other.moments {
			o.start = o.start.plus(window{clock, clock})
			if o.row.Class == m.row.Class && o.unit == m.unit && o.overlaps(m) {
				return o, true
			}
		}
	}
	return moment{}, false
}

// overlaps reports whether two moments may overlap. A duration includes its start but not
// its end, so back-to-back actions do not overlap. Two moments without duration overlap
// only if they certainly have the same time.
func (a moment) overlaps(b moment) bool {
	if a.length == 0 && b.length == 0 {
		return a.start == b.start && a.start.fixed()
	}
	return a.start.lo < b.start.hi+max(b.length, 1) && b.start.lo < a.start.hi+max(a.length, 1)
}

// startOf returns the start of a child in real time since the start of its group: its time
// on the clock plus the time for which exclusive children before it stop the clock.
func startOf(children []child, i int) window {
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
		// While an exclusive child waits, others may start, but no other exclusive one.
		if x.alone || before.busy <= x.action.StartMS {
			start.lo += before.length.lo
		}
	}
	return start
}
