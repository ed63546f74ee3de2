package schema

// State is the robot's retained snapshot: one tick, one consistent picture. It
// is published on change (gathered for 100 ms, safety changes at once) and at
// the latest every 10 s. StateSeq rises with every publication of a boot.
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
	Link         StateLink       `json:"link"`
	Units        []UnitState     `json:"units"`
	LastReq      *LastRequest    `json:"last_req,omitzero"`
	Control      *StateControl   `json:"control,omitzero"` // nil = nobody holds it
	Running      []RunningReq    `json:"running,omitempty"`
	Alerts       []Alert         `json:"alerts"`
	Dropped      DroppedCounters `json:"dropped"`
	Truncated    bool            `json:"truncated,omitzero"` // over the limit: details, then oldest alerts left out, at last all but safety, mode and status
}

// StateSafety is the safety core as others see it.
type StateSafety struct {
	State         SafetyState `json:"state"`
	LatchedBy     string      `json:"latched_by,omitempty"` // who or what asked for the stop in force
	Cause         Reason      `json:"cause,omitempty"`
	WakeForbidden bool        `json:"wake_forbidden"`
	EStopInput    bool        `json:"estop_input"`            // a physical stop input is pressed
	Latches       []StopLatch `json:"latches,omitempty"`      // people's stops that hold; no enabling before they are released
	NotPersisted  bool        `json:"not_persisted,omitzero"` // the robot's disk does not have them, or not E_STOP: a restart would lose them
}

// StateMode is the mode supervisor as others see it.
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

// StateAuto is ato as others see it.
type StateAuto struct {
	Status       AutoStatus `json:"status"`
	Reason       Reason     `json:"reason,omitempty"` // why stopped
	Story        *StoryRef  `json:"story,omitzero"`
	ActIndex     int        `json:"act_index"`
	Act          string     `json:"act,omitempty"`
	Loop         int64      `json:"loop"` // how often the story has begun anew
	PauseCount   int        `json:"pause_count"`
	PauseHolders []Pause    `json:"pause_holders"`
}

// StoryRef names a published story revision.
type StoryRef struct {
	ID     string `json:"id"`
	Rev    int64  `json:"rev"`
	SHA256 string `json:"sha256,omitempty"`
}

// Pause is one held pause token.
type Pause struct {
	Token string `json:"token"` // kind, or kind:key
	By    string `json:"by,omitempty"`
	Why   string `json:"why,omitempty"`
	Since Time   `json:"since"`
}

// Interrupt is one running interrupt; the queue is the set of them in the order
// in which they were pushed.
type Interrupt struct {
	ID          string `json:"id"`
	Handler     string `json:"handler"`
	Interrupter string `json:"interrupter"`
	Since       Time   `json:"since"`
}

// Interrupter is who may ask for interrupts.
type Interrupter struct {
	ID    string           `json:"id"`
	State InterrupterState `json:"state"`
}

// StateQueue is what the executor performs: the entry that runs now, those that
// wait, and the last five that ended.
type StateQueue struct {
	Current   string   `json:"current,omitempty"`
	Waiting   []string `json:"waiting"`
	Completed []string `json:"completed"`
	Failed    []Failed `json:"failed"`
}

// Failed is an act that did not end well.
type Failed struct {
	Act    string `json:"act"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// StateLink is the robot's view of its operators.
type StateLink struct {
	State  LinkState `json:"state"`
	Since  Time      `json:"since"`
	Client string    `json:"client,omitempty"` // whose heartbeat was heard last
	// BudgetMS is how much more silence makes a loss, 0 once lost. Silences drain
	// it, and heartbeats in time fill it again at a quarter of that speed.
	BudgetMS   int64       `json:"budget_ms,omitzero"`
	Policy     LinkLoss    `json:"policy,omitempty"` // of the mode in charge
	LastOutage *LinkOutage `json:"last_outage,omitzero"`
}

// LinkOutage is a time in which no operator could be relied on to reach the
// robot.
type LinkOutage struct {
	From Time `json:"from"`        // when an operator was heard last
	To   Time `json:"to,omitzero"` // when one was heard again; left out while it lasts
}

// UnitState is one unit of the robot. idle is at rest and may not move; run is
// switched on and ready to move, which says nothing of whether it moves; halt is
// damping to standstill on its way to error; error is off until a reset.
type UnitState struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	State  string `json:"state"` // idle, run, halt, error
	Detail string `json:"detail,omitempty"`
}

// LastRequest is the newest answered request, so that a client who lost the
// answer finds it in the state.
type LastRequest struct {
	ID     string `json:"id"`
	Client string `json:"client"`
	Verb   string `json:"verb"`
	Word   string `json:"word,omitempty"` // its first argument
	Status Status `json:"status"`
	Result Result `json:"result,omitempty"`
	Reason Reason `json:"reason,omitempty"`
}

// StateControl is who drives the robot manually.
type StateControl struct {
	Holder          string `json:"holder"`
	By              string `json:"by,omitempty"`
	Scope           string `json:"scope"` // manual, or all
	UntilMS         int64  `json:"until_ms"`
	TakeoverAllowed bool   `json:"takeover_allowed"`
}

// RunningReq is one accepted command that has not ended.
type RunningReq struct {
	ID       string `json:"id"`
	Client   string `json:"client"`
	Verb     string `json:"verb"`
	Progress *int   `json:"progress,omitzero"`
}

// Alert is something that somebody should know now. Its text never changes
// under an id; a cleared alert leaves the list and yields the event
// alert_cleared.
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

// DroppedCounters count what had to be left out since boot.
type DroppedCounters struct {
	Events int64 `json:"events"`
	Acks   int64 `json:"acks"`
}

// Validate reports what a state must carry and does not.
func (s *State) Validate() []Problem {
	var c checks
	c.said("/session", s.Session != "")
	c.said("/boot", s.Boot != "")
	c.said("/safety/state", s.Safety.State != "")
	c.said("/mode/active", s.Mode.Active != "")
	c.said("/auto/status", s.Auto.Status != "")
	c.atLeast("/state_seq", s.StateSeq, 1)
	return c
}

// Modes is the retained catalogue of modes with the reason why each cannot be
// selected now, so that a person sees it before pressing.
type Modes struct {
	TS        Time   `json:"ts"`
	Session   string `json:"session"`
	ModesRev  int64  `json:"modes_rev"`
	Modes     []Mode `json:"modes"`
	Truncated bool   `json:"truncated,omitzero"` // over the limit: details, then further reasons left out
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
	NeedsLease bool       `json:"needs_lease,omitzero"` // only who has control of all of the robot may ask for it
}

// WhyNot is one reason, the most important first.
type WhyNot struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Validate reports what a catalogue of modes must carry and does not.
func (m *Modes) Validate() []Problem {
	var c checks
	c.said("/session", m.Session != "")
	c.said("/modes", len(m.Modes) > 0)
	return c
}
