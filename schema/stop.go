package schema

import "strconv"

// StopLevel is the level of a software stop. None of them is an emergency stop.
type StopLevel string

const (
	StopSoft StopLevel = "soft_stop" // perform the shutdown act, then stop
	StopStop StopLevel = "stop"      // brake to standstill
	StopHalt StopLevel = "halt"      // halt all units at once; needs a reset too
)

// MoreStops is the id of a latch that represents all stops beyond the number of latches
// that a robot or fleetd stores individually.
const MoreStops = "more-stops"

// StopLatch is a stop that a person requested and that stays in force until it is
// released by its id. A robot with a latch cannot be enabled.
type StopLatch struct {
	ID    string    `json:"id"`
	Level StopLevel `json:"level"`
	By    string    `json:"by,omitempty"` // the person, or the client
	Why   string    `json:"why,omitempty"`
	Since Time      `json:"since"`
	// Client is the client that sent the stop directly, so that nobody has verified
	// By; empty if fleetd has verified By.
	Client string `json:"client,omitempty"`
	// All: the stop was for all robots. fleetd then extends it to robots that were
	// offline, from the report of any robot that received it.
	All bool `json:"all,omitzero"`
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
	return SanitizeTextWithin(by, MaxWord-len(" at ")-len(client)) + " at " + client
}

// DesiredStop is the set of fleetd's latches on one robot. Retained. A latch that is
// missing in a higher revision of the same fleet id is released; deleting the retained
// message releases nothing. A document that cannot be decoded is a stop. A document
// without a signature can add latches but cannot release one.
type DesiredStop struct {
	Rev     int64       `json:"rev"`
	FleetID string      `json:"fleet_id"`
	Stops   []StopLatch `json:"stops"`
	TS      Time        `json:"ts"`
	Counter int64       `json:"counter,omitzero"`
	Sig     *Signature  `json:"sig,omitzero"`
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
// by itself. A document that cannot be decoded is a stop. A document without a signature
// can stop but cannot release.
type FleetStop struct {
	Rev     int64      `json:"rev"`
	FleetID string     `json:"fleet_id"`
	Active  bool       `json:"active"`
	ID      string     `json:"id,omitempty"`
	Level   StopLevel  `json:"level,omitempty"`
	By      string     `json:"by,omitempty"`
	Client  string     `json:"client,omitempty"` // as in StopLatch
	Why     string     `json:"why,omitempty"`
	TS      Time       `json:"ts"`
	Counter int64      `json:"counter,omitzero"`
	Sig     *Signature `json:"sig,omitzero"`
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

// StopRequest is a client's direct stop of all robots or of selected ones. Any payload
// stops: one that cannot be decoded or that selects no robots stops all. It can only
// stop; only fleetd can release.
type StopRequest struct {
	ID     string            `json:"id,omitempty"`
	Level  StopLevel         `json:"level,omitempty"` // stop if left out
	Robots []string          `json:"robots,omitempty"`
	Labels map[string]string `json:"labels,omitempty"` // a robot must have all of them
	By     string            `json:"by,omitempty"`
	Why    string            `json:"why,omitempty"`
}

// ReadStop decodes a client's direct stop. It always returns a stop: a payload that
// cannot be decoded stops all robots, and the default level is stop. If the payload has
// no id, the id is the client's name, so that all receivers use the same one; then
// isNew is true, because each such stop is a new one.
func ReadStop(cid string, payload []byte) (r StopRequest, isNew bool) {
	if len(payload) > 0 {
		var problems []Problem
		if r, problems = Decode[StopRequest](payload); len(problems) > 0 {
			r = StopRequest{Why: "it could not be read: " + problems[0].Detail}
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
	Rev     int64    `json:"rev"`
	FleetID string   `json:"fleet_id"`
	Names   []string `json:"names"`
	Serials []string `json:"serials"` // lower-case hexadecimal
	TS      Time     `json:"ts"`
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
