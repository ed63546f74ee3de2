// Package stop plans the latched stops that people asked for on robots: what is written down
// when somebody stops some, what each robot's document says then, and what a
// release by id takes away.
//
// It is pure: rows in, changes out. A plan that is carried out twice changes
// nothing the second time, so that a stop may be persisted long after it was
// sent, and again after a crash.
package stop

import (
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/sign"
)

// Latch is one stop that is, or was, held on one robot.
type Latch struct {
	ID      string
	Robot   string // empty = on all robots, by fleet/stop
	Level   schema.StopLevel
	By, Why string
	Client  string    // sent it live: By is its word alone; empty = asked of a fleetd instance
	AskedAt time.Time // the last time

	ReleasedAt  time.Time // zero = it is held
	ReleasedBy  string
	ReleasedWhy string
}

// FromRobot reports whether nobody has released it.
func (l *Latch) FromRobot() bool { return l.ReleasedAt.IsZero() }

// Order is one stop as somebody asked for it, before anybody looked which robots
// are the fleet's.
type Order struct {
	ID        string            `json:"id"`
	Level     schema.StopLevel  `json:"level"`
	By        string            `json:"by,omitempty"`
	Why       string            `json:"why,omitempty"`
	At        time.Time         `json:"at"` // microseconds
	All       bool              `json:"all,omitzero"`
	Robots    []string          `json:"robots,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`    // all of them must match
	Anew      bool              `json:"anew,omitzero"`       // the id names its sender: each order under it is another one
	Client    string            `json:"client,omitempty"`    // who sent it live, and is answered
	FromRobot bool              `json:"from_robot,omitzero"` // learned from a robot that holds it
	Shown     time.Time         `json:"shown,omitzero"`      // with Held: since when, as the robot shows it
	Pressed   time.Time         `json:"pressed,omitzero"`    // with Held: the same by fleetd's clock
	Selects   string            `json:"selects,omitempty"`   // as written, for the record
}

// Overheard reports whether the order was given elsewhere: somebody sent it live, or
// a robot holds it. Every instance hears of it, and one writes it down.
func (o *Order) Overheard() bool { return o.Client != "" || o.FromRobot }

// Means reports whether the order means the robot.
func (o *Order) Means(robot string, labels map[string]string) bool {
	if o.All || slices.Contains(o.Robots, robot) {
		return true
	}
	for k, v := range o.Labels {
		if labels[k] != v {
			return false
		}
	}
	return len(o.Labels) > 0
}

// OrderOf reads a client's live stop, as the robots that heard it did.
func OrderOf(client string, payload []byte, at time.Time) Order {
	r, anew := schema.ReadStop(client, payload)
	return Order{
		ID: r.ID, Level: r.Level, By: bounded(r.By, 63), Why: bounded(r.Why, 256), At: at.Truncate(time.Microsecond),
		All: len(r.Robots) == 0 && len(r.Labels) == 0, Robots: r.Robots, Labels: r.Labels, Anew: anew, Client: client,
	}
}

// Learned is the order behind a stop that a robot shows to hold. What is no id
// names no stop, and could not be written down. ahead is by how much fleetd's clock
// is ahead of the robot's.
//
// That it was asked of all robots is the robot's word alone: a live stop carries no
// signature, and nobody else may have received it. It is believed, for a stop too many
// is the safe error, within the bounds of Hold.
func Learned(robot string, l schema.StopLatch, ahead time.Duration, at time.Time) (Order, bool) {
	switch l.Level {
	case schema.StopSoft, schema.StopStop, schema.StopHalt:
	default:
		l.Level = schema.StopStop
	}
	return Order{
		ID: l.ID, Level: l.Level, By: bounded(l.Asker(), 256), Why: bounded(l.Why, 256), At: at.Truncate(time.Microsecond),
		All: l.All, Robots: []string{robot}, FromRobot: true, Shown: l.Since.Time(), Pressed: l.Since.Time().Add(ahead),
	}, schema.ValidRequestID(l.ID)
}

// Robot is one robot of the fleet.
type Robot struct {
	ID     string
	Labels map[string]string
}

// Rows are what a plan is made from.
type Rows struct {
	FleetID string
	Robots  []Robot          // all of the fleet
	Latches []Latch          // all that are held, and all that ever had one of the ids in question
	Revs    map[string]int64 // of the newest document by robot, that of all under the empty name
	Seal    sign.Seal
}

// Document is what one robot, or all, are told from now on.
type Document struct {
	Robot   string // empty = fleet/stop
	Rev     int64
	Payload []byte
}

// Note is a line of the audit.
type Note struct {
	Who, What, Target, Detail string
}

// Changes are what a plan comes to.
type Changes struct {
	Latches   []Latch // as they now are
	Documents []Document
	Notes     []Note
	Counter   int64 // the newest release counter that is given out now
}

// Empty reports whether everything is as it should be already.
func (c Changes) Empty() bool { return len(c.Latches) == 0 }
