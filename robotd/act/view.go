package act

import "time"

// View is what a lane does now, for people.
type View struct {
	Entry     string // the current entry's id, empty = nothing to do
	Act       string
	Elapsed   time.Duration // performed of it, pauses left out
	Paused    bool
	Finishing bool     // pauses when the current entry has ended
	Executing []string // ids of actions
	Deferred  []string // due, and waiting
	Held      []string // interrupted
	Waiting   []string // ids of entries
}

// View shows a lane.
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
	p := l.now
	if p == nil {
		return v
	}
	v.Entry, v.Act, v.Elapsed = p.ID, p.Entry.Act.ID, p.elapsed
	for i := range p.nodes {
		switch id := p.nodes[i].id; {
		case p.nodes[i].span == whole:
		case p.runs[i].stage == Executing:
			v.Executing = append(v.Executing, id)
		case p.runs[i].stage == Deferred:
			v.Deferred = append(v.Deferred, id)
		case p.runs[i].stage == Held:
			v.Held = append(v.Held, id)
		}
	}
	return v
}

// Acts names the acts of a lane: the current one first, then those that wait.
func (x *Executor) Acts(of Lane) []string {
	l := x.lane(of)
	if l == nil {
		return nil
	}
	var acts []string
	if l.now != nil {
		acts = append(acts, l.now.Entry.Act.ID)
	}
	for _, p := range l.queue {
		acts = append(acts, p.Entry.Act.ID)
	}
	return acts
}

// Idle reports whether a lane has neither a current entry nor one that waits.
func (x *Executor) Idle(of Lane) bool {
	l := x.lane(of)
	return l == nil || l.now == nil && len(l.queue) == 0
}

// Owner names the lane that has commands on a unit; empty when it is free.
func (x *Executor) Owner(id string) Lane {
	for _, u := range x.units {
		if u.id == id && u.owner != nobody {
			return x.lanes[u.owner].Lane
		}
	}
	return ""
}
