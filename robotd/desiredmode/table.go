package desiredmode

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Event is an event that changes the phase of the desired mode.
type Event string

// The events.
const (
	OnStartup       Event = "boot"
	OnAsk           Event = "asked"
	OnAlreadyActive Event = "already-active"
	OnPrevented     Event = "prevented"
	OnGranted       Event = "granted"
	OnRefused       Event = "refused"
	OnFell          Event = "fell-back"
	OnAdopted       Event = "adopted"
)

// Phases lists every phase.
var Phases = []schema.DeployPhase{schema.DeployIdle, schema.DeployWaiting, schema.DeployHeld, schema.DeployActive, schema.DeployRejected, schema.DeployFailed}

var anyPhase = fsm.In(Phases...)

// Table is the state table of the desired mode's phase.
var Table = fsm.Table[schema.DeployPhase, Event]{
	{From: anyPhase, On: OnStartup, To: schema.DeployWaiting, Why: "the running calibration at boot, or else the next one, ends in the desired mode"},
	{From: anyPhase, On: OnAsk, To: schema.DeployWaiting, Why: "the supervisor is asked for it, once"},
	{From: anyPhase, On: OnAlreadyActive, To: schema.DeployActive, Why: "it is in charge already"},
	{From: anyPhase, On: OnPrevented, To: schema.DeployHeld, Why: "a desired mode does not overrule a stop, a lost link or a person in control"},
	{From: fsm.In(schema.DeployWaiting), On: OnGranted, To: schema.DeployActive, Why: "it is in charge"},
	{From: fsm.In(schema.DeployWaiting), On: OnRefused, To: schema.DeployRejected, Why: "it cannot be set now; it is not requested again"},
	{From: fsm.In(schema.DeployWaiting), On: OnFell, To: schema.DeployFailed, Why: "it was begun and did not come about"},
	{From: anyPhase, On: OnAdopted, To: schema.DeployIdle, Why: "the robot obeys another fleet now, whose desired document is not known yet"},
}
