// Package presence decides whether a robot is connected. The result is computed for the
// present moment from the received messages, fleetd's own connection and the clock, and
// never stored, so it cannot become outdated.
//
// Presence documents and heartbeats carry the session of the robot's connection. A last will
// or another late message of an ended session changes nothing. Sessions are compared for
// equality only, since a counter would be lost with the robot's disk.
//
// The result does not say whether a robot is safe or obeys commands, only whether its
// messages arrive.
package presence

import (
	"slices"
	"time"

	"troupe/schema"
)

const (
	// Late is the age at which a heartbeat is overdue, of a robot that sends one every 2 s. Of others it is later by Facts.Pause.
	Late = schema.DefaultHeartbeat + 3*time.Second
	// Silence is the age of the newest heartbeat at which such a robot counts as lost.
	Silence = schema.DefaultHeartbeat + 13*time.Second
	// Grace is how long fleetd waits for messages of robots after it connected to the
	// broker, before it calls a robot lost.
	Grace = 10 * time.Second
	// Slow is the round trip time above which a robot is degraded.
	Slow = time.Second
	// RoundTripExpiry is the age at which a round trip time of such a robot says nothing about now any more. A robot
	// echoes the heartbeat of one instance of fleetd only, so the others measure none.
	RoundTripExpiry = 3 * schema.DefaultHeartbeat
	// DisputeTimeout is how long a name counts as used by two robots after the last sign of it.
	// Two robots that take over each other's session reconnect within seconds.
	DisputeTimeout = 5 * time.Minute
	// sessionsRemembered is how many ended sessions are remembered.
	sessionsRemembered = 8
	// bootsRemembered is how many boots of robotd are remembered.
	bootsRemembered = 4
)

// Facts are what fleetd received of one robot. The zero value is a robot of which nothing
// was received. Facts are comparable, and methods return a changed copy.
type Facts struct {
	State      schema.PresenceState // newest accepted state; empty = none yet
	StateAt    time.Time            // when it was received
	Reason     string               // from the presence document
	WakeAt     time.Time            // when a sleeping robot wakes up, by fleetd's clock
	Session    string               // the current or the last session
	AliveAt    time.Time            // newest proof that the robot's control loop runs
	Pause      time.Duration        // by how much later than usual the heartbeat after the newest one may come: the robot is at rest
	MessageAt  time.Time            // newest other live message: the connection is alive
	Link       schema.LinkState     // link state in the robot's heartbeat
	RoundTrips [2]time.Duration     // the newest two round trip times; 0 = none
	MeasuredAt time.Time            // when the newest of them was measured

	// DisputedAt is when a boot of robotd sent a message after another boot with the same
	// name had: two robots use the name.
	DisputedAt time.Time

	ended [sessionsRemembered]string
	next  int                     // next index in ended
	boots [bootsRemembered]string // the newest first
}

// ApplyPresence applies a presence document. A retained one was published before fleetd
// subscribed: it counts, but does not prove that the robot is alive.
func (f Facts) ApplyPresence(p schema.Presence, retained bool, at time.Time) Facts {
	if p.State == schema.PresenceOnline {
		switch again := f.State == schema.PresenceOnline && f.Session == p.Session; {
		case f.hasEnded(p.Session):
			return f
		case again && !retained:
			return f.ApplyMessage(at) // proves the connection, which may outlive the control loop
		}
		f = f.begin(p.Session, at)
		if !retained {
			f.AliveAt = at
		}
		return f.recordBoot(p.Boot, retained, at)
	}
	other := f.Session != "" && f.Session != p.Session
	switch {
	case other && (!retained || f.hasEnded(p.Session)):
		return f // a document of another session does not concern the current one
	case !other && p.State == schema.PresenceLost && (f.State == schema.PresenceOffline || f.State == schema.PresenceSleeping):
		return f // the will that follows a clean disconnect is ignored
	}
	if other {
		// A session began and ended while fleetd was not connected. The session before is
		// not marked as ended: if this document is an old one after all, the next heartbeat
		// of that session corrects it.
		f.Link, f.RoundTrips, f.Pause = "", [2]time.Duration{}, 0
	}
	f.Session = p.Session
	f.State, f.StateAt, f.Reason, f.WakeAt = p.State, at, p.Reason, time.Time{}
	switch {
	case p.WakeAt == 0:
	case p.TS != 0 && !retained: // the robot's clock may be wrong by years; the difference is right
		f.WakeAt = at.Add(p.WakeAt.Sub(p.TS))
	default:
		f.WakeAt = p.WakeAt.Time()
	}
	return f.end()
}

// ApplyHeartbeat applies a heartbeat, which proves that its session is online. A heartbeat that was
// in flight when its session ended proves nothing. One that arrives Late after the end proves that
// the end was false, and so does one that arrives while the session after it has been silent for as
// long: the two presence documents arrived in the wrong order.
func (f Facts) ApplyHeartbeat(h schema.Heartbeat, at time.Time) Facts {
	if f.hasEnded(h.Session) {
		if at.Sub(f.StateAt) < Late || h.Session != f.Session && at.Sub(f.AliveAt) < Late {
			return f
		}
		f = f.reopen(h.Session)
	}
	f = f.begin(h.Session, at)
	f.AliveAt, f.Link, f.Pause = at, h.Link.State, max(0, h.Next()-schema.DefaultHeartbeat)
	return f.recordBoot(h.Boot, false, at)
}

// ApplyRoundTrip applies a round trip time.
func (f Facts) ApplyRoundTrip(d time.Duration, at time.Time) Facts {
	if at.Sub(f.MeasuredAt) >= RoundTripExpiry+f.Pause {
		f.RoundTrips[0] = 0
	}
	f.RoundTrips[0], f.RoundTrips[1], f.MeasuredAt = d, f.RoundTrips[0], at
	return f
}

// roundTrip returns the lower of the newest two, so that one late packet does not count; 0 = unknown.
func (f Facts) roundTrip(now time.Time) time.Duration {
	if f.RoundTrips[1] == 0 || now.Sub(f.MeasuredAt) >= RoundTripExpiry+f.Pause {
		return 0
	}
	return min(f.RoundTrips[0], f.RoundTrips[1])
}

// recordBoot records the boot of robotd. A boot that returns after another one is a second robot,
// because a boot that ended never returns.
func (f Facts) recordBoot(boot string, retained bool, at time.Time) Facts {
	if boot == "" || boot == f.boots[0] {
		return f
	}
	place := slices.Index(f.boots[:], boot)
	if place > 0 && !retained {
		f.DisputedAt = at
	}
	if place < 0 {
		place = bootsRemembered - 1
	}
	copy(f.boots[1:place+1], f.boots[:place])
	f.boots[0] = boot
	return f
}

// reopen removes a session from the ended ones.
func (f Facts) reopen(session string) Facts {
	for i := range f.ended {
		if f.ended[i] == session {
			f.ended[i] = ""
		}
	}
	return f
}

// ApplyMessage applies any other live message: the connection works, so if heartbeats are missing
// the control loop hangs.
func (f Facts) ApplyMessage(at time.Time) Facts {
	f.MessageAt = at
	return f
}

// begin makes session the current one.
func (f Facts) begin(session string, at time.Time) Facts {
	if f.Session == session && f.State == schema.PresenceOnline {
		return f
	}
	if f.Session != session {
		f = f.end()
		f.Link, f.RoundTrips, f.Pause = "", [2]time.Duration{}, 0
	}
	f.Session = session
	f.State, f.StateAt, f.Reason, f.WakeAt = schema.PresenceOnline, at, "", time.Time{}
	return f
}

// end marks the current session as ended.
func (f Facts) end() Facts {
	if f.Session == "" || f.hasEnded(f.Session) {
		return f
	}
	f.ended[f.next] = f.Session
	f.next = (f.next + 1) % sessionsRemembered
	return f
}

func (f Facts) hasEnded(session string) bool {
	for _, ended := range f.ended {
		if ended != "" && ended == session {
			return true
		}
	}
	return false
}
