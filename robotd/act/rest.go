package act

import "time"

// restsAfter reports whether the unit of an action rests after elapsed: the velocity of a drive
// action is zero in its last part, so that the robot stands or brakes when the next action begins
// (score.DriveRestMS).
func (n *node) restsAfter(elapsed time.Duration) bool {
	return n.rest > 0 && elapsed >= n.length-n.rest
}

// mustRest reports whether the unit of a node has to be stopped now, before the action ends.
func (x *Executor) mustRest(p *performance, i int) bool {
	r := &p.runs[i]
	return r.key != 0 && !r.stopNextTick && p.nodes[i].restsAfter(r.elapsed)
}

// restUnit stops the unit of an action that goes on until its end. A unit that started in
// this same tick is stopped with the next one.
func (x *Executor) restUnit(p *performance, i int) {
	if p.runs[i].tick == x.tick {
		p.runs[i].stopNextTick = true
		return
	}
	x.stop(x.laneOf(p), p, i)
}
