package mode

import (
	"troupe/schema"
	"troupe/schema/fsm"
)

// Phase is the state of the supervisor.
type Phase string

// The phases.
const (
	Booting      Phase = "boot"
	Starting     Phase = "starting"     // waiting for Next to report that it runs
	Calibrating  Phase = "calibrating"  // the calibration mode is at work
	Uncalibrated Phase = "uncalibrated" // calibration failed; only it can be requested
	Ready        Phase = "ready"        // Active runs
	Stopping     Phase = "stopping"     // waiting for Active to end; then Next starts
	Safe         Phase = "safe"         // left only by an operator's request
	None         Phase = "none"         // no mode is in charge; the body is stopped
)

// Phases lists every phase.
var Phases = []Phase{Booting, Starting, Calibrating, Uncalibrated, Ready, Stopping, Safe, None}

// Event is an event of the supervisor whose guards have passed.
type Event string

// The events of the supervisor.
const (
	OnBoot             Event = "boot"
	OnStarted          Event = "started"
	OnCalibrating      Event = "started-calibration"
	OnSafe             Event = "started-safe"
	OnStartFailed      Event = "start-failed"
	OnSafeFailed       Event = "safe-failed"
	OnCalibratedAtBoot Event = "calibrated-at-boot"
	OnCalibrated       Event = "calibrated"
	OnCalibFailed      Event = "calibration-failed"
	OnRecalibrate      Event = "recalibrate"
	OnSwitch           Event = "switch"
	OnSwitchAtOnce     Event = "switch-at-once"
	OnStopped          Event = "stopped"
	OnStopTimeout      Event = "stop-timeout"
	OnKill             Event = "kill"
	OnKillNone         Event = "kill-no-successor"
	OnDied             Event = "died"
	OnLinkLost         Event = "link-lost"
	OnShutdown         Event = "shutdown"
	OnEnd              Event = "end"
)

var inCharge = fsm.In(Calibrating, Uncalibrated, Ready)

// Table is the state table of the supervisor.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Booting), On: OnBoot, To: Starting, Why: "calibration runs by itself at boot"},

	{From: fsm.In(Starting), On: OnStarted, To: Ready, Why: "the mode runs"},
	{From: fsm.In(Starting), On: OnCalibrating, To: Calibrating, Why: "the calibration mode is at work"},
	{From: fsm.In(Starting), On: OnSafe, To: Safe, Why: "the robot waits for an operator"},
	{From: fsm.In(Starting), On: OnStartFailed, To: Starting, Why: "the mode did not start; its fallback does"},
	{From: fsm.In(Starting, Safe), On: OnSafeFailed, To: None, Why: "even safe failed; the body is stopped"},

	{From: fsm.In(Calibrating), On: OnCalibratedAtBoot, To: Stopping, Why: "calibration succeeded at boot; the boot mode follows"},
	{From: fsm.In(Calibrating), On: OnCalibrated, To: Ready, Why: "calibration was requested and stays active"},
	{From: fsm.In(Calibrating), On: OnCalibFailed, To: Uncalibrated, Why: "nothing but calibration may run"},
	{From: fsm.In(Uncalibrated, Ready), On: OnRecalibrate, To: Calibrating, Why: "calibration was requested again"},

	{From: fsm.In(Calibrating, Uncalibrated, Ready, Safe, Starting, Stopping), On: OnSwitch, To: Stopping,
		Why: "every check passed; the running mode ends first"},
	{From: fsm.In(None), On: OnSwitchAtOnce, To: Starting, Why: "every check passed and no mode is in charge"},
	{From: fsm.In(Stopping), On: OnStopped, To: Starting, Why: "the old mode ended; the new one starts"},
	{From: fsm.In(Stopping), On: OnStopTimeout, To: Starting, Why: "the old mode would not end and was killed"},

	{From: fsm.In(Calibrating, Uncalibrated, Ready, Starting, Stopping), On: OnKill, To: Starting,
		Why: "the mode was killed; its fallback starts"},
	{From: fsm.In(Calibrating, Uncalibrated, Ready, Starting, Stopping), On: OnKillNone, To: None,
		Why: "the mode was killed and safety forbids another"},
	{From: inCharge, On: OnDied, To: Starting, Why: "the mode died; its fallback starts"},
	{From: fsm.In(Calibrating, Uncalibrated, Ready, Starting, Stopping), On: OnLinkLost, To: Starting,
		Why: "no heartbeat of fleetd or of a panel arrives"},

	{From: fsm.In(Calibrating, Uncalibrated, Ready, Safe, Starting), On: OnShutdown, To: Stopping,
		Why: "robotd ends and lets the mode end first"},
	{From: fsm.In(Booting), On: OnShutdown, To: None, Why: "robotd ends before it began"},
	{From: fsm.In(Stopping), On: OnEnd, To: None, Why: "robotd ends"},
}

// StatusEvent is an event that changes the status of one mode.
type StatusEvent string

// The events of StatusTable.
const (
	StatusEnable  StatusEvent = "enable"
	StatusDisable StatusEvent = "disable"
	StatusLoad    StatusEvent = "load"
	StatusUnload  StatusEvent = "unload"
	StatusStart   StatusEvent = "start"
	StatusStarted StatusEvent = "started"
	StatusFailed  StatusEvent = "start-failed"
	StatusPause   StatusEvent = "pause"
	StatusResume  StatusEvent = "resume"
	StatusStop    StatusEvent = "stop"
	StatusStopped StatusEvent = "stopped"
	StatusKill    StatusEvent = "kill"
	StatusDied    StatusEvent = "died"
)

// Statuses lists every status of a mode.
var Statuses = []schema.ModeStatus{
	schema.ModeDisabled, schema.ModeAvailable, schema.ModeStarting, schema.ModeRunning,
	schema.ModePaused, schema.ModeStopping, schema.ModeFailed, schema.ModeUnloaded,
}

// StatusTable is the state table of each mode's status. A failure stays visible until the mode
// is requested again.
var StatusTable = fsm.Table[schema.ModeStatus, StatusEvent]{
	{From: fsm.In(schema.ModeDisabled), On: StatusEnable, To: schema.ModeAvailable, Why: "an administrator enabled it"},
	{From: fsm.In(schema.ModeAvailable, schema.ModeFailed), On: StatusDisable, To: schema.ModeDisabled, Why: "an administrator disabled it"},
	{From: fsm.In(schema.ModeDisabled, schema.ModeAvailable, schema.ModeFailed), On: StatusUnload, To: schema.ModeUnloaded,
		Why: "an administrator unloaded it"},
	{From: fsm.In(schema.ModeUnloaded), On: StatusLoad, To: schema.ModeAvailable,
		Why: "an administrator loaded it; what is loaded is selectable"},
	{From: fsm.In(schema.ModeAvailable, schema.ModeFailed), On: StatusStart, To: schema.ModeStarting, Why: "the supervisor starts it"},
	{From: fsm.In(schema.ModeStarting), On: StatusStarted, To: schema.ModeRunning, Why: "it reports that it runs"},
	{From: fsm.In(schema.ModeStarting), On: StatusFailed, To: schema.ModeFailed,
		Why: "it reports that it cannot start, or does not report in time"},
	{From: fsm.In(schema.ModeRunning), On: StatusPause, To: schema.ModePaused, Why: "it was requested, and the mode agreed"},
	{From: fsm.In(schema.ModePaused), On: StatusResume, To: schema.ModeRunning, Why: "it was requested"},
	{From: fsm.In(schema.ModeStarting, schema.ModeRunning, schema.ModePaused), On: StatusStop, To: schema.ModeStopping,
		Why: "another mode was granted"},
	{From: fsm.In(schema.ModeStopping), On: StatusStopped, To: schema.ModeAvailable, Why: "it ended in order"},
	{From: fsm.In(schema.ModeStarting, schema.ModeRunning, schema.ModePaused, schema.ModeStopping), On: StatusKill, To: schema.ModeAvailable,
		Why: "it was ended at once"},
	{From: fsm.In(schema.ModeRunning, schema.ModePaused, schema.ModeStopping), On: StatusDied, To: schema.ModeFailed,
		Why: "it ended by itself"},
}
