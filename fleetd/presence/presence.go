// Package presence says whether a robot is there. It is a fact about now: a
// function of what was heard, of fleetd's own connection and of the clock,
// never a truth that is stored and could be wrong later.
//
// What a robot says of itself carries the session of its connection. A last
// will, or any other late word, of a session that is over is about the past and
// changes nothing; sessions are compared for equality, since a counter would be
// lost with the robot's disk.
//
// It does not say whether a robot may be commanded or is safe, only whether it
// can be heard.
package presence

import (
	"slices"
	"time"

	"troupe/schema"
)

const (
	// Late is the age at which a heartbeat, due every 2 s, is overdue.
	Late = 5 * time.Second
	// Silence is how long a robot may be silent before it counts as lost.
	Silence = 15 * time.Second
	// Grace is how long after its own start, or the broker's, fleetd waits for
	// robots before it says anything of those not heard.
	Grace = 10 * time.Second
	// Slow is how long a word may take to the robot and back.
	Slow = time.Second
	// Disputed is how long after the last sign of it a name counts as used by two
	// robots. Of two that throw each other out, each comes back within seconds.
	Disputed = 5 * time.Minute
	// remembered is how many ended sessions are known as such.
	remembered = 8
	// bootsKnown is how many runs of a robot's program are told apart.
	bootsKnown = 4
)

// Facts are all that was heard of one robot. The zero value is a robot that was
// never heard. Facts are comparable and are copied.
type Facts struct {
	Word    schema.PresenceState // the newest that counts; empty = none yet
	WordAt  time.Time            // when it came
	Reason  string               // as the robot gave it
	WakeAt  time.Time            // of sleeping
	Session string               // believed current, or the last one
	LifeAt  time.Time            // newest proof that the robot's own loop is alive
	SpokeAt time.Time            // newest other live message: its connection is alive
	Link    schema.LinkState     // the robot's view of its operators, from its heartbeat
	Trips   [2]time.Duration     // the newest two round trips; 0 = none

	// RivalAt is when a run of robotd was back on the line although another one of
	// the same name had been heard after it: both are alive.
	RivalAt time.Time

	ended [remembered]string
	next  int                // place in ended
	boots [bootsKnown]string // the newest first
}

// Heard takes in a presence document. A retained one was said before we
// listened: it counts, but does not prove life.
func (f Facts) Heard(p schema.Presence, retained bool, at time.Time) Facts {
	if p.State == schema.PresenceOnline {
		switch again := f.Word == schema.PresenceOnline && f.Session == p.Session; {
		case f.over(p.Session):
			return f
		case again && !retained:
			return f.Spoke(at) // its connection says so, which may outlive its loop
		}
		f = f.begin(p.Session, at)
		if !retained {
			f.LifeAt = at
		}
		return f.ran(p.Boot, retained, at)
	}
	other := f.Session != "" && f.Session != p.Session
	switch {
	case other && (!retained || f.over(p.Session)):
		return f // the word of another session is about that session
	case !other && p.State == schema.PresenceLost && (f.Word == schema.PresenceOffline || f.Word == schema.PresenceSleeping):
		return f // its own word stands against the will that its broker sent later
	}
	if other {
		// A session came and went while we could not hear. The one before is not put
		// away: should this be an old word after all, its next heartbeat says so.
		f.Link, f.Trips = "", [2]time.Duration{}
	}
	f.Session = p.Session
	f.Word, f.WordAt, f.Reason, f.WakeAt = p.State, at, p.Reason, time.Time{}
	switch {
	case p.WakeAt == 0:
	case p.TS != 0 && !retained: // its clock may be wrong by years; the difference holds
		f.WakeAt = at.Add(p.WakeAt.Sub(p.TS))
	default:
		f.WakeAt = p.WakeAt.Time()
	}
	return f.end()
}

// Beat takes in a heartbeat, which proves its session online. One that was under
// way when its session ended proves nothing; but one that comes so much later
// proves that the word of the end was false, whoever wrote it.
func (f Facts) Beat(h schema.Heartbeat, at time.Time) Facts {
	if f.over(h.Session) {
		if h.Session != f.Session || at.Sub(f.WordAt) < Late {
			return f
		}
		f = f.reopen()
	}
	f = f.begin(h.Session, at)
	f.LifeAt, f.Link = at, h.Link.State
	return f.ran(h.Boot, false, at)
}

// Trip takes in how long a word took to the robot and back.
func (f Facts) Trip(d time.Duration) Facts {
	f.Trips[0], f.Trips[1] = d, f.Trips[0]
	return f
}

// RoundTrip is the better of the newest two: one late packet is no slow line.
func (f Facts) RoundTrip() time.Duration {
	if f.Trips[1] == 0 {
		return 0
	}
	return min(f.Trips[0], f.Trips[1])
}

// ran notes which run of robotd speaks. One that comes back after another has
// spoken is a second robot: a run that ended is over for good.
func (f Facts) ran(boot string, retained bool, at time.Time) Facts {
	if boot == "" || boot == f.boots[0] {
		return f
	}
	place := slices.Index(f.boots[:], boot)
	if place > 0 && !retained {
		f.RivalAt = at
	}
	if place < 0 {
		place = bootsKnown - 1
	}
	copy(f.boots[1:place+1], f.boots[:place])
	f.boots[0] = boot
	return f
}

// reopen takes the current session out of those that are over.
func (f Facts) reopen() Facts {
	for i := range f.ended {
		if f.ended[i] == f.Session {
			f.ended[i] = ""
		}
	}
	return f
}

// Spoke takes in any other live message of the robot: its connection works, and
// if its heartbeats do not come its loop hangs.
func (f Facts) Spoke(at time.Time) Facts {
	f.SpokeAt = at
	return f
}

// begin makes session the current one.
func (f Facts) begin(session string, at time.Time) Facts {
	if f.Session == session && f.Word == schema.PresenceOnline {
		return f
	}
	if f.Session != session {
		f = f.end()
		f.Link, f.Trips = "", [2]time.Duration{}
	}
	f.Session = session
	f.Word, f.WordAt, f.Reason, f.WakeAt = schema.PresenceOnline, at, "", time.Time{}
	return f
}

// end remembers the current session as over.
func (f Facts) end() Facts {
	if f.Session == "" || f.over(f.Session) {
		return f
	}
	f.ended[f.next] = f.Session
	f.next = (f.next + 1) % remembered
	return f
}

func (f Facts) over(session string) bool {
	for _, ended := range f.ended {
		if ended != "" && ended == session {
			return true
		}
	}
	return false
}
