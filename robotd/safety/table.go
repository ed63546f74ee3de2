package safety

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Event is a fact or a request whose guards have passed. Each step checks the events in
// the order below and takes the first one for which the present state has a row.
type Event string

// The events, most urgent first.
const (
	BadState     Event = "bad-state"   // At is not a state
	InputPressed Event = "estop-input" // a stop input at the robot
	UnitFailed   Event = "unit-error"
	// EStopAsked, HaltAsked, StopAsked and SoftStopAsked: the cause is the command of this step, else
	// a latched stop, else a stop that the mode or a unit asks for.
	EStopAsked    Event = "estop"
	UnitHalted    Event = "unit-halt"
	HaltAsked     Event = "halt"
	StopAsked     Event = "stop"
	ModeMissing   Event = "no-mode" // no active mode wants to move
	SoftStopAsked Event = "soft-stop"
	ShutdownDone  Event = "shutdown-done"
	SoftTimeout   Event = "soft-stop-timeout"
	StopTimeout   Event = "stop-timeout"
	HaltTimeout   Event = "halt-timeout"
	ResetTimeout  Event = "reset-timeout"
	RestTimeout   Event = "rest-timeout" // in DISABLED, a unit is not idle
	UnitsIdle     Event = "units-idle"
	ResetGranted  Event = "reset"
	EnableGranted Event = "enable"
)

// States lists every state: at rest, moving, on the way to a standstill, in need of a reset, and being reset.
var States = []schema.SafetyState{
	schema.SafetyDisabled, schema.SafetyEnabled, schema.SafetySoftStop, schema.SafetyStop,
	schema.SafetyHalt, schema.SafetyEStop, schema.SafetyReset,
}

// moving lists the states in which units may still move.
var moving = fsm.In(schema.SafetyEnabled, schema.SafetySoftStop, schema.SafetyStop)

// Table is the state table of the safety core. A value that is not a state has no row:
// CoreState.step goes to E_STOP before it uses the table.
var Table = fsm.Table[schema.SafetyState, Event]{
	{From: fsm.In(schema.SafetyDisabled), On: EnableGranted, To: schema.SafetyEnabled, Why: "it was requested, and nothing prevents it"},

	{From: fsm.In(schema.SafetyDisabled, schema.SafetyReset), On: InputPressed, To: schema.SafetyEStop,
		Why: "a pressed stop input leads to E_STOP from every state"},
	{From: moving, On: InputPressed, To: schema.SafetyEStop, Why: "a stop input at the robot is pressed"},
	{From: fsm.In(schema.SafetyHalt), On: InputPressed, To: schema.SafetyEStop, Why: "a pressed stop input leads to E_STOP from every state"},

	{From: fsm.In(schema.SafetyDisabled), On: UnitFailed, To: schema.SafetyEStop, Why: "a unit is in error; it stays off until a reset"},
	{From: fsm.In(schema.SafetyReset), On: UnitFailed, To: schema.SafetyEStop, Why: "a unit failed again during the reset"},
	{From: moving, On: UnitFailed, To: schema.SafetyEStop, Why: "a unit failed while the body could move"},
	{From: fsm.In(schema.SafetyHalt), On: UnitFailed, To: schema.SafetyEStop, Why: "units that halt end in error"},

	{From: fsm.In(schema.SafetyDisabled, schema.SafetyReset), On: EStopAsked, To: schema.SafetyEStop,
		Why: "this stop leads to E_STOP from every state"},
	{From: moving, On: EStopAsked, To: schema.SafetyEStop, Why: "units off at once"},
	{From: fsm.In(schema.SafetyHalt), On: EStopAsked, To: schema.SafetyEStop, Why: "this stop leads to E_STOP from every state"},

	{From: moving, On: UnitHalted, To: schema.SafetyHalt, Why: "one unit met its own limit, all halt"},
	{From: moving, On: HaltAsked, To: schema.SafetyHalt, Why: "units halt at once, without the mode's help"},

	{From: fsm.In(schema.SafetyEnabled), On: StopAsked, To: schema.SafetyStop, Why: "brake to standstill"},
	{From: fsm.In(schema.SafetySoftStop), On: StopAsked, To: schema.SafetyStop, Why: "the request does not wait for the shutdown act"},
	{From: fsm.In(schema.SafetyEnabled), On: ModeMissing, To: schema.SafetyStop, Why: "no mode in charge wants to move"},
	{From: fsm.In(schema.SafetySoftStop), On: ModeMissing, To: schema.SafetyStop, Why: "the mode that was in charge is gone"},

	{From: fsm.In(schema.SafetyEnabled), On: SoftStopAsked, To: schema.SafetySoftStop, Why: "the shutdown act brings the body to rest first"},

	{From: fsm.In(schema.SafetySoftStop), On: ShutdownDone, To: schema.SafetyStop, Why: "the shutdown act has ended"},
	{From: fsm.In(schema.SafetySoftStop), On: SoftTimeout, To: schema.SafetyStop, Why: "the shutdown act took too long"},
	{From: fsm.In(schema.SafetyStop), On: StopTimeout, To: schema.SafetyHalt, Why: "a unit did not come to rest in time"},
	{From: fsm.In(schema.SafetyHalt), On: HaltTimeout, To: schema.SafetyEStop, Why: "a halt always ends with the units off"},
	{From: fsm.In(schema.SafetyReset), On: ResetTimeout, To: schema.SafetyEStop, Why: "a unit could not be reset"},

	{From: fsm.In(schema.SafetyDisabled), On: RestTimeout, To: schema.SafetyEStop, Why: "a unit that may not move did not come to rest"},

	{From: fsm.In(schema.SafetyStop), On: UnitsIdle, To: schema.SafetyDisabled,
		Why: "every unit is at rest; commands that move a unit are refused from now on"},
	{From: fsm.In(schema.SafetyReset), On: UnitsIdle, To: schema.SafetyDisabled, Why: "every unit cleared its error; moving needs an enable"},

	{From: fsm.In(schema.SafetyEStop), On: ResetGranted, To: schema.SafetyReset, Why: "every cause is gone, and it was requested"},
}
