package act

import (
	"troupe/schema"
	"troupe/schema/score"
)

// start starts or resumes one node.
func (x *Executor) start(li, i int) {
	l := &x.lanes[li]
	p := l.current
	n, r := &p.nodes[i], &p.runs[i]
	parent := &p.runs[n.parent]
	fresh := r.stage != Suspended
	r.stage = r.stage.next(Begin)
	r.waited, r.warned = 0, false
	if fresh || n.resume == score.ResumeRestart {
		r.elapsed = 0
	}
	switch {
	case fresh && n.span == detached:
		parent.unfinished--
	case fresh:
		parent.active++
		parent.frozen = n.exclusive
	}
	if n.unit != none && !n.restsAfter(r.elapsed) {
		x.claim(li, n.unit, n.span == instant)
		for j := range p.runs {
			if p.runs[j].stopNextTick && n.competes(&p.nodes[j]) {
				x.stop(l, p, j)
			}
		}
		x.key++
		r.key, r.tick = x.key, x.tick
		x.emit(l, p, Effect{Kind: Start, Action: n.id, Key: r.key, Unit: x.units[n.unit].id, Do: n.do, Text: n.text, Choices: n.choices,
			From: r.elapsed, Holds: n.span != instant})
	}
	if n.span == instant {
		x.finish(p, i, Finish)
	}
}

// finish completes one node. If an action with a fixed duration started in this
// same tick, its unit is stopped with the next one.
func (x *Executor) finish(p *performance, i int, on Event) {
	n, r := &p.nodes[i], &p.runs[i]
	wasSuspended := r.stage == Suspended
	r.stage = r.stage.next(on)
	if n.parent != none && n.span != detached {
		parent := &p.runs[n.parent]
		parent.unfinished--
		parent.active--
		if n.exclusive {
			parent.frozen = false
		}
	}
	switch {
	case r.key == 0 || wasSuspended || n.span == instant: // the unit may still report that an instant command failed
	case n.span == fixed && r.tick == x.tick:
		r.stopNextTick = true
	default:
		x.stop(x.laneOf(p), p, i)
	}
}

// fail ends the act of a lane because one of its actions failed.
func (x *Executor) fail(l *lane, i int, why schema.Reason, detail string) {
	p := l.current
	for j := range p.runs {
		switch s := p.runs[j].stage; {
		case j == i:
			p.runs[j].stage = s.next(Fail)
		case s == Pending || s == Deferred || s == Executing || s == Suspended:
			p.runs[j].stage = s.next(Cancel)
		}
	}
	x.end(l, Effect{Action: p.nodes[i].id, Outcome: EntryFailed, Reason: why, Detail: detail})
}

// end stops all units of the current entry and reports how it ended.
func (x *Executor) end(l *lane, o Effect) {
	p := l.current
	for i := range p.runs {
		if p.runs[i].key != 0 {
			x.stop(l, p, i)
		}
	}
	o.Kind, o.Begun, o.Lasted = Ended, !l.Single, p.elapsed
	x.emit(l, p, o)
	l.current = nil
	if l.finishing {
		l.paused, l.finishing, l.lag = true, false, 0
	}
}

// suspend stops a node's command on its unit; the node's time stands still until
// it is resumed.
func (x *Executor) suspend(p *performance, i int) {
	n, r := &p.nodes[i], &p.runs[i]
	switch {
	case n.unit == none || r.report != noReport:
	case r.stopNextTick:
		x.stop(x.laneOf(p), p, i)
	case r.stage == Executing:
		r.stage, r.waited = r.stage.next(Suspend), 0
		if r.key != 0 {
			x.stop(x.laneOf(p), p, i)
		}
	}
}
