package delivery

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Event is what happened to a delivery, after all checks.
type Event string

// The events.
const (
	OnFetch            Event = "fetch"
	OnSame             Event = "same-content"
	OnWithdraw         Event = "withdraw"
	OnUnusable         Event = "unusable"
	OnNewer            Event = "newer-revision"
	OnAdopted          Event = "adopted"
	OnArrived          Event = "arrived"
	OnTimeout          Event = "fetch-timeout"
	OnNotFetched       Event = "fetch-failed"
	OnRetry            Event = "retry"
	OnDigestRight      Event = "digest-right"
	OnDigestWrong      Event = "digest-wrong"
	OnDigestWrongAgain Event = "digest-wrong-again"
	OnRefused          Event = "refused"
	OnWritten          Event = "written"
	OnDiskRefused      Event = "disk-refused"
	OnWait             Event = "wait"
	OnDue              Event = "due"
	OnStarted          Event = "started"
	OnNothingPerformed Event = "nothing-runs"
	OnStartFailed      Event = "start-failed"
	OnProbation        Event = "probation-over"
	OnUnusableNow      Event = "unusable-now"
	OnUsableAgain      Event = "usable-again"
	OnRefit            Event = "robot-changed"
	OnFiles            Event = "files-missing"
	OnTooLate          Event = "too-late"
)

// Phases lists every phase.
var Phases = []schema.DeployPhase{
	schema.DeployIdle, schema.DeployFetching, schema.DeployVerifying, schema.DeployValidating, schema.DeployStaged,
	schema.DeployWaiting, schema.DeployActivating, schema.DeployActive, schema.DeployRejected, schema.DeployFailed,
	schema.DeployRolledBack, schema.DeploySuperseded, schema.DeployWithdrawn,
}

var (
	settled = fsm.In(schema.DeployIdle, schema.DeployActive, schema.DeployRejected, schema.DeployFailed,
		schema.DeployRolledBack, schema.DeploySuperseded, schema.DeployWithdrawn)
	// withContent does not contain withdrawn, which has no active content.
	withContent = fsm.In(schema.DeployIdle, schema.DeployActive, schema.DeployRejected, schema.DeployFailed,
		schema.DeployRolledBack, schema.DeploySuperseded)
	// underWay does not contain verifying and staged, which are left within the
	// step that enters them.
	underWay = fsm.In(schema.DeployFetching, schema.DeployValidating, schema.DeployWaiting, schema.DeployActivating)
)

// Table is the life of a desired document.
var Table = fsm.Table[schema.DeployPhase, Event]{
	{From: settled, On: OnFetch, To: schema.DeployFetching, Why: "the desired state names a content that is not here"},
	{From: withContent, On: OnSame, To: schema.DeployActive, Why: "the desired state names the content that is active already"},
	{From: settled, On: OnWithdraw, To: schema.DeployWithdrawn, Why: "the fleet withdrew it"},
	{From: settled, On: OnUnusable, To: schema.DeployRejected, Why: "it is known in advance that it cannot be fetched or performed"},
	{From: settled, On: OnAdopted, To: schema.DeployIdle, Why: "the robot obeys another fleet now, whose desired document is not known yet"},
	{From: underWay, On: OnNewer, To: schema.DeploySuperseded, Why: "a newer desired state came before this one was fulfilled"},

	{From: fsm.In(schema.DeployFetching, schema.DeployFailed, schema.DeployWaiting), On: OnTooLate, To: schema.DeployRejected,
		Why: "the fleet no longer waits for it"},

	{From: fsm.In(schema.DeployFetching), On: OnArrived, To: schema.DeployVerifying, Why: "the bytes are here"},
	{From: fsm.In(schema.DeployFetching), On: OnTimeout, To: schema.DeployFailed, Why: "the bytes did not arrive in time"},
	{From: fsm.In(schema.DeployFetching), On: OnNotFetched, To: schema.DeployFailed, Why: "the bytes are not available now"},
	{From: fsm.In(schema.DeployFailed), On: OnRetry, To: schema.DeployFetching,
		Why: "a temporary failure is followed by another attempt, each time after a longer wait"},

	{From: fsm.In(schema.DeployVerifying), On: OnDigestRight, To: schema.DeployValidating, Why: "size and digest are right"},
	{From: fsm.In(schema.DeployVerifying), On: OnDigestWrong, To: schema.DeployFetching,
		Why: "the bytes were damaged; they are fetched once more"},
	{From: fsm.In(schema.DeployVerifying), On: OnFiles, To: schema.DeployFetching, Why: "it needs files that are not here yet"},
	{From: fsm.In(schema.DeployVerifying), On: OnDigestWrongAgain, To: schema.DeployFailed,
		Why: "the bytes were damaged again; more attempts follow, each time after a longer wait"},

	{From: fsm.In(schema.DeployValidating), On: OnRefused, To: schema.DeployRejected,
		Why: "it has errors, or nothing of it can be performed here"},
	{From: fsm.In(schema.DeployValidating), On: OnWritten, To: schema.DeployStaged, Why: "it is on disk beside the active one"},
	{From: fsm.In(schema.DeployValidating), On: OnDiskRefused, To: schema.DeployFailed, Why: "the disk refused it"},

	{From: fsm.In(schema.DeployStaged), On: OnWait, To: schema.DeployWaiting, Why: "the desired state says when it may take over"},
	{From: fsm.In(schema.DeployWaiting), On: OnDue, To: schema.DeployActivating, Why: "it may take over now"},
	{From: fsm.In(schema.DeployWaiting, schema.DeployActivating), On: OnRefused, To: schema.DeployRejected,
		Why: "the robot changed meanwhile; nothing of it can be performed any more"},

	{From: fsm.In(schema.DeployActivating), On: OnStarted, To: schema.DeployActive, Why: "its first act began"},
	{From: fsm.In(schema.DeployActivating), On: OnNothingPerformed, To: schema.DeployActive,
		Why: "nothing is performed now; this one is next"},
	{From: fsm.In(schema.DeployActivating), On: OnStartFailed, To: schema.DeployRolledBack,
		Why: "it could not begin; the previous one continues"},
	{From: fsm.In(schema.DeployActivating), On: OnProbation, To: schema.DeployRolledBack,
		Why: "it did not begin in time; the previous one continues"},

	{From: fsm.In(schema.DeployActive), On: OnUnusableNow, To: schema.DeployRejected,
		Why: "the robot changed; nothing of it can be performed any more"},
	{From: fsm.In(schema.DeployRejected), On: OnUsableAgain, To: schema.DeployActive, Why: "the robot changed; it can be performed again"},
	{From: fsm.In(schema.DeployRejected), On: OnRefit, To: schema.DeployFetching, Why: "the robot changed; perhaps it can be performed now"},
}
