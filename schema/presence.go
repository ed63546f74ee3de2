package schema

// Presence is the retained document by which a robot, or the fleet itself, says
// that it is there. The will of a connection carries the session it belongs to
// and no time: when it is sent the writer is gone, so its clock would lie.
//
// Readers: lost, offline and sleeping count only for the session believed
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

// PresenceStalled is the reason in the presence of a robot whose connection lives
// and whose control loop hangs.
const PresenceStalled = "stalled"

// Validate reports what a presence document must carry and does not.
func (p *Presence) Validate() []Problem {
	var c checks
	c.said("/state", p.State != "")
	c.said("/session", p.Session != "")
	return c
}

// Heartbeat is made by the robot's control loop, so that a hung loop goes
// silent while its connection lives. QoS 0, every 2 s.
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

// HeartbeatLink echoes the newest fleet heartbeat that arrived: whose it was,
// which one, and how long ago it came. Its sender knows when it was sent, and so
// how long a word takes to the robot and back.
type HeartbeatLink struct {
	State      LinkState `json:"state"`
	Client     string    `json:"client,omitempty"`
	FleetSeq   int64     `json:"fleet_seq,omitzero"`
	FleetAgeMS int64     `json:"fleet_age_ms,omitzero"`
}

// HeartbeatClock says how far the robot's clock is from the fleet's.
type HeartbeatClock struct {
	OffsetMS int64 `json:"offset_ms,omitzero"` // fleet minus robot
	Known    bool  `json:"known"`
}

// Validate reports what a heartbeat must carry and does not.
func (h *Heartbeat) Validate() []Problem {
	var c checks
	c.said("/session", h.Session != "")
	c.said("/boot", h.Boot != "")
	c.atLeast("/seq", h.Seq, 1)
	c.atLeast("/mono_ms", h.MonoMS, 0)
	return c
}

// FleetHeartbeat is an operator's sign of life to every robot, each second: as
// long as it arrives somebody can stop the robot. ts lets robots learn the
// fleet's time. A console says the same to its own robot, which learns no time of
// it.
type FleetHeartbeat struct {
	TS      Time   `json:"ts"`
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
}

// Validate reports what a fleet heartbeat must carry and does not.
func (h *FleetHeartbeat) Validate() []Problem {
	var c checks
	c.said("/ts", h.TS != 0)
	c.said("/session", h.Session != "")
	c.atLeast("/seq", h.Seq, 1)
	return c
}

// Notice tells a client that the broker did not take what it sent, or that it ends
// the client's connection for a newer one of the same client id.
type Notice struct {
	TS     Time   `json:"ts"`
	Reason Reason `json:"reason"`
	Topic  string `json:"topic,omitempty"`
	Detail string `json:"detail,omitempty"`
	Count  int64  `json:"count,omitzero"` // how many were refused since the last notice
}

// Validate reports what a notice must carry and does not.
func (n *Notice) Validate() []Problem {
	var c checks
	c.said("/reason", n.Reason != "")
	return c
}
