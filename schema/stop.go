package schema

import "strconv"

// StopLevel is how a software stop is carried out. None of them is an emergency
// stop.
type StopLevel string

const (
	StopSoft StopLevel = "soft_stop" // end the running thing gently, then stop
	StopStop StopLevel = "stop"      // damp to standstill
	StopHalt StopLevel = "halt"      // halt all units at once; needs a reset too
)

// MoreStops is the id of a stop that holds what was asked for beyond the ids that
// are kept apart, on a robot and at fleetd.
const MoreStops = "more-stops"

// StopLatch is a stop that a person asked for and that holds until it is
// released by its id. No robot is enabled while it holds one.
type StopLatch struct {
	ID    string    `json:"id"`
	Level StopLevel `json:"level"`
	By    string    `json:"by,omitempty"` // the person, or the client
	Why   string    `json:"why,omitempty"`
	Since Time      `json:"since"`
	// Client sent it live, and By is its word alone; empty if a fleetd instance vouches for By.
	Client string `json:"client,omitempty"`
	// All: it was asked of all robots, so that fleetd learns from any robot that received
	// it that it means those that were offline, too.
	All bool `json:"all,omitzero"`
}

// Asker is who asked for the stop, for people.
func (l StopLatch) Asker() string { return Asker(l.Client, l.By) }

// Asker is who asked for something, for people: the person, and the client whose word
// that is; empty if a fleetd instance vouches for the person.
func Asker(client, by string) string {
	switch {
	case by == "" || by == client:
		return client
	case client == "":
		return by
	}
	return LegibleWithin(by, MaxWord-len(" at ")-len(client)) + " at " + client
}

// DesiredStop is the set of latches that fleetd holds on one robot. Retained.
// A latch that leaves the set under a higher revision of the same fleet id is
// released; an emptied topic releases nothing. What cannot be read is a stop, and
// so is what is not signed: a signature is needed to release alone.
type DesiredStop struct {
	Rev     int64       `json:"rev"`
	FleetID string      `json:"fleet_id"`
	Stops   []StopLatch `json:"stops"`
	TS      Time        `json:"ts"`
	Counter int64       `json:"counter,omitzero"`
	Sig     *Signature  `json:"sig,omitzero"`
}

// Validate reports what the document must carry and does not.
func (d *DesiredStop) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.said("/stops", d.Stops != nil)
	for i, s := range d.Stops {
		c.latchID(at("/stops", i, "id"), s.ID)
		c.level(at("/stops", i, "level"), s.Level)
	}
	return c
}

// FleetStop is the latched stop of all robots. Retained. It is released by a
// higher revision of the same fleet id with Active false; then robots are
// DISABLED, and nothing moves by itself. What cannot be read is a stop, and so is
// what is not signed: a signature is needed to release alone.
type FleetStop struct {
	Rev     int64      `json:"rev"`
	FleetID string     `json:"fleet_id"`
	Active  bool       `json:"active"`
	ID      string     `json:"id,omitempty"`
	Level   StopLevel  `json:"level,omitempty"`
	By      string     `json:"by,omitempty"`
	Client  string     `json:"client,omitempty"` // as of StopLatch
	Why     string     `json:"why,omitempty"`
	TS      Time       `json:"ts"`
	Counter int64      `json:"counter,omitzero"`
	Sig     *Signature `json:"sig,omitzero"`
}

// Validate reports what the document must carry and does not.
func (f *FleetStop) Validate() []Problem {
	var c checks
	c.desired(f.Rev, f.FleetID)
	if f.Active {
		c.latchID("/id", f.ID)
		c.level("/level", f.Level)
	}
	return c
}

// StopRequest is a client's live stop of all robots, or of those it names. Any
// payload stops; what cannot be read, and what names nobody, means all. It can
// only stop: release goes through fleetd.
type StopRequest struct {
	ID     string            `json:"id,omitempty"`
	Level  StopLevel         `json:"level,omitempty"` // stop if left out
	Robots []string          `json:"robots,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // all of them must match
	By     string            `json:"by,omitempty"`
	Why    string            `json:"why,omitempty"`
}

// ReadStop reads a client's live stop as it came. There always is one: what
// cannot be read stops all robots, what says no level is a stop. Without an id of
// its own it has the client's name, the same for everybody who hears it; then
// anew is true, for each such stop is another one than the last.
func ReadStop(cid string, payload []byte) (r StopRequest, anew bool) {
	if len(payload) > 0 {
		var problems []Problem
		if r, problems = Decode[StopRequest](payload); len(problems) > 0 {
			r = StopRequest{Why: "it could not be read: " + problems[0].Detail}
		}
	}
	if r.ID == "" {
		r.ID, anew = cid, true
	}
	if r.Level == "" {
		r.Level = StopStop
	}
	if r.By == "" {
		r.By = cid
	}
	return r, anew
}

// Validate reports what makes a request unreadable; then it means all.
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

// Revoked lists who is no longer taken by the broker: names and serial numbers
// of certificates. Retained; a higher revision replaces it whole.
type Revoked struct {
	Rev     int64    `json:"rev"`
	FleetID string   `json:"fleet_id"`
	Names   []string `json:"names"`
	Serials []string `json:"serials"` // lower-case hexadecimal
	TS      Time     `json:"ts"`
}

// Validate reports what the list must carry and does not.
func (r *Revoked) Validate() []Problem {
	var c checks
	c.desired(r.Rev, r.FleetID)
	for i, n := range r.Names {
		c.id("/names/"+strconv.Itoa(i), n)
	}
	return c
}
