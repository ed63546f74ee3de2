package act

import (
	"fmt"
	"math"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// perform advances one lane to now, from one transition to the next.
func (x *Executor) perform(li int, now time.Duration) {
	l := &x.lanes[li]
	if l.paused {
		return
	}
	if l.current == nil {
		if len(l.queue) == 0 {
			return
		}
		l.at = now
		x.take(l)
	}
	if late := now - l.at - x.limits.MaxStep; late > 0 {
		l.at += late
		x.emit(l, l.current, Effect{Kind: Warned, Warning: WarnLate, Reason: schema.ReasonTimeout,
			Detail: fmt.Sprintf("the act stood still for %v, while robotd did not run: its computer is too busy or was suspended", late)})
	}
	for {
		x.takeDue(li)
		if l.paused {
			return
		}
		if l.current == nil {
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
		d := min(left, x.untilDue(l.current))
		x.advance(l.current, d)
		l.at += d
	}
}

// take makes the first entry of the queue the current one.
func (x *Executor) take(l *lane) {
	l.current = l.queue[0]
	copy(l.queue, l.queue[1:])
	l.queue[len(l.queue)-1] = nil
	l.queue = l.queue[:len(l.queue)-1]
	l.current.runs[0].stage = l.current.runs[0].stage.next(Begin)
	if !l.Single {
		x.emit(l, l.current, Effect{Kind: Began})
	}
}

// takeDue takes every transition that is due at the lane's time.
func (x *Executor) takeDue(li int) {
	l := &x.lanes[li]
	p := l.current
	for changed := true; changed; {
		changed = x.finishDue(l) && l.current == p
		changed = l.current == p && x.startDue(li) || changed
		if l.current != p {
			return
		}
	}
	if p.runs[0].stage == Completed && !x.unitsBusy(l, p) {
		x.end(l, Effect{Outcome: EntryCompleted})
	}
}

// finishDue ends the actions whose time is over or whose units have reported,
// children before their groups. It reports whether anything changed.
func (x *Executor) finishDue(l *lane) (changed bool) {
	p := l.current
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n, r := &p.nodes[i], &p.runs[i]
		if r.report != noReport && r.reportIn <= 0 {
			if r.report == failed {
				x.fail(l, i, r.reason, r.detail)
				return true
			}
			r.report = noReport
			if r.stage == Executing && n.span != fixed {
				x.finish(p, i, Finish)
				changed = true
			}
		}
		if r.stage != Executing {
			continue
		}
		if x.mustRest(p, i) {
			x.restUnit(p, i)
		}
		switch {
		case n.span == untilEmpty && r.unfinished == 0, n.span == fixed && r.elapsed >= n.length:
			x.finish(p, i, Finish)
		case n.span == untilReport && r.report == noReport && r.elapsed >= n.length:
			if n.failsOnTimeout {
				x.fail(l, i, schema.ReasonTimeout, fmt.Sprintf("not done after %v", n.length))
				return true
			}
			x.finish(p, i, TimeOut)
			x.warn(l, p, i, WarnTimedOut, schema.ReasonTimeout, fmt.Sprintf("cut off after %v", n.length))
		case n.span == detached && p.sinceComplete >= x.limits.Detached:
			x.finish(p, i, TimeOut)
			x.warn(l, p, i, WarnTimedOut, schema.ReasonTimeout, fmt.Sprintf("still busy %v after its act ended", p.sinceComplete))
		default:
			continue
		}
		changed = true
	}
	return changed
}

// startDue starts the actions that are due and not blocked, in the order of the
// act. It reports whether anything changed.
func (x *Executor) startDue(li int) (changed bool) {
	l := &x.lanes[li]
	p := l.current
	for i := 1; i < len(p.nodes); i++ {
		n, r := &p.nodes[i], &p.runs[i]
		parent := &p.runs[n.parent]
		switch r.stage {
		case Pending:
			if parent.stage != Executing || parent.frozen || n.start > parent.elapsed {
				continue
			}
		case Deferred:
			if parent.frozen {
				continue
			}
		case Suspended:
			if n.resume == score.ResumeSkip {
				x.finish(p, i, Skip)
				x.warn(l, p, i, WarnMissed, "", "was interrupted and is not resumed")
				changed = true
				continue
			}
		default:
			continue
		}
		b := x.blockerOf(li, i)
		switch {
		case b.fatal:
			x.fail(l, i, b.reason, b.String())
			return true
		case b.kind == unblocked:
			x.start(li, i)
			changed = true
		case r.stage == Pending:
			r.stage, r.waited = r.stage.next(Defer), 0
		}
		if b.kind != unblocked {
			x.await(l, i, b)
			if l.current != p {
				return true
			}
		}
	}
	return changed
}

// await handles an action that cannot start. It warns if another action of its
// class is running or if it has waited long. An action that waits too long for its
// unit or the gate fails its act.
func (x *Executor) await(l *lane, i int, w blocker) {
	r := &l.current.runs[i]
	if w.kind == unitTaken || w.kind == gateClosed {
		if r.waited >= x.limits.Wait {
			x.fail(l, i, w.reason, fmt.Sprintf("%s for %v", w, r.waited))
			return
		}
	}
	if !r.warned && (w.kind == sameClass || r.waited >= x.limits.DeferWarn) {
		r.warned = true
		x.warn(l, l.current, i, WarnDeferred, w.reason, w.String())
	}
}

// advance adds d to the time of all executing nodes, except groups with a running
// exclusive child.
func (x *Executor) advance(p *performance, d time.Duration) {
	p.elapsed += d
	if p.runs[0].stage == Completed {
		p.sinceComplete += d
	}
	for i := range p.runs {
		r := &p.runs[i]
		switch {
		case r.stage == Executing && !r.frozen:
			r.elapsed += d
		case r.stage == Suspended, r.stage == Deferred && !p.runs[p.nodes[i].parent].frozen:
			r.waited += d // not while an exclusive sibling runs
		}
		if r.report != noReport {
			r.reportIn -= d
		}
	}
}

const forever = time.Duration(math.MaxInt64)

// untilDue returns how long until something becomes due by time alone.
func (x *Executor) untilDue(p *performance) time.Duration {
	q := forever
	for i := range p.nodes {
		n, r := &p.nodes[i], &p.runs[i]
		if r.report != noReport {
			q = min(q, r.reportIn)
		}
		switch r.stage {
		case Executing:
			switch n.span {
			case fixed:
				q = min(q, n.length-r.elapsed)
				if n.rest > 0 && r.key != 0 && !r.stopNextTick {
					q = min(q, n.length-n.rest-r.elapsed)
				}
			case untilReport:
				if r.report == noReport { // otherwise the report decides, even if the timeout is earlier
					q = min(q, n.length-r.elapsed)
				}
			case detached:
				if p.runs[0].stage == Completed {
					q = min(q, x.limits.Detached-p.sinceComplete)
				}
			}
		case Pending:
			if parent := &p.runs[n.parent]; parent.stage == Executing && !parent.frozen {
				q = min(q, n.start-parent.elapsed)
			}
		case Deferred, Suspended:
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
	if q <= 0 { // every due transition was taken; this guarantees progress in any case
		return time.Millisecond
	}
	return q
}

// unitsBusy reports whether a unit is still busy for an act whose actions have all
// ended.
func (x *Executor) unitsBusy(l *lane, p *performance) bool {
	for i := range p.runs {
		if r := &p.runs[i]; r.stopNextTick || r.stage == Executing || r.stage == Suspended || r.key != 0 && l.AwaitsReports {
			return true
		}
	}
	return false
}

// flush emits the stops that waited for this tick.
func (x *Executor) flush(p *performance) {
	for i := range p.runs {
		if p.runs[i].stopNextTick {
			x.stop(x.laneOf(p), p, i)
		}
	}
}
