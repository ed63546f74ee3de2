package life

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Event is what happened to autonomous life, after all checks.
type Event string

// The events.
const (
	OnBegin            Event = "begin"         // ato or its story began, or life was switched on in it
	OnBeginCaused      Event = "begin-caused"  // the same, with the cause of a safeguard
	OnSetSolitary      Event = "set"           // somebody asked for it
	OnSolitary         Event = "solitary"      // a solitary activity gets the focus
	OnInteractive      Event = "interactive"   // an interactive activity gets the focus
	OnNext             Event = "next"          // the stack gives the focus to an interactive activity
	OnNextSolitary     Event = "next-solitary" // the stack gives it to a solitary one
	OnEnded            Event = "ended"         // the activity ended, and the stack is empty
	OnInterrupted      Event = "interrupted"   // an interrupt ends a solitary activity
	OnPreempted        Event = "preempted"     // an interrupt that preempts takes the place of an interactive one
	OnHumansLost       Event = "humans-lost"
	OnStopAll          Event = "stop-all"
	OnCause            Event = "cause"       // of a safeguard
	OnOtherCause       Event = "other-cause" // another one counts now
	OnAtRestWithDamage Event = "damage"      // the robot is at rest, and stays there
	OnCauseGone        Event = "cause-gone"  // no cause is left
	OnDisable          Event = "disable"     // somebody asked for it, or life was switched off
	OnStoryStopped     Event = "story-stopped"
	OnLeave            Event = "leave" // ato is left
)

const (
	disabled    = schema.LifeDisabled
	solitary    = schema.LifeSolitary
	interactive = schema.LifeInteractive
	safeguard   = schema.LifeSafeguard
)

// Table lists the transitions of autonomous life. A robot that enters a state, also from itself,
// gets its abilities, launchpad and plug-ins as the tables of entry.go have them: what an activity
// leaves behind does not reach the next one.
var Table = fsm.Table[schema.LifeState, Event]{
	{From: fsm.In(disabled), On: OnBegin, To: solitary, Why: "ato or its story began, and life is switched on"},
	{From: fsm.In(disabled), On: OnBeginCaused, To: safeguard, Why: "ato began while a safeguard has a cause"},
	{From: fsm.In(disabled), On: OnSetSolitary, To: solitary, Why: "somebody switched autonomous life on"},

	{From: fsm.In(solitary), On: OnSolitary, To: solitary, Why: "a solitary activity has the focus"},
	{From: fsm.In(solitary, interactive), On: OnInteractive, To: interactive, Why: "an interactive activity has the focus"},
	{From: fsm.In(interactive), On: OnNext, To: interactive, Why: "the next activity of the stack starts again"},
	{From: fsm.In(solitary, interactive), On: OnNextSolitary, To: solitary,
		Why: "all interactive activities have ended; the solitary one of the stack starts again"},
	{From: fsm.In(solitary), On: OnEnded, To: solitary, Why: "the solitary activity has ended"},
	{From: fsm.In(interactive), On: OnEnded, To: solitary, Why: "all interactive activities have ended"},

	{From: fsm.In(solitary), On: OnInterrupted, To: solitary, Why: "an interrupt has precedence over a solitary activity"},
	{From: fsm.In(interactive), On: OnPreempted, To: interactive, Why: "the interrupt preempts activities; this one starts again afterwards"},
	{From: fsm.In(interactive), On: OnHumansLost, To: solitary, Why: "the people whom the activity was for are gone"},
	{From: fsm.In(solitary, interactive), On: OnStopAll, To: solitary, Why: "somebody stopped all activities"},

	{From: fsm.In(solitary, interactive), On: OnCause, To: safeguard, Why: "the robot protects itself"},
	{From: fsm.In(safeguard), On: OnOtherCause, To: safeguard, Why: "another safeguard has precedence, or is left"},
	{From: fsm.In(safeguard), On: OnAtRestWithDamage, To: safeguard,
		Why: "the robot is at rest; it stays so until its damage is repaired and a person acknowledges that"},
	{From: fsm.In(safeguard), On: OnCauseGone, To: solitary, Why: "no safeguard has a cause any more"},

	{From: fsm.In(solitary, interactive, safeguard), On: OnDisable, To: disabled, Why: "somebody switched autonomous life off"},
	{From: fsm.In(solitary, interactive, safeguard), On: OnStoryStopped, To: disabled,
		Why: "somebody stopped the story; before they start it nothing begins by itself"},
	{From: fsm.In(solitary, interactive, safeguard), On: OnLeave, To: disabled, Why: "autonomous life runs in ato only"},
}
