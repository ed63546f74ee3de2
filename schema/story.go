package schema

import "strconv"

// DesiredStory is the fleet's desired state: which story a robot performs by default.
// Retained. A robot compares Rev with what it has reported, at any time and
// whatever it heard before. Story nil under a higher Rev withdraws; an emptied
// topic changes nothing.
type DesiredStory struct {
	Rev     int64     `json:"rev"`                         // rises per robot and fleet id
	FleetID string    `json:"fleet_id"`                    // UUID of the fleet's database
	Story   *StoryPin `json:"story" jsonschema:"nullable"` // null = withdrawn
	Apply   Apply     `json:"apply"`
	// DeadlineTS is when the fleet stops waiting: a robot that cannot have
	// activated the story by then keeps what it has.
	DeadlineTS Time   `json:"deadline_ts,omitzero"`
	By         string `json:"by,omitempty"`
	TS         Time   `json:"ts"`
	// Counter rises with every release of the fleet, also when an old story is
	// assigned again, so that an old desired state cannot be played back.
	Counter int64      `json:"counter,omitzero"`
	Sig     *Signature `json:"sig,omitzero"`
	// Released is the signature over the blob: who let this content out.
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

// Validate reports what a desired state must carry and does not.
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

// ReportedStory is the robot's answer to the desired state: how far it is, and what it
// has.
type ReportedStory struct {
	TS         Time         `json:"ts"`
	Session    string       `json:"session"`
	FleetID    string       `json:"fleet_id,omitempty"`
	DesiredRev int64        `json:"desired_rev"` // 0 = nothing was ever desired
	Phase      DeployPhase  `json:"phase"`
	Reason     Reason       `json:"reason,omitempty"`
	Retry      Retry        `json:"retry,omitempty"`
	Detail     string       `json:"detail,omitempty"`
	Pointer    string       `json:"pointer,omitempty"`
	Attempts   int          `json:"attempts"`
	Fetching   string       `json:"fetching,omitempty"` // the digest that is being asked for
	Progress   *int         `json:"progress,omitzero"`  // of fetching, in per cent of the bytes
	Active     *ActiveStory `json:"active" jsonschema:"nullable"`
	Previous   *StoryRef    `json:"previous" jsonschema:"nullable"`
	Staged     *StoryRef    `json:"staged,omitzero"` // on the robot's disk, and waits to take over
	Playing    bool         `json:"playing"`
	SelfCheck  SelfCheck    `json:"self_check,omitempty"` // of the active story; empty without one
	ActsDigest string       `json:"acts_digest,omitempty"`
	Truncated  bool         `json:"truncated,omitzero"` // over the limit: names of acts left out
}

// SelfCheck is whether the executor has gone through every act of the active
// story against the units that this robot has.
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

// Validate reports what a report must carry and does not.
func (r *ReportedStory) Validate() []Problem {
	var c checks
	c.said("/session", r.Session != "")
	c.said("/phase", r.Phase != "")
	if r.Active != nil {
		c.id("/active/id", r.Active.ID)
		c.digest("/active/sha256", r.Active.SHA256)
	}
	return c
}

// at builds a pointer to a field of the i-th element of a list.
func at(list string, i int, field string) string {
	return list + "/" + strconv.Itoa(i) + "/" + field
}
