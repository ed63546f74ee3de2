package view

import (
	"time"

	"troupe/schema"
)

// tripsKept is how many of fleetd's heartbeats are known by when they were
// sent: a robot echoes the newest that it heard, every two seconds.
const tripsKept = 64

// latency measures how long a word takes from fleetd to a robot and back. The
// clocks of both do not matter. The view's lock guards it.
type latency struct {
	sent [tripsKept]sending // by sequence number
}

type sending struct {
	seq int64
	at  time.Time
}

// left notes that a heartbeat goes out.
func (t *latency) left(seq int64, at time.Time) {
	t.sent[seq%tripsKept] = sending{seq, at}
}

// took is what a robot's echo, heard now, comes to; none for the echo of a
// heartbeat that is not known, such as one of an earlier run of fleetd.
func (t *latency) took(echo schema.HeartbeatLink, now time.Time) (time.Duration, bool) {
	if echo.FleetSeq < 1 {
		return 0, false
	}
	s := t.sent[echo.FleetSeq%tripsKept]
	d := now.Sub(s.at) - time.Duration(echo.FleetAgeMS)*time.Millisecond
	if s.seq != echo.FleetSeq || d < 0 {
		return 0, false
	}
	return max(d, time.Microsecond), true // none at all is for those who do not tell
}

// Sent notes that this instance's heartbeat of that number goes out now.
func (v *View) Sent(seq int64, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sent.left(seq, now)
}
