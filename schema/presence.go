package schema

// Presence is the retained document in which a robot or fleetd reports that it is
// online. The last will of a connection contains the session and no time, because it is
// sent at an unknown time after it was written.
//
// Readers apply lost, offline and sleeping only to the session that they consider
// current; online with a new session replaces it.
type Presence struct {
	State    PresenceState `json:"state"`
	Session  string        `json:"session"`
	Boot     string        `json:"boot"`
	TS       Time          `json:"ts,omitzero"`
	Since    Time          `json:"since,omitzero"`
	Reason   string        `json:"reason,omitempty"`
	WakeAt   Time          `json:"wake_at,omitzero"`
	Software string        `json:"software,omitempty"`
}

// PresenceStalled is the reason in the presence of a robot that is connected but whose
// control loop hangs.
const PresenceStalled = "stalled"

// Validate reports missing or invalid fields.
func (p *Presence) Validate() []Problem {
	var c checks
	c.present("/state", p.State != "")
	c.present("/session", p.Session != "")
	return c
}

// Heartbeat is sent by the robot's control loop, so that it stops if the loop hangs,
// although the connection still exists. QoS 0, every 2 s.
type Heartbeat struct {
	Session  string         `json:"session"`
	Seq      int64          `json:"seq"`
	MonoMS   int64          `json:"mono_ms"` // since boot
	Boot     string         `json:"boot"`
	Mode     ModeID         `json:"mode"`
	Safety   SafetyState    `json:"safety"`
	StateSeq int64          `json:"state_seq"`
	Link     HeartbeatLink  `json:"link"`
	Clock    HeartbeatClock `json:"clock"`
}

// HeartbeatLink echoes the newest fleet heartbeat that the robot has received: its
// sender, its number, and how long ago it arrived. The sender knows when it sent it, and
// so can compute the round-trip time.
type HeartbeatLink struct {
	State      LinkState `json:"state"`
	Client     string    `json:"client,omitempty"`
	FleetSeq   int64     `json:"fleet_seq,omitzero"`
	FleetAgeMS int64     `json:"fleet_age_ms,omitzero"`
}

// HeartbeatClock is the offset between the robot's clock and the fleet's.
type HeartbeatClock struct {
	OffsetMS int64 `json:"offset_ms,omitzero"` // fleet minus robot
	Known    bool  `json:"known"`
}

// Validate reports missing or invalid fields.
func (h *Heartbeat) Validate() []Problem {
	var c checks
	c.present("/session", h.Session != "")
	c.present("/boot", h.Boot != "")
	c.atLeast("/seq", h.Seq, 1)
	c.atLeast("/mono_ms", h.MonoMS, 0)
	return c
}

// FleetHeartbeat is sent to every robot each second. While it arrives, an operator can
// stop the robot. Robots learn the fleet's time from TS. A console sends the same message
// to its own robot, which does not learn the time from it.
type FleetHeartbeat struct {
	TS       Time          `json:"ts"`
	Session  string        `json:"session"`
	Seq      int64         `json:"seq"`
	Instance FleetInstance `json:"instance,omitzero"`
}

// FleetInstance is what an instance of fleetd says of itself to the others, for people. Robots
// ignore it.
type FleetInstance struct {
	Version   string `json:"version,omitempty"`
	StartedAt Time   `json:"started_at,omitzero"`
	Leads     bool   `json:"leads,omitempty"`
	Database  bool   `json:"database,omitempty"` // answers the instance
}

// MaxInstanceVersion is the longest version in a heartbeat, which brokers bound to 256 bytes.
const MaxInstanceVersion = 32

// Validate reports missing or invalid fields.
func (h *FleetHeartbeat) Validate() []Problem {
	var c checks
	c.present("/ts", h.TS != 0)
	c.present("/session", h.Session != "")
	c.atLeast("/seq", h.Seq, 1)
	return c
}

// Notice reports to a client that the broker rejected a message, that a command reached no
// robot, or that the broker ends the client's connection because a newer one has the same
// client id.
type Notice struct {
	TS     Time   `json:"ts"`
	Reason Reason `json:"reason"`
	Topic  string `json:"topic,omitempty"`
	Detail string `json:"detail,omitempty"`
	Count  int64  `json:"count,omitzero"` // number of refusals and undelivered commands since the last notice
}

// Validate reports missing or invalid fields.
func (n *Notice) Validate() []Problem {
	var c checks
	c.present("/reason", n.Reason != "")
	return c
}
