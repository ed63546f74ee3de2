// Package decommission removes a robot from the fleet, in an order that prevents removed
// documents from coming back: the robot is stopped if it is connected; its credentials are
// revoked; when it is disconnected its desired documents are deleted, then its own, the
// presence first, so that no client takes the others for those of a live robot; then its row is
// archived.
//
// A connected robot is revoked only after the broker has confirmed the stop, and StopTime later.
// fleetd does not wait for the robot's answer, because a robot that obeys nothing must be
// removable too: that the robot stands still then is likely, not certain.
//
// The stop is sent before its step is saved, so a fleetd instance that dies in between sends it
// twice. Every other effect is in the transaction that saves its step.
package decommission

import (
	"time"

	"troupe/schema/fsm"
)

// StopTime is how long a robot has to receive and carry out the stop before it is revoked.
const StopTime = 2 * time.Second

// Step is the progress of a decommission.
type Step string

// The steps in order; Cancelled ends it instead of Archived. A step is named by what is done or
// under way in it: in DeletingDesired the broker deletes the desired documents, in
// DeletingDocuments those that the robot published.
const (
	Begun             Step = "begun"
	StopSent          Step = "stop_sent"
	Revoked           Step = "revoked"
	DeletingDesired   Step = "deleting_desired"
	DeletingDocuments Step = "deleting_documents"
	Archived          Step = "archived"
	Cancelled         Step = "cancelled"
)

// Steps lists every step.
var Steps = []Step{Begun, StopSent, Revoked, DeletingDesired, DeletingDocuments, Archived, Cancelled}

// Over reports whether nothing is left to do.
func (s Step) Over() bool { return s == Archived || s == Cancelled }

// Event is the cause of a step.
type Event string

const (
	OnStop             Event = "stop"
	OnRevoke           Event = "revoke"
	OnDisconnected     Event = "disconnected"
	OnDesiredDeleted   Event = "desired-deleted"
	OnDocumentsDeleted Event = "documents-deleted"
	OnNameRestored     Event = "enrolled-again"
)

// Table is the state machine of a decommission.
var Table = fsm.Table[Step, Event]{
	{From: fsm.In(Begun), On: OnStop, To: StopSent, Why: "a robot must stand still before it is disconnected"},
	{From: fsm.In(StopSent), On: OnRevoke, To: Revoked, Why: "brokers refuse its name and its certificates from now on"},
	{From: fsm.In(Revoked), On: OnDisconnected, To: DeletingDesired,
		Why: "it is disconnected, so it cannot publish again what is deleted; its desired documents are deleted first"},
	{From: fsm.In(DeletingDesired), On: OnDesiredDeleted, To: DeletingDocuments,
		Why: "the broker has deleted its desired documents; its own documents are next, the presence first"},
	{From: fsm.In(DeletingDocuments), On: OnDocumentsDeleted, To: Archived, Why: "the broker has deleted its documents; its row is archived"},
	{From: fsm.In(Revoked, DeletingDesired, DeletingDocuments), On: OnNameRestored, To: Cancelled,
		Why: "it was enrolled again or adopted meanwhile"},
}

// Decommission is the decommission of one robot.
type Decommission struct {
	Robot   string
	Step    Step
	StepAt  time.Time
	BegunAt time.Time
	By, Why string
	EndedAt time.Time // zero = in progress
}

// Connection says whether a robot is connected, as far as fleetd knows.
type Connection string

const (
	Connected    Connection = "connected"
	Disconnected Connection = "disconnected"
	NotKnown     Connection = "not known" // fleetd is not connected to the broker, or only just
)

// Facts are the inputs of Next.
type Facts struct {
	Connection  Connection
	InStep      time.Duration // since the step was reached
	Confirmed   bool          // the broker has confirmed every publication of the step
	NameRevoked bool          // brokers still refuse its name; enrolling or adopting it ends that
}

// Decision is the next step, or why there is none yet.
type Decision struct {
	On   Event // empty = wait
	To   Step
	Why  string
	Stop bool // send it a stop first; without the broker's confirmation the step must not be taken
}

// Next returns the next step for the facts.
func Next(d Decommission, f Facts) Decision {
	if d.Step.Over() {
		return Decision{To: d.Step, Why: "it is over"}
	}
	on, wait := due(d.Step, f)
	row, ok := Table.Next(d.Step, on)
	if !ok {
		return Decision{To: d.Step, Why: wait}
	}
	return Decision{On: on, To: row.To, Why: row.Why, Stop: on == OnStop && f.Connection == Connected}
}

// due returns the event that has happened, or what the step waits for.
func due(s Step, f Facts) (on Event, wait string) {
	switch s {
	case Begun:
		if f.Connection == NotKnown { // revoked without a stop, a robot would be disconnected while it moves
			return "", "fleetd does not know whether it is connected, and has to be stopped: fleetd has no connection to the broker, or has had " +
				"one for moments only"
		}
		return OnStop, ""
	case StopSent:
		if f.Connection != Disconnected && f.InStep < StopTime {
			return "", "it was sent a stop, and has a moment to carry it out"
		}
		return OnRevoke, ""
	}
	switch {
	case !f.NameRevoked:
		return OnNameRestored, ""
	case s == Revoked && f.Connection == Connected:
		return "", "it is still connected, although it is revoked; if that does not change within seconds, the broker does not read " +
			"fleet/revoked: switch the robot off"
	case s == Revoked && f.Connection == NotKnown:
		return "", "fleetd does not know whether it is still connected: fleetd has no connection to the broker, or has had one for moments only"
	case s == Revoked:
		return OnDisconnected, ""
	case !f.Confirmed:
		return "", "the broker has not confirmed everything yet"
	case s == DeletingDesired:
		return OnDesiredDeleted, ""
	}
	return OnDocumentsDeleted, ""
}
