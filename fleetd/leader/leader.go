// Package leader decides which of several fleetd instances on one database is the leader.
// Only the leader publishes desired documents, blobs, latched stops and fleetd's presence.
//
// A lock in the database elects the leader. But the database releases the lock of an
// instance whose connection it considers dead, and that instance may not know yet; and the
// broker, to which it publishes, knows nothing of the lock. So an instance trusts its lock
// only for a short time after the last proof that it holds it (Trust), and an instance that
// gets the lock of one that did not resign waits for longer than that (Settle). The clocks of
// the instances need not agree; they must only run at about the same speed.
//
// An instance without a connection to the broker cannot publish: it does not ask for the
// lock, and releases it after a while.
package leader

import (
	"fmt"
	"time"
)

const (
	// Trust is how long an instance relies on its lock after the last proof.
	Trust = 3 * time.Second
	// Settle is how long a new leader waits if the one before did not resign: Trust, plus
	// time for differences in clock speed and for a last message on its way.
	Settle = Trust + time.Second
	// LinkGrace is how long the leader keeps the lock without the broker.
	LinkGrace = 5 * time.Second
)

// Role is the role of a fleetd instance.
type Role string

const (
	Follows Role = "follows"
	Waits   Role = "waits" // it has the lock, but the leader before may still publish
	Leads   Role = "leads"
)

// Facts are the inputs of Decide.
type Facts struct {
	Alone  bool // no other instance can use this database
	Ending bool // this instance is shutting down

	Connected           bool      // all connections to the broker are up
	ConnectionChangedAt time.Time // when Connected last changed

	HasLock      bool // this instance got the lock
	HasLockSince time.Time
	Proven       time.Time // when the newest successful proof of the lock was started
	Predecessor  string    // the leader before, if it did not resign; empty = no need to wait

	Other           string // instance with the lock, as the database answered last; empty = unknown
	DatabaseProblem string // why the database does not answer; empty = it answers
}

// Decision is the role with the reason for people, and what to do with the lock.
type Decision struct {
	Role   Role
	Why    string
	Ask    bool // for the lock
	Resign bool // release the lock
}

// Decide returns the role for the facts. Call it before each publication, because an
// instance loses leadership by the passing of time alone.
func Decide(f Facts, now time.Time) Decision {
	switch away := now.Sub(f.ConnectionChangedAt); {
	case f.Ending:
		return Decision{Role: Follows, Why: "it is shutting down", Resign: true}
	case f.Alone && f.HasLock:
		return Decision{Role: Leads, Why: "it is the only instance on its database"}
	case !f.HasLock && !f.Connected:
		return Decision{Role: Follows, Why: "it is not connected to the broker"}
	case !f.HasLock && f.Other != "":
		return Decision{Role: Follows, Why: f.Other + " leads", Ask: true}
	case !f.HasLock && f.DatabaseProblem != "":
		return Decision{Role: Follows, Why: "the database does not answer: " + f.DatabaseProblem, Ask: true}
	case !f.HasLock:
		return Decision{Role: Follows, Why: "no instance leads yet", Ask: true}
	case now.Sub(f.Proven) >= Trust:
		return Decision{Role: Follows, Why: fmt.Sprintf("the database has not answered for %v and may have given the lock to another instance",
			Trust)}
	case !f.Connected && away >= LinkGrace:
		return Decision{Role: Follows, Why: fmt.Sprintf("it was not connected to the broker for %v and releases the lock", LinkGrace),
			Resign: true}
	case f.Predecessor != "" && now.Sub(f.HasLockSince) < Settle:
		return Decision{Role: Waits, Why: f.Predecessor + " may not know yet that it is no longer the leader"}
	case f.Predecessor != "":
		return Decision{Role: Leads, Why: f.Predecessor + " is gone"}
	}
	return Decision{Role: Leads, Why: "no other fleetd led"}
}
