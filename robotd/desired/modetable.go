package desired

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// ModeEvent is an event that changes the phase of the desired mode.
type ModeEvent string

// The events.
const (
	OnStartup       ModeEvent = "boot"
	OnNoStory       ModeEvent = "no-story"
	OnAsk           ModeEvent = "asked"
	OnAlreadyActive ModeEvent = "already-active"
	OnPrevented     ModeEvent = "prevented"
	OnGranted       ModeEvent = "granted"
	OnRefused       ModeEvent = "refused"
	OnFell          ModeEvent = "fell-back"
	OnAdopted       ModeEvent = "adopted"
)

// modePhases lists every phase.
var modePhases = []schema.DeployPhase{schema.DeployIdle, schema.DeployWaiting, schema.DeployHeld, schema.DeployActive,
	schema.DeployRejected, schema.DeployFailed}

var anyPhase = fsm.In(modePhases...)

// modeTable is the state table of the desired mode's phase.
var modeTable = fsm.Table[schema.DeployPhase, ModeEvent]{
	{From: anyPhase, On: OnStartup, To: schema.DeployWaiting,
		Why: "the running calibration at boot, or else the next one, ends in the desired mode"},
	{From: fsm.In(schema.DeployWaiting), On: OnNoStory, To: schema.DeployWaiting,
		Why: "start-up ended before its story was on the robot; it is asked for when the story is"},
	{From: anyPhase, On: OnAsk, To: schema.DeployWaiting, Why: "the supervisor is asked for it, once"},
	{From: anyPhase, On: OnAlreadyActive, To: schema.DeployActive, Why: "it is in charge already"},
	{From: anyPhase, On: OnPrevented, To: schema.DeployHeld,
		Why: "a desired mode does not overrule a stop, a lost link or a person in control"},
	{From: fsm.In(schema.DeployWaiting), On: OnGranted, To: schema.DeployActive, Why: "it is in charge"},
	{From: fsm.In(schema.DeployWaiting), On: OnRefused, To: schema.DeployRejected, Why: "it cannot be set now; it is not requested again"},
	{From: fsm.In(schema.DeployWaiting), On: OnFell, To: schema.DeployFailed, Why: "it was begun and did not come about"},
	{From: anyPhase, On: OnAdopted, To: schema.DeployIdle, Why: "the robot obeys another fleet now, whose desired document is not known yet"},
}
