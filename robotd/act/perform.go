package act

import (
	"fmt"
	"math"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// perform brings one lane up to now, from edge to edge.
func (x *Executor) perform(li int, now time.Duration) {
	l := &x.lanes[li]
	if l.paused {
		return
	}
	if l.now == nil {
		if len(l.queue) == 0 {
			return
		}
		l.at = now
		x.take(l)
	}
	if late := now - l.at - x.limits.Late; late > 0 {
		l.at += late
		x.tell(l, l.now, Out{Kind: Warned, Warning: WarnLate, Reason: schema.ReasonTimeout,
			Detail: fmt.Sprintf("stood still for %v as ticks came too late", late)})
	}
	for {
		x.settle(li)
		if l.paused {
			return
		}
		if l.now == nil {
			if len(l.queue) == 0 {
				return
			}
			x.take(l)
			continue
		}
		left := now - l.at
		if left <= 0 {
			return
		}
		d := min(left, x.quiet(l.now))
		x.advance(l.now, d)
		l.at += d
	}
}

// take makes the first of the queue the current entry.
func (x *Executor) take(l *lane) {
	l.now = l.queue[0]
	copy(l.queue, l.queue[1:])
	l.queue[len(l.queue)-1] = nil
	l.queue = l.queue[:len(l.queue)-1]
	l.now.runs[0].stage = l.now.runs[0].stage.next(Begin)
}

// settle takes every edge that is due at the lane's instant.
func (x *Executor) settle(li int) {
	l := &x.lanes[li]
	p := l.now
	for again := true; again; {
		again = x.finishDue(l) && l.now == p
		again = l.now == p && x.startDue(li) || again
		if l.now != p {
			return
		}
	}
	if p.runs[0].stage == Completed && !x.lingers(l, p) {
		x.end(l, Out{Outcome: EntryCompleted})
	}
}

// finishDue ends what is over, children before their groups. It answers whether
// anything changed.
func (x *Executor) finishDue(l *lane) (changed bool) {
	p := l.now
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n, r := &p.nodes[i], &p.runs[i]
		if r.report != nothing && r.doneIn <= 0 {
			if r.report == broken {
				x.fail(l, i, r.reason, r.detail)
				return true
			}
			r.report = nothing
			if r.stage == Executing && n.span != fixed {
				x.finish(p, i, Finish)
				changed = true
			}
		}
		if r.stage != Executing {
			continue
		}
		switch {
		case n.span == whole && r.left == 0, n.span == fixed && r.ran >= n.length:
			x.finish(p, i, Finish)
		case n.span == open && r.report == nothing && r.ran >= n.length:
			if n.fails {
				x.fail(l, i, schema.ReasonTimeout, fmt.Sprintf("not done after %v", n.length))
				return true
			}
			x.finish(p, i, TimeOut)
			x.warn(l, p, i, WarnTimedOut, schema.ReasonTimeout, fmt.Sprintf("cut off after %v", n.length))
		case n.span == loose && p.over >= x.limits.Loose:
			x.finish(p, i, TimeOut)
			x.warn(l, p, i, WarnTimedOut, schema.ReasonTimeout, fmt.Sprintf("still busy %v after its act was through", p.over))
		default:
			continue
		}
		changed = true
	}
	return changed
}

// startDue starts what is due and may, in the order of the act. It answers
// whether anything changed.
func (x *Executor) startDue(li int) (changed bool) {
	l := &x.lanes[li]
	p := l.now
	for i := 1; i < len(p.nodes); i++ {
		n, r := &p.nodes[i], &p.runs[i]
		parent := &p.runs[n.parent]
		switch r.stage {
		case Pending:
			if parent.stage != Executing || parent.frozen || n.start > parent.ran {
				continue
			}
		case Deferred:
			if parent.frozen {
				continue
			}
		case Held:
			if n.resume == score.ResumeSkip {
				x.finish(p, i, Skip)
				x.warn(l, p, i, WarnMissed, "", "was interrupted and is not taken up again")
				changed = true
				continue
			}
		default:
			continue
		}
		way := x.inTheWay(li, i)
		switch {
		case way.fatal:
			x.fail(l, i, way.reason, way.String())
			return true
		case way.what == free:
			x.start(li, i)
			changed = true
		case r.stage == Pending:
			r.stage, r.waited = r.stage.next(Defer), 0
		}
		if way.what != free {
			x.await(l, i, way)
			if l.now != p {
				return true
			}
		}
	}
	return changed
}

// await looks after an action that cannot start: it is warned of when it meets
// one of its class or has waited long; one that waits for its unit or the gate
// fails in the end.
func (x *Executor) await(l *lane, i int, w way) {
	r := &l.now.runs[i]
	if w.what == unitTaken || w.what == gateShut {
		if r.waited >= x.limits.Wait {
			x.fail(l, i, w.reason, fmt.Sprintf("%s for %v", w, r.waited))
			return
		}
	}
	if !r.warned && (w.what == sameClass || r.waited >= x.limits.DeferWarn) {
		r.warned = true
		x.warn(l, l.now, i, WarnDeferred, w.reason, w.String())
	}
}

// start begins or takes up again one node.
func (x *Executor) start(li, i int) {
	l := &x.lanes[li]
	p := l.now
	n, r := &p.nodes[i], &p.runs[i]
	parent := &p.runs[n.parent]
	fresh := r.stage != Held
	r.stage = r.stage.next(Begin)
	r.waited, r.warned = 0, false
	if fresh || n.resume == score.ResumeRestart {
		r.ran = 0
	}
	switch {
	case fresh && n.span == loose:
		parent.left--
	case fresh:
		parent.active++
		parent.frozen = n.exclusive
	}
	if n.unit != none {
		x.claim(li, n.unit, n.span == instant)
		for j := range p.runs {
			if p.runs[j].stays && p.nodes[j].class == n.class {
				x.stop(l, p, j)
			}
		}
		x.key++
		r.key, r.tick = x.key, x.tick
		x.tell(l, p, Out{Kind: Start, Action: n.id, Key: r.key, Unit: x.units[n.unit].id, Do: n.do, Text: n.text, From: r.ran, Holds: n.span != instant})
	}
	if n.span == instant {
		x.finish(p, i, Finish)
	}
}

// finish ends one node well. A duration that began in this very tick leaves its
// unit the time until the next.
func (x *Executor) finish(p *performance, i int, on Step) {
	n, r := &p.nodes[i], &p.runs[i]
	wasHeld := r.stage == Held
	r.stage = r.stage.next(on)
	if n.parent != none && n.span != loose {
		parent := &p.runs[n.parent]
		parent.left--
		parent.active--
		if n.exclusive {
			parent.frozen = false
		}
	}
	switch {
	case r.key == 0 || wasHeld || n.span == instant: // an instant's report may still tell of a failure
	case n.span == fixed && r.tick == x.tick:
		r.stays = true
	default:
		x.stop(x.laneOf(p), p, i)
	}
}

// fail ends the act of a lane for what happened to one of its actions.
func (x *Executor) fail(l *lane, i int, why schema.Reason, detail string) {
	p := l.now
	for j := range p.runs {
		switch s := p.runs[j].stage; {
		case j == i:
			p.runs[j].stage = s.next(Fail)
		case s == Pending || s == Deferred || s == Executing || s == Held:
			p.runs[j].stage = s.next(Cancel)
		}
	}
	x.end(l, Out{Action: p.nodes[i].id, Outcome: EntryFailed, Reason: why, Detail: detail})
}

// end stops whatever the units still do for the current entry and tells how it
// ended.
func (x *Executor) end(l *lane, o Out) {
	p := l.now
	for i := range p.runs {
		if p.runs[i].key != 0 {
			x.stop(l, p, i)
		}
	}
	o.Kind = Ended
	x.tell(l, p, o)
	l.now = nil
	if l.finishing {
		l.paused, l.finishing, l.owed = true, false, 0
	}
}

// interrupt takes a node's command away from its unit; its time stands until it
// is started again.
func (x *Executor) interrupt(p *performance, i int) {
	n, r := &p.nodes[i], &p.runs[i]
	switch {
	case n.unit == none || r.report != nothing:
	case r.stays:
		x.stop(x.laneOf(p), p, i)
	case r.stage == Executing:
		r.stage, r.waited = r.stage.next(Hold), 0
		if r.key != 0 {
			x.stop(x.laneOf(p), p, i)
		}
	}
}

// advance lets time pass: for all that executes at once, but not for a group
// with an exclusive child in it.
func (x *Executor) advance(p *performance, d time.Duration) {
	p.elapsed += d
	if p.runs[0].stage == Completed {
		p.over += d
	}
	for i := range p.runs {
		r := &p.runs[i]
		switch {
		case r.stage == Executing && !r.frozen:
			r.ran += d
		case r.stage == Held, r.stage == Deferred && !p.runs[p.nodes[i].parent].frozen:
			r.waited += d // not while an exclusive sibling has its turn
		}
		if r.report != nothing {
			r.doneIn -= d
		}
	}
}

const forEver = time.Duration(math.MaxInt64)

// quiet is how long nothing becomes due by time alone.
func (x *Executor) quiet(p *performance) time.Duration {
	q := forEver
	for i := range p.nodes {
		n, r := &p.nodes[i], &p.runs[i]
		if r.report != nothing {
			q = min(q, r.doneIn)
		}
		switch r.stage {
		case Executing:
			switch n.span {
			case fixed:
				q = min(q, n.length-r.ran)
			case open:
				if r.report == nothing { // else the report decides, though the time-out came first
					q = min(q, n.length-r.ran)
				}
			case loose:
				if p.runs[0].stage == Completed {
					q = min(q, x.limits.Loose-p.over)
				}
			}
		case Pending:
			if parent := &p.runs[n.parent]; parent.stage == Executing && !parent.frozen {
				q = min(q, n.start-parent.ran)
			}
		case Deferred, Held:
			if r.stage == Deferred && p.runs[n.parent].frozen {
				continue
			}
			if r.waited < x.limits.DeferWarn && !r.warned {
				q = min(q, x.limits.DeferWarn-r.waited)
			}
			if r.waited < x.limits.Wait {
				q = min(q, x.limits.Wait-r.waited)
			}
		}
	}
	if q <= 0 { // every edge that is due was taken; time goes on even if not
		return time.Millisecond
	}
	return q
}

// lingers reports whether a unit still does something for an act that is through.
func (x *Executor) lingers(l *lane, p *performance) bool {
	for i := range p.runs {
		if r := &p.runs[i]; r.stays || r.stage == Executing || r.stage == Held || r.key != 0 && l.Attends {
			return true
		}
	}
	return false
}

// flush gives the stops that waited for this tick.
func (x *Executor) flush(p *performance) {
	for i := range p.runs {
		if p.runs[i].stays {
			x.stop(x.laneOf(p), p, i)
		}
	}
}
