package schema

import (
	"cmp"
	"time"
)

// Presence is the retained document in which a robot or fleetd reports that it is
// online. The last will of a connection contains the session and no time, because it is
// sent at an unknown time after it was written.
//
// Readers apply lost, offline and sleeping only to the session that they consider
// current; online with a new session replaces it.
type Presence struct {
	State    PresenceState `json:"state" doc:"online, offline (it ended in order), lost or sleeping"`
	Session  string        `json:"session" doc:"the connection that wrote this; every document that it writes names it"`
	Boot     string        `json:"boot" doc:"this run of robotd"`
	TS       Time          `json:"ts,omitzero" doc:"when this was written; a will has no time"`
	Since    Time          `json:"since,omitzero" doc:"since when the connection exists"`
	Reason   string        `json:"reason,omitempty" doc:"why it is gone, or that the control loop hangs (stalled)"`
	WakeAt   Time          `json:"wake_at,omitzero" doc:"sleeping: when the robot will be started again, as robotd --wake-at says"`
	Software string        `json:"software,omitempty" doc:"program and version"`
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
// although the connection still exists. QoS 0, every 2 s unless the
// setting heartbeat_ms says otherwise; every 10 s while the robot is at rest and all fleetd
// instances and panels accept it (RestHeartbeatMS).
type Heartbeat struct {
	Session  string         `json:"session" doc:"the connection that wrote this"`
	Seq      int64          `json:"seq" doc:"counts up with each heartbeat of a session"`
	MonoMS   int64          `json:"mono_ms" doc:"monotonic time since robotd started, which safety/enable quotes as seen_mono_ms"`
	Boot     string         `json:"boot" doc:"this run of robotd"`
	Mode     ModeID         `json:"mode" doc:"the mode in charge"`
	Safety   SafetyState    `json:"safety" doc:"the state of the safety core"`
	StateSeq int64          `json:"state_seq" doc:"state_seq of the newest state"`
	NextMS   int64          `json:"next_ms,omitzero" doc:"the next heartbeat comes within this time; left out: 2000"`
	Link     HeartbeatLink  `json:"link" doc:"whether heartbeats of fleetd or of a panel at the robot arrive"`
	Clock    HeartbeatClock `json:"clock" doc:"the robot's clock and the fleet's"`
}

// RestHeartbeatMS is the interval of the heartbeats of a robot at rest: it performs nothing, nobody
// has control of it, and its state has not changed for a while. The robot uses it only while every
// fleetd and every panel whose heartbeats it receives accepts it (FleetHeartbeat.MaxHeartbeatMS).
const RestHeartbeatMS = 10_000

// DefaultHeartbeat is the interval of heartbeats that do not name the next one.
const DefaultHeartbeat = 2 * time.Second

// Next is the time within which the heartbeat after h comes.
func (h *Heartbeat) Next() time.Duration {
	return cmp.Or(time.Duration(h.NextMS)*time.Millisecond, DefaultHeartbeat)
}

// HeartbeatLink echoes the newest fleet heartbeat that the robot has received: its
// sender, its number, and how long ago it arrived. The sender knows when it sent it, and
// so can compute the round-trip time.
type HeartbeatLink struct {
	State      LinkState `json:"state" doc:"never, up, degraded or lost"`
	Client     string    `json:"client,omitempty" doc:"the fleetd instance whose heartbeat came last; if none came, the client of role console, such as a panel at the robot"`
	FleetSeq   int64     `json:"fleet_seq,omitzero" doc:"seq of that heartbeat, if it is of a fleetd"`
	FleetAgeMS int64     `json:"fleet_age_ms,omitzero" doc:"how long before this heartbeat it arrived"`
}

// HeartbeatClock is the offset between the robot's clock and the fleet's.
type HeartbeatClock struct {
	OffsetMS int64 `json:"offset_ms,omitzero" doc:"the fleet's time minus the robot's"`
	Known    bool  `json:"known" doc:"whether the robot has learnt the fleet's time"`
}

// Validate reports missing or invalid fields.
func (h *Heartbeat) Validate() []Problem {
	var c checks
	c.present("/session", h.Session != "")
	c.present("/boot", h.Boot != "")
	c.atLeast("/seq", h.Seq, 1)
	c.atLeast("/mono_ms", h.MonoMS, 0)
	c.atLeast("/next_ms", h.NextMS, 0)
	return c
}

// FleetHeartbeat is sent to every robot each second. While it arrives, an operator can
// stop the robot. Robots learn the fleet's time from TS. A console sends the same message
// to its own robot, which does not learn the time from it.
type FleetHeartbeat struct {
	TS       Time          `json:"ts" doc:"the fleet's time"`
	Session  string        `json:"session" doc:"the connection that wrote this"`
	Seq      int64         `json:"seq" doc:"counts up with each heartbeat of a session"`
	Instance FleetInstance `json:"instance,omitzero" doc:"the fleetd that sends it"`
	// MaxHeartbeatMS lets an earlier release, which counts robots as lost after 15 s, go on beside
	// robots that would send heartbeats every 10 s.
	MaxHeartbeatMS int64 `json:"max_heartbeat_ms,omitzero" doc:"the longest interval of the robot's heartbeats that the sender can judge; left out: that of the setting heartbeat_ms"`
}

// FleetInstance is what an instance of fleetd says of itself to the others, for people. Robots
// ignore it.
type FleetInstance struct {
	Version   string `json:"version,omitempty" doc:"of fleetd"`
	StartedAt Time   `json:"started_at,omitzero" doc:"when it started"`
	Leads     bool   `json:"leads,omitempty" doc:"it is the leader"`
	Database  bool   `json:"database,omitempty" doc:"its database answers"`
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
// robot or a live stop not every robot, or that the broker ends the client's connection because a
// newer one has the same client id. fleetd reports in one that it removed a retained command or stop of the client, which
// Mosquitto had kept.
type Notice struct {
	TS     Time   `json:"ts" doc:"when this was written"`
	Reason Reason `json:"reason" doc:"why the message was refused, such as too_big; undelivered: the command reached no robot, or the live stop not every robot; taken_over: a newer connection has the client id"`
	Topic  string `json:"topic,omitempty" doc:"of the message"`
	ID     string `json:"id,omitempty" doc:"of the command or live stop that the notice is about, if it has one; of a live stop without one the client's name"`
	Detail string `json:"detail,omitempty" doc:"in a sentence, with the way out"`
	Count  int64  `json:"count,omitzero" doc:"refusals and undelivered commands since the last notice"`
}

// Validate reports missing or invalid fields.
func (n *Notice) Validate() []Problem {
	var c checks
	c.present("/reason", n.Reason != "")
	return c
}
