// Package decommission takes a robot out of the fleet, in an order in which
// nothing that is taken away comes back: the robot is stopped if it is there, its
// credentials end, and only when it is gone its documents are emptied, the
// presence first, so that nobody takes the rest for a robot that lives. Then its
// row is archived.
//
// Each step is kept before its effect can be seen, and its effect may happen
// twice: a fleetd instance that dies in between begins the step again.
package decommission

import (
	"time"

	"troupe/schema/fsm"
)

// Step is how far it is.
type Step string

// The steps, in their order.
const (
	Begun          Step = "begun"
	Stopped        Step = "stopped"
	Revoked        Step = "revoked"
	DesiredEmptied Step = "desired_emptied"
	Emptied        Step = "emptied"
	Archived       Step = "archived"
	Cancelled      Step = "cancelled"
)

// Steps lists every step.
var Steps = []Step{Begun, Stopped, Revoked, DesiredEmptied, Emptied, Archived, Cancelled}

// Over reports whether nothing more is to be done.
func (s Step) Over() bool { return s == Archived || s == Cancelled }

// Event is what leads from one step to the next.
type Event string

const (
	OnStop           Event = "stop"
	OnRevoke         Event = "revoke"
	OnGone           Event = "gone"
	OnDesiredEmptied Event = "desired-emptied"
	OnEmptied        Event = "documents-emptied"
	OnBack           Event = "enrolled-again"
)

// Table is the way out of the fleet.
var Table = fsm.Table[Step, Event]{
	{From: fsm.In(Begun), On: OnStop, To: Stopped, Why: "a robot that is cut off shall stand still"},
	{From: fsm.In(Stopped), On: OnRevoke, To: Revoked, Why: "brokers take neither its name nor its certificates any more"},
	{From: fsm.In(Revoked), On: OnGone, To: DesiredEmptied, Why: "it is not connected, so nobody writes again what is emptied; its desired documents go first"},
	{From: fsm.In(DesiredEmptied), On: OnDesiredEmptied, To: Emptied, Why: "the broker has its desired documents emptied; its own documents go, the presence before all"},
	{From: fsm.In(Emptied), On: OnEmptied, To: Archived, Why: "the broker has its documents emptied; its row is put away"},
	{From: fsm.In(Revoked, DesiredEmptied, Emptied), On: OnBack, To: Cancelled, Why: "somebody enrolled it again meanwhile"},
}

// Decommission is one robot on its way out.
type Decommission struct {
	Robot   string
	Step    Step
	StepAt  time.Time
	BegunAt time.Time
	By, Why string
	EndedAt time.Time // zero = on its way
}

// Whereabouts is what fleetd believes of a robot being there.
type Whereabouts string

const (
	Here     Whereabouts = "here"
	Gone     Whereabouts = "gone"
	NotKnown Whereabouts = "not known" // fleetd hears no broker, or only just began to
)

// Facts are what a step looks at.
type Facts struct {
	Where  Whereabouts
	Told   bool // the broker has all that was to be told so far
	Barred bool // it is still refused; enrolling a robot ends that
}

// Decision is the next step, or why there is none yet.
type Decision struct {
	On   Event // empty = wait
	To   Step
	Why  string
	Stop bool // send it a stop first
}

// Next decides what is to be done now.
func Next(d Decommission, f Facts) Decision {
	if d.Step.Over() {
		return Decision{To: d.Step, Why: "it is over"}
	}
	on, wait := due(d.Step, f)
	row, ok := Table.Next(d.Step, on)
	if !ok {
		return Decision{To: d.Step, Why: wait}
	}
	return Decision{On: on, To: row.To, Why: row.Why, Stop: on == OnStop && f.Where == Here}
}

// due is the event that has happened, or what is waited for.
func due(s Step, f Facts) (on Event, wait string) {
	switch s {
	case Begun:
		return OnStop, ""
	case Stopped:
		return OnRevoke, ""
	}
	switch {
	case !f.Barred:
		return OnBack, ""
	case s == Revoked && f.Where == Here:
		return "", "it is still connected: the broker does not end what was revoked; switch the robot off"
	case s == Revoked && f.Where == NotKnown:
		return "", "fleetd does not know whether it is still connected"
	case s == Revoked:
		return OnGone, ""
	case !f.Told:
		return "", "the broker has not taken everything yet"
	case s == DesiredEmptied:
		return OnDesiredEmptied, ""
	}
	return OnEmptied, ""
}
