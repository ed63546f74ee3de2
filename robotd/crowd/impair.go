package crowd

import (
	"errors"
	"math/rand/v2"
	"time"

	"troupe/schema"
)

// heldInput waits for a slow or stalled robot.
type heldInput struct {
	at time.Duration
	input
}

// cut ends the connection as a network does, and keeps the robot away from the broker for a while.
func (r *robot) cut(away time.Duration) {
	if r.state == nil || r.phase != up {
		return
	}
	now := r.shard.now()
	r.drop(errCut, now)
	r.dialAt = now + away
	r.schedule()
}

var errCut = errors.New("scenario: link lost")

// stall makes the robot do nothing for a while, not even read, while its connection stays.
func (r *robot) stall(lasts time.Duration) {
	if r.state == nil || r.phase != up || r.stallEnd > 0 {
		return
	}
	gate := make(chan struct{})
	r.conn.gate.Store(&gate)
	r.stallEnd = r.shard.now() + lasts
	r.schedule()
}

func (r *robot) resume() {
	r.stallEnd = 0
	if r.conn == nil {
		return
	}
	if gate := r.conn.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// follow does what the scenario wants of this robot at its time.
func (r *robot) follow(now time.Duration) {
	if r.fails && now >= r.failAt {
		units := r.crowd().body.Units
		r.body.FailNext(units[rand.IntN(len(units))].ID, schema.ReasonUnitError)
		r.failAt = now + jitter(r.crowd().cfg.Scenario.Failing.Time)
	}
	if !r.performs || now < r.askAt || r.phase != up {
		return
	}
	r.askAt = now + jitter(3*time.Second)
	if t := r.state.Tally(); t.Story && !t.Performing && !t.Latched && !t.EStop {
		r.local("mode/set", map[string]any{"mode": r.crowd().performer})
		r.local("safety/enable", map[string]any{})
	}
}
