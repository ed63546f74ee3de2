package rollout

import (
	"slices"
	"troupe/schema/fsm"
)

// State is how far a rollout is.
type State string

// The states of a rollout.
const (
	Draft                 State = "DRAFT" // until it is known whether somebody has to approve it; never saved
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
	{From: fsm.In(WaitingForApproval, Ready, Scheduled, Running, Paused), On: OnAbort, To: Aborted,
		Why: "no robot is offered the content any more; what was offered stays"},
	{From: fsm.In(Running, Paused, Succeeded, CompletedWithFailures, Aborted), On: OnRollback, To: RollingBack,
		Why: "each robot gets back what it had, failed ones first"},
	{From: fsm.In(RollingBack), On: OnRestored, To: RolledBack, Why: "each robot that got the content has what it had before"},
	{From: fsm.In(RollingBack), On: OnIncomplete, To: RollbackIncomplete, Why: "some robots cannot have what they had before"},
	{From: fsm.In(RollbackIncomplete), On: OnRollback, To: RollingBack,
		Why: "robots that could not have what they had before are tried again"},
}

// States lists every state of a rollout.
var States = []State{
	Draft, WaitingForApproval, Ready, Scheduled, Running, Paused,
	Succeeded, CompletedWithFailures, Aborted, RollingBack, RolledBack, RollbackIncomplete,
}

// Over reports whether nothing but a person's decision changes the state any more.
func (s State) Over() bool {
	switch s {
	case Succeeded, CompletedWithFailures, Aborted, RolledBack, RollbackIncomplete:
		return true
	}
	return false
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
	WaveSkipped      WaveState = "SKIPPED" // it has no robot, or its turn never came
)

// WaveStates lists every state of a wave.
var WaveStates = []WaveState{WavePlanned, WaveRunning, WaveSoaking, WavePassed, WaveFailed, WaveInconclusive, WaveSkipped}

// The events of a wave.
const (
	OnWaveTurn     Event = "wave-turn"      // every wave before it has passed
	OnWaveEmpty    Event = "wave-empty"     // its turn has come, and it has no robot
	OnWaveActive   Event = "wave-active"    // enough of its reachable robots have the content
	OnWavePassed   Event = "wave-passed"    // the soak is over, and its gate is open
	OnWaveFailed   Event = "wave-failed"    // too many of its robots failed, or they are worse off than the others
	OnWaveUnclear  Event = "wave-unclear"   // too few of its robots are decided
	OnWaveResume   Event = "wave-resume"    // a person lets the rollout go on
	OnWaveRetry    Event = "wave-retry"     // a person offers the content to its failed robots again
	OnWaveEnd      Event = "wave-end"       // the rollout ends before the wave was decided
	OnWaveNotBegun Event = "wave-not-begun" // the rollout ends before its turn
)

// WaveTable is the state machine of a wave.
var WaveTable = fsm.Table[WaveState, Event]{
	{From: fsm.In(WavePlanned), On: OnWaveTurn, To: WaveRunning, Why: "every wave before it has passed"},
	{From: fsm.In(WavePlanned), On: OnWaveEmpty, To: WaveSkipped, Why: "it has no robot"},
	{From: fsm.In(WaveRunning), On: OnWaveActive, To: WaveSoaking,
		Why: "enough of its reachable robots have the content; they are watched for the soak"},
	{From: fsm.In(WaveRunning, WaveSoaking), On: OnWavePassed, To: WavePassed, Why: "its gate is open"},
	{From: fsm.In(WaveRunning, WaveSoaking, WavePassed), On: OnWaveFailed, To: WaveFailed,
		Why: "too many of its robots failed, or they are worse off than the others; after it passed, too, because robots return late"},
	{From: fsm.In(WaveRunning, WaveSoaking, WavePassed), On: OnWaveUnclear, To: WaveInconclusive,
		Why: "too few of its robots are decided to say more"},
	{From: fsm.In(WaveFailed, WaveInconclusive), On: OnWaveResume, To: WaveRunning, Why: "a person looked at it, and lets it go on"},
	{From: fsm.In(WaveSoaking, WavePassed, WaveFailed, WaveInconclusive), On: OnWaveRetry, To: WaveRunning,
		Why: "its failed robots are offered the content again"},
	{From: fsm.In(WaveRunning, WaveSoaking), On: OnWaveEnd, To: WaveInconclusive, Why: "the rollout ended before it was decided"},
	{From: fsm.In(WavePlanned), On: OnWaveNotBegun, To: WaveSkipped, Why: "the rollout ended before its turn"},
}

// RobotState is how far a robot of a rollout is.
type RobotState string

// The states of a robot of a rollout.
const (
	Planned        RobotState = "PLANNED"
	Deferred       RobotState = "DEFERRED"        // it waits for a window, for its performance to end, or for the next try
	WaitingOffline RobotState = "WAITING_OFFLINE" // its turn has come, or it was offered the content, and it is not reachable
	Offered        RobotState = "OFFERED"         // the desired document is published; Phase is what the robot reports about it
	Active         RobotState = "ACTIVE"          // it reports the content active, and is watched for the soak
	Confirmed      RobotState = "CONFIRMED"       // it reported the content active twice, a soak apart

	Rejected RobotState = "REJECTED" // the robot refused the content
	Failed   RobotState = "FAILED"   // the robot could not fetch, save or activate it
	TimedOut RobotState = "TIMED_OUT"
	Reverted RobotState = "REVERTED" // it went back to what it had, by itself
	Silent   RobotState = "SILENT"   // no heartbeat for three periods after it began to activate the content

	Unchanged      RobotState = "UNCHANGED"       // it had the content already
	LeftOut        RobotState = "LEFT_OUT"        // the plan says that it would refuse the content
	Superseded     RobotState = "SUPERSEDED"      // it was given something newer meanwhile
	Cancelled      RobotState = "CANCELLED"       // the rollout ended before its turn
	ExpiredOffline RobotState = "EXPIRED_OFFLINE" // it stayed away
	Decommissioned RobotState = "DECOMMISSIONED"  // it left the fleet
	Pinned         RobotState = "PINNED"          // a person pinned what it has

	Restoring   RobotState = "RESTORING"    // it is offered what it had before
	Restored    RobotState = "RESTORED"     // it reports what it had before
	NotRestored RobotState = "NOT_RESTORED" // it does not report what it had before, or cannot have it
)

// RobotStates lists every state of a robot.
var RobotStates = []RobotState{
	Planned, Deferred, WaitingOffline, Offered, Active, Confirmed,
	Rejected, Failed, TimedOut, Reverted, Silent,
	Unchanged, LeftOut, Superseded, Cancelled, ExpiredOffline, Decommissioned, Pinned,
	Restoring, Restored, NotRestored,
}

// Failures are the states of robots that failed.
var Failures = []RobotState{Rejected, Failed, TimedOut, Reverted, Silent}

// HasFailed reports whether the robot counts as failed.
func (s RobotState) HasFailed() bool {
	switch s {
	case Rejected, Failed, TimedOut, Reverted, Silent:
		return true
	}
	return false
}

// Open reports whether the rollout waits for the robot.
func (s RobotState) Open() bool {
	switch s {
	case Planned, Deferred, WaitingOffline, Offered, Active, Restoring:
		return true
	}
	return false
}

// The events of a robot.
const (
	OnOffer        Event = "offer"        // its turn has come: it is assigned the content
	OnUnchanged    Event = "unchanged"    // its turn has come, and it has the content already
	OnDefer        Event = "defer"        // it has to wait, or failed in a way that may pass
	OnOffline      Event = "offline"      // it is not reachable
	OnOnline       Event = "online"       // it is reachable again, and has a document to fulfil
	OnProgress     Event = "progress"     // it reports another phase, after fleetd gave up waiting
	OnActive       Event = "active"       // it reports the content active
	OnConfirm      Event = "confirm"      // it reports the content active, a soak later
	OnReject       Event = "reject"       // it reports that it refuses the content, or a part of it
	OnFail         Event = "fail"         // it reports that it could not get or save it, or may not be away
	OnRevert       Event = "revert"       // it reports that it went back to what it had
	OnTimeout      Event = "timeout"      // it is online, and takes too long
	OnSilent       Event = "silent"       // no heartbeat arrives after it began to activate the content
	OnLeaveOut     Event = "leave-out"    // the plan says that it would refuse the content
	OnPinned       Event = "pinned"       // its turn has come, and a person pinned what it has
	OnSupersede    Event = "supersede"    // it was given something newer
	OnCancel       Event = "cancel"       // the rollout ends
	OnExpire       Event = "expire"       // it stays away
	OnDecommission Event = "decommission" // it left the fleet
	OnRetryRobot   Event = "retry-robot"  // a person offers the content to failed robots again
	OnRestore      Event = "restore"      // it is assigned what it had before
	OnHasBack      Event = "has-back"     // it reports what it had before
	OnNotBack      Event = "not-back"     // it cannot have what it had before, or does not report it
)

// Sets of states for the rows of RobotTable.
var (
	// waiting have not got the content, or have to get it again.
	waiting = fsm.In(Planned, Deferred, WaitingOffline)
	// patience are those that fleetd gave up; the others that failed said so themselves.
	patience = fsm.In(TimedOut, Silent)
	// gotIt may have got the content: they can get back what they had before.
	gotIt = slices.Concat(fsm.In(Deferred, WaitingOffline, Offered, Active, Confirmed, Cancelled, ExpiredOffline, NotRestored), Failures)
)

// RobotTable is the state machine of a robot of a rollout.
var RobotTable = fsm.Table[RobotState, Event]{
	{From: fsm.In(Planned), On: OnLeaveOut, To: LeftOut, Why: "the plan says that it would refuse the content"},
	{From: waiting, On: OnOffer, To: Offered, Why: "its turn has come"},
	{From: waiting, On: OnUnchanged, To: Unchanged, Why: "it has the content already"},
	{From: waiting, On: OnPinned, To: Pinned, Why: "a person pinned what it has"},
	{From: fsm.In(Planned, WaitingOffline, Offered, Active), On: OnDefer, To: Deferred,
		Why: "it has to wait for a window, for the end of its performance, or for the next try"},
	{From: fsm.In(Planned, Deferred, Offered), On: OnOffline, To: WaitingOffline, Why: "it is not reachable"},
	{From: fsm.In(WaitingOffline), On: OnOnline, To: Offered, Why: "it is back, and finds its desired document"},
	{From: patience, On: OnProgress, To: Offered, Why: "it reports again after fleetd gave up waiting, and is judged anew"},
	{From: slices.Concat(fsm.In(Deferred, WaitingOffline, Offered), Failures), On: OnActive, To: Active,
		Why: "it reports the content active, also after a failure, and is watched for the soak"},
	{From: fsm.In(Active), On: OnConfirm, To: Confirmed, Why: "it still reports the content active, a soak later"},
	{From: slices.Concat(waiting, fsm.In(Offered, Active), patience), On: OnReject, To: Rejected,
		Why: "it refuses the content, or a part of it"},
	{From: slices.Concat(waiting, fsm.In(Offered, Active), patience), On: OnFail, To: Failed,
		Why: "it could not fetch, save or activate the content, or is away although the rollout does not allow it"},
	{From: slices.Concat(fsm.In(WaitingOffline, Offered, Active), patience), On: OnRevert, To: Reverted, Why: "it went back to what it had"},
	{From: fsm.In(Offered, Active), On: OnTimeout, To: TimedOut, Why: "it is online, and takes too long"},
	{From: fsm.In(Offered, Active), On: OnSilent, To: Silent, Why: "no heartbeat arrives after it began to activate the content"},
	{From: waiting, On: OnExpire, To: ExpiredOffline, Why: "it stays away"},
	{From: fsm.In(Active), On: OnExpire, To: ExpiredOffline, Why: "it signed off and stays away"},
	{From: slices.Concat(fsm.In(Planned, Restoring), gotIt), On: OnSupersede, To: Superseded,
		Why: "it was given something newer, which stays"},
	{From: slices.Concat(waiting, fsm.In(Offered, Active)), On: OnCancel, To: Cancelled,
		Why: "the rollout ended before its turn, or while it was away or waited"},
	{From: slices.Concat(fsm.In(Planned, Restoring), gotIt), On: OnDecommission, To: Decommissioned, Why: "it left the fleet"},
	{From: Failures, On: OnRetryRobot, To: Planned, Why: "a person offers it the content again"},
	{From: gotIt, On: OnRestore, To: Restoring, Why: "it got the content, and is assigned what it had before"},
	{From: fsm.In(Restoring), On: OnHasBack, To: Restored, Why: "it reports what it had before"},
	{From: slices.Concat(gotIt, fsm.In(Restoring)), On: OnNotBack, To: NotRestored,
		Why: "it does not report what it had before, or cannot have it"},
}
