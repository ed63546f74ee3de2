package presence

import (
	"fmt"
	"time"

	"troupe/schema"
)

// Status is the presence of a robot as fleetd shows it.
type Status string

const (
	Unknown  Status = "unknown"  // fleetd is not connected, or only just
	Online   Status = "online"   // heartbeats arrive
	Degraded Status = "degraded" // heartbeats are late, or the link is bad
	Lost     Status = "lost"     // disconnected uncleanly, or no heartbeat for too long
	Offline  Status = "offline"  // disconnected cleanly
	Sleeping Status = "sleeping" // disconnected cleanly until a known time
)

// Reachable reports whether a command sent now is likely to arrive.
func (s Status) Reachable() bool { return s == Online || s == Degraded }

// Fleetd is the state of fleetd's own connection to the broker, and since when.
type Fleetd struct {
	Connected bool
	Since     time.Time
}

// Cause is the reason of a status as a code, for pages that say it in another language than Why.
type Cause string

// The causes. A robot that is online has none.
const (
	NoBroker     Cause = "no_broker"     // fleetd is not connected to the broker since At
	NoMessage    Cause = "no_message"    // no message came since At, when fleetd connected
	NoHeartbeat  Cause = "no_heartbeat"  // no heartbeat came since At; after so long, it counts as lost
	Hangs        Cause = "hangs"         // the same, but other messages arrive
	LinkDegraded Cause = "link_degraded" // the robot reports its link as degraded
	LinkLost     Cause = "link_lost"     // the robot reports its link as lost
	SlowTrip     Cause = "slow"          // messages to it and back take long: see RoundTrip
	ShutDown     Cause = "shut_down"     // somebody ended its program
	Ended        Cause = "ended"         // it disconnected in order
	Asleep       Cause = "asleep"        // it sleeps until At, if it said until when
	Overslept    Cause = "overslept"     // it should have woken up at At
	Disconnected Cause = "disconnected"  // its connection was lost
	Revoked      Cause = "revoked"       // the broker closed its connection: it is not let in any more
	Expired      Cause = "expired"       // the broker closed its connection: its certificate has expired
)

// Causes are all causes.
var Causes = []Cause{NoBroker, NoMessage, NoHeartbeat, Hangs, LinkDegraded, LinkLost, SlowTrip, ShutDown, Ended, Asleep, Overslept,
	Disconnected, Revoked, Expired}

// Assessment is the status of a robot with its reason.
type Assessment struct {
	Status Status
	Since  time.Time // when the status changed to this one, as far as known
	Why    string    // for people
	Cause  Cause     // the same as a code
	At     time.Time // the instant that Why names
	// RoundTrip is how long a message takes to the robot and back; 0 = unknown.
	RoundTrip time.Duration
	// Disputed says that two robots connect under this name, so that any document may be
	// of either.
	Disputed bool
	// Hangs says that a lost robot is still connected: messages arrive, but no heartbeat.
	Hangs bool
}

// Assess returns the presence of a robot at a time.
func Assess(f Facts, d Fleetd, now time.Time) Assessment {
	a := assess(f, d, now)
	a.RoundTrip = f.roundTrip(now)
	if !f.DisputedAt.IsZero() && now.Sub(f.DisputedAt) < DisputeTimeout {
		a.Disputed = true
		a.Why += "; two robots connect under this name: switch one off, or enrol it under a name of its own"
	}
	return a
}

func assess(f Facts, d Fleetd, now time.Time) Assessment {
	if !d.Connected {
		return Assessment{Status: Unknown, Since: d.Since, Cause: NoBroker, At: d.Since,
			Why: "fleetd is not connected to the broker since " + clock(d.Since)}
	}
	lastSeen := later(f.StateAt, f.AliveAt)
	waiting := now.Sub(d.Since) < Grace
	if lastSeen.Before(d.Since) && waiting {
		return Assessment{Status: Unknown, Since: d.Since, Cause: NoMessage, At: d.Since,
			Why: "no message since fleetd connected at " + clock(d.Since)}
	}
	switch f.State {
	case "":
		return Assessment{Status: Lost, Since: d.Since.Add(Grace), Cause: NoMessage, At: d.Since,
			Why: "no message at all since fleetd connected at " + clock(d.Since)}
	case schema.PresenceOnline:
		if lastSeen.Before(d.Since) && f.MessageAt.Before(d.Since) {
			return Assessment{Status: Lost, Since: d.Since.Add(Grace), Cause: NoMessage, At: d.Since,
				Why: "no message since fleetd connected at " + clock(d.Since)}
		}
		return online(f, d, now, waiting)
	case schema.PresenceOffline:
		cause, why := offlineText(f.Reason)
		return Assessment{Status: Offline, Since: f.StateAt, Cause: cause, Why: why}
	case schema.PresenceSleeping:
		if f.WakeAt.IsZero() || now.Before(f.WakeAt) {
			return Assessment{Status: Sleeping, Since: f.StateAt, Cause: Asleep, At: f.WakeAt,
				Why: withReason(sleepText(f.WakeAt), f.Reason)}
		}
		return Assessment{Status: Lost, Since: f.WakeAt, Cause: Overslept, At: f.WakeAt,
			Why: "it should have woken up at " + clock(f.WakeAt)}
	case schema.PresenceLost:
		cause, why := lostText(f.Reason)
		return Assessment{Status: Lost, Since: f.StateAt, Cause: cause, Why: why}
	}
	return Assessment{Status: Unknown, Since: f.StateAt, Why: fmt.Sprintf("unknown presence %q", f.State)}
}

// online decides by the age of the newest heartbeat. Time before fleetd connected does not
// count, since no heartbeat could arrive.
func online(f Facts, d Fleetd, now time.Time, waiting bool) Assessment {
	if f.AliveAt.Before(d.Since) && waiting {
		return Assessment{Status: Unknown, Since: d.Since, Cause: NoHeartbeat, At: d.Since,
			Why: "no heartbeat since fleetd connected at " + clock(d.Since)}
	}
	from := later(f.AliveAt, d.Since)
	age, late, silence := now.Sub(from), Late+f.Pause, Silence+f.Pause
	switch {
	case age >= silence && now.Sub(f.MessageAt) < Late:
		return Assessment{Status: Lost, Since: from.Add(silence), Cause: Hangs, At: from, Hangs: true,
			Why: "no heartbeat since " + clock(from) + ", but other messages arrive: its control loop hangs"}
	case age >= silence:
		return Assessment{Status: Lost, Since: from.Add(silence), Cause: NoHeartbeat, At: from, Why: "no heartbeat since " + clock(from)}
	case age >= late && now.Sub(f.MessageAt) < Late:
		return Assessment{Status: Degraded, Since: from.Add(late), Cause: Hangs, At: from,
			Why: fmt.Sprintf("stalled: messages arrive, but no heartbeat for %d s", int(age.Seconds()))}
	case age >= late:
		return Assessment{Status: Degraded, Since: from.Add(late), Cause: NoHeartbeat, At: from,
			Why: fmt.Sprintf("no heartbeat for %d s", int(age.Seconds()))}
	case f.Link == schema.LinkDegraded || f.Link == schema.LinkLost:
		cause := LinkDegraded
		if f.Link == schema.LinkLost {
			cause = LinkLost
		}
		return Assessment{Status: Degraded, Since: f.AliveAt, Cause: cause, Why: "the robot reports its link as " + string(f.Link)}
	}
	if trip := f.roundTrip(now); trip > Slow {
		return Assessment{Status: Degraded, Since: f.AliveAt, Cause: SlowTrip, Why: fmt.Sprintf("round trip time %.1f s", trip.Seconds())}
	}
	return Assessment{Status: Online, Since: later(f.StateAt, d.Since), Why: "heartbeats arrive"}
}

// lostText says why the broker closed the connection, if it said so.
func lostText(reason string) (Cause, string) {
	switch reason {
	case "revoked":
		return Revoked, "the broker closed its connection: its name, its certificate or its line in the users file does not count any more; if " +
			"it belongs to the fleet, fleetd robot enrol lets it in again"
	case "expired":
		return Expired, "the broker closed its connection: its certificate has expired and can no longer be renewed; fleetd robot enrol prints " +
			"what gives it a new one"
	}
	return Disconnected, "its connection was lost"
}

// offlineText says why a robot disconnected. People know "shutdown" as what they did, not as a
// reason.
func offlineText(reason string) (Cause, string) {
	if reason == "shutdown" {
		return ShutDown, "it was shut down"
	}
	return Ended, withReason("it went offline", reason)
}

func sleepText(until time.Time) string {
	if until.IsZero() {
		return "it sleeps"
	}
	return "it sleeps until " + until.UTC().Format("2006-01-02 15:04:05Z")
}

func withReason(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + reason
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05Z") }
