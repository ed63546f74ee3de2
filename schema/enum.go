package schema

// The enums below are strings on the wire, spelled once, here. Readers treat a
// value they do not know as text to be shown and as "not ok"; the zero value of
// each is never sent.

// ModeID names who is in charge of a robot.
type ModeID string

const (
	ModeStr  ModeID = "str"  // start-up and engineering: loads the map, calibrates
	ModeMnl  ModeID = "mnl"  // manual, the default mode
	ModeAto  ModeID = "ato"  // automatic: performs the default story
	ModeSafe ModeID = "safe" // link lost or mnl unavailable; built in, never asked for
)

// SafetyState is the state of the safety core, the only owner of the
// permission to move.
type SafetyState string

const (
	SafetyDisabled SafetyState = "DISABLED"  // gate closed; nothing that moves accepts commands
	SafetyEnabled  SafetyState = "ENABLED"   // gate open
	SafetySoftStop SafetyState = "SOFT_STOP" // the mode's own shutdown runs, then STOP
	SafetyStop     SafetyState = "STOP"      // damping to standstill, then DISABLED
	SafetyHalt     SafetyState = "HALT"      // units halt at once, always ends in E_STOP
	SafetyEStop    SafetyState = "E_STOP"    // units off; only an operator's reset leads out
	SafetyReset    SafetyState = "RESET"     // units clear their errors, then DISABLED
)

// SystemStatus says whether the mode system itself runs.
type SystemStatus string

const (
	SystemStarting SystemStatus = "starting"
	SystemRunning  SystemStatus = "running"
	SystemStopping SystemStatus = "stopping"
)

// ModePhase is where the mode supervisor stands.
type ModePhase string

const (
	PhaseRunning   ModePhase = "running"
	PhaseSwitching ModePhase = "switching"
	PhaseStopping  ModePhase = "stopping"
	PhaseFailed    ModePhase = "failed"
)

// ModeStatus is the life cycle of one mode.
type ModeStatus string

const (
	ModeRegistered ModeStatus = "registered" // switched off
	ModeAvailable  ModeStatus = "available"
	ModeStarting   ModeStatus = "starting"
	ModeRunning    ModeStatus = "running"
	ModePaused     ModeStatus = "paused"
	ModeStopping   ModeStatus = "stopping"
	ModeFailed     ModeStatus = "failed"
)

// AutoStatus is the status of ato. The words are the domain's: idle means that
// the story runs; people's screens say "performing".
type AutoStatus string

const (
	AutoHalt    AutoStatus = "halt"    // ato is not the active mode
	AutoIdle    AutoStatus = "idle"    // the story runs
	AutoPaused  AutoStatus = "paused"  // at least one pause token is held
	AutoStopped AutoStatus = "stopped" // rewound to the first act; nothing runs
)

// InterrupterState says whether an interrupter may ask for interrupts.
type InterrupterState string

const (
	InterrupterStopped InterrupterState = "stopped"
	InterrupterRunning InterrupterState = "running"
	InterrupterHalted  InterrupterState = "halted" // ato is not the active mode
)

// LinkState is the robot's view of its operator link.
type LinkState string

const (
	LinkNever    LinkState = "never" // not one heartbeat since boot: not a loss
	LinkUp       LinkState = "up"
	LinkDegraded LinkState = "degraded"
	LinkLost     LinkState = "lost"
)

// LinkLoss is what a mode does when the link is lost.
type LinkLoss string

const (
	LinkLossSafe     LinkLoss = "safe"
	LinkLossContinue LinkLoss = "continue"
)

// PresenceState is what a presence document says.
type PresenceState string

const (
	PresenceOnline   PresenceState = "online"
	PresenceOffline  PresenceState = "offline" // announced by the robot
	PresenceLost     PresenceState = "lost"    // only ever in a will
	PresenceSleeping PresenceState = "sleeping"
)

// Status is the state of a command as the robot tells it.
type Status string

const (
	StatusAccepted   Status = "ACCEPTED"
	StatusInProgress Status = "IN_PROGRESS"
	StatusSucceeded  Status = "SUCCEEDED"
	StatusRejected   Status = "REJECTED" // nothing was touched
	StatusFailed     Status = "FAILED"   // was begun, did not end well
	StatusCancelled  Status = "CANCELLED"
	StatusExpired    Status = "EXPIRED"
	StatusSuperseded Status = "SUPERSEDED"
)

// Final reports whether no further answer follows s.
func (s Status) Final() bool { return s != StatusAccepted && s != StatusInProgress && s != "" }

// Result is the coarse result of a command; the mode supervisor's four codes
// are spelled as its clients know them.
type Result string

const (
	ResultOK       Result = "ok"
	ResultSuccess  Result = "MS_SUCCESS"
	ResultInvCmd   Result = "MS_INV_CMD"
	ResultNoMode   Result = "MS_NOMODE"
	ResultNoCalib  Result = "MS_NOCALIB"
	ResultNotReady Result = "MS_NOTREADY"
)

// Retry tells whether asking again can help.
type Retry string

const (
	RetryNever    Retry = "never"
	RetryLater    Retry = "later"
	RetryAfterFix Retry = "after_fix"
)

// DeployPhase is where a robot stands with a desired document.
type DeployPhase string

const (
	DeployIdle       DeployPhase = "idle"
	DeployFetching   DeployPhase = "fetching"
	DeployVerifying  DeployPhase = "verifying"
	DeployValidating DeployPhase = "validating"
	DeployStaged     DeployPhase = "staged"
	DeployWaiting    DeployPhase = "waiting"
	DeployHeld       DeployPhase = "held" // will not be taken by itself; reason says why
	DeployActivating DeployPhase = "activating"
	DeployActive     DeployPhase = "active"
	DeployRejected   DeployPhase = "rejected"
	DeployFailed     DeployPhase = "failed"
	DeployRolledBack DeployPhase = "rolled_back"
	DeploySuperseded DeployPhase = "superseded"
	DeployWithdrawn  DeployPhase = "withdrawn"
)

// Apply says when a newly accepted story takes over from the running one.
type Apply string

const (
	ApplyNextAct   Apply = "next_act"
	ApplyNow       Apply = "now"
	ApplyNextStart Apply = "next_start"
)

// AlertLevel ranks alerts.
type AlertLevel string

const (
	AlertInfo     AlertLevel = "info"
	AlertWarn     AlertLevel = "warn"
	AlertError    AlertLevel = "error"
	AlertCritical AlertLevel = "critical"
)

// RefKind says what an answer or an alert points at.
type RefKind string

const (
	RefCommand   RefKind = "command"   // CLIENT/ID: which took over, called off or stopped this one, is busy with what it needs, or was called off by it
	RefLatch     RefKind = "latch"     // a latched stop, as in safety.latches of the state
	RefClient    RefKind = "client"    // who has control
	RefUnit      RefKind = "unit"      // one that is out of order, as in units of the state
	RefInput     RefKind = "input"     // a stop input that is pressed
	RefAlert     RefKind = "alert"     // as in alerts of the state
	RefInterrupt RefKind = "interrupt" // as in interrupts of the state: what interrupt/cancel takes
	RefPause     RefKind = "pause"     // a token, as in pause_holders of the state: what auto/continue takes
)

// Feature is something that not every robot, or not every release, can do.
type Feature string

const (
	FeatureInlineActions Feature = "inline_actions" // act/perform takes actions of the sender's own
	FeatureReplay        Feature = "replay"         // events are kept on disk and told again
	FeatureAssets        Feature = "assets"         // stories may bring files, large ones over HTTPS
	FeatureSigning       Feature = "signing"        // the signatures of desired documents are checked; require or warn
	FeatureTeleop        Feature = "teleop"         // it is driven by frames: manual/velocity
	FeatureMap           Feature = "map"            // it goes to points and places
	FeatureHoming        Feature = "homing"         // calibration moves it and waits for safety/enable
	FeatureRequireSight  Feature = "require_sight"  // enable and reset have to say which heartbeat their sender saw
)

// Role is what a broker identity may do; the topic and verb tables say it.
type Role string

const (
	RoleRobot     Role = "robot"
	RoleFleetd    Role = "fleetd"
	RoleObserver  Role = "observer"
	RoleStop      Role = "stop" // a wall button: may stop and read, nothing else
	RoleResponder Role = "responder"
	RoleOperator  Role = "operator"
	RoleConsole   Role = "console" // at one robot: an operator of that one alone
	RoleAdmin     Role = "admin"
	RoleBroker    Role = "broker" // wills and notices come from the broker itself
)
