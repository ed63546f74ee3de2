package view

import (
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Robot is the summary of one robot in lists, the stream and the console. While a robot
// is offline, the fields from its documents keep their last values; Presence says whether
// they are current.
type Robot struct {
	ID       string            `json:"id"`
	Labels   map[string]string `json:"labels"`
	Adopted  bool              `json:"adopted" doc:"the robot belongs to this fleet"`
	Presence Presence          `json:"presence"`
	Doing    selector.Doing    `json:"doing" enum:"not_connected,asleep,not_adopted,waiting_for_release,stop_input,needs_reset,braking,resetting,disabled,not_reported,switching,manual,undriven,start_up,safe_mode,other_mode,performing,failing,interrupt,activity,paused_by_safety,paused,no_story,story_ended" doc:"what it does now: whether it performs, and if not, why"`

	StateAt schema.Time `json:"state_at,omitzero" doc:"when fleetd last received the robot's state, by fleetd's clock"`
	// StateOutdated says that the robot has published a newer state that did not arrive.
	StateOutdated bool `json:"state_outdated,omitempty" doc:"the heartbeat names a newer state than fleetd has received; mode and safety are from the heartbeat, the rest is old"`

	Mode       schema.ModeID      `json:"mode,omitempty"`
	Intended   schema.ModeID      `json:"intended,omitempty"`
	ModePhase  schema.ModePhase   `json:"mode_phase,omitempty"`
	Calibrated bool               `json:"calibrated,omitempty"`
	Safety     schema.SafetyState `json:"safety,omitempty"`
	StoppedBy  string             `json:"latched_by,omitempty"` // who or what caused the stop in force, also if no stop is latched
	Cause      schema.Reason      `json:"cause,omitempty"`
	EStopInput bool               `json:"estop_input,omitempty"`

	CauseDetail string `json:"cause_detail,omitempty" doc:"in HALT and E_STOP, what stopped the robot, also when that is over"`

	Control *schema.StateControl `json:"control,omitempty" doc:"who has control of the robot; nobody if left out"`

	Auto         schema.AutoStatus  `json:"auto,omitempty"`
	AutoReason   schema.Reason      `json:"auto_reason,omitempty"`
	Story        *schema.StoryRef   `json:"story,omitempty" doc:"the story that it performs"`
	Act          string             `json:"act,omitempty"`
	ActIndex     int                `json:"act_index,omitempty"`
	ActBegan     schema.Time        `json:"act_began,omitzero" doc:"when the act began, by fleetd's clock, put off by the pauses since; while the story is paused: left out"`
	ActMS        int64              `json:"act_ms,omitempty" doc:"while the story is paused: for how long the act had been performed"`
	FailedRounds int64              `json:"failed_rounds,omitempty" doc:"rounds of its story in a row in which every act failed; the alert story_failing has the last error"`
	PauseHolders []schema.Pause     `json:"pause_holders"`
	Interrupts   []schema.Interrupt `json:"interrupts"`
	Life         *Life              `json:"life,omitempty" doc:"autonomous life; a robot of an earlier release has none"`

	Body Body `json:"body"`

	VersionSkew string `json:"version_skew,omitempty" doc:"how its protocol version differs from fleetd's"`

	Desired    DesiredStory       `json:"desired"`
	Activities *DesiredActivities `json:"activities,omitempty" doc:"left out if it never had any"`
	Latches    []schema.StopLatch `json:"latches" doc:"stops that the robot reports as latched"`
	Alerts     []schema.Alert     `json:"alerts"`
	LastEvent  *schema.Event      `json:"last_event,omitempty"`

	Gone bool `json:"gone,omitempty" doc:"only in the stream: the robot was removed, or is not among those that the stream shows any more"`
}

// Body is what a picture of the robot needs beside its state.
type Body struct {
	Units    []schema.UnitKind  `json:"units,omitempty" doc:"kinds of its units, each once"`
	Charging bool               `json:"charging,omitempty"`
	Muted    bool               `json:"muted,omitempty" doc:"the volume is 0"`
	At       *schema.StatePlace `json:"at,omitempty" doc:"where it is on its map; a metre of its way may be missing"`
}

// Life is the state of a robot's autonomous life, with what has the focus. The robot's state
// has the rest.
type Life struct {
	State   schema.LifeState `json:"state" enum:"disabled,solitary,interactive,safeguard"`
	Reason  schema.Reason    `json:"reason,omitempty" doc:"why it is disabled or in safeguard"`
	Focused string           `json:"focused,omitempty" doc:"the activity that it performs"`
	Stack   []string         `json:"stack,omitempty" doc:"activities that start again afterwards, the next one first"`
	Next    string           `json:"next,omitempty" doc:"the activity that gets the focus next"`
}

// Presence is whether fleetd considers a robot connected.
type Presence struct {
	Status   string      `json:"status" enum:"unknown,online,degraded,lost,offline,sleeping"`
	Why      string      `json:"why,omitempty" doc:"in a sentence"`
	Cause    string      `json:"cause,omitempty" doc:"the same as a code, such as no_heartbeat; left out while it is online"`
	At       schema.Time `json:"at,omitzero" doc:"the instant that the sentence names, such as that of the last heartbeat"`
	Since    schema.Time `json:"since,omitzero"`
	LastSeen schema.Time `json:"last_seen,omitzero" doc:"when fleetd last received a message of the robot, by fleetd's clock"`

	RoundTripMS int64 `json:"round_trip_ms,omitzero" doc:"round trip time of a message from fleetd to the robot and back"`
	Disputed    bool  `json:"disputed,omitempty" doc:"two clients connect under this robot's name"`
}

// DesiredStory is the default story of a robot, and what the robot reported about it.
type DesiredStory struct {
	Story       *schema.StoryRef   `json:"story,omitempty"`
	DesiredRev  int64              `json:"desired_rev,omitempty" doc:"revision of the desired document; 0 = there is none"`
	ReportedRev int64              `json:"reported_rev,omitempty" doc:"revision of the desired document that the robot reports about"`
	Phase       schema.DeployPhase `json:"phase,omitempty"`
	Reason      schema.Reason      `json:"reason,omitempty"`
	Detail      string             `json:"detail,omitempty"`
	Progress    *int               `json:"progress,omitempty" doc:"while it downloads: per cent of the bytes of the story and its files"`
	Active      *schema.StoryRef   `json:"active,omitempty" doc:"the story that the robot has"`
	Pruned      []string           `json:"pruned,omitempty" doc:"acts that the robot left out"`
	Converged   bool               `json:"converged" doc:"the robot has the desired story"`
}

// DesiredActivities is the activities that are assigned to a robot, and what the robot
// reported about the set of them.
type DesiredActivities struct {
	Assigned    []Activity         `json:"assigned" doc:"in the order of the set"`
	DesiredRev  int64              `json:"desired_rev" doc:"revision of the desired document"`
	ReportedRev int64              `json:"reported_rev,omitempty" doc:"revision of the desired document that the robot reports about"`
	Phase       schema.DeployPhase `json:"phase,omitempty"`
	Reason      schema.Reason      `json:"reason,omitempty"`
	Detail      string             `json:"detail,omitempty"`
	Progress    *int               `json:"progress,omitempty" doc:"while it downloads: per cent of the bytes of the set and its files"`
	Converged   bool               `json:"converged" doc:"the robot has this set"`

	Refused []schema.RefusedPart `json:"refused,omitempty" doc:"activities of the set that the robot leaves out because its body cannot perform them"`
}

// Activity is one assigned activity.
type Activity struct {
	ID  string `json:"id"`
	Rev int64  `json:"rev" doc:"assigned revision"`
}

// Detail is one robot's summary and its newest documents of these kinds; Documents has all kinds.
type Detail struct {
	Robot
	Heartbeat *schema.Heartbeat     `json:"heartbeat,omitempty"`
	State     *schema.State         `json:"state,omitempty"`
	Modes     *schema.Modes         `json:"modes,omitempty"`
	Caps      *schema.Caps          `json:"caps,omitempty"`
	Acts      *schema.Acts          `json:"acts,omitempty"`
	Reported  *schema.ReportedStory `json:"reported,omitempty"`
}
