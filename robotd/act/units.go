package act

import (
	"troupe/schema"
)

// obstacle is the kind of reason why a due action does not start.
type obstacle uint8

const (
	unblocked obstacle = iota
	groupBusy          // it is exclusive, and siblings are running
	sameClass          // another action of its class is running on its unit, or another that moves it
	unitTaken          // a higher lane owns the unit
	gateClosed
	unitDisabled
)

// blocker is why a due action does not start; the zero value means that it may.
type blocker struct {
	kind   obstacle
	reason schema.Reason
	fatal  bool   // it fails the act
	with   string // id of the unit, lane or action concerned
}

func (b blocker) String() string {
	switch b.kind {
	case groupBusy:
		return "waits until its group is alone"
	case sameClass:
		return "waits for " + b.with
	case unitTaken:
		return "its unit is used by " + b.with
	case unitDisabled:
		return "the " + b.with + " cannot be used"
	}
	return b.reason.Describe().Text
}

// blockerOf returns what keeps a due action of a lane from starting.
func (x *Executor) blockerOf(li, i int) blocker {
	l := &x.lanes[li]
	p := l.current
	n, r := &p.nodes[i], &p.runs[i]
	if r.stage != Suspended && n.exclusive && p.runs[n.parent].active > 0 {
		return blocker{kind: groupBusy, reason: schema.ReasonBusy}
	}
	if n.unit == none {
		return blocker{}
	}
	for j := range p.nodes {
		if j == i || !n.competes(&p.nodes[j]) || n.shares && p.nodes[j].shares {
			continue
		}
		// A suspended action resumes before another one that competes with it starts.
		if s := p.runs[j].stage; s == Executing || s == Suspended && r.stage != Suspended {
			return blocker{kind: sameClass, reason: schema.ReasonBusy, with: p.nodes[j].id}
		}
	}
	u := &x.units[n.unit]
	if u.disabled {
		return blocker{kind: unitDisabled, reason: schema.ReasonDeviceDisabled, fatal: true, with: u.id}
	}
	if shut := x.gate.blocks(l.Lane, u.kind); shut != "" {
		return blocker{kind: gateClosed, reason: shut}
	}
	if u.owner != nobody && u.owner < li && !x.sameOccupant(u.owner, li) {
		return blocker{kind: unitTaken, reason: schema.ReasonResourceBusy, with: string(x.lanes[u.owner].Lane)}
	}
	return blocker{}
}

// claim makes a lane the owner of a unit and interrupts lower lanes on it. A
// command that is complete at once (brief) interrupts them, too, but does not
// make the lane the owner.
func (x *Executor) claim(li, ui int, brief bool) {
	u := &x.units[ui]
	if owner := u.owner; owner != nobody && !x.sameOccupant(owner, li) {
		for l := range x.lanes {
			p := x.lanes[l].current
			for i := 0; p != nil && x.sameOccupant(owner, l) && i < len(p.nodes); i++ {
				if p.nodes[i].unit == ui {
					x.suspend(p, i)
				}
			}
		}
	}
	if !brief {
		u.owner = li
		u.commands++
	}
}

// sameOccupant reports whether two lanes belong to one occupant.
func (x *Executor) sameOccupant(a, b int) bool {
	return a == b || x.lanes[a].Occupant != "" && x.lanes[a].Occupant == x.lanes[b].Occupant
}

// stop ends a command on its unit.
func (x *Executor) stop(l *lane, p *performance, i int) {
	key := p.runs[i].key
	p.runs[i].stopNextTick = false
	x.dropKey(p, i)
	if p.nodes[i].span != instant {
		x.emit(l, p, Effect{Kind: Stop, Action: p.nodes[i].id, Key: key, Unit: x.units[p.nodes[i].unit].id})
	}
}

// dropKey forgets a command that has ended; the last one frees the unit.
func (x *Executor) dropKey(p *performance, i int) {
	p.runs[i].key = 0
	if p.nodes[i].span == instant {
		return
	}
	u := &x.units[p.nodes[i].unit]
	if u.commands--; u.commands == 0 {
		u.owner = nobody
	}
}

func (x *Executor) laneOf(p *performance) *lane {
	for i := range x.lanes {
		if x.lanes[i].current == p {
			return &x.lanes[i]
		}
	}
	return nil
}

func (x *Executor) emit(l *lane, p *performance, o Effect) {
	o.Lane, o.Entry, o.Req, o.Act = l.Lane, p.ID, p.Req, p.Entry.Act.ID
	x.out = append(x.out, o)
}

func (x *Executor) warn(l *lane, p *performance, i int, w Warning, why schema.Reason, detail string) {
	x.emit(l, p, Effect{Kind: Warned, Action: p.nodes[i].id, Warning: w, Reason: why, Detail: detail})
}
