// Package stop plans changes of latched stops: the rows for a stop and for a release by id,
// and the resulting documents for robots.
//
// It is pure: rows in, changes out. Applying a plan twice changes nothing the second time,
// so a stop may be persisted long after it was sent, and again after a crash.
package stop

import (
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/sign"
)

// Latch is one stop that is or was latched on one robot.
type Latch struct {
	ID          string
	Robot       string // empty = on all robots, by fleet/stop
	Level       schema.StopLevel
	By, Why     string
	Client      string    // MQTT client that sent it live, so By is unverified; empty = requested through fleetd
	RequestedAt time.Time // when it was last requested

	ReleasedAt  time.Time // zero = it is latched
	ReleasedBy  string
	ReleasedWhy string
}

// IsLatched reports whether the stop is latched: it was not released.
func (l *Latch) IsLatched() bool { return l.ReleasedAt.IsZero() }

// Request is one stop as it was requested. Its robots may be unknown to the fleet.
type Request struct {
	ID              string            `json:"id"`
	Level           schema.StopLevel  `json:"level"`
	By              string            `json:"by,omitempty"`
	Why             string            `json:"why,omitempty"`
	At              time.Time         `json:"at"` // microseconds
	All             bool              `json:"all,omitzero"`
	Robots          []string          `json:"robots,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`    // all of them must match
	NoOwnID         bool              `json:"anew,omitzero"`       // the sender named no id, so its name is the id; each request after a release is a new stop
	Client          string            `json:"client,omitempty"`    // MQTT client that sent it live, and gets the answer
	FromRobot       bool              `json:"from_robot,omitzero"` // learned from a robot that holds it
	SinceRobotClock time.Time         `json:"shown,omitzero"`      // with FromRobot: since when, as the robot reports; the spool keeps the name shown
	SinceFleetClock time.Time         `json:"pressed,omitzero"`    // with FromRobot: the same by fleetd's clock; the spool keeps the name pressed
	Selects         string            `json:"selects,omitempty"`   // the selector as written, for the audit

	audit.Source // who requested it
}

// Observed reports whether fleetd only observed the request: a client sent it live, or a
// robot holds it. Every instance observes it, and one persists it.
func (r *Request) Observed() bool { return r.Client != "" || r.FromRobot }

// Includes reports whether the request selects the robot.
func (r *Request) Includes(robot string, labels map[string]string) bool {
	if r.All || slices.Contains(r.Robots, robot) {
		return true
	}
	for k, v := range r.Labels {
		if labels[k] != v {
			return false
		}
	}
	return len(r.Labels) > 0
}

// RequestOf parses a client's live stop in the same way as robots do.
func RequestOf(client string, payload []byte, at time.Time) Request {
	r, noOwnID := schema.ReadStop(client, payload)
	return Request{
		ID: r.ID, Level: r.Level, By: truncated(r.By, 63), Why: truncated(r.Why, 256), At: at.Truncate(time.Microsecond),
		All: len(r.Robots) == 0 && len(r.Labels) == 0, Robots: r.Robots, Labels: r.Labels, NoOwnID: noOwnID, Client: client,
	}
}

// RequestFromRobot returns the request for a stop that a robot reports as latched; false if the id is
// not valid. ahead is how far fleetd's clock is ahead of the robot's.
//
// Only the robot says that the stop was for all robots: live stops are not signed, and perhaps
// no other robot received it. Persist accepts this within limits, because an unneeded stop
// is the safe error.
func RequestFromRobot(robot string, l schema.StopLatch, ahead time.Duration, at time.Time) (Request, bool) {
	switch l.Level {
	case schema.StopSoft, schema.StopStop, schema.StopHalt:
	default:
		l.Level = schema.StopStop
	}
	return Request{
		ID: l.ID, Level: l.Level, By: truncated(l.Asker(), 256), Why: truncated(l.Why, 256), At: at.Truncate(time.Microsecond),
		All: l.All, Robots: []string{robot}, FromRobot: true, SinceRobotClock: l.Since.Time(), SinceFleetClock: l.Since.Time().Add(ahead),
	}, schema.ValidRequestID(l.ID)
}

// Robot is one robot of the fleet.
type Robot struct {
	ID     string
	Labels map[string]string
}

// Need says which rows a plan looks at.
type Need struct {
	Requests []Request // which a plan persists
	Release  []string  // ids of stops that it releases
	All      bool      // every latched stop, which SignAgain looks at
}

// Rows are the input of a plan.
type Rows struct {
	FleetID string
	Robots  []Robot          // those that a request selects
	Latches []Latch          // of the ids in question, and what is latched on their robots and on those selected
	Revs    map[string]int64 // revision of the newest document of these robots; that of fleet/stop under ""
	Signer  sign.Signer
}

// Document is the new document of one robot, or of all.
type Document struct {
	Robot   string // empty = fleet/stop
	Rev     int64
	Payload []byte
}

// Note is one entry of the audit.
type Note = audit.Note

// Changes are the result of a plan.
type Changes struct {
	Latches   []Latch // changed rows
	Documents []Document
	Notes     []Note
	Counter   int64 // the newest signature counter that was used
}

// Empty reports whether no row changes.
func (c Changes) Empty() bool { return len(c.Latches) == 0 }
