package control

import "troupe/schema/fsm"

// Stage says whether there is a holder.
type Stage string

// The stages.
const (
	Free Stage = "free"
	Held Stage = "held"
)

// Stages lists every stage.
var Stages = []Stage{Free, Held}

// Event is what happened to control, after all checks.
type Event string

// The events.
const (
	OnAcquired  Event = "acquired"
	OnAgain     Event = "acquired-again"
	OnRenewed   Event = "renewed"
	OnTakenOver Event = "taken-over"
	OnReleased  Event = "released"
	OnExpired   Event = "expired"
	OnGone      Event = "holder-gone"
)

// Table lists the transitions of control.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Free), On: OnAcquired, To: Held, Why: "it was free"},
	{From: fsm.In(Held), On: OnAgain, To: Held, Why: "its holder acquired it again; the previous lease is void"},
	{From: fsm.In(Held), On: OnRenewed, To: Held, Why: "its holder renewed it"},
	{From: fsm.In(Held), On: OnTakenOver, To: Held, Why: "a client of at least the same rank took over; the old holder is notified"},
	{From: fsm.In(Held), On: OnReleased, To: Free, Why: "its holder released it"},
	{From: fsm.In(Held), On: OnExpired, To: Free, Why: "its holder did not renew it in time"},
	{From: fsm.In(Held), On: OnGone, To: Free, Why: "its holder is not connected any more"},
}

// Lost reports whether on takes control from a holder that did not release it.
func Lost(on Event) bool { return on == OnTakenOver || on == OnExpired || on == OnGone }
