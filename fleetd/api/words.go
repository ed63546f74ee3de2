package api

import (
	"encoding/json"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Robot is one robot in a line: what lists, the stream and the page show. The
// fields of what the robot last told keep their values when it is away; Presence
// says how far they can be trusted.
type Robot struct {
	ID       string            `json:"id"`
	Labels   map[string]string `json:"labels"`
	Adopted  bool              `json:"adopted" doc:"the fleet's database knows it"`
	Presence Presence          `json:"presence"`

	StateAt schema.Time `json:"state_at,omitzero" doc:"when the robot last told its state, by the fleet's clock"`
	// StateOutdated says that the robot has told a newer state that did not arrive.
	StateOutdated bool `json:"state_outdated,omitempty" doc:"the robot's heartbeat tells of a newer state than the one that is here; mode and safety are the heartbeat's, the rest is old"`

	Mode       schema.ModeID      `json:"mode,omitempty"`
	Intended   schema.ModeID      `json:"intended,omitempty"`
	ModePhase  schema.ModePhase   `json:"mode_phase,omitempty"`
	Calibrated bool               `json:"calibrated,omitempty"`
	Safety     schema.SafetyState `json:"safety,omitempty"`
	LatchedBy  string             `json:"latched_by,omitempty"`
	Cause      schema.Reason      `json:"cause,omitempty"`
	EStopInput bool               `json:"estop_input,omitempty"`

	Control *schema.StateControl `json:"control,omitempty" doc:"who has it in hand; nobody if left out"`

	Auto         schema.AutoStatus  `json:"auto,omitempty"`
	AutoReason   schema.Reason      `json:"auto_reason,omitempty"`
	Story        *schema.StoryRef   `json:"story,omitempty" doc:"what it performs"`
	Act          string             `json:"act,omitempty"`
	ActIndex     int                `json:"act_index,omitempty"`
	PauseHolders []schema.Pause     `json:"pause_holders"`
	Interrupts   []schema.Interrupt `json:"interrupts"`

	Skew string `json:"skew,omitempty" doc:"how the protocol that it speaks differs from fleetd's"`

	Desired   DesiredStory       `json:"desired"`
	Latches   []schema.StopLatch `json:"latches" doc:"stops that the robot says it holds"`
	Alerts    []schema.Alert     `json:"alerts"`
	LastEvent *schema.Event      `json:"last_event,omitempty"`

	Gone bool `json:"gone,omitempty" doc:"only in the stream: it is shown no more"`
}

// Presence is what fleetd believes about a robot being there.
type Presence struct {
	View  string      `json:"view" enum:"unknown,online,degraded,lost,offline,sleeping"`
	Why   string      `json:"why,omitempty"`
	Since schema.Time `json:"since,omitzero"`
	Heard schema.Time `json:"heard,omitzero" doc:"when the robot was last heard, by the fleet's clock"`

	RoundTripMS int64 `json:"round_trip_ms,omitzero" doc:"how long a word takes from fleetd to the robot and back"`
	Disputed    bool  `json:"disputed,omitempty" doc:"two robots connect under this name"`
}

// DesiredStory is the default story that the fleet desires the robot to perform, and how
// far the robot is with it.
type DesiredStory struct {
	Story       *schema.StoryRef   `json:"story,omitempty"`
	DesiredRev  int64              `json:"desired_rev,omitempty" doc:"number of the desired state; 0 = never told anything"`
	ReportedRev int64              `json:"reported_rev,omitempty" doc:"number of the desired state that the robot reports about"`
	Phase       schema.DeployPhase `json:"phase,omitempty"`
	Reason      schema.Reason      `json:"reason,omitempty"`
	Detail      string             `json:"detail,omitempty"`
	Progress    *int               `json:"progress,omitempty" doc:"while it fetches: per cent of the bytes of the story and its files"`
	Active      *schema.StoryRef   `json:"active,omitempty" doc:"what the robot has"`
	Pruned      []string           `json:"pruned,omitempty" doc:"acts that it left out"`
	Converged   bool               `json:"converged" doc:"the robot has what it should have"`
}

// Detail is everything that is known of one robot: its line, and the documents
// as it last told them.
type Detail struct {
	Robot
	Heartbeat *schema.Heartbeat     `json:"heartbeat,omitempty"`
	State     *schema.State         `json:"state,omitempty"`
	Modes     *schema.Modes         `json:"modes,omitempty"`
	Caps      *schema.Caps          `json:"caps,omitempty"`
	Acts      *schema.Acts          `json:"acts,omitempty"`
	Reported  *schema.ReportedStory `json:"reported,omitempty"`
}

// Status is how fleetd itself stands.
type Status struct {
	TS       schema.Time `json:"ts"`
	Version  string      `json:"version"`
	Name     string      `json:"name"`
	Broker   Health      `json:"broker"`
	Database Health      `json:"database"`
	Disputed string      `json:"disputed,omitempty" doc:"why somebody else seems to use this instance's name"`

	Leadership Leadership `json:"leadership"`

	Latched      []LatchedStop `json:"latched" doc:"latched stops that people asked for on robots, without the robots' names"`
	HeldComplete bool          `json:"held_complete" doc:"false: more stops may be held, for the database was not read, or a robot shows one that is not persisted yet"`

	Kept    []Kept `json:"kept,omitempty" doc:"commands and live stops that somebody sent with the retain flag and the broker kept, the newest first: those that are there, and those removed in the last hour. Fleetd that leads knows"`
	FleetID string `json:"fleet_id,omitempty" doc:"names the fleet's database to robots"`
	Dropped int64  `json:"dropped,omitempty" doc:"events of robots that could not be kept"`
}

// Kept is a command or a live stop that the broker kept, which it should not.
type Kept struct {
	At     schema.Time `json:"at" doc:"when it was removed, or found last"`
	Topic  string      `json:"topic" doc:"below the fleet's own root"`
	Client string      `json:"client" doc:"who sends it"`
	Why    string      `json:"why,omitempty" doc:"why it is not removed yet; it was, if this is missing"`
}

// Leadership is which of several fleetd instances on one database writes what all robots go by:
// desired documents, latched stops and fleetd's presence. Commands and stops go out from every
// fleetd.
type Leadership struct {
	Leads  bool        `json:"leads" doc:"this instance does"`
	Leader string      `json:"leader,omitempty" doc:"name of fleetd that does; empty = none, as far as is known here"`
	Why    string      `json:"why,omitempty" doc:"why this instance does, or does not"`
	Since  schema.Time `json:"since,omitzero" doc:"since when it does, or does not"`
}

// Health is how one thing stands that fleetd needs.
type Health struct {
	OK    bool        `json:"ok"`
	Why   string      `json:"why,omitempty"`
	Since schema.Time `json:"since,omitzero"`
	Kind  string      `json:"kind,omitempty"`
}

// Order asks for the same of many robots.
type Order struct {
	Verb          string            `json:"verb" doc:"group/verb, such as mode/set" example:"mode/set"`
	Args          json.RawMessage   `json:"args,omitempty" doc:"an object, as the verb table of topics.md says"`
	Selector      selector.Selector `json:"selector"`
	By            string            `json:"by,omitempty" maxLength:"63" doc:"the person, for the record"`
	Why           string            `json:"why,omitempty" maxLength:"256"`
	If            Condition         `json:"if,omitzero" doc:"what must still hold; a stop asks nothing"`
	TTLMS         int64             `json:"ttl_ms,omitempty" minimum:"1" maximum:"3600000" doc:"how old it may be when it is done; the verb's own if left out"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only say what it would hit"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless it hits so many; not for stops"`
}

// Condition is what each robot has to find true when it decides. What is left out
// is not asked.
type Condition struct {
	Mode     schema.ModeID `json:"mode,omitempty" doc:"the mode in charge" example:"mnl"`
	StoryRev int64         `json:"story_rev,omitempty" minimum:"1" doc:"the revision of the active story"`
	StateSeq int64         `json:"state_seq,omitempty" minimum:"1" doc:"the number of the newest state; for one robot"`
	Session  string        `json:"session,omitempty" doc:"the robot's connection; for one robot"`
}

// CalledOff is a command that somebody called off.
type CalledOff struct {
	Command Command `json:"command" doc:"as it is now"`
	Asked   *Batch  `json:"asked,omitempty" doc:"the sys/cancel that its robot was sent; none if it had not been sent itself"`
}

// Batch is one order and what became of it.
type Batch struct {
	ID          string                `json:"id,omitempty"`
	DryRun      bool                  `json:"dry_run,omitempty"`
	Verb        string                `json:"verb"`
	Args        map[string]any        `json:"args,omitempty"`
	Selector    string                `json:"selector" doc:"as written on a command line"`
	At          schema.Time           `json:"at,omitzero"`
	By          string                `json:"by,omitempty"`
	Why         string                `json:"why,omitempty"`
	Total       int                   `json:"total"`
	Counts      map[command.State]int `json:"counts"`
	Outcome     command.Outcome       `json:"outcome,omitempty" enum:"running,succeeded,partial,failed,unanswered"`
	Commands    []Command             `json:"commands"`
	Waiting     []string              `json:"waiting,omitempty" doc:"robots that are not there; sent if they come in time"`
	Skipped     []Skip                `json:"skipped,omitempty"`
	NeverSeen   []string              `json:"never_seen,omitempty" doc:"robots that were sent a stop by name although none of the name was ever seen"`
	Latch       string                `json:"latch,omitempty" doc:"the id under which the stop is held until it is released"`
	Unspooled   bool                  `json:"unspooled,omitempty" doc:"fleetd's own disk did not take the stop: robots hold it, and it may have to be persisted from there"`
	Unpersisted bool                  `json:"unpersisted,omitempty" doc:"the stop was sent, and the database does not have it yet"`
}

// Skip is a robot that was selected and is sent nothing.
type Skip struct {
	Robot  string        `json:"robot"`
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
}

// Command is one request to one robot and what became of it.
type Command struct {
	ID       string        `json:"id,omitempty"`
	Batch    string        `json:"batch,omitempty"`
	Robot    string        `json:"robot"`
	Instance string        `json:"fleetd,omitempty" doc:"name of fleetd that was asked for it: it alone sends it, and its robot answers that one"`
	Verb     string        `json:"verb"`
	State    command.State `json:"state,omitempty"`
	Because  string        `json:"because,omitempty"`
	At       schema.Time   `json:"at,omitzero"`
	Expires  schema.Time   `json:"expires,omitzero"`
	Sends    int           `json:"sends,omitempty"`
	Ended    schema.Time   `json:"ended,omitzero"`
	Answer   *schema.Ack   `json:"answer,omitempty" doc:"the robot's newest answer"`
}

// Entry is one act or story of the library.
type Entry struct {
	Kind      string           `json:"kind" enum:"act,story"`
	ID        string           `json:"id"`
	Name      string           `json:"name,omitempty"`
	DraftRev  int64            `json:"draft_rev" doc:"rises with every save; the ETag"`
	Rev       int64            `json:"rev" doc:"newest published revision; 0 = none"`
	Edited    bool             `json:"edited" doc:"the draft is not what is published"`
	Problems  []schema.Problem `json:"problems"`
	ChangedAt schema.Time      `json:"changed_at"`
	ChangedBy string           `json:"changed_by,omitempty"`
	Robots    int              `json:"robots" doc:"robots whose default story it is"`

	DeletedAt  schema.Time `json:"deleted_at,omitzero"`
	DeletedBy  string      `json:"deleted_by,omitempty"`
	DeletedWhy string      `json:"deleted_why,omitempty"`

	Draft     string     `json:"draft,omitempty" doc:"as its author wrote it; left out in lists"`
	Revisions []Revision `json:"revisions,omitempty"`
}

// Asset is a sound or an image under the name by which acts name it.
type Asset struct {
	Name   string      `json:"name"`
	Kind   string      `json:"kind" enum:"sound,face" doc:"which actions may name it"`
	Media  string      `json:"media" doc:"as its bytes say"`
	SHA256 string      `json:"sha256" doc:"under it its bytes are got"`
	Size   int64       `json:"size" doc:"bytes"`
	At     schema.Time `json:"at"`
	By     string      `json:"by,omitempty"`
	Uses   []AssetUse  `json:"uses" doc:"published stories that need this name"`
}

// AssetUse is a published story that needs an asset: the newest revision, or an
// older one that robots perform.
type AssetUse struct {
	Story  string   `json:"story"`
	Rev    int64    `json:"rev"`
	Newest bool     `json:"newest"`
	Robots []string `json:"robots" doc:"that are desired to perform it"`
}

// Uploaded is an asset that was put.
type Uploaded struct {
	Asset     Asset    `json:"asset"`
	Unchanged bool     `json:"unchanged" doc:"these were its bytes already"`
	Stale     []string `json:"stale" doc:"stories whose newest revision holds other bytes under this name; publish them anew"`
}

// Revision is one published state of an act or story.
type Revision struct {
	Rev    int64       `json:"rev"`
	SHA256 string      `json:"sha256"`
	Size   int64       `json:"size"`
	At     schema.Time `json:"at"`
	By     string      `json:"by,omitempty"`
	Why    string      `json:"why,omitempty"`
}

// Event is one event of one robot.
type Event struct {
	Robot    string      `json:"robot"`
	Received schema.Time `json:"received"`
	schema.Event
}

// Saved is what became of a draft.
type Saved struct {
	Entry     Entry `json:"entry"`
	Unchanged bool  `json:"unchanged" doc:"it was the same text already"`
}

// Validity is what is wrong with a text.
type Validity struct {
	ID       string           `json:"id,omitempty" doc:"what it names, if it could be read"`
	Valid    bool             `json:"valid" doc:"it could be published"`
	Problems []schema.Problem `json:"problems"`
}

// Signed says who wants something, and why.
type Signed struct {
	By  string `json:"by,omitempty" maxLength:"63" doc:"the person, for the record"`
	Why string `json:"why,omitempty" maxLength:"256"`
}

// Published is a revision that was frozen, or that was there already.
type Published struct {
	Kind      string   `json:"kind"`
	ID        string   `json:"id"`
	Revision  Revision `json:"revision"`
	Unchanged bool     `json:"unchanged" doc:"the newest revision says the same"`
	Stale     []string `json:"stale" doc:"stories whose newest revision holds another state of this act; publish them anew"`
}

// Deletion is what a deletion does, or would do.
type Deletion struct {
	DryRun  bool          `json:"dry_run,omitempty"`
	Kind    string        `json:"kind"`
	ID      string        `json:"id"`
	Stories []StoryImpact `json:"stories" doc:"stories that change"`
	Robots  int           `json:"robots" doc:"robots that are told something"`
	Clears  []string      `json:"clears" doc:"stories whose robots are left without a default story"`
}

// StoryImpact is what the deletion of an act does to one story.
type StoryImpact struct {
	Story     string   `json:"story"`
	Before    int      `json:"acts_before"`
	After     int      `json:"acts_after" doc:"0 = left empty, and deleted too"`
	Rev       int64    `json:"rev" doc:"its newest revision when all is done"`
	Repinned  []string `json:"repinned" doc:"robots that are told the shortened revision"`
	Cleared   []string `json:"cleared" doc:"robots that are left without a default story"`
	DraftOnly bool     `json:"draft_only"`
}

// Assignment is the set the story that robots perform by default.
type Assignment struct {
	Story         string            `json:"story,omitempty" doc:"empty = none: take the default story back"`
	Rev           int64             `json:"rev,omitempty" minimum:"0" doc:"0 = the newest"`
	Selector      selector.Selector `json:"selector"`
	Apply         schema.Apply      `json:"apply,omitempty" enum:"next_act,now,next_start"`
	DryRun        bool              `json:"dry_run,omitempty"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless so many robots are selected"`
	Signed
}

// Assigned is what an assignment comes to.
type Assigned struct {
	DryRun    bool     `json:"dry_run,omitempty"`
	Story     string   `json:"story,omitempty"`
	Rev       int64    `json:"rev,omitempty"`
	Total     int      `json:"total" doc:"robots selected"`
	Told      []string `json:"told" doc:"robots that get a new desired state"`
	Unchanged []string `json:"unchanged" doc:"robots that had this desired state already"`
}

// Snapshot is every robot, as the stream begins.
type Snapshot struct {
	TS     schema.Time `json:"ts"`
	Robots []Robot     `json:"robots"`
}

// Changes are the robots that changed since the last word of the stream.
type Changes struct {
	TS     schema.Time `json:"ts"`
	Robots []Robot     `json:"robots"`
}
