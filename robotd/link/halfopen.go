package link

import "time"

// A connection can be up and half-open: the broker answers every ping, takes whatever
// the robot says and delivers nothing any more, because it lost the robot's
// subscriptions. The robot's own word that comes back proves whether it still receives, but one
// subscription can be lost without the others. So there is a second sign: the
// fleetd's presence, a kept document, says that it is there, and its heartbeats do
// not come.
//
// Fleetd may as well be the one that hangs. A new connection is cheap, so it is
// tried, ever more seldom while it does not help.
const (
	firstRenewal = 30 * time.Second // between two connections made for this reason
	lastRenewal  = 10 * time.Minute
)

// HalfOpen is what the robot knows of its connection as a listener. The zero value
// is a robot without one.
type HalfOpen struct {
	Last time.Duration // when a fleetd instance was heard last

	open   bool
	fleetd bool          // its presence says that it is there, on this connection
	since  time.Duration // both hold
	looked time.Duration // when Half-open was asked last
	next   time.Duration // no new connection for this reason before
	wait   time.Duration // after the next one
}

// Opened begins a connection; Closed ends it.
func (e *HalfOpen) Opened(now time.Duration) { e.open, e.fleetd, e.since = true, false, now }

// Closed ends a connection.
func (e *HalfOpen) Closed() { e.open, e.fleetd = false, false }

// Heard takes a fleetd instance's heartbeat.
func (e *HalfOpen) Heard(now time.Duration) { e.Last = now }

// Fleetd takes in what fleetd's presence says.
func (e *HalfOpen) Fleetd(there bool, now time.Duration) {
	if there && !e.fleetd {
		e.since = now
	}
	e.fleetd = there
}

// Detected reports whether the connection has to be made anew, since fleetd is there
// and is not heard. Having said so it waits; a heartbeat ends the doubt. It is asked
// at every step: a robot that itself stood still has heard nothing for that reason.
func (e *HalfOpen) Detected(now time.Duration, c Config) bool {
	if now-e.looked > c.late() {
		e.since = now
	}
	e.looked = now
	heard := max(e.Last, e.since)
	if e.Last > e.since {
		e.wait = 0
	}
	if !e.open || !e.fleetd || now-heard < 2*c.Lost || now < e.next {
		return false
	}
	e.wait = min(max(firstRenewal, 2*e.wait), lastRenewal)
	e.next = now + e.wait
	return true
}
