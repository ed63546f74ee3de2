package teleop

import (
	"sync"

	"troupe/schema"
)

// leases are the leases that this instance holds at robots, each for a person.
type leases struct {
	name string // of this instance

	mu      sync.Mutex
	byRobot map[string]lease
}

// lease is the newest lease of one robot.
type lease struct {
	ID, By string
	over   string // why it is over; empty = it is not

	session string // of the robot when it granted the lease
	seq     int64  // states from this state_seq on show it
}

// answered takes a robot's answer to a command of this instance.
func (l *leases) answered(robot string, a schema.Ack) {
	if a.Lease == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch was, known := l.byRobot[robot]; {
	case a.Status == schema.StatusSucceeded && a.Lease.ID != "" && a.Lease.Holder == l.name:
		l.byRobot[robot] = lease{ID: a.Lease.ID, By: a.Lease.By, session: a.Session, seq: a.StateSeq}
	case a.Status == schema.StatusCancelled && known: // the holder is told that it lost control
		was.over = a.Detail
		l.byRobot[robot] = was
	}
}

// shown takes a robot's state, which may be older than the newest answer.
func (l *leases) shown(robot string, s *schema.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	is, known := l.byRobot[robot]
	c := s.Control
	switch {
	case !known || is.over != "" || s.Session == is.session && s.StateSeq < is.seq:
		return
	case c == nil:
		is.over = "the lease has ended"
	case c.Holder == l.name && c.By == is.By:
		return
	case c.By != "":
		is.over = c.By + " at " + c.Holder + " has control"
	default:
		is.over = c.Holder + " has control"
	}
	l.byRobot[robot] = is
}

// of returns the lease that this instance holds at a robot. Without one, ID is empty and
// over says why.
func (l *leases) of(robot string) lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	is, known := l.byRobot[robot]
	if !known {
		return lease{over: "nobody has control of the robot through this instance"}
	}
	if is.over != "" {
		is.ID = ""
	}
	return is
}
