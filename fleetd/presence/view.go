package presence

import (
	"fmt"
	"time"

	"troupe/schema"
)

// View is what fleetd shows.
type View string

const (
	Unknown  View = "unknown"  // nothing was heard since we could hear
	Online   View = "online"   // heartbeats come
	Degraded View = "degraded" // late heartbeats, or the robot's own link is bad
	Lost     View = "lost"     // gone without a word, or silent too long
	Offline  View = "offline"  // it said that it goes
	Sleeping View = "sleeping" // it said when it will be back
)

// Views lists all of them.
var Views = []View{Unknown, Online, Degraded, Lost, Offline, Sleeping}

// Reachable reports whether a command sent now may be expected to arrive.
func (v View) Reachable() bool { return v == Online || v == Degraded }

// Fleetd is fleetd's own connection to the broker, and since when it is so.
type Fleetd struct {
	Connected bool
	Since     time.Time
}

// Status is a view with its reason.
type Status struct {
	View  View
	Since time.Time // when the view became this one, as well as can be said
	Why   string    // for people
	// Disputed: two robots connect under this name, and what is said of one may be
	// the other's word.
	Disputed bool
}

// Of says whether a robot is there.
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
		return Status{View: Unknown, Since: d.Since, Why: "fleetd has no connection to the broker since " + clock(d.Since)}
	}
	heard := later(f.WordAt, f.LifeAt)
	waiting := now.Sub(d.Since) < Grace
	if heard.Before(d.Since) && waiting {
		return Status{View: Unknown, Since: d.Since, Why: "nothing heard since fleetd connected at " + clock(d.Since)}
	}
	switch f.Word {
	case "":
		return Status{View: Lost, Since: d.Since.Add(Grace), Why: "never heard since fleetd connected at " + clock(d.Since)}
	case schema.PresenceOnline:
		return online(f, d, now, waiting)
	case schema.PresenceOffline:
		return Status{View: Offline, Since: f.WordAt, Why: because("it went offline", f.Reason)}
	case schema.PresenceSleeping:
		if f.WakeAt.IsZero() || now.Before(f.WakeAt) {
			return Status{View: Sleeping, Since: f.WordAt, Why: because(asleep(f.WakeAt), f.Reason)}
		}
		return Status{View: Lost, Since: f.WakeAt, Why: "it was to wake up at " + clock(f.WakeAt)}
	case schema.PresenceLost:
		return Status{View: Lost, Since: f.WordAt, Why: "its connection broke"}
	}
	return Status{View: Unknown, Since: f.WordAt, Why: fmt.Sprintf("it says %q", f.Word)}
}

// online judges a robot that says it is there by how fresh its heartbeat is. We
// could not hear it before fleetd connected.
func online(f Facts, d Fleetd, now time.Time, waiting bool) Status {
	if f.LifeAt.Before(d.Since) && waiting {
		return Status{View: Unknown, Since: d.Since, Why: "no heartbeat since fleetd connected at " + clock(d.Since)}
	}
	from := later(f.LifeAt, d.Since)
	age := now.Sub(from)
	switch {
	case age >= Silence && now.Sub(f.SpokeAt) < Late:
		return Status{View: Lost, Since: from.Add(Silence), Why: "no heartbeat since " + clock(from) + ", though it speaks: its control loop hangs"}
	case age >= Silence:
		return Status{View: Lost, Since: from.Add(Silence), Why: "no heartbeat since " + clock(from)}
	case age >= Late && now.Sub(f.SpokeAt) < Late:
		return Status{View: Degraded, Since: from.Add(Late), Why: fmt.Sprintf("stalled: it speaks, but its control loop gave no heartbeat for %d s", int(age.Seconds()))}
	case age >= Late:
		return Status{View: Degraded, Since: from.Add(Late), Why: fmt.Sprintf("no heartbeat for %d s", int(age.Seconds()))}
	case f.Link == schema.LinkDegraded || f.Link == schema.LinkLost:
		return Status{View: Degraded, Since: f.LifeAt, Why: "it hears its operators badly: its link is " + string(f.Link)}
	}
	if trip := f.RoundTrip(); trip > Slow {
		return Status{View: Degraded, Since: f.LifeAt, Why: fmt.Sprintf("a word takes %.1f s to it and back", trip.Seconds())}
	}
	return Status{View: Online, Since: later(f.WordAt, d.Since), Why: "heartbeats come"}
}

func asleep(until time.Time) string {
	if until.IsZero() {
		return "it sleeps"
	}
	return "it sleeps until " + until.UTC().Format("2006-01-02 15:04:05Z")
}

func because(what, reason string) string {
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
