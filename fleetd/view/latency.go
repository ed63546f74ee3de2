package view

import (
	"time"

	"troupe/schema"
)

// heartbeatsKept is how many of fleetd's own heartbeats are remembered with their time: a
// robot echoes the newest that it received, every two seconds.
const heartbeatsKept = 64

// latency measures round-trip times between fleetd and robots, without comparing their
// clocks. The view's lock guards it.
type latency struct {
	sent [heartbeatsKept]sending // by sequence number
}

type sending struct {
	seq int64
	at  time.Time
}

// recordSent records when a heartbeat was sent.
func (t *latency) recordSent(seq int64, at time.Time) {
	t.sent[seq%heartbeatsKept] = sending{seq, at}
}

// roundTrip is the round-trip time of an echo that arrives now; none for the echo of a heartbeat
// that is not remembered, such as one of an earlier process.
func (t *latency) roundTrip(echo schema.HeartbeatLink, now time.Time) (time.Duration, bool) {
	if echo.FleetSeq < 1 {
		return 0, false
	}
	s := t.sent[echo.FleetSeq%heartbeatsKept]
	d := now.Sub(s.at) - time.Duration(echo.FleetAgeMS)*time.Millisecond
	if s.seq != echo.FleetSeq || d < 0 {
		return 0, false
	}
	return max(d, time.Microsecond), true // 0 would mean that it is unknown
}

// HeartbeatSent records that this instance sends its heartbeat of that number now.
func (v *View) HeartbeatSent(seq int64, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sent.recordSent(seq, now)
}
