package api

import (
	"encoding/json"

	"troupe/fleetd/command"
	"troupe/fleetd/latch"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Status is the state of this fleetd instance.
type Status struct {
	TS       schema.Time `json:"ts"`
	Version  string      `json:"version"`
	Name     string      `json:"name"`
	Broker   Health      `json:"broker"`
	Database Health      `json:"database"`
	Disputed string      `json:"disputed,omitempty" doc:"set if another client seems to use this instance's name"`

	Leadership Leadership `json:"leadership"`

	Latched      []latch.LatchedStop `json:"latched" doc:"latched stops, without the names of their robots"`
	HeldComplete bool                `json:"held_complete" doc:"false: more stops may be latched, because the database was not read yet, or a robot reports one that is not persisted yet"`

	RetainedCommands []RetainedCommand `json:"kept,omitempty" doc:"commands and live stops that the broker retained although they must not be, the newest first: those present, and those removed in the last hour. Only the leader lists them"`
	FleetID          string            `json:"fleet_id,omitempty" doc:"identifies the fleet's database to robots"`
	Dropped          int64             `json:"dropped,omitempty" doc:"events of robots that were lost because they could not be stored"`
}

// RetainedCommand is a command or live stop that the broker retained although it must not be.
type RetainedCommand struct {
	At     schema.Time `json:"at" doc:"when it was removed, or last seen"`
	Topic  string      `json:"topic" doc:"without the namespace and version"`
	Client string      `json:"client" doc:"the client that sent it"`
	Why    string      `json:"why,omitempty" doc:"why it is not removed yet; empty once it is removed"`
}

// Leadership says which of several fleetd instances on one database is the leader, which
// publishes desired documents, latched stops and fleetd's presence. Every instance sends
// commands and stops.
type Leadership struct {
	Leads  bool        `json:"leads" doc:"this instance is the leader"`
	Leader string      `json:"leader,omitempty" doc:"name of the leader; empty = none known"`
	Why    string      `json:"why,omitempty" doc:"why this instance is the leader, or is not"`
	Since  schema.Time `json:"since,omitzero" doc:"since when it is the leader, or is not"`
}

// Health is the state of the broker connection or the database.
type Health struct {
	OK    bool        `json:"ok"`
	Why   string      `json:"why,omitempty"`
	Since schema.Time `json:"since,omitzero"`
	Kind  string      `json:"kind,omitempty"`
}

// Order asks fleetd to send one command to many robots.
type Order struct {
	Verb          string            `json:"verb" doc:"group/verb, such as mode/set" example:"mode/set"`
	Args          json.RawMessage   `json:"args,omitempty" doc:"an object with the arguments of the verb (topics.md)"`
	Selector      selector.Selector `json:"selector"`
	By            string            `json:"by,omitempty" maxLength:"63" doc:"the person, for the audit"`
	Why           string            `json:"why,omitempty" maxLength:"256"`
	If            Condition         `json:"if,omitzero" doc:"condition that each robot checks; ignored for stops"`
	TTLMS         int64             `json:"ttl_ms,omitempty" minimum:"1" maximum:"3600000" doc:"the robot refuses the command when it is older; default: that of the verb"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots it would be sent to"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots match; ignored for stops"`
}

// Condition is what must hold at each robot when it accepts the command. Fields that are
// left out are not checked.
type Condition struct {
	Mode     schema.ModeID `json:"mode,omitempty" doc:"the active mode" example:"mnl"`
	StoryRev int64         `json:"story_rev,omitempty" minimum:"1" doc:"the revision of the active story"`
	StateSeq int64         `json:"state_seq,omitempty" minimum:"1" doc:"state_seq of the robot's state; for one robot"`
	Session  string        `json:"session,omitempty" doc:"session of the robot; for one robot"`
}

// CancelResult is the result of cancelling a command.
type CancelResult struct {
	Command Command `json:"command" doc:"the command as it is now"`
	Cancel  *Batch  `json:"asked,omitempty" doc:"the sys/cancel that was sent to the robot; left out if the command had not been sent"`
}

// Batch is the commands of one order and their results.
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
	Waiting     []string              `json:"waiting,omitempty" doc:"robots that are not connected; the command is sent if they are back in time"`
	Skipped     []Skip                `json:"skipped,omitempty"`
	NeverSeen   []string              `json:"never_seen,omitempty" doc:"names to which the stop was sent although fleetd never saw such a robot"`
	Latch       string                `json:"latch,omitempty" doc:"id of the latched stop, with which it is released"`
	Unspooled   bool                  `json:"unspooled,omitempty" doc:"fleetd could not write the stop to its disk; robots hold it, and fleetd may have to restore it from their reports"`
	Unpersisted bool                  `json:"unpersisted,omitempty" doc:"the stop was sent, but the database does not have it yet"`
}

// Skip is a selected robot to which the command is not sent.
type Skip struct {
	Robot  string        `json:"robot"`
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
}

// Command is one command to one robot and its state.
type Command struct {
	ID       string        `json:"id,omitempty"`
	Batch    string        `json:"batch,omitempty"`
	Robot    string        `json:"robot"`
	Instance string        `json:"fleetd,omitempty" doc:"name of the fleetd instance that received the request: only that instance sends it, and the robot answers to it"`
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
	Edited    bool             `json:"edited" doc:"the draft differs from the published revision"`
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

// Asset is a sound or an image under the name that acts use.
type Asset struct {
	Name   string      `json:"name"`
	Kind   string      `json:"kind" enum:"sound,face" doc:"type of the actions that may use it"`
	Media  string      `json:"media" doc:"media type, detected from the bytes"`
	SHA256 string      `json:"sha256" doc:"digest of the bytes; GET /assets/sha256/{digest} downloads them"`
	Size   int64       `json:"size" doc:"bytes"`
	At     schema.Time `json:"at"`
	By     string      `json:"by,omitempty"`
	Uses   []AssetUse  `json:"uses" doc:"published stories that use it"`
}

// AssetUse is a published story that uses an asset: the newest revision, or an
// older one that robots perform.
type AssetUse struct {
	Story  string   `json:"story"`
	Rev    int64    `json:"rev"`
	Newest bool     `json:"newest"`
	Robots []string `json:"robots" doc:"robots whose default story it is"`
}

// Uploaded is the result of an upload.
type Uploaded struct {
	Asset     Asset    `json:"asset"`
	Unchanged bool     `json:"unchanged" doc:"the asset had these bytes already"`
	Stale     []string `json:"stale" doc:"stories whose newest revision uses other bytes of this asset; publish them again to update them"`
}

// Revision is one published revision of an act or story.
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

// Saved is the result of saving a draft.
type Saved struct {
	Entry     Entry `json:"entry"`
	Unchanged bool  `json:"unchanged" doc:"the draft had the same text already"`
}

// Validity lists the problems of a text.
type Validity struct {
	ID       string           `json:"id,omitempty" doc:"name of the act or story, if it could be parsed"`
	Valid    bool             `json:"valid" doc:"it could be published"`
	Problems []schema.Problem `json:"problems"`
}

// Signed says who makes a request, and why.
type Signed struct {
	By  string `json:"by,omitempty" maxLength:"63" doc:"the person, for the audit"`
	Why string `json:"why,omitempty" maxLength:"256"`
}

// Published is the result of publishing: the new revision, or the newest if nothing
// changed.
type Published struct {
	Kind      string   `json:"kind"`
	ID        string   `json:"id"`
	Revision  Revision `json:"revision"`
	Unchanged bool     `json:"unchanged" doc:"the newest revision has the same contents"`
	Stale     []string `json:"stale" doc:"stories whose newest revision uses an earlier revision of this act; publish them again to update them"`
}

// Deletion is what a deletion does, or would do.
type Deletion struct {
	DryRun  bool          `json:"dry_run,omitempty"`
	Kind    string        `json:"kind"`
	ID      string        `json:"id"`
	Stories []StoryImpact `json:"stories" doc:"stories that change"`
	Robots  int           `json:"robots" doc:"robots that get a new desired story"`
	Clears  []string      `json:"clears" doc:"stories whose robots would be left without a default story"`
}

// StoryImpact is what the deletion of an act does to one story.
type StoryImpact struct {
	Story     string   `json:"story"`
	Before    int      `json:"acts_before"`
	After     int      `json:"acts_after" doc:"0 = the story is deleted too"`
	Rev       int64    `json:"rev" doc:"its newest revision afterwards"`
	Repinned  []string `json:"repinned" doc:"robots that get the revision without the act"`
	Cleared   []string `json:"cleared" doc:"robots that are left without a default story"`
	DraftOnly bool     `json:"draft_only"`
}

// Assignment sets the default story of robots.
type Assignment struct {
	Story         string            `json:"story,omitempty" doc:"empty = remove the default story"`
	Rev           int64             `json:"rev,omitempty" minimum:"0" doc:"0 = the newest"`
	Selector      selector.Selector `json:"selector"`
	Apply         schema.Apply      `json:"apply,omitempty" enum:"next_act,now,next_start"`
	DryRun        bool              `json:"dry_run,omitempty"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	Signed
}

// Assigned is the result of an assignment.
type Assigned struct {
	DryRun    bool     `json:"dry_run,omitempty"`
	Story     string   `json:"story,omitempty"`
	Rev       int64    `json:"rev,omitempty"`
	Total     int      `json:"total" doc:"robots selected"`
	Updated   []string `json:"told" doc:"robots that get a new desired story"`
	Unchanged []string `json:"unchanged" doc:"robots that had this desired story already"`
}

// Snapshot lists every robot, at the start of the stream.
type Snapshot struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
}

// Changes lists the robots that changed since the last event of the stream.
type Changes struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
}
