package act

import (
	"troupe/schema"
)

// obstacle is why an action that is due does not start.
type obstacle uint8

const (
	free      obstacle = iota
	groupBusy          // exclusive, and its group is not alone
	sameClass          // another of its class is on
	unitTaken          // a higher lane has the unit
	gateShut
	unitGone
)

type way struct {
	what   obstacle
	reason schema.Reason
	fatal  bool
	with   string // id of the unit, the lane or the action concerned
}

func (w way) String() string {
	switch w.what {
	case groupBusy:
		return "waits until its group is alone"
	case sameClass:
		return "waits for " + w.with
	case unitTaken:
		return "its unit is with " + w.with
	case unitGone:
		return "the " + w.with + " is switched off"
	}
	return w.reason.Describe().Text
}

// inTheWay answers what keeps a due action of a lane from starting.
func (x *Executor) inTheWay(li, i int) way {
	l := &x.lanes[li]
	p := l.now
	n, r := &p.nodes[i], &p.runs[i]
	if r.stage != Held && n.exclusive && p.runs[n.parent].active > 0 {
		return way{what: groupBusy, reason: schema.ReasonBusy}
	}
	if n.unit == none {
		return way{}
	}
	for j := range p.nodes {
		if j == i || p.nodes[j].class != n.class || n.shares && p.nodes[j].shares {
			continue
		}
		// What was interrupted goes on before another takes its place.
		if s := p.runs[j].stage; s == Executing || s == Held && r.stage != Held {
			return way{what: sameClass, reason: schema.ReasonBusy, with: p.nodes[j].id}
		}
	}
	u := &x.units[n.unit]
	if u.revoked {
		return way{what: unitGone, reason: schema.ReasonDeviceDisabled, fatal: true, with: u.id}
	}
	if shut := x.gate.shuts(u.kind); shut != "" {
		if l.FailsClosed && u.kind.Moves() {
			return way{what: gateShut, reason: schema.ReasonNeedsEnable, fatal: true}
		}
		return way{what: gateShut, reason: shut}
	}
	if u.owner != nobody && u.owner < li && !x.together(u.owner, li) {
		return way{what: unitTaken, reason: schema.ReasonResourceBusy, with: string(x.lanes[u.owner].Lane)}
	}
	return way{}
}

// claim takes a unit for a lane, away from a lower one. Telling a unit something
// that is complete at once needs it free, but does not keep it.
func (x *Executor) claim(li, ui int, pass bool) {
	u := &x.units[ui]
	if owner := u.owner; owner != nobody && !x.together(owner, li) {
		for l := range x.lanes {
			p := x.lanes[l].now
			for i := 0; p != nil && x.together(owner, l) && i < len(p.nodes); i++ {
				if p.nodes[i].unit == ui {
					x.interrupt(p, i)
				}
			}
		}
	}
	if !pass {
		u.owner = li
		u.commands++
	}
}

// together reports whether two lanes belong to one occupant.
func (x *Executor) together(a, b int) bool {
	return a == b || x.lanes[a].Occupant != "" && x.lanes[a].Occupant == x.lanes[b].Occupant
}

// stop ends a command at its unit.
func (x *Executor) stop(l *lane, p *performance, i int) {
	key := p.runs[i].key
	p.runs[i].stays = false
	x.dropKey(p, i)
	if p.nodes[i].span != instant {
		x.tell(l, p, Out{Kind: Stop, Action: p.nodes[i].id, Key: key, Unit: x.units[p.nodes[i].unit].id})
	}
}

// dropKey forgets a command that has ended; the last one frees its unit.
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
		if x.lanes[i].now == p {
			return &x.lanes[i]
		}
	}
	return nil
}

func (x *Executor) tell(l *lane, p *performance, o Out) {
	o.Lane, o.Entry, o.Act = l.Lane, p.ID, p.Entry.Act.ID
	x.out = append(x.out, o)
}

func (x *Executor) warn(l *lane, p *performance, i int, w Warning, why schema.Reason, detail string) {
	x.tell(l, p, Out{Kind: Warned, Action: p.nodes[i].id, Warning: w, Reason: why, Detail: detail})
}
