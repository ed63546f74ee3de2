package act

import (
	"slices"
	"time"

	"troupe/schema"
)

// View is the state of a lane, for people.
type View struct {
	Entry     string // the current entry's id; empty = none
	Act       string
	Elapsed   time.Duration // time performed, without pauses
	Paused    bool
	Finishing bool     // pauses when the current entry has ended
	Executing []string // ids of actions
	Deferred  []string // due, but blocked
	Suspended []string
	Waiting   []string // ids of queued entries
}

// View returns the state of a lane.
func (x *Executor) View(of Lane) View {
	var v View
	l := x.lane(of)
	if l == nil {
		return v
	}
	v.Paused, v.Finishing = l.paused, l.finishing
	for _, p := range l.queue {
		v.Waiting = append(v.Waiting, p.ID)
	}
	p := l.current
	if p == nil {
		return v
	}
	v.Entry, v.Act, v.Elapsed = p.ID, p.Entry.Act.ID, p.elapsed
	for i := range p.nodes {
		switch id := p.nodes[i].id; {
		case p.nodes[i].span == untilEmpty:
		case p.runs[i].stage == Executing:
			v.Executing = append(v.Executing, id)
		case p.runs[i].stage == Deferred:
			v.Deferred = append(v.Deferred, id)
		case p.runs[i].stage == Suspended:
			v.Suspended = append(v.Suspended, id)
		}
	}
	return v
}

// Elapsed returns the act that a lane performs, and for how long, without pauses; no id if it performs none.
func (x *Executor) Elapsed(of Lane) (act string, elapsed time.Duration) {
	if l := x.lane(of); l != nil && l.current != nil {
		return l.current.Entry.Act.ID, l.current.elapsed
	}
	return "", 0
}

// Running returns the act and the action whose command a unit carries out, and the request
// for the act.
func (x *Executor) Running(key uint64) (act, action, req string, ok bool) {
	for i := range x.lanes {
		p := x.lanes[i].current
		for n := 0; p != nil && key != 0 && n < len(p.runs); n++ {
			if p.runs[n].key == key {
				return p.Entry.Act.ID, p.nodes[n].id, p.Req, true
			}
		}
	}
	return "", "", "", false
}

// Acts lists the acts of a lane: the current one, then the queued ones.
func (x *Executor) Acts(of Lane) []schema.QueuedAct {
	l := x.lane(of)
	if l == nil {
		return nil
	}
	var acts []schema.QueuedAct
	if l.current != nil {
		acts = append(acts, schema.QueuedAct{Act: l.current.Entry.Act.ID, ReqID: l.current.Req})
	}
	for _, p := range l.queue {
		acts = append(acts, schema.QueuedAct{Act: p.Entry.Act.ID, ReqID: p.Req})
	}
	return acts
}

// Idle reports whether a lane has neither a current entry nor queued ones.
func (x *Executor) Idle(of Lane) bool {
	l := x.lane(of)
	return l == nil || l.current == nil && len(l.queue) == 0
}

// Owner returns the lane that owns a unit; empty if the unit is free.
func (x *Executor) Owner(id string) Lane {
	for _, u := range x.units {
		if u.id == id && u.owner != nobody {
			return x.lanes[u.owner].Lane
		}
	}
	return ""
}

// Uses reports whether an act uses a unit of a kind.
func (x *Executor) Uses(kind schema.UnitKind) bool {
	for i := range x.units {
		if u := &x.units[i]; u.kind == kind && u.owner != nobody {
			return true
		}
	}
	return false
}

// UsedAbove reports whether a lane above of uses a unit: the lane is not paused, and the act that
// it performs, or begins with the next tick, has an action for the unit.
func (x *Executor) UsedAbove(of Lane, id string) bool {
	ui := slices.IndexFunc(x.units, func(u unit) bool { return u.id == id })
	for i := range x.lanes {
		l := &x.lanes[i]
		switch {
		case ui < 0 || l.Lane == of:
			return false
		case !l.paused && (l.current.hasActionFor(ui) || l.current == nil && len(l.queue) > 0 && l.queue[0].hasActionFor(ui)):
			return true
		}
	}
	return false
}

// hasActionFor reports whether an act has an action for a unit.
func (p *performance) hasActionFor(ui int) bool {
	for i := 0; p != nil && i < len(p.nodes); i++ {
		if p.nodes[i].unit == ui {
			return true
		}
	}
	return false
}
