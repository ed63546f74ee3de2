// Package leader decides which of several fleetd instances on one database leads: the one
// that writes what all robots go by, which are their desired documents, the blobs, the stops
// that are held and fleetd's presence.
//
// A lock in the database says who may. But the database frees the lock of a fleetd instance
// that it lost sight of, and that fleetd may not know it yet; and what it writes
// goes to the broker, which knows nothing of locks. So a fleetd instance believes in its lock
// only for a short time after it was proven, and whoever gets the lock after a fleetd instance
// that did not resign waits for longer than that. Fleetd instances' clocks need not agree;
// they must only run at about the same speed.
//
// A fleetd instance without the broker could write nothing: it does not ask for the lock, and
// makes room after a while.
package leader

import (
	"fmt"
	"time"
)

const (
	// Trust is how long the lock is believed in after its last proof.
	Trust = 3 * time.Second
	// Settle is how long a fleetd instance waits that follows another which did not resign:
	// Trust, and what clocks may differ in speed and a last message may take.
	Settle = Trust + time.Second
	// Patience is how long a fleetd instance leads without the broker.
	Patience = 5 * time.Second
)

// Role is what a fleetd instance is among others.
type Role string

const (
	Follows Role = "follows"
	Waits   Role = "waits" // it has the lock; fleetd before it may still write
	Leads   Role = "leads"
)

// Facts are what a fleetd instance knows.
type Facts struct {
	Alone bool // no other fleetd can use this database
	Ends  bool // this instance comes to its end

	Linked      bool // to the broker, by all connections that it needs
	LinkedSince time.Time

	Held      bool // the lock was given to this instance
	HeldSince time.Time
	Proven    time.Time // when the newest proof that succeeded was begun
	Before    string    // who led before and did not resign; empty = nobody to wait for

	Other string // who has the lock, as the database said last; empty = not known
	Mute  string // why the database said nothing; empty = it answers
}

// Decision is what follows, and why, in words for people.
type Decision struct {
	Role   Role
	Why    string
	Ask    bool // for the lock
	Resign bool // release the lock
}

// Decide judges the facts. It is asked whenever something is to be written: a fleetd instance
// stops to lead by the time alone.
func Decide(f Facts, now time.Time) Decision {
	switch away := now.Sub(f.LinkedSince); {
	case f.Ends:
		return Decision{Role: Follows, Why: "it ends", Resign: true}
	case f.Alone && f.Held:
		return Decision{Role: Leads, Why: "it is the only fleetd of its database"}
	case !f.Held && !f.Linked:
		return Decision{Role: Follows, Why: "it is not connected to the broker"}
	case !f.Held && f.Other != "":
		return Decision{Role: Follows, Why: f.Other + " leads", Ask: true}
	case !f.Held && f.Mute != "":
		return Decision{Role: Follows, Why: "the database does not answer: " + f.Mute, Ask: true}
	case !f.Held:
		return Decision{Role: Follows, Why: "nobody leads yet", Ask: true}
	case now.Sub(f.Proven) >= Trust:
		return Decision{Role: Follows, Why: fmt.Sprintf("the database was not heard for %v and may have let another instance lead", Trust)}
	case !f.Linked && away >= Patience:
		return Decision{Role: Follows, Why: fmt.Sprintf("it was not connected to the broker for %v, and makes room", Patience), Resign: true}
	case f.Before != "" && now.Sub(f.HeldSince) < Settle:
		return Decision{Role: Waits, Why: f.Before + " may not know yet that it leads no more"}
	case f.Before != "":
		return Decision{Role: Leads, Why: f.Before + " is gone"}
	}
	return Decision{Role: Leads, Why: "no other fleetd led"}
}
