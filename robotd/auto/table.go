package auto

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Event is what happened to ato, after all checks.
type Event string

// The events.
const (
	OnEnter        Event = "enter"
	OnEnterHeld    Event = "enter-held"
	OnEnterStopped Event = "enter-stopped"
	OnHeld         Event = "token-acquired"
	OnFree         Event = "last-token-released"
	OnStop         Event = "stop"
	OnStart        Event = "start"
	OnStartHeld    Event = "start-held"
	OnActDone      Event = "act-done"
	OnAgain        Event = "act-again"
	OnSkip         Event = "act-skipped"
	OnEnd          Event = "story-ended"
	OnActError     Event = "act-error-stops"
	OnReplaced     Event = "story-replaced"
	OnRevised      Event = "story-revised"
	OnWithdrawn    Event = "story-withdrawn"
	OnLeave        Event = "leave"
)

// Statuses lists every status.
var Statuses = []schema.AutoStatus{schema.AutoNotActive, schema.AutoPerforming, schema.AutoPaused, schema.AutoStopped}

var performing = fsm.In(schema.AutoPerforming, schema.AutoPaused)

// Table lists the transitions of ato's status.
var Table = fsm.Table[schema.AutoStatus, Event]{
	{From: fsm.In(schema.AutoNotActive), On: OnEnter, To: schema.AutoPerforming, Why: "ato took over and nothing holds the story"},
	{From: fsm.In(schema.AutoNotActive), On: OnEnterHeld, To: schema.AutoPaused, Why: "ato took over while a pause is held"},
	{From: fsm.In(schema.AutoNotActive), On: OnEnterStopped, To: schema.AutoStopped,
		Why: "ato took over by itself; somebody had stopped the story before"},

	{From: fsm.In(schema.AutoPerforming), On: OnHeld, To: schema.AutoPaused, Why: "the first pause was acquired"},
	{From: fsm.In(schema.AutoPaused), On: OnFree, To: schema.AutoPerforming, Why: "the last pause was released"},

	{From: performing, On: OnStop, To: schema.AutoStopped, Why: "somebody stopped the story; it rewinds"},
	{From: fsm.In(schema.AutoStopped), On: OnStop, To: schema.AutoStopped,
		Why: "the story had ended already; now somebody stopped it, and nothing begins by itself"},
	{From: fsm.In(schema.AutoStopped), On: OnStart, To: schema.AutoPerforming, Why: "somebody started the story from its first act"},
	{From: fsm.In(schema.AutoStopped), On: OnStartHeld, To: schema.AutoPaused, Why: "somebody started the story while a pause is held"},

	{From: fsm.In(schema.AutoPerforming), On: OnActDone, To: schema.AutoPerforming, Why: "the next act follows"},
	{From: fsm.In(schema.AutoPaused), On: OnActDone, To: schema.AutoPaused, Why: "the current act was allowed to end; the next one waits"},
	{From: fsm.In(schema.AutoPerforming), On: OnAgain, To: schema.AutoPerforming, Why: "the act failed and is tried again"},
	{From: fsm.In(schema.AutoPaused), On: OnAgain, To: schema.AutoPaused, Why: "the act failed and is tried again after the pause"},
	{From: fsm.In(schema.AutoPerforming), On: OnSkip, To: schema.AutoPerforming, Why: "somebody skipped the act; the next one follows"},
	{From: fsm.In(schema.AutoPaused), On: OnSkip, To: schema.AutoPaused,
		Why: "somebody skipped the act; the next one waits for the end of the pause"},
	{From: performing, On: OnEnd, To: schema.AutoStopped, Why: "the last act of the last round is over"},
	{From: performing, On: OnActError, To: schema.AutoStopped, Why: "an act failed and the story says to stop then"},

	{From: fsm.In(schema.AutoPerforming), On: OnReplaced, To: schema.AutoPerforming, Why: "another story took over"},
	{From: fsm.In(schema.AutoPaused), On: OnReplaced, To: schema.AutoPaused,
		Why: "another story took over and waits for the end of the pause"},
	{From: fsm.In(schema.AutoPerforming), On: OnRevised, To: schema.AutoPerforming,
		Why: "another revision of the story goes on at the same place"},
	{From: fsm.In(schema.AutoPaused), On: OnRevised, To: schema.AutoPaused,
		Why: "another revision of the story waits at the same place for the end of the pause"},
	{From: performing, On: OnWithdrawn, To: schema.AutoStopped, Why: "there is no story to perform any more"},

	{From: fsm.In(schema.AutoPerforming, schema.AutoPaused, schema.AutoStopped), On: OnLeave, To: schema.AutoNotActive,
		Why: "another mode takes over"},
}
