package operatorlink

import "time"

// A fleet with a standby broker can be split: its first broker returns, some robots connect to it, and
// fleetd stays with the standby. So a robot that may connect to several brokers and hears no fleetd at
// one of them tries the next. It stays a while at each, longer with each round in which it found no fleetd, because
// fleetd may simply be down, and never long enough to be missed for long when fleetd returns to another.
const longestStay = 30 * time.Second

// Absent detects that no fleetd instance is at the broker. The zero value has no connection.
type Absent struct {
	open      bool
	since     time.Duration // when the connection began, or the last heartbeat came over it
	checkedAt time.Duration // when Detected was last called
	brokers   int           // tried since the last heartbeat
}

// Opened starts a connection, and Closed ends one.
func (a *Absent) Opened(now time.Duration) { a.open, a.since = true, now }

// Closed ends a connection.
func (a *Absent) Closed() { a.open = false }

// Heartbeat records a heartbeat of a fleetd instance.
func (a *Absent) Heartbeat(now time.Duration) { a.since, a.brokers = now, 0 }

// Detected reports whether the robot must connect to the next of its brokers. It may return true once
// for each connection. It is called at every step, so that it notices a stall of the robot itself, during which no
// heartbeat could be received. A robot that mayLeave is false of stays: it may move, and a stop button may be at this broker only.
func (a *Absent) Detected(now time.Duration, c Config, mayLeave bool) bool {
	if now-a.checkedAt > c.late() {
		a.since = now
	}
	a.checkedAt = now
	if !a.open || !mayLeave || c.Brokers < 2 || now-a.since < a.stay(c) {
		return false
	}
	a.open = false
	a.brokers++
	return true
}

// stay is how long the robot waits at a broker for a heartbeat: it doubles with each round. Robots that heard the same last
// heartbeat leave one after the other.
func (a *Absent) stay(c Config) time.Duration {
	stay := 2 * c.Lost
	for range a.brokers / c.Brokers {
		stay = min(2*stay, longestStay)
	}
	return stay + time.Duration(c.Spread*float64(2*c.Lost))
}
