package schema

import "github.com/go-json-experiment/json/jsontext"

// State is a consistent snapshot of the robot. Retained. The robot publishes it on change
// (changes within 100 ms together, safety changes at once) and at least every 10 s.
// StateSeq rises with every publication of a boot.
type State struct {
	TS           Time            `json:"ts" doc:"when this was written"`
	Session      string          `json:"session" doc:"the connection that wrote this"`
	Boot         string          `json:"boot" doc:"this run of robotd"`
	StateSeq     int64           `json:"state_seq" doc:"counts up with each publication of a boot"`
	Safety       StateSafety     `json:"safety" doc:"the permission to move"`
	Mode         StateMode       `json:"mode" doc:"the mode of operation"`
	Auto         StateAuto       `json:"auto" doc:"the performance of the story in ato"`
	Interrupts   []Interrupt     `json:"interrupts" doc:"the interrupts that run, in the order in which they began"`
	Interrupters []Interrupter   `json:"interrupters" doc:"who may ask for interrupts"`
	Queue        StateQueue      `json:"queue" doc:"the acts that are performed, wait or have ended"`
	Life         *StateLife      `json:"life,omitzero" doc:"autonomous life; left out by a release without it"`
	Intent       *StateIntent    `json:"intent,omitzero" doc:"the newest intent and the emotion; left out until robotd received one"`
	Link         StateLink       `json:"link" doc:"whether heartbeats of fleetd or of a panel at the robot arrive, so that a person can stop the robot"`
	At           *StatePlace     `json:"at,omitzero" doc:"where the body is; left out if it does not know"`
	Units        []UnitState     `json:"units" doc:"the units of the body"`
	Signals      []SignalState   `json:"signals,omitempty" doc:"what the body senses now"`
	Diagnosis    []Device        `json:"diagnosis,omitempty" doc:"units that are not normal"`
	LastReq      *LastRequest    `json:"last_req,omitzero" doc:"the newest answered command, for a client that missed the answer"`
	Control      *StateControl   `json:"control,omitzero" doc:"who has manual control; left out if nobody has"`
	Recording    *StateRecording `json:"recording,omitzero" doc:"the act that is being recorded; left out if none is"`
	Running      []RunningReq    `json:"running,omitempty" doc:"accepted commands that have not ended"`
	Alerts       []Alert         `json:"alerts" doc:"present problems that a person should know about"`
	Dropped      DroppedCounters `json:"dropped" doc:"messages dropped since robotd started"`
	Log          bool            `json:"log,omitzero" doc:"the log on the robot is on, see log/on"`
	Truncated    bool            `json:"truncated,omitzero" doc:"over the size limit: details are left out, then the oldest alerts, finally all but safety, mode and status"`
}

// StateSafety is the state of the safety core.
type StateSafety struct {
	State        SafetyState `json:"state" doc:"DISABLED, ENABLED, SOFT_STOP, STOP, HALT, E_STOP or RESET"`
	StoppedBy    string      `json:"latched_by,omitempty" doc:"who or what caused the stop in force, also if no stop is latched"`
	Cause        Reason      `json:"cause,omitempty" doc:"why it is not ENABLED, as a reason"`
	CauseDetail  string      `json:"cause_detail,omitempty" doc:"HALT and E_STOP: what stopped the robot, in a sentence, also when that is over"`
	EStopInput   bool        `json:"estop_input" doc:"a physical stop input is pressed"`
	LocalReset   bool        `json:"local_reset,omitzero" doc:"HALT and E_STOP: safety/reset is refused as local_only, because a stop input was pressed; the reset button on the robot's body resets it"`
	Latches      []StopLatch `json:"latches,omitempty" doc:"latched stops; the robot cannot be enabled before they are released"`
	NotPersisted bool        `json:"not_persisted,omitzero" doc:"latches or E_STOP are not on the robot's disk; a restart would lose them"`
}

// StateMode is the state of the mode supervisor.
type StateMode struct {
	System       SystemStatus `json:"system" doc:"robotd is starting, running or stopping"`
	Active       ModeID       `json:"active" doc:"the mode in charge"`
	Intended     ModeID       `json:"intended" doc:"the mode that was asked for; it differs from active during a change and after a fallback"`
	Phase        ModePhase    `json:"phase" doc:"how far a change of modes is"`
	Paused       bool         `json:"paused" doc:"the mode in charge is paused"`
	Since        Time         `json:"since" doc:"since when the mode is in charge"`
	FallbackFrom ModeID       `json:"fallback_from,omitempty" doc:"the mode that failed and was replaced by this one"`
	Calibrated   bool         `json:"calibrated" doc:"calibration has succeeded since robotd started"`
}

// StateAuto is the state of ato.
type StateAuto struct {
	Status       AutoStatus `json:"status" doc:"halt (ato is not the active mode; nothing was halted), idle (the story is performed), paused or stopped"`
	Reason       Reason     `json:"reason,omitempty" doc:"why it is stopped"`
	Story        *StoryRef  `json:"story,omitzero" doc:"the story"`
	ActIndex     int        `json:"act_index" doc:"which act of the story, from 0"`
	Act          string     `json:"act,omitempty" doc:"the id of that act"`
	ActMS        int64      `json:"act_ms,omitzero" doc:"for how long that act had been performed at ts, without pauses"`
	Loop         int64      `json:"loop" doc:"how often the story has restarted from its first act"`
	FailedRounds int64      `json:"failed_rounds,omitzero" doc:"rounds in a row in which no act succeeded, counted anew when somebody enables the robot or continues the story; the alert story_failing has the last error"`
	PauseCount   int        `json:"pause_count" doc:"how many pause tokens are held"`
	PauseHolders []Pause    `json:"pause_holders" doc:"the pause tokens, the most urgent kind first (safety, safeguard, link, operator, interrupt, activity); the story goes on when none is held"`
}

// StoryRef names a published revision of a story, or of a set such as the robot's places.
type StoryRef struct {
	ID     string `json:"id" doc:"the story or the set"`
	Rev    int64  `json:"rev" doc:"its revision"`
	SHA256 string `json:"sha256,omitempty" doc:"digest of its bytes"`
}

// Pause is one pause token.
type Pause struct {
	Token         string `json:"token" doc:"its name: kind, or kind:key; auto/continue takes it as token"`
	By            string `json:"by,omitempty" doc:"who holds it"`
	Why           string `json:"why,omitempty" doc:"an operator's words; of a stop, a safeguard or a lost link its reason, and needs_continue when that is over; else the handler or activity"`
	Since         Time   `json:"since" doc:"since when"`
	NeedsContinue bool   `json:"needs_continue,omitzero" doc:"it lasts until auto/continue, also after its cause; not set for operators, whose pauses always do"`
}

// Interrupt is one running interrupt. Interrupts are listed in the order in which they
// were added.
type Interrupt struct {
	ID          string `json:"id" doc:"what interrupt/cancel takes"`
	Handler     string `json:"handler" doc:"the handler that runs"`
	Interrupter string `json:"interrupter" doc:"on whose behalf"`
	Since       Time   `json:"since" doc:"since when"`
}

// Interrupter is a source of interrupts and its state.
type Interrupter struct {
	ID    string           `json:"id" doc:"ai, touch, screen, power or operator"`
	State InterrupterState `json:"state" doc:"running: it may ask; stopped: interrupter/stop forbade it; halted: ato is not in charge"`
}

// SignalState is a signal of the body that is on.
type SignalState struct {
	Signal string  `json:"signal" doc:"touch, people, sound, dark, push, lift or fall"`
	Name   string  `json:"name,omitempty" doc:"such as the area of a touch"`
	Level  float64 `json:"level,omitzero" doc:"how many people; dB(A) of a sound if it is measured"`
	Since  Time    `json:"since" doc:"since when"`
}

// StateQueue is the executor's queue: the running entry, the waiting ones, and the last
// five that have ended.
type StateQueue struct {
	Current       string      `json:"current,omitempty" doc:"the act that is performed"`
	Waiting       []string    `json:"waiting" doc:"acts that wait"`
	Completed     []string    `json:"completed" doc:"ids of acts that ended as they should, the newest first, at most five"`
	CompletedActs []QueuedAct `json:"completed_acts,omitempty" doc:"the same acts with their requests; an earlier release does not send it"`
	Failed        []FailedAct `json:"failed" doc:"acts that failed, the newest first, at most five"`
	Queued        []QueuedAct `json:"queued,omitempty" doc:"the acts of current and waiting with their requests, the one that is performed first"`
}

// QueuedAct is an act that is performed, waits, or was performed to its end. ReqID is the
// request for it, as CLIENT/ID; an act of the story has none.
type QueuedAct struct {
	Act   string `json:"act" doc:"its id"`
	ReqID string `json:"req_id,omitempty" doc:"the request for it, as CLIENT/ID; an act of the story has none"`
}

// FailedAct is an act that has failed.
type FailedAct struct {
	Act    string `json:"act" doc:"its id"`
	ReqID  string `json:"req_id,omitempty" doc:"as in queued"`
	Reason Reason `json:"reason" doc:"why it failed"`
	Detail string `json:"detail,omitempty" doc:"in a sentence"`
}

// StateLink is the robot's view of the link to its operators.
type StateLink struct {
	State      LinkState   `json:"state" doc:"never (no heartbeat since robotd started), up, degraded or lost"`
	Since      Time        `json:"since" doc:"since when"`
	Client     string      `json:"client,omitempty" doc:"sender of the newest heartbeat"`
	BudgetMS   int64       `json:"budget_ms,omitzero" doc:"how much more silence there may be before the link counts as lost, 0 if it is; silence drains it, and timely heartbeats refill it at a quarter of that speed"`
	Policy     LinkLoss    `json:"policy,omitempty" doc:"what the mode in charge does when the link is lost: safe or continue"`
	LastOutage *LinkOutage `json:"last_outage,omitzero" doc:"the newest time in which the link was lost"`
}

// LinkOutage is a period in which the link was lost.
type LinkOutage struct {
	From Time `json:"from" doc:"time of the last heartbeat before it"`
	To   Time `json:"to,omitzero" doc:"time of the first heartbeat after it; left out while it lasts"`
}

// UnitState is the state of one unit. idle: at rest and not allowed to move. run:
// switched on and allowed to move, whether or not it moves. halt: braking to standstill,
// then error. error: off until a reset.
type UnitState struct {
	ID     string `json:"id" doc:"as in caps"`
	Kind   string `json:"kind" doc:"as in caps"`
	State  string `json:"state" doc:"idle (at rest, may not move), run (may move), halt (slows down on its way to error) or error (off until a reset)"`
	Detail string `json:"detail,omitempty" doc:"what the unit says about itself, such as the charge of a battery"`
	Shows  string `json:"shows,omitempty" doc:"what it shows, says or does for its newest command, at most 120 bytes, such as smile or #ff8800 breathe; a change of this alone publishes no state"`
}

// StatePlace is where the body is on the map in force. A state is published for it alone only after a way of
// more than a metre.
type StatePlace struct {
	XM        float64 `json:"x_m" doc:"metres"`
	YM        float64 `json:"y_m" doc:"metres"`
	ThetaRad  float64 `json:"theta_rad" doc:"heading in radians, counter-clockwise from the x axis"`
	MapSHA256 string  `json:"map_sha256,omitempty" doc:"digest of the map; left out if the body does not say which one it uses"`
}

// LastRequest is the newest answered request, so that a client that missed the answer
// finds it in the state.
type LastRequest struct {
	ID            string `json:"id" doc:"its id"`
	Client        string `json:"client" doc:"who sent it"`
	Verb          string `json:"verb" doc:"its verb"`
	FirstArgument string `json:"word,omitempty" doc:"its first argument"`
	Status        Status `json:"status" doc:"of its newest answer"`
	Result        Result `json:"result,omitempty" doc:"of that answer"`
	Reason        Reason `json:"reason,omitempty" doc:"of that answer"`
}

// StateControl is the holder of manual control.
type StateControl struct {
	Holder          string `json:"holder" doc:"the client"`
	By              string `json:"by,omitempty" doc:"the person"`
	Scope           string `json:"scope" doc:"manual, or all: then only the holder sets the mode, too"`
	UntilMS         int64  `json:"until_ms" doc:"when the lease ends unless it is renewed, by the robot's monotonic clock"`
	TakeoverAllowed bool   `json:"takeover_allowed" doc:"another operator may take it over"`
}

// StateRecording is an act that is being recorded with manual/act-record.
type StateRecording struct {
	Act    string `json:"act" doc:"the id that the act gets"`
	Holder string `json:"holder" doc:"the client whose manual commands become the act"`
	By     string `json:"by,omitempty" doc:"the person"`
	Since  Time   `json:"since" doc:"since when"`
}

// RunningReq is one accepted command that has not ended.
type RunningReq struct {
	ID       string `json:"id" doc:"its id"`
	Client   string `json:"client" doc:"who sent it"`
	Verb     string `json:"verb" doc:"its verb"`
	Progress *int   `json:"progress,omitzero" doc:"0 to 100, if it is known"`
}

// Device is the diagnosis of a unit that is not normal.
type Device struct {
	ID             string         `json:"id" doc:"of the unit"`
	Severity       DeviceSeverity `json:"severity" doc:"what a fault of this unit means: negligible, serious or critical"`
	Effect         DeviceEffect   `json:"effect" doc:"what the robot does about it: none, disabled or rest"`
	Fault          string         `json:"fault,omitempty" doc:"what is wrong, in the words of the driver"`
	Unacknowledged bool           `json:"unacknowledged,omitzero" doc:"sys/ack-fault lets the robot use it again, after what the hint of its alert asks for"`
	Heat           Heat           `json:"heat,omitempty" doc:"normal, warm, hot or critical; left out if it reports no temperature"`
	TemperatureC   *float64       `json:"temperature_c,omitzero" doc:"as reported last"`
	Since          Time           `json:"since" doc:"since when the present effect lasts"`
}

// Alert is a present problem that an operator should know about. Its text does not change
// under an id. A cleared alert is removed from the list, with the event alert_cleared.
type Alert struct {
	ID      string      `json:"id" doc:"of this occurrence"`
	Type    string      `json:"type" doc:"a row of the table of alerts"`
	Level   AlertLevel  `json:"level" doc:"info, warn, error or critical"`
	Source  string      `json:"source" doc:"what it is about, such as a unit"`
	FirstTS Time        `json:"first_ts" doc:"when it began"`
	Detail  string      `json:"detail" doc:"in a sentence; it does not change under an id"`
	Hint    string      `json:"hint,omitempty" doc:"the way out"`
	Refs    []Ref       `json:"refs,omitempty" doc:"the unit that it is about"`
	Params  AlertParams `json:"params,omitzero" doc:"what detail says beside type and source, for pages in other languages; left out by an earlier release"`
}

// AlertParams are the values in the detail of an alert; its type says which of them there are.
type AlertParams struct {
	Reason  Reason `json:"reason,omitempty" doc:"why, as a code"`
	Story   string `json:"story,omitempty" doc:"the id of the story"`
	Act     string `json:"act,omitempty" doc:"the id of the act that failed last"`
	Percent int    `json:"percent,omitzero" doc:"the level of the battery that counts as low"`
	Until   Time   `json:"until,omitzero" doc:"when a certificate ends"`
	Made    Time   `json:"made,omitzero" doc:"when the newest backup was made"`
	Days    int    `json:"days,omitzero" doc:"after how many days a backup counts as old"`
	By      string `json:"by,omitempty" doc:"who stopped the robot"`
	Why     string `json:"why,omitempty" doc:"the reason that they gave, or why a rollout waits"`
	Name    string `json:"name,omitempty" doc:"of the rollout"`
}

// DroppedCounters counts dropped messages since boot.
type DroppedCounters struct {
	Events  int64 `json:"events" doc:"events over the rate"`
	Acks    int64 `json:"acks" doc:"answers"`
	Records int64 `json:"records,omitzero" doc:"records of the flight recorder"`
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
	TS        Time   `json:"ts" doc:"when this was written"`
	Session   string `json:"session" doc:"the connection that wrote this"`
	ModesRev  int64  `json:"modes_rev" doc:"counts up with each change"`
	Modes     []Mode `json:"modes" doc:"the modes, in the order of their numbers"`
	Truncated bool   `json:"truncated,omitzero" doc:"over the size limit: details are left out, then further reasons, then parameters"`
}

// Mode is one entry of the catalogue; N is its stable number from 0 in order of
// registration.
type Mode struct {
	ID                ModeID             `json:"id" doc:"what mode/set takes"`
	N                 int                `json:"n" doc:"its stable number from 0, in the order of registration"`
	Name              string             `json:"name" doc:"for people"`
	Kind              string             `json:"kind" doc:"always builtin: every mode is a part of robotd"`
	Status            ModeStatus         `json:"status" doc:"how far it is"`
	Enabled           bool               `json:"enabled" doc:"mode/disable has not switched it off"`
	Running           bool               `json:"running" doc:"it is in charge"`
	Selectable        bool               `json:"selectable" doc:"mode/set would take it now"`
	WhyNot            []WhyNot           `json:"why_not" doc:"why it cannot be selected now, the decisive reason first"`
	LinkLoss          LinkLoss           `json:"link_loss" doc:"what it does when the link is lost: safe or continue"`
	NeedsLease        bool               `json:"needs_lease,omitzero" doc:"only the client with control of scope 'all' may request it"`
	Role              string             `json:"role,omitempty" doc:"what it is for the others: calibration (it runs by itself at the start), default (it replaces a mode that fails) or safe (the robot waits in it)"`
	LinkTimeoutMS     int64              `json:"link_timeout_ms,omitzero" doc:"time without a heartbeat of fleetd or of a panel at the robot after which it ends; left out: it goes on"`
	Params            []ModeParam        `json:"params,omitempty" doc:"what mode/param sets"`
	CalibrationChecks []CalibrationCheck `json:"calibration_checks,omitempty" doc:"of the calibration mode: what it checks before other modes may run"`
}

// CalibrationCheck is one part of the configuration that calibration puts in force and checks.
type CalibrationCheck struct {
	Name    string `json:"name" doc:"map, units, homing or languages"`
	Value   string `json:"value" doc:"in force since the last calibration"`
	Pending string `json:"pending,omitempty" doc:"what the next calibration puts in force instead"`
	Reason  Reason `json:"reason,omitempty" doc:"why the last calibration failed on it"`
	Detail  string `json:"detail,omitempty" doc:"in a sentence"`
}

// ModeParam is a parameter of a mode, which mode/param sets. Its type is number, integer,
// boolean or word; Min and Max are there for numbers, OneOf for words.
type ModeParam struct {
	Name    string         `json:"name" doc:"its name"`
	Type    ConfigType     `json:"type" doc:"number, integer, boolean or word"`
	Unit    string         `json:"unit,omitempty" doc:"of a number"`
	Min     *float64       `json:"min,omitzero" doc:"the least number"`
	Max     *float64       `json:"max,omitzero" doc:"the greatest number"`
	OneOf   []string       `json:"one_of,omitempty" doc:"the words"`
	Default jsontext.Value `json:"default" doc:"its value if nobody sets it"`
	Value   jsontext.Value `json:"value" doc:"its value now"`
	Purpose string         `json:"purpose" doc:"what it is for"`
}

// WhyNot is one reason why a mode cannot be selected. The most important one is first.
type WhyNot struct {
	Reason Reason `json:"reason" doc:"the check that fails"`
	Detail string `json:"detail,omitempty" doc:"in a sentence"`
}

// Validate reports missing or invalid fields.
func (m *Modes) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.present("/modes", len(m.Modes) > 0)
	return c
}
