package schema

import "strconv"

// DesiredStory names the story that a robot shall perform by default. Retained. A robot
// compares Rev with the revision that it has reported. A null Story under a higher Rev
// withdraws the story; deleting the retained message changes nothing.
type DesiredStory struct {
	Rev        int64       `json:"rev" doc:"rises per robot and fleet id"`
	FleetID    string      `json:"fleet_id" doc:"UUID of the fleet's database"`
	Story      *ContentPin `json:"story" jsonschema:"nullable" doc:"the revision; null = withdrawn"`
	Apply      Apply       `json:"apply" doc:"when it takes over: next_act, now or next_start"`
	DeadlineTS Time        `json:"deadline_ts,omitzero" doc:"a robot that has not activated the story by then keeps its present one"`
	By         string      `json:"by,omitempty" doc:"the person who assigned it"`
	TS         Time        `json:"ts" doc:"when it was assigned"`
	Counter    int64       `json:"counter,omitzero" doc:"rises with every signed document of the fleet, so that an old one cannot be replayed"`
	Sig        *Signature  `json:"sig,omitzero" doc:"signature of this document"`
	Released   *Signature  `json:"released,omitzero" doc:"signature of the story's revision and digest by fleetd's release key"`
}

// ContentPin names the exact bytes of a published story.
type ContentPin struct {
	ID     string `json:"id" doc:"its id"`
	Rev    int64  `json:"rev" doc:"its revision"`
	Name   string `json:"name,omitempty" doc:"for people"`
	SHA256 string `json:"sha256" doc:"digest of its bytes, which are at blobs/{sha256}"`
	Size   int64  `json:"size" doc:"of them, in bytes"`
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
	TS         Time         `json:"ts" doc:"when this was written"`
	Session    string       `json:"session" doc:"the connection that wrote this"`
	FleetID    string       `json:"fleet_id,omitempty" doc:"the fleet that the robot obeys"`
	DesiredRev int64        `json:"desired_rev" doc:"rev of the newest desired document; 0 = none was received"`
	Phase      DeployPhase  `json:"phase" doc:"how far the robot is with it"`
	Reason     Reason       `json:"reason,omitempty" doc:"why it is rejected, failed or rolled back"`
	Retry      Retry        `json:"retry,omitempty" doc:"whether the same document may succeed later"`
	Detail     string       `json:"detail,omitempty" doc:"in a sentence"`
	Pointer    string       `json:"pointer,omitempty" doc:"the place in the story that the reason is about"`
	Attempts   int          `json:"attempts" doc:"how often it was fetched"`
	Fetching   string       `json:"fetching,omitempty" doc:"digest of the blob that is being fetched"`
	Progress   *int         `json:"progress,omitzero" doc:"of fetching, in per cent of the bytes"`
	Active     *ActiveStory `json:"active" jsonschema:"nullable" doc:"the story that the robot has; null = none"`
	Previous   *StoryRef    `json:"previous" jsonschema:"nullable" doc:"the story that was active before, which stays on the disk; null = none"`
	Staged     *StoryRef    `json:"staged,omitzero" doc:"on the robot's disk, to become active"`
	Rejected   *StoryRef    `json:"rejected,omitzero" doc:"the story of desired_rev, if its phase is rejected; left out if the robot refused the document itself"`
	Performing bool         `json:"playing" doc:"the active story is performed"`
	SelfCheck  SelfCheck    `json:"self_check,omitempty" doc:"passed or failed, of the active story"`
	ActsDigest string       `json:"acts_digest,omitempty" doc:"digest of the document acts with which it was judged"`
	Truncated  bool         `json:"truncated,omitzero" doc:"over the size limit: names of acts are left out"`
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
	ID            string   `json:"id" doc:"the story"`
	Rev           int64    `json:"rev" doc:"its revision"`
	SHA256        string   `json:"sha256" doc:"digest of its bytes"`
	Since         Time     `json:"since" doc:"since when"`
	EffectiveActs []string `json:"effective_acts" doc:"the acts that are performed"`
	Pruned        []string `json:"pruned" doc:"acts that this robot lacks and leaves out"`
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
