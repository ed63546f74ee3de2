package schema

import "strconv"

// DesiredStory names the story that a robot shall perform by default. Retained. A robot
// compares Rev with the revision that it has reported. A null Story under a higher Rev
// withdraws the story; deleting the retained message changes nothing.
type DesiredStory struct {
	Rev     int64     `json:"rev"`                         // rises per robot and fleet id
	FleetID string    `json:"fleet_id"`                    // UUID of the fleet's database
	Story   *StoryPin `json:"story" jsonschema:"nullable"` // null = withdrawn
	Apply   Apply     `json:"apply"`
	// DeadlineTS is the time after which a robot that has not activated the story
	// keeps its present one.
	DeadlineTS Time   `json:"deadline_ts,omitzero"`
	By         string `json:"by,omitempty"`
	TS         Time   `json:"ts"`
	// Counter rises with every release of the fleet, also if an old story is assigned
	// again, so that an old document cannot be replayed.
	Counter int64      `json:"counter,omitzero"`
	Sig     *Signature `json:"sig,omitzero"`
	// Released is the signature over the blob by the person who released it.
	Released *Signature `json:"released,omitzero"`
}

// StoryPin names the exact bytes of a published story.
type StoryPin struct {
	ID     string `json:"id"`
	Rev    int64  `json:"rev"`
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

// Validate reports missing or invalid fields.
func (d *DesiredStory) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	switch d.Apply {
	case ApplyNextAct, ApplyNow, ApplyNextStart:
	default:
		c.add("/apply", "bad_value", strconv.Quote(string(d.Apply))+" is not a way to apply a story", "next_act, now or next_start")
	}
	c.pin("/story", d.Story)
	c.signed(d.Counter, d.Sig)
	return c
}

// ReportedStory is the robot's answer to DesiredStory: its phase, and the stories that it
// has.
type ReportedStory struct {
	TS         Time         `json:"ts"`
	Session    string       `json:"session"`
	FleetID    string       `json:"fleet_id,omitempty"`
	DesiredRev int64        `json:"desired_rev"` // 0 = no document received
	Phase      DeployPhase  `json:"phase"`
	Reason     Reason       `json:"reason,omitempty"`
	Retry      Retry        `json:"retry,omitempty"`
	Detail     string       `json:"detail,omitempty"`
	Pointer    string       `json:"pointer,omitempty"`
	Attempts   int          `json:"attempts"`
	Fetching   string       `json:"fetching,omitempty"` // digest of the blob that is being fetched
	Progress   *int         `json:"progress,omitzero"`  // of fetching, in per cent of the bytes
	Active     *ActiveStory `json:"active" jsonschema:"nullable"`
	Previous   *StoryRef    `json:"previous" jsonschema:"nullable"`
	Staged     *StoryRef    `json:"staged,omitzero"` // on the robot's disk, to become active
	Playing    bool         `json:"playing"`
	SelfCheck  SelfCheck    `json:"self_check,omitempty"` // of the active story; empty without one
	ActsDigest string       `json:"acts_digest,omitempty"`
	Truncated  bool         `json:"truncated,omitzero"` // over the size limit: names of acts are left out
}

// SelfCheck is the result of checking every act of the active story against the units of
// this robot.
type SelfCheck string

const (
	SelfCheckPassed SelfCheck = "passed"
	SelfCheckFailed SelfCheck = "failed"
)

// ActiveStory is the story that ato performs on this robot.
type ActiveStory struct {
	ID            string   `json:"id"`
	Rev           int64    `json:"rev"`
	SHA256        string   `json:"sha256"`
	Since         Time     `json:"since"`
	EffectiveActs []string `json:"effective_acts"`
	Pruned        []string `json:"pruned"`
}

// Validate reports missing or invalid fields.
func (r *ReportedStory) Validate() []Problem {
	var c checks
	c.present("/session", r.Session != "")
	c.present("/phase", r.Phase != "")
	if r.Active != nil {
		c.id("/active/id", r.Active.ID)
		c.digest("/active/sha256", r.Active.SHA256)
	}
	return c
}

// at returns a JSON Pointer to a field of the i-th element of a list.
func at(list string, i int, field string) string {
	return list + "/" + strconv.Itoa(i) + "/" + field
}
