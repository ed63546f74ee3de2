// Package presence says whether a robot is there. It is a fact about now: a
// function of what was heard, of the desk's own connection and of the clock,
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
	"fmt"
	"time"

	"troupe/schema"
)

// View is what the desk shows.
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

const (
	// Late is the age at which a heartbeat, due every 2 s, is overdue.
	Late = 5 * time.Second
	// Silence is how long a robot may be silent before it counts as lost.
	Silence = 15 * time.Second
	// Grace is how long after its own start, or the broker's, the desk waits for
	// robots before it says anything of those not heard.
	Grace = 10 * time.Second
	// remembered is how many ended sessions are known as such.
	remembered = 8
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

	ended [remembered]string
	next  int // place in ended
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
		return f
	}
	switch {
	case f.Session != "" && f.Session != p.Session:
		return f // the word of another session is about that session
	case p.State == schema.PresenceLost && (f.Word == schema.PresenceOffline || f.Word == schema.PresenceSleeping):
		return f // its own word stands against the will that its broker sent later
	}
	f.Session = p.Session
	f.Word, f.WordAt, f.Reason, f.WakeAt = p.State, at, p.Reason, time.Time{}
	if p.WakeAt != 0 {
		f.WakeAt = p.WakeAt.Time()
	}
	return f.end()
}

// Beat takes in a heartbeat, which proves its session online.
func (f Facts) Beat(h schema.Heartbeat, at time.Time) Facts {
	if f.over(h.Session) {
		return f
	}
	f = f.begin(h.Session, at)
	f.LifeAt, f.Link = at, h.Link.State
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
		f.Link = ""
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

// Desk is the desk's own connection to the broker, and since when it is so.
type Desk struct {
	Connected bool
	Since     time.Time
}

// Status is a view with its reason.
type Status struct {
	View  View
	Since time.Time // when the view became this one, as well as can be said
	Why   string    // for people
}

// Of says whether a robot is there.
func Of(f Facts, d Desk, now time.Time) Status {
	if !d.Connected {
		return Status{Unknown, d.Since, "the desk has no connection to the broker since " + clock(d.Since)}
	}
	heard := later(f.WordAt, f.LifeAt)
	waiting := now.Sub(d.Since) < Grace
	if heard.Before(d.Since) && waiting {
		return Status{Unknown, d.Since, "nothing heard since the desk connected at " + clock(d.Since)}
	}
	switch f.Word {
	case "":
		return Status{Lost, d.Since.Add(Grace), "never heard since the desk connected at " + clock(d.Since)}
	case schema.PresenceOnline:
		return online(f, d, now, waiting)
	case schema.PresenceOffline:
		return Status{Offline, f.WordAt, because("it went offline", f.Reason)}
	case schema.PresenceSleeping:
		if f.WakeAt.IsZero() || now.Before(f.WakeAt) {
			return Status{Sleeping, f.WordAt, because("it sleeps", f.Reason)}
		}
		return Status{Lost, f.WakeAt, "it was to wake up at " + clock(f.WakeAt)}
	case schema.PresenceLost:
		return Status{Lost, f.WordAt, "its connection broke"}
	}
	return Status{Unknown, f.WordAt, fmt.Sprintf("it says %q", f.Word)}
}

// online judges a robot that says it is there by how fresh its heartbeat is. We
// could not hear it before the desk connected.
func online(f Facts, d Desk, now time.Time, waiting bool) Status {
	if f.LifeAt.Before(d.Since) && waiting {
		return Status{Unknown, d.Since, "no heartbeat since the desk connected at " + clock(d.Since)}
	}
	from := later(f.LifeAt, d.Since)
	age := now.Sub(from)
	switch {
	case age >= Silence:
		return Status{Lost, from.Add(Silence), "no heartbeat since " + clock(from)}
	case age >= Late && now.Sub(f.SpokeAt) < Late:
		return Status{Degraded, from.Add(Late), fmt.Sprintf("stalled: it speaks, but its control loop gave no heartbeat for %d s", int(age.Seconds()))}
	case age >= Late:
		return Status{Degraded, from.Add(Late), fmt.Sprintf("no heartbeat for %d s", int(age.Seconds()))}
	case f.Link == schema.LinkDegraded || f.Link == schema.LinkLost:
		return Status{Degraded, f.LifeAt, "it hears its operators badly: its link is " + string(f.Link)}
	}
	return Status{Online, later(f.WordAt, d.Since), "heartbeats come"}
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
