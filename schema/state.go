package schema

import "github.com/go-json-experiment/json/jsontext"

// State is a consistent snapshot of the robot. Retained. The robot publishes it on change
// (changes within 100 ms together, safety changes at once) and at least every 10 s.
// StateSeq rises with every publication of a boot.
type State struct {
	TS           Time            `json:"ts"`
	Session      string          `json:"session"`
	Boot         string          `json:"boot"`
	StateSeq     int64           `json:"state_seq"`
	Safety       StateSafety     `json:"safety"`
	Mode         StateMode       `json:"mode"`
	Auto         StateAuto       `json:"auto"`
	Interrupts   []Interrupt     `json:"interrupts"`
	Interrupters []Interrupter   `json:"interrupters"`
	Queue        StateQueue      `json:"queue"`
	Life         *StateLife      `json:"life,omitzero"`   // missing = a release without autonomous life
	Intent       *StateIntent    `json:"intent,omitzero"` // nil = no intent and no emotion since robotd started
	Link         StateLink       `json:"link"`
	Units        []UnitState     `json:"units"`
	Signals      []SignalState   `json:"signals,omitempty"`   // what the body senses now
	Diagnosis    []Device        `json:"diagnosis,omitempty"` // units that are not normal
	LastReq      *LastRequest    `json:"last_req,omitzero"`
	Control      *StateControl   `json:"control,omitzero"`   // nil = nobody has control
	Recording    *StateRecording `json:"recording,omitzero"` // nil = no act is being recorded
	Running      []RunningReq    `json:"running,omitempty"`
	Alerts       []Alert         `json:"alerts"`
	Dropped      DroppedCounters `json:"dropped"`
	Log          bool            `json:"log,omitzero"`       // the log on the robot is on, see log/on
	Truncated    bool            `json:"truncated,omitzero"` // over the size limit: details are left out, then the oldest alerts, finally all but safety, mode and status
}

// StateSafety is the state of the safety core.
type StateSafety struct {
	State        SafetyState `json:"state"`
	LatchedBy    string      `json:"latched_by,omitempty"` // the person or device that requested the stop in force
	Cause        Reason      `json:"cause,omitempty"`
	CauseDetail  string      `json:"cause_detail,omitempty"` // HALT and E_STOP: what stopped the robot, in a sentence, also when that is over
	EStopInput   bool        `json:"estop_input"`            // a physical stop input is pressed
	Latches      []StopLatch `json:"latches,omitempty"`      // latched stops; the robot cannot be enabled before they are released
	NotPersisted bool        `json:"not_persisted,omitzero"` // latches or E_STOP are not on the robot's disk; a restart would lose them
}

// StateMode is the state of the mode supervisor.
type StateMode struct {
	System       SystemStatus `json:"system"`
	Active       ModeID       `json:"active"`
	Intended     ModeID       `json:"intended"`
	Phase        ModePhase    `json:"phase"`
	Paused       bool         `json:"paused"`
	Since        Time         `json:"since"`
	FallbackFrom ModeID       `json:"fallback_from,omitempty"`
	Calibrated   bool         `json:"calibrated"`
}

// StateAuto is the state of ato.
type StateAuto struct {
	Status       AutoStatus `json:"status"`
	Reason       Reason     `json:"reason,omitempty"` // why it is stopped
	Story        *StoryRef  `json:"story,omitzero"`
	ActIndex     int        `json:"act_index"`
	Act          string     `json:"act,omitempty"`
	Loop         int64      `json:"loop"`                   // how often the story has restarted from its first act
	FailedRounds int64      `json:"failed_rounds,omitzero"` // rounds in a row in which no act succeeded; the alert story_failing has the last error
	PauseCount   int        `json:"pause_count"`
	PauseHolders []Pause    `json:"pause_holders"`
}

// StoryRef names a published story revision.
type StoryRef struct {
	ID     string `json:"id"`
	Rev    int64  `json:"rev"`
	SHA256 string `json:"sha256,omitempty"`
}

// Pause is one pause token.
type Pause struct {
	Token string `json:"token"` // kind, or kind:key
	By    string `json:"by,omitempty"`
	Why   string `json:"why,omitempty"`
	Since Time   `json:"since"`
	// NeedsContinue says that the pause outlasts its cause until auto/continue. Every operator's pause
	// lasts until then.
	NeedsContinue bool `json:"needs_continue,omitzero"`
}

// Interrupt is one running interrupt. Interrupts are listed in the order in which they
// were added.
type Interrupt struct {
	ID          string `json:"id"`
	Handler     string `json:"handler"`
	Interrupter string `json:"interrupter"`
	Since       Time   `json:"since"`
}

// Interrupter is a source of interrupts and its state.
type Interrupter struct {
	ID    string           `json:"id"`
	State InterrupterState `json:"state"`
}

// SignalState is a signal of the body that is on.
type SignalState struct {
	Signal string  `json:"signal"`         // touch, people, sound, dark, push, lift or fall
	Name   string  `json:"name,omitempty"` // such as the area of a touch
	Level  float64 `json:"level,omitzero"` // how many people; dB(A) of a sound if it is measured
	Since  Time    `json:"since"`
}

// StateQueue is the executor's queue: the running entry, the waiting ones, and the last
// five that have ended.
type StateQueue struct {
	Current   string   `json:"current,omitempty"`
	Waiting   []string `json:"waiting"`
	Completed []string `json:"completed"` // ids of acts, the newest first
	// CompletedActs are the acts of Completed with their requests. Earlier releases do not
	// send it: nil.
	CompletedActs []QueuedAct `json:"completed_acts,omitempty"`
	Failed        []Failed    `json:"failed"` // the newest first
	// Queued are the acts of Current and Waiting with their requests, the running one first.
	Queued []QueuedAct `json:"queued,omitempty"`
}

// QueuedAct is an act that is performed, waits, or was performed to its end. ReqID is the
// request for it, as CLIENT/ID; an act of the story has none.
type QueuedAct struct {
	Act   string `json:"act"`
	ReqID string `json:"req_id,omitempty"`
}

// Failed is an act that has failed.
type Failed struct {
	Act    string `json:"act"`
	ReqID  string `json:"req_id,omitempty"` // as in QueuedAct
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// StateLink is the robot's view of the link to its operators.
type StateLink struct {
	State  LinkState `json:"state"`
	Since  Time      `json:"since"`
	Client string    `json:"client,omitempty"` // sender of the newest heartbeat
	// BudgetMS is how much more silence there may be before the link counts as lost;
	// 0 if lost. Silence drains it, and timely heartbeats refill it at a quarter of
	// that speed.
	BudgetMS   int64       `json:"budget_ms,omitzero"`
	Policy     LinkLoss    `json:"policy,omitempty"` // of the active mode
	LastOutage *LinkOutage `json:"last_outage,omitzero"`
}

// LinkOutage is a period in which the link was lost.
type LinkOutage struct {
	From Time `json:"from"`        // time of the last heartbeat before it
	To   Time `json:"to,omitzero"` // time of the first heartbeat after it; left out while it lasts
}

// UnitState is the state of one unit. idle: at rest and not allowed to move. run:
// switched on and allowed to move, whether or not it moves. halt: braking to standstill,
// then error. error: off until a reset.
type UnitState struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	State  string `json:"state"` // idle, run, halt, error
	Detail string `json:"detail,omitempty"`
}

// LastRequest is the newest answered request, so that a client that missed the answer
// finds it in the state.
type LastRequest struct {
	ID     string `json:"id"`
	Client string `json:"client"`
	Verb   string `json:"verb"`
	Word   string `json:"word,omitempty"` // its first argument
	Status Status `json:"status"`
	Result Result `json:"result,omitempty"`
	Reason Reason `json:"reason,omitempty"`
}

// StateControl is the holder of manual control.
type StateControl struct {
	Holder          string `json:"holder"`
	By              string `json:"by,omitempty"`
	Scope           string `json:"scope"` // manual, or all
	UntilMS         int64  `json:"until_ms"`
	TakeoverAllowed bool   `json:"takeover_allowed"`
}

// StateRecording is an act that is being recorded with manual/act-record.
type StateRecording struct {
	Act    string `json:"act"`
	Holder string `json:"holder"` // the client whose manual commands become the act
	By     string `json:"by,omitempty"`
	Since  Time   `json:"since"`
}

// RunningReq is one accepted command that has not ended.
type RunningReq struct {
	ID       string `json:"id"`
	Client   string `json:"client"`
	Verb     string `json:"verb"`
	Progress *int   `json:"progress,omitzero"`
}

// Device is the diagnosis of a unit that is not normal.
type Device struct {
	ID             string         `json:"id"` // of the unit
	Severity       DeviceSeverity `json:"severity"`
	Effect         DeviceEffect   `json:"effect"`
	Fault          string         `json:"fault,omitempty"`
	Unacknowledged bool           `json:"unacknowledged,omitzero"` // sys/ack-fault is needed once the fault is gone
	Heat           Heat           `json:"heat,omitempty"`          // missing = it reports no temperature
	TemperatureC   *float64       `json:"temperature_c,omitzero"`  // as reported last
	Since          Time           `json:"since"`                   // of the present effect
}

// Alert is a present problem that an operator should know about. Its text does not change
// under an id. A cleared alert is removed from the list, with the event alert_cleared.
type Alert struct {
	ID      string     `json:"id"`
	Type    string     `json:"type"`
	Level   AlertLevel `json:"level"`
	Source  string     `json:"source"`
	FirstTS Time       `json:"first_ts"`
	Detail  string     `json:"detail"`
	Hint    string     `json:"hint,omitempty"`
	Refs    []Ref      `json:"refs,omitempty"` // the unit that it is about
}

// DroppedCounters counts dropped messages since boot.
type DroppedCounters struct {
	Events  int64 `json:"events"`
	Acks    int64 `json:"acks"`
	Records int64 `json:"records,omitzero"` // of the flight recorder
}

// Validate reports missing or invalid fields.
func (s *State) Validate() []Problem {
	var c checks
	c.present("/session", s.Session != "")
	c.present("/boot", s.Boot != "")
	c.present("/safety/state", s.Safety.State != "")
	c.present("/mode/active", s.Mode.Active != "")
	c.present("/auto/status", s.Auto.Status != "")
	c.atLeast("/state_seq", s.StateSeq, 1)
	return c
}

// Modes is the catalogue of modes with the reasons why each cannot be selected now, so
// that a person sees them in advance. Retained.
type Modes struct {
	TS        Time   `json:"ts"`
	Session   string `json:"session"`
	ModesRev  int64  `json:"modes_rev"`
	Modes     []Mode `json:"modes"`
	Truncated bool   `json:"truncated,omitzero"` // over the size limit: details are left out, then further reasons, then parameters
}

// Mode is one entry of the catalogue; N is its stable number from 0 in order of
// registration.
type Mode struct {
	ID         ModeID     `json:"id"`
	N          int        `json:"n"`
	Name       string     `json:"name"`
	Kind       string     `json:"kind"` // builtin
	Status     ModeStatus `json:"status"`
	Enabled    bool       `json:"enabled"`
	Running    bool       `json:"running"`
	Selectable bool       `json:"selectable"`
	WhyNot     []WhyNot   `json:"why_not"`
	LinkLoss   LinkLoss   `json:"link_loss"`
	NeedsLease bool       `json:"needs_lease,omitzero"` // only the client with control of scope "all" may request it
	// Role is what the mode is for the others: calibration (it runs by itself at boot),
	// default (it replaces a mode that fails) or safe (the robot waits in it).
	Role          string      `json:"role,omitempty"`
	LinkTimeoutMS int64       `json:"link_timeout_ms,omitzero"` // silence of the operators after which it ends; absent: it goes on
	Params        []ModeParam `json:"params,omitempty"`
	// Critical is what the calibration mode checks before other modes may run.
	Critical []Critical `json:"critical,omitempty"`
}

// Critical is one part of the configuration that calibration puts in force and checks.
type Critical struct {
	Name    string `json:"name"`              // map, units, homing, languages
	Value   string `json:"value"`             // in force since the last calibration
	Pending string `json:"pending,omitempty"` // what the next calibration puts in force instead
	Reason  Reason `json:"reason,omitempty"`  // why the last calibration failed on it
	Detail  string `json:"detail,omitempty"`
}

// ModeParam is a parameter of a mode, which mode/param sets. Its type is number, integer,
// boolean or word; Min and Max are there for numbers, OneOf for words.
type ModeParam struct {
	Name    string         `json:"name"`
	Type    ConfigType     `json:"type"`
	Unit    string         `json:"unit,omitempty"`
	Min     *float64       `json:"min,omitzero"`
	Max     *float64       `json:"max,omitzero"`
	OneOf   []string       `json:"one_of,omitempty"`
	Default jsontext.Value `json:"default"`
	Value   jsontext.Value `json:"value"`
	Purpose string         `json:"purpose"`
}

// WhyNot is one reason why a mode cannot be selected. The most important one is first.
type WhyNot struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Validate reports missing or invalid fields.
func (m *Modes) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.present("/modes", len(m.Modes) > 0)
	return c
}
