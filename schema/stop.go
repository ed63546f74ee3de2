package schema

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// StopLevel is the level of a software stop. None of them is an emergency stop.
type StopLevel string

const (
	StopSoft StopLevel = "soft_stop" // perform the shutdown act, then stop
	StopStop StopLevel = "stop"      // brake to standstill
	StopHalt StopLevel = "halt"      // halt all units at once; needs a reset too
)

// Stronger returns the one of two levels that permits less motion.
func (l StopLevel) Stronger(other StopLevel) StopLevel {
	rank := map[StopLevel]int{StopSoft: 0, StopStop: 1, StopHalt: 2}
	if rank[other] > rank[l] {
		return other
	}
	return l
}

// MoreStops is the id of a latch that represents all stops beyond the number of latches
// that a robot or fleetd stores individually.
const MoreStops = "more-stops"

// StopLatch is a stop that a person requested and that stays in force until it is
// released by its id. A robot with a latch cannot be enabled.
type StopLatch struct {
	ID     string    `json:"id" doc:"the id by which it is released"`
	Level  StopLevel `json:"level" doc:"how it stops: soft_stop, stop or halt"`
	By     string    `json:"by,omitempty" doc:"the person, or the client"`
	Why    string    `json:"why,omitempty" doc:"the reason that they gave"`
	Since  Time      `json:"since" doc:"when it was requested last; in the state, if no document of fleetd names it, when the robot latched it"`
	Client string    `json:"client,omitempty" doc:"the client that sent the stop without fleetd, so that the name in by is not verified; left out if fleetd has verified it"`
	All    bool      `json:"all,omitzero" doc:"the stop was for all robots; fleetd then extends it to robots that were offline"`
}

// Asker names who requested the stop, for people.
func (l StopLatch) Asker() string { return Asker(l.Client, l.By) }

// Asker names who requested something, for people: the person, and the client that named
// the person. client is empty if fleetd has verified the person.
func Asker(client, by string) string {
	switch {
	case by == "" || by == client:
		return client
	case client == "":
		return by
	}
	return SanitizeTextWithin(by, MaxShortText-len(" at ")-len(client)) + " at " + client
}

// StopRelease says who released a stop.
type StopRelease struct {
	ID string `json:"id" doc:"of the stop"`
	By string `json:"by" doc:"the person, as fleetd knows them"`
}

// DesiredStop is the set of fleetd's latches on one robot. Retained. A latch that is
// missing in a higher revision of the same fleet id is released; deleting the retained
// message releases nothing. A document that cannot be decoded is a stop. Where
// robots require signatures, a document without one can add latches but cannot release one.
type DesiredStop struct {
	Rev     int64       `json:"rev" doc:"rises per robot and fleet id"`
	FleetID string      `json:"fleet_id" doc:"UUID of the fleet's database"`
	Stops   []StopLatch `json:"stops" doc:"the stops that hold the robot; one that is missing in a higher revision is released"`
	TS      Time        `json:"ts" doc:"when this was written"`
	// Released is for the robot's record only: what releases a stop is that it is missing.
	Released []StopRelease `json:"released,omitempty" doc:"who released what this revision releases; left out by a later one"`
	Counter  int64         `json:"counter,omitzero" doc:"as in DesiredStory"`
	Sig      *Signature    `json:"sig,omitzero" doc:"signature of this document; a release may need it, a stop does not"`
}

// Validate reports missing or invalid fields.
func (d *DesiredStop) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.present("/stops", d.Stops != nil)
	for i, s := range d.Stops {
		c.latchID(at("/stops", i, "id"), s.ID)
		c.level(at("/stops", i, "level"), s.Level)
	}
	return c
}

// FleetStop is the latched stop of all robots. Retained. A higher revision of the same
// fleet id with Active false releases it; then the robots are DISABLED, and nothing moves
// by itself. A document that cannot be decoded is a stop. Where robots require
// signatures, a document without one can stop but cannot release.
type FleetStop struct {
	Rev      int64         `json:"rev" doc:"rises per fleet id"`
	FleetID  string        `json:"fleet_id" doc:"UUID of the fleet's database"`
	Active   bool          `json:"active" doc:"true = every robot is stopped, by this stop or also by earlier ones; false = no stop of all robots is latched"`
	ID       string        `json:"id,omitempty" doc:"the id by which it is released"`
	Level    StopLevel     `json:"level,omitempty" doc:"how it stops: soft_stop, stop or halt"`
	By       string        `json:"by,omitempty" doc:"the person, or the client"`
	Client   string        `json:"client,omitempty" doc:"the client that sent the stop without fleetd, so that the name in by is not verified; left out if fleetd has verified it"`
	Why      string        `json:"why,omitempty" doc:"the reason that they gave"`
	TS       Time          `json:"ts" doc:"when this was written"`
	Released []StopRelease `json:"released,omitempty" doc:"as in DesiredStop"`
	Counter  int64         `json:"counter,omitzero" doc:"as in DesiredStory"`
	Sig      *Signature    `json:"sig,omitzero" doc:"signature of this document; a release may need it, a stop does not"`
}

// Validate reports missing or invalid fields.
func (f *FleetStop) Validate() []Problem {
	var c checks
	c.desired(f.Rev, f.FleetID)
	if f.Active {
		c.latchID("/id", f.ID)
		c.level("/level", f.Level)
	}
	return c
}

// StopRequest is a live stop: one that a client sends to all robots, or to selected ones,
// without fleetd. Any payload
// stops: one that cannot be decoded or that selects no robots stops all. It can only
// stop; fleetd releases it, or a person at the robot while fleetd has not latched it.
type StopRequest struct {
	ID     string            `json:"id,omitempty" doc:"under which the stop is latched; the client's name if left out"`
	Level  StopLevel         `json:"level,omitempty" doc:"soft_stop, stop or halt; stop if left out, halt if it is none of these"`
	Robots []string          `json:"robots,omitempty" doc:"which robots; with neither robots nor labels every robot stops"`
	Labels map[string]string `json:"labels,omitempty" doc:"or the robots that have all of these labels"`
	By     string            `json:"by,omitempty" doc:"the person"`
	Why    string            `json:"why,omitempty" doc:"the reason, which people are shown"`
}

// ReadStop decodes a live stop. It always returns a stop: a payload that
// cannot be decoded stops all robots, and the default level is stop. Nothing that is wrong
// in a payload makes its stop weaker: the level is then at least the one that it names, and
// halt if it names one that is not known. If the payload has
// no id, the id is the client's name, so that all receivers use the same one; then
// isNew is true, because each such stop is a new one.
func ReadStop(cid string, payload []byte) (r StopRequest, isNew bool) {
	if len(payload) > 0 {
		var problems []Problem
		if r, problems = Decode[StopRequest](payload); len(problems) > 0 {
			r = StopRequest{Level: undecodableLevel(payload), Why: "it could not be read: " + problems[0].Detail}
		}
	}
	if r.ID == "" {
		r.ID, isNew = cid, true
	}
	if r.Level == "" {
		r.Level = StopStop
	}
	if r.By == "" {
		r.By = cid
	}
	return r, isNew
}

// undecodableLevel is the level of a live stop that cannot be decoded: the strongest that the payload
// names as far as it is JSON, halt if it names one that is not known, and stop at least.
func undecodableLevel(payload []byte) StopLevel {
	level := StopStop
	dec := jsontext.NewDecoder(bytes.NewReader(payload), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return level
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return level
		}
		isLevel := name.String() == "level" // before the next read, which makes the token invalid
		value, err := dec.ReadValue()
		if isLevel {
			level = level.Stronger(namedLevel(value))
		}
		if err != nil {
			return level
		}
	}
	return level
}

// namedLevel is the level that a JSON value names, or halt if it names none that is known. An empty
// value is one that is cut off.
func namedLevel(value jsontext.Value) StopLevel {
	switch string(value) {
	case `null`, `""`, `"soft_stop"`, `"stop"`:
		return StopStop
	}
	return StopHalt
}

// Validate reports invalid fields; the stop then applies to all robots.
func (s *StopRequest) Validate() []Problem {
	var c checks
	if s.ID != "" {
		c.latchID("/id", s.ID)
	}
	if s.Level != "" {
		c.level("/level", s.Level)
	}
	return c
}

func (c *checks) latchID(pointer, id string) {
	if !ValidRequestID(id) {
		c.add(pointer, "bad_id", strconv.Quote(id)+" does not name a stop", "1-64 characters of A-Z a-z 0-9 . _ : -")
	}
}

func (c *checks) level(pointer string, l StopLevel) {
	switch l {
	case StopSoft, StopStop, StopHalt:
	default:
		c.add(pointer, "bad_value", strconv.Quote(string(l))+" is not a level of stopping", "soft_stop, stop or halt")
	}
}

// Revoked lists the names and the serial numbers of certificates that the broker no
// longer accepts. Retained; a higher revision replaces the whole list.
type Revoked struct {
	Rev     int64    `json:"rev" doc:"rises per fleet id"`
	FleetID string   `json:"fleet_id" doc:"UUID of the fleet's database"`
	Names   []string `json:"names" doc:"names that the broker no longer accepts"`
	Serials []string `json:"serials" doc:"certificates that it no longer accepts, in lower-case hexadecimal"`
	TS      Time     `json:"ts" doc:"when this was written"`
}

// Validate reports missing or invalid fields.
func (r *Revoked) Validate() []Problem {
	var c checks
	c.desired(r.Rev, r.FleetID)
	for i, n := range r.Names {
		c.id("/names/"+strconv.Itoa(i), n)
	}
	return c
}
