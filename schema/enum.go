package schema

// The enums below are strings on the wire. Readers show an unknown value as text and
// treat it as "not ok". The zero value of an enum is never sent.

// ModeID names a mode of a robot.
type ModeID string

const (
	ModeStr  ModeID = "str"  // start-up and engineering: loads the map, calibrates
	ModeMnl  ModeID = "mnl"  // manual, the default mode
	ModeAto  ModeID = "ato"  // automatic: performs the default story
	ModeSafe ModeID = "safe" // link lost or mnl unavailable; built in, cannot be requested
)

// SafetyState is the state of the safety core, which alone permits motion.
type SafetyState string

const (
	SafetyDisabled SafetyState = "DISABLED"  // gate closed; units that can move refuse commands
	SafetyEnabled  SafetyState = "ENABLED"   // gate open
	SafetySoftStop SafetyState = "SOFT_STOP" // the shutdown act runs, then STOP
	SafetyStop     SafetyState = "STOP"      // braking to standstill, then DISABLED
	SafetyHalt     SafetyState = "HALT"      // units halt at once, always ends in E_STOP
	SafetyEStop    SafetyState = "E_STOP"    // units off; left only by an operator's reset
	SafetyReset    SafetyState = "RESET"     // units clear their errors, then DISABLED
)

// SystemStatus is the status of the mode supervisor.
type SystemStatus string

const (
	SystemStarting SystemStatus = "starting"
	SystemRunning  SystemStatus = "running"
	SystemStopping SystemStatus = "stopping"
)

// ModePhase is the phase of the mode supervisor.
type ModePhase string

const (
	PhaseRunning   ModePhase = "running"
	PhaseSwitching ModePhase = "switching" // a mode starts or ends, also while robotd starts
	PhaseStopping  ModePhase = "stopping"  // robotd ends
	PhaseFailed    ModePhase = "failed"    // calibration failed, or no mode is in charge
)

// ModeStatus is the status of one mode.
type ModeStatus string

const (
	ModeDisabled  ModeStatus = "disabled" // by mode/disable
	ModeAvailable ModeStatus = "available"
	ModeStarting  ModeStatus = "starting"
	ModeRunning   ModeStatus = "running"
	ModePaused    ModeStatus = "paused"
	ModeStopping  ModeStatus = "stopping"
	ModeFailed    ModeStatus = "failed"
	ModeUnloaded  ModeStatus = "unloaded" // detached, and so never in the list of modes
)

// AutoStatus is the status of ato. Clients of an earlier product know its words, and two of
// them do not say what they mean: halt is not a stop, and idle means that the story is
// performed. User interfaces show "performing".
type AutoStatus string

const (
	AutoNotActive  AutoStatus = "halt"    // ato is not the active mode; nothing was halted
	AutoPerforming AutoStatus = "idle"    // performing: the story runs
	AutoPaused     AutoStatus = "paused"  // at least one pause token is held
	AutoStopped    AutoStatus = "stopped" // rewound to the first act; nothing runs
)

// LifeState is the state of the robot's autonomous life.
type LifeState string

const (
	LifeDisabled    LifeState = "disabled"    // no activity starts, and no ability runs; a story is performed nevertheless
	LifeSolitary    LifeState = "solitary"    // no interactive activity has the focus; the launchpad starts activities by their conditions
	LifeInteractive LifeState = "interactive" // an interactive activity has the focus
	LifeSafeguard   LifeState = "safeguard"   // the robot protects itself; no activity starts
)

// LifeStates lists the states of life.
var LifeStates = []LifeState{LifeDisabled, LifeSolitary, LifeInteractive, LifeSafeguard}

// FocusFlag says what becomes of the activity that has the focus when another one gets it.
type FocusFlag string

const (
	FocusStopCurrent         FocusFlag = "stop_current"           // it is stopped
	FocusStopAndStackCurrent FocusFlag = "stop_and_stack_current" // it is stopped, and starts again afterwards
)

// Ability is something small that a living robot does by itself, on units that nothing else
// uses.
type Ability string

const (
	AbilityAwareness          Ability = "awareness"           // the head turns to the people that the robot sees
	AbilityBreathing          Ability = "breathing"           // the LEDs breathe
	AbilityBlinking           Ability = "blinking"            // the face blinks
	AbilityBackgroundMovement Ability = "background_movement" // the head sways a little
)

// Abilities lists the abilities.
var Abilities = []Ability{AbilityAwareness, AbilityBreathing, AbilityBlinking, AbilityBackgroundMovement}

// Plugin is a source of values for launch conditions. For conditions of rules and handlers no
// plug-in is off.
type Plugin string

const (
	PluginPeople  Plugin = "people"  // people
	PluginTouch   Plugin = "touch"   // touch, touch_area
	PluginSound   Plugin = "sound"   // sound, noise_db
	PluginLight   Plugin = "light"   // dark
	PluginBattery Plugin = "battery" // battery, charging
	PluginTime    Plugin = "time"    // hour, weekday, since_s
	PluginRobot   Plugin = "robot"   // mode, safety, story, act, location, labels
	PluginIntent  Plugin = "intent"  // intent; of the group interactive, all others of solitary
)

// PluginGroup is a group of plug-ins, which a state of life switches on or off when it is
// entered.
type PluginGroup string

const (
	GroupSolitary    PluginGroup = "solitary"    // on in solitary and interactive
	GroupInteractive PluginGroup = "interactive" // on in interactive only, where the launchpad only suggests
)

// InterrupterState says whether an interrupter may request interrupts: interrupter/run allows
// it, interrupter/stop forbids it. No process runs or halts.
type InterrupterState string

const (
	InterrupterForbidden InterrupterState = "stopped"
	InterrupterAllowed   InterrupterState = "running"
	InterrupterSuspended InterrupterState = "halted" // ato is not the active mode
)

// LinkState is the robot's view of its operator link.
type LinkState string

const (
	LinkNever    LinkState = "never" // no heartbeat since boot; not a loss
	LinkUp       LinkState = "up"
	LinkDegraded LinkState = "degraded" // a heartbeat is overdue
	LinkLost     LinkState = "lost"
)

// LinkLoss is the reaction of a mode to the loss of the link.
type LinkLoss string

const (
	LinkLossSafe     LinkLoss = "safe"     // the mode ends, and safe follows
	LinkLossContinue LinkLoss = "continue" // the mode goes on
)

// PresenceState is the state in a presence document.
type PresenceState string

const (
	PresenceOnline   PresenceState = "online"
	PresenceOffline  PresenceState = "offline"  // announced by the robot
	PresenceLost     PresenceState = "lost"     // only in a last will
	PresenceSleeping PresenceState = "sleeping" // it will be started again at wake_at
)

// Status is the status of a command in the robot's answers.
type Status string

const (
	StatusAccepted   Status = "ACCEPTED"
	StatusInProgress Status = "IN_PROGRESS"
	StatusSucceeded  Status = "SUCCEEDED"
	StatusRejected   Status = "REJECTED" // nothing was changed
	StatusFailed     Status = "FAILED"   // was started but did not succeed
	StatusCancelled  Status = "CANCELLED"
	StatusExpired    Status = "EXPIRED"
	StatusSuperseded Status = "SUPERSEDED"
)

// Final reports whether no further answer follows s.
func (s Status) Final() bool { return s != StatusAccepted && s != StatusInProgress && s != "" }

// Result is the coarse result of a command. Results of commands about modes, and that of a
// malformed command, begin with MS_; those of controller/load and controller/unload do not. All
// of them are spelled as in the mode controller of an earlier product, so that its clients
// understand them. There a mode is called a controller.
type Result string

const (
	ResultOK       Result = "ok"
	ResultSuccess  Result = "MS_SUCCESS"
	ResultInvCmd   Result = "MS_INV_CMD"  // not possible in the present state; of any command: malformed
	ResultNoMode   Result = "MS_NOMODE"   // there is no such mode, or it is switched off
	ResultNoCalib  Result = "MS_NOCALIB"  // calibration has not succeeded
	ResultNotReady Result = "MS_NOTREADY" // every other refusal and failure

	ResultLoaded      Result = "CONTROLLER_LOADED"   // by controller/load
	ResultUnloaded    Result = "CONTROLLER_UNLOADED" // by controller/unload, or before
	ResultUnknownCmd  Result = "UNKNOWN_CMD"         // of controller/load and unload: there is no such mode
	ResultNoOperation Result = "NO_OPERATION"        // of controller/load and unload: nothing was changed
)

// Retry says whether sending the command again can help.
type Retry string

const (
	RetryNever    Retry = "never"
	RetryLater    Retry = "later"
	RetryAfterFix Retry = "after_fix"
)

// DeployPhase is how far a robot has followed a desired document.
type DeployPhase string

const (
	DeployIdle       DeployPhase = "idle"       // no document of this fleet was received
	DeployFetching   DeployPhase = "fetching"   // its bytes are to come
	DeployVerifying  DeployPhase = "verifying"  // size and digest are checked
	DeployValidating DeployPhase = "validating" // its content is checked against the body, and written to the disk
	DeployStaged     DeployPhase = "staged"     // it is on the disk
	DeployWaiting    DeployPhase = "waiting"    // until it may take over
	DeployHeld       DeployPhase = "held"       // a mode is not applied by itself; reason says why
	DeployActivating DeployPhase = "activating" // it takes over; a story is in its probation
	DeployActive     DeployPhase = "active"     // fulfilled
	DeployRejected   DeployPhase = "rejected"   // refused; what was active continues
	// a content could not be fetched or saved, which the robot tries again after a wait; a mode did not start
	DeployFailed     DeployPhase = "failed"
	DeployRolledBack DeployPhase = "rolled_back" // the probation of a story failed; the one before is active
	DeploySuperseded DeployPhase = "superseded"  // a newer document came before it was fulfilled
	DeployWithdrawn  DeployPhase = "withdrawn"   // the fleet desires none
)

// Apply says when a newly accepted story replaces the running one.
type Apply string

const (
	ApplyNextAct   Apply = "next_act"   // when the running act has ended
	ApplyNow       Apply = "now"        // at once: the running act is cut off; an interrupt ends first
	ApplyNextStart Apply = "next_start" // when the present story has ended or is stopped
)

// AlertLevel ranks alerts.
type AlertLevel string

const (
	AlertInfo     AlertLevel = "info"
	AlertWarn     AlertLevel = "warn"
	AlertError    AlertLevel = "error"
	AlertCritical AlertLevel = "critical"
)

// EventLevel ranks events.
type EventLevel string

const (
	EventInfo   EventLevel = "info"   // what a robot does
	EventWarn   EventLevel = "warn"   // not as it should be; the robot goes on
	EventError  EventLevel = "error"  // something was not done
	EventSafety EventLevel = "safety" // of the permission to move; such events are never dropped
)

// DeviceSeverity is what a fault of a unit means for the robot. It belongs to the unit, not to
// the fault: the configuration sets it.
type DeviceSeverity string

const (
	SeverityNegligible DeviceSeverity = "negligible" // the state shows it, and nothing else happens
	SeveritySerious    DeviceSeverity = "serious"    // nobody uses the unit until its fault is gone
	SeverityCritical   DeviceSeverity = "critical"   // the robot goes to rest and cannot be enabled
)

// Heat is how hot a unit is.
type Heat string

const (
	HeatNormal   Heat = "normal"
	HeatWarm     Heat = "warm"     // an alert says so
	HeatHot      Heat = "hot"      // is treated as a fault of severity serious; for a negligible unit nothing happens
	HeatCritical Heat = "critical" // is treated as a fault: what follows depends on the unit's severity
)

// DeviceEffect is what the robot does about a unit that is not normal.
type DeviceEffect string

const (
	DeviceUsed     DeviceEffect = "none"     // it is used as ever
	DeviceDisabled DeviceEffect = "disabled" // actions and commands for it fail with device_disabled
	DeviceRest     DeviceEffect = "rest"     // disabled, and the robot is at rest: safety/enable is refused with unit_critical
)

// Safeguard is the name of something that keeps the robot from moving without a stop.
type Safeguard string

const (
	SafeguardPushed              Safeguard = "pushed"               // somebody pushes the robot, or did 3 s ago
	SafeguardMoved               Safeguard = "moved"                // somebody lifts or rolls it, or did 3 s ago
	SafeguardFell                Safeguard = "fell"                 // it has fallen or is about to fall, or was 3 s ago
	SafeguardCriticalDiagnosis   Safeguard = "critical_diagnosis"   // a critical unit has a fault that nobody has acknowledged
	SafeguardCriticalTemperature Safeguard = "critical_temperature" // a critical unit is too hot
)

// Safeguards lists the safeguards.
var Safeguards = []Safeguard{SafeguardPushed, SafeguardMoved, SafeguardFell, SafeguardCriticalDiagnosis, SafeguardCriticalTemperature}

// RefKind is the kind of object that an answer or an alert refers to.
type RefKind string

const (
	// CLIENT/ID: the command that superseded, cancelled or stopped this one, that occupies what this one needs, or that this one cancelled
	RefCommand   RefKind = "command"
	RefLatch     RefKind = "latch"     // a latched stop, as in safety.latches of the state
	RefClient    RefKind = "client"    // the client that has control
	RefUnit      RefKind = "unit"      // a unit with an error, as in units of the state
	RefInput     RefKind = "input"     // a stop input that is pressed
	RefAlert     RefKind = "alert"     // as in alerts of the state
	RefInterrupt RefKind = "interrupt" // as in interrupts of the state: what interrupt/cancel takes
	RefPause     RefKind = "pause"     // a token, as in pause_holders of the state: what auto/continue takes
)

// Feature is a capability that not every robot or not every release has.
type Feature string

const (
	FeatureInlineActions Feature = "inline_actions" // act/perform accepts a list of actions
	FeatureReplay        Feature = "replay"         // events are stored on disk; sys/replay publishes them again
	FeatureAssets        Feature = "assets"         // stories may contain files; large ones are fetched over HTTPS
	FeatureSigning       Feature = "signing"        // the signatures of desired documents are checked; require or warn
	FeatureTeleop        Feature = "teleop"         // the robot can be driven with frames: manual/velocity
	FeatureMap           Feature = "map"            // the robot can go to points and places
	FeatureHoming        Feature = "homing"         // calibration moves the robot and waits for safety/enable
	FeatureRequireSight  Feature = "require_sight"  // enable and reset have to name the newest heartbeat that their sender has seen
)

// Role is the role of a broker identity. The topic and verb tables list what each role
// may do.
type Role string

const (
	RoleRobot     Role = "robot"
	RoleFleetd    Role = "fleetd"
	RoleObserver  Role = "observer"  // reads only
	RoleStop      Role = "stop"      // a wall button: may only stop and read
	RoleResponder Role = "responder" // a program that answers people: may perform acts, post intents, ask for interrupts, and stop
	RoleOperator  Role = "operator"
	RoleConsole   Role = "console" // at one robot: an operator of this robot only
	RoleAdmin     Role = "admin"   // may send every command
	RoleBroker    Role = "broker"  // publishes wills and notices
)
