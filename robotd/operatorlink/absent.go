package operatorlink

import "time"

// A fleet with a standby broker can be split: its first broker returns, some robots connect to it, and
// fleetd stays with the standby. So a robot that may connect to several brokers and hears no fleetd at
// one of them tries the next. It stays as long where fleetd should be as Absent says, longer with each
// round in which it was found nowhere, because fleetd may simply be down.
const longestStay = 5 * time.Minute

// Absent detects that no fleetd instance is at the broker. The zero value has no connection.
type Absent struct {
	open    bool
	since   time.Duration // when the connection began, or the last heartbeat came over it
	brokers int           // tried since the last heartbeat
}

// Opened starts a connection, and Closed ends one.
func (a *Absent) Opened(now time.Duration) { a.open, a.since = true, now }

// Closed ends a connection.
func (a *Absent) Closed() { a.open = false }

// Heartbeat records a heartbeat of a fleetd instance.
func (a *Absent) Heartbeat(now time.Duration) { a.since, a.brokers = now, 0 }

// Detected reports whether the robot must connect to the next of its brokers. It may return true once
// for each connection.
func (a *Absent) Detected(now time.Duration, c Config) bool {
	if !a.open || c.Brokers < 2 || now-a.since < a.stay(c) {
		return false
	}
	a.open = false
	a.brokers++
	return true
}

// stay is how long the robot waits at a broker for a heartbeat: it doubles with each round.
func (a *Absent) stay(c Config) time.Duration {
	stay := 2 * c.Lost
	for range a.brokers / c.Brokers {
		stay = min(2*stay, longestStay)
	}
	return stay
}
