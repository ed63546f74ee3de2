package operatorlink

import "time"

// A connection can be half-open: the broker answers every ping and accepts every
// message but delivers nothing, because it lost the robot's subscriptions. The
// robot checks that by receiving a message of its own, but single subscriptions can
// be lost, too. So there is a second check: fleetd's presence, a retained document,
// is online, and fleetd's heartbeats do not arrive.
//
// Instead fleetd may hang. Reconnecting is cheap, so the robot does it, at growing
// intervals while it does not help.
const (
	firstWait   = 30 * time.Second // after the first reconnect for this reason
	longestWait = 10 * time.Minute
)

// HalfOpen detects a half-open connection. The zero value has no connection.
type HalfOpen struct {
	LastHeartbeat time.Duration // when the last heartbeat of a fleetd instance arrived

	open         bool
	fleetdOnline bool          // its presence is online, received over this connection
	since        time.Duration // when both became true
	checkedAt    time.Duration // when Detected was last called
	notBefore    time.Duration // no reconnect for this reason before
	wait         time.Duration // after the last reconnect
}

// Opened starts a connection.
func (e *HalfOpen) Opened(now time.Duration) { e.open, e.fleetdOnline, e.since = true, false, now }

// Closed ends a connection.
func (e *HalfOpen) Closed() { e.open, e.fleetdOnline = false, false }

// Heartbeat records a heartbeat of a fleetd instance.
func (e *HalfOpen) Heartbeat(now time.Duration) { e.LastHeartbeat, e.notBefore = now, 0 }

// SetFleetdOnline records whether fleetd's presence is online.
func (e *HalfOpen) SetFleetdOnline(there bool, now time.Duration) {
	if there && !e.fleetdOnline {
		e.since = now
	}
	e.fleetdOnline = there
}

// Detected reports whether the robot must reconnect, because fleetd is online and
// its heartbeats do not arrive. After it returned true it waits; a heartbeat resets
// the wait. It is called at every step, so that it notices a stall of the robot
// itself, during which no heartbeat could be received.
func (e *HalfOpen) Detected(now time.Duration, c Config) bool {
	if now-e.checkedAt > c.late() {
		e.since = now
	}
	e.checkedAt = now
	last := max(e.LastHeartbeat, e.since)
	if e.LastHeartbeat > e.since {
		e.wait = 0
	}
	if !e.open || !e.fleetdOnline || now-last < 2*c.Lost || now < e.notBefore {
		return false
	}
	e.wait = min(max(firstWait, 2*e.wait), longestWait)
	e.notBefore = now + e.wait
	return true
}
