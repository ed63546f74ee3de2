package rollout

import "troupe/schema/fsm"

// State is how far a rollout is.
type State string

// The states of a rollout.
const (
	Draft                 State = "DRAFT"
	WaitingForApproval    State = "WAITING_FOR_APPROVAL"
	Ready                 State = "READY"
	Scheduled             State = "SCHEDULED" // it starts by itself at NotBefore
	Running               State = "RUNNING"
	Paused                State = "PAUSED"
	Succeeded             State = "SUCCEEDED"
	CompletedWithFailures State = "COMPLETED_WITH_FAILURES"
	Aborted               State = "ABORTED"
	RollingBack           State = "ROLLING_BACK"
	RolledBack            State = "ROLLED_BACK"
	RollbackIncomplete    State = "ROLLBACK_INCOMPLETE"
)

// Event is what changes the state of a rollout.
type Event string

// The events of a rollout.
const (
	OnSubmit     Event = "submit"           // the draft is complete, and a second person has to approve it
	OnReady      Event = "ready"            // the draft is complete, and nobody has to approve it
	OnApprove    Event = "approve"          // a second person approved this content
	OnSchedule   Event = "schedule"         // it gets a time at which it starts
	OnStart      Event = "start"            // a person starts it, or its time has come
	OnPause      Event = "pause"            // a person pauses it
	OnThreshold  Event = "threshold"        // a wave failed, or cannot be decided
	OnResume     Event = "resume"           // a person lets it go on
	OnAllDone    Event = "all-done"         // every wave has passed, and no robot failed
	OnDoneFailed Event = "done-with-failed" // every wave has passed, and some robots failed
	OnAbort      Event = "abort"            // a person ends it
	OnRollback   Event = "rollback"         // a person gives the robots back what they had
	OnRestored   Event = "restored"         // every robot has what it had
	OnIncomplete Event = "incomplete"       // some robots cannot have back what they had
	OnRetry      Event = "retry"            // a person offers the content to the failed robots again
)

// Table is the state machine of a rollout.
var Table = fsm.Table[State, Event]{
	{From: fsm.In(Draft), On: OnSubmit, To: WaitingForApproval, Why: "so many robots need a second person"},
	{From: fsm.In(Draft), On: OnReady, To: Ready, Why: "nobody has to approve it"},
	{From: fsm.In(WaitingForApproval), On: OnApprove, To: Ready, Why: "a second person approved exactly this content"},
	{From: fsm.In(Ready), On: OnSchedule, To: Scheduled, Why: "it starts by itself at its time"},
	{From: fsm.In(Ready, Scheduled), On: OnStart, To: Running, Why: "the first wave begins"},
	{From: fsm.In(Running), On: OnPause, To: Paused, Why: "no robot is offered the content until a person resumes it"},
	{From: fsm.In(Running), On: OnThreshold, To: Paused, Why: "a wave failed or cannot be decided: a person has to look"},
	{From: fsm.In(Paused), On: OnResume, To: Running, Why: "a person decided that it goes on"},
	{From: fsm.In(Paused, CompletedWithFailures), On: OnRetry, To: Running, Why: "the failed robots are offered the content again"},
	{From: fsm.In(Running), On: OnAllDone, To: Succeeded, Why: "every robot is decided, and none failed"},
	{From: fsm.In(Running), On: OnDoneFailed, To: CompletedWithFailures, Why: "every robot is decided, and some failed"},
	{From: fsm.In(Draft, WaitingForApproval, Ready, Scheduled, Running, Paused), On: OnAbort, To: Aborted, Why: "no robot is offered the content any more; what was offered stays"},
	{From: fsm.In(Running, Paused, Succeeded, CompletedWithFailures, Aborted), On: OnRollback, To: RollingBack, Why: "each robot gets back what it had, failed ones first"},
	{From: fsm.In(RollingBack), On: OnRestored, To: RolledBack, Why: "each robot that got the content has what it had before"},
	{From: fsm.In(RollingBack), On: OnIncomplete, To: RollbackIncomplete, Why: "some robots cannot have what they had before"},
	{From: fsm.In(RollbackIncomplete), On: OnRollback, To: RollingBack, Why: "robots that could not have what they had before are tried again"},
}

// WaveState is how far a wave is.
type WaveState string

// The states of a wave.
const (
	WavePlanned      WaveState = "PLANNED"
	WaveRunning      WaveState = "RUNNING"
	WaveSoaking      WaveState = "SOAKING"
	WavePassed       WaveState = "PASSED"
	WaveFailed       WaveState = "FAILED"
	WaveInconclusive WaveState = "INCONCLUSIVE"
	WaveSkipped      WaveState = "SKIPPED" // it has no robot
)

// RobotState is how far a robot of a rollout is.
type RobotState string

// The states of a robot of a rollout.
const (
	Planned        RobotState = "PLANNED"
	Deferred       RobotState = "DEFERRED"        // it waits for a window, for its performance to end, or for the next try
	WaitingOffline RobotState = "WAITING_OFFLINE" // its turn has come, and it is not reachable
	Offered        RobotState = "OFFERED"         // the desired document is published; Phase is what the robot reports about it
	Active         RobotState = "ACTIVE"          // it reports the content active, and is watched for the soak
	Confirmed      RobotState = "CONFIRMED"       // it reported the content active twice, a soak apart

	Rejected RobotState = "REJECTED" // the robot refused the content
	Failed   RobotState = "FAILED"   // the robot could not fetch, save or activate it
	TimedOut RobotState = "TIMED_OUT"
	Reverted RobotState = "REVERTED" // it went back to what it had, by itself
	Silent   RobotState = "SILENT"   // no heartbeat for three periods after it activated the content

	Unchanged      RobotState = "UNCHANGED"       // it had the content already
	Superseded     RobotState = "SUPERSEDED"      // it was given something newer meanwhile
	Cancelled      RobotState = "CANCELLED"       // the rollout ended before its turn
	ExpiredOffline RobotState = "EXPIRED_OFFLINE" // it stayed away
	Decommissioned RobotState = "DECOMMISSIONED"  // it left the fleet
	Pinned         RobotState = "PINNED"          // a person pinned what it has

	Restoring   RobotState = "RESTORING"    // it is offered what it had before
	Restored    RobotState = "RESTORED"     // it reports what it had before
	NotRestored RobotState = "NOT_RESTORED" // it cannot have what it had before
)
