package presence

import (
	"fmt"
	"time"

	"troupe/schema"
)

// View is the presence of a robot as fleetd shows it.
type View string

const (
	Unknown  View = "unknown"  // fleetd is not connected, or only just
	Online   View = "online"   // heartbeats arrive
	Degraded View = "degraded" // heartbeats are late, or the link is bad
	Lost     View = "lost"     // disconnected uncleanly, or no heartbeat for too long
	Offline  View = "offline"  // disconnected cleanly
	Sleeping View = "sleeping" // disconnected cleanly until a known time
)

// Views lists all views.
var Views = []View{Unknown, Online, Degraded, Lost, Offline, Sleeping}

// Reachable reports whether a command sent now is likely to arrive.
func (v View) Reachable() bool { return v == Online || v == Degraded }

// Fleetd is the state of fleetd's own connection to the broker, and since when.
type Fleetd struct {
	Connected bool
	Since     time.Time
}

// Status is a view with its reason.
type Status struct {
	View  View
	Since time.Time // when the view changed to this one, as far as known
	Why   string    // for people
	// Disputed says that two robots connect under this name, so that any document may be
	// of either.
	Disputed bool
}

// Of returns the presence of a robot at a time.
func Of(f Facts, d Fleetd, now time.Time) Status {
	s := view(f, d, now)
	if !f.RivalAt.IsZero() && now.Sub(f.RivalAt) < Disputed {
		s.Disputed = true
		s.Why += "; two robots connect under this name"
	}
	return s
}

func view(f Facts, d Fleetd, now time.Time) Status {
	if !d.Connected {
		return Status{View: Unknown, Since: d.Since, Why: "fleetd is not connected to the broker since " + clock(d.Since)}
	}
	lastSeen := later(f.StateAt, f.AliveAt)
	waiting := now.Sub(d.Since) < Grace
	if lastSeen.Before(d.Since) && waiting {
		return Status{View: Unknown, Since: d.Since, Why: "no message since fleetd connected at " + clock(d.Since)}
	}
	switch f.State {
	case "":
		return Status{View: Lost, Since: d.Since.Add(Grace), Why: "no message at all since fleetd connected at " + clock(d.Since)}
	case schema.PresenceOnline:
		return online(f, d, now, waiting)
	case schema.PresenceOffline:
		return Status{View: Offline, Since: f.StateAt, Why: withReason("it went offline", f.Reason)}
	case schema.PresenceSleeping:
		if f.WakeAt.IsZero() || now.Before(f.WakeAt) {
			return Status{View: Sleeping, Since: f.StateAt, Why: withReason(sleepText(f.WakeAt), f.Reason)}
		}
		return Status{View: Lost, Since: f.WakeAt, Why: "it should have woken up at " + clock(f.WakeAt)}
	case schema.PresenceLost:
		return Status{View: Lost, Since: f.StateAt, Why: "its connection was lost"}
	}
	return Status{View: Unknown, Since: f.StateAt, Why: fmt.Sprintf("unknown presence %q", f.State)}
}

// online decides by the age of the newest heartbeat. Time before fleetd connected does not
// count, since no heartbeat could arrive.
func online(f Facts, d Fleetd, now time.Time, waiting bool) Status {
	if f.AliveAt.Before(d.Since) && waiting {
		return Status{View: Unknown, Since: d.Since, Why: "no heartbeat since fleetd connected at " + clock(d.Since)}
	}
	from := later(f.AliveAt, d.Since)
	age := now.Sub(from)
	switch {
	case age >= Silence && now.Sub(f.MessageAt) < Late:
		return Status{View: Lost, Since: from.Add(Silence), Why: "no heartbeat since " + clock(from) + ", but other messages arrive: its control loop hangs"}
	case age >= Silence:
		return Status{View: Lost, Since: from.Add(Silence), Why: "no heartbeat since " + clock(from)}
	case age >= Late && now.Sub(f.MessageAt) < Late:
		return Status{View: Degraded, Since: from.Add(Late), Why: fmt.Sprintf("stalled: messages arrive, but no heartbeat for %d s", int(age.Seconds()))}
	case age >= Late:
		return Status{View: Degraded, Since: from.Add(Late), Why: fmt.Sprintf("no heartbeat for %d s", int(age.Seconds()))}
	case f.Link == schema.LinkDegraded || f.Link == schema.LinkLost:
		return Status{View: Degraded, Since: f.AliveAt, Why: "the robot reports its link as " + string(f.Link)}
	}
	if trip := f.RoundTrip(); trip > Slow {
		return Status{View: Degraded, Since: f.AliveAt, Why: fmt.Sprintf("round trip time %.1f s", trip.Seconds())}
	}
	return Status{View: Online, Since: later(f.StateAt, d.Since), Why: "heartbeats arrive"}
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
