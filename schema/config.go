package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DesiredConfig contains a robot's settings as the fleet desires them. Retained. It is the
// complete document, not a patch: an absent key has the value of the robot's own file, or else
// its default.
type DesiredConfig struct {
	Rev     int64                     `json:"rev" doc:"rises per robot and fleet id"`
	FleetID string                    `json:"fleet_id" doc:"UUID of the fleet's database"`
	Values  map[string]jsontext.Value `json:"values" doc:"settings by key, all of them: a key that is left out has the value of the robot's own file"`
	By      string                    `json:"by,omitempty" doc:"the person who set them"`
	TS      Time                      `json:"ts" doc:"when they were set"`
	Counter int64                     `json:"counter,omitzero" doc:"as in DesiredStory"`
	Sig     *Signature                `json:"sig,omitzero" doc:"signature of this document"`
}

// Validate reports missing or invalid fields.
func (d *DesiredConfig) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.present("/values", d.Values != nil)
	return c
}

// ReportedConfig reports the result for each key of the newest DesiredConfig.
type ReportedConfig struct {
	TS            Time                      `json:"ts" doc:"when this was written"`
	Session       string                    `json:"session" doc:"the connection that wrote this"`
	FleetID       string                    `json:"fleet_id,omitempty" doc:"the fleet that the robot obeys"`
	DesiredRev    int64                     `json:"desired_rev" doc:"rev of the newest desired document; 0 = none was received"`
	Phase         DeployPhase               `json:"phase" doc:"how far the robot is with it"`
	Reason        Reason                    `json:"reason,omitempty" doc:"why the whole document is rejected"`
	Retry         Retry                     `json:"retry,omitempty" doc:"whether the same document may succeed later"`
	Detail        string                    `json:"detail,omitempty" doc:"in a sentence"`
	Applied       map[string]jsontext.Value `json:"applied" doc:"the settings that it took, by key"`
	Rejected      []RejectedKey             `json:"rejected" doc:"keys that it did not take"`
	RestartNeeded []string                  `json:"restart_needed" doc:"keys that are stored and take effect after the next start"`
	Truncated     bool                      `json:"truncated,omitzero" doc:"over the size limit: details are left out, then values"`
}

// RejectedKey is a key that was not applied, with the reason.
type RejectedKey struct {
	Key    string `json:"key" doc:"the setting"`
	Reason Reason `json:"reason" doc:"why"`
	Detail string `json:"detail,omitempty" doc:"in a sentence"`
}

// Validate reports missing or invalid fields.
func (r *ReportedConfig) Validate() []Problem {
	var c checks
	c.present("/session", r.Session != "")
	c.present("/phase", r.Phase != "")
	return c
}

// ApplyMode says when a robot applies a desired mode.
type ApplyMode string

const (
	ApplyModeBoot ApplyMode = "boot" // after start-up has succeeded
	ApplyModeNow  ApplyMode = "now"  // once when the revision is first received, and after start-up
)

// DesiredMode is the mode that the fleet desires for a robot. It never ends the mode safe,
// a latch or a lease, and is not applied again after a reconnect, so that it never
// overrules a later decision of a person.
type DesiredMode struct {
	Rev     int64      `json:"rev" doc:"rises per robot and fleet id"`
	FleetID string     `json:"fleet_id" doc:"UUID of the fleet's database"`
	Mode    ModeID     `json:"mode" doc:"the mode"`
	Apply   ApplyMode  `json:"apply" doc:"boot: after start-up; now: also once at once"`
	By      string     `json:"by,omitempty" doc:"the person who set it"`
	TS      Time       `json:"ts" doc:"when it was set"`
	Counter int64      `json:"counter,omitzero" doc:"as in DesiredStory"`
	Sig     *Signature `json:"sig,omitzero" doc:"signature of this document"`
}

// Validate reports missing or invalid fields.
func (d *DesiredMode) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.present("/mode", d.Mode != "")
	if d.Apply != ApplyModeBoot && d.Apply != ApplyModeNow {
		c.add("/apply", "bad_value", strconv.Quote(string(d.Apply))+" is not a time to apply a mode", "boot or now")
	}
	return c
}

// ReportedMode reports how far the robot has followed the desired mode. Its phases are
// idle, waiting (for the end of start-up or of the switch, or for the story of the mode), held (see Reason; the mode is
// not applied by itself), active, rejected and failed.
type ReportedMode struct {
	TS         Time        `json:"ts" doc:"when this was written"`
	Session    string      `json:"session" doc:"the connection that wrote this"`
	FleetID    string      `json:"fleet_id,omitempty" doc:"the fleet that the robot obeys"`
	DesiredRev int64       `json:"desired_rev" doc:"rev of the newest desired document; 0 = none was received"`
	Phase      DeployPhase `json:"phase" doc:"how far the robot is with it"`
	Reason     Reason      `json:"reason,omitempty" doc:"why it is rejected, failed or held; no_default_story: it waits for the story of the mode"`
	Retry      Retry       `json:"retry,omitempty" doc:"whether the same document may succeed later"`
	Detail     string      `json:"detail,omitempty" doc:"in a sentence"`
	Mode       ModeID      `json:"mode,omitempty" doc:"the desired mode"`
	Diverged   bool        `json:"diverged" doc:"another mode was requested since"`
}

// Validate reports missing or invalid fields.
func (r *ReportedMode) Validate() []Problem {
	var c checks
	c.present("/session", r.Session != "")
	c.present("/phase", r.Phase != "")
	return c
}

// DesiredSet names a set that the fleet desires on a robot and that is published as one
// blob: activities or places. The rules are those of DesiredStory; a null Set under a
// higher Rev withdraws the set.
type DesiredSet struct {
	Rev      int64       `json:"rev" doc:"rises per robot and fleet id"`
	FleetID  string      `json:"fleet_id" doc:"UUID of the fleet's database"`
	Set      *ContentPin `json:"set" jsonschema:"nullable" doc:"the set; null = none"`
	By       string      `json:"by,omitempty" doc:"the person who assigned it"`
	TS       Time        `json:"ts" doc:"when it was assigned"`
	Counter  int64       `json:"counter,omitzero" doc:"as in DesiredStory"`
	Sig      *Signature  `json:"sig,omitzero" doc:"signature of this document"`
	Released *Signature  `json:"released,omitzero" doc:"signature of the set's revision and digest by fleetd's release key"`
}

// Validate reports missing or invalid fields.
func (d *DesiredSet) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.pin("/set", d.Set)
	return c
}

// ReportedSet is the robot's report on a DesiredSet.
type ReportedSet struct {
	TS         Time        `json:"ts" doc:"when this was written"`
	Session    string      `json:"session" doc:"the connection that wrote this"`
	FleetID    string      `json:"fleet_id,omitempty" doc:"the fleet that the robot obeys"`
	DesiredRev int64       `json:"desired_rev" doc:"rev of the newest desired document; 0 = none was received"`
	Phase      DeployPhase `json:"phase" doc:"how far the robot is with it"`
	Reason     Reason      `json:"reason,omitempty" doc:"why it is rejected or failed"`
	Retry      Retry       `json:"retry,omitempty" doc:"whether the same document may succeed later"`
	Detail     string      `json:"detail,omitempty" doc:"in a sentence"`
	Pointer    string      `json:"pointer,omitempty" doc:"the place in the set that the reason is about"`
	Attempts   int         `json:"attempts" doc:"how often it was fetched"`
	Fetching   string      `json:"fetching,omitempty" doc:"digest of the blob that is being fetched"`
	Progress   *int        `json:"progress,omitzero" doc:"of fetching, in per cent of the bytes"`
	Active     *StoryRef   `json:"active" jsonschema:"nullable" doc:"the set that the robot uses; null = none"`
	Previous   *StoryRef   `json:"previous" jsonschema:"nullable" doc:"the set that was active before, which stays on the disk; null = none"`

	Refused   []RefusedPart `json:"refused,omitempty" doc:"parts of the active set that this robot leaves out; it uses the others"`
	Truncated bool          `json:"truncated,omitzero" doc:"some of refused, or their details, are left out"`
}

// RefusedPart is a part of a set that a robot leaves out, such as an activity that its body
// cannot perform.
type RefusedPart struct {
	ID      string `json:"id" doc:"such as an activity"`
	Reason  Reason `json:"reason" doc:"why"`
	Pointer string `json:"pointer,omitempty" doc:"the place in the set"`
	Detail  string `json:"detail,omitempty" doc:"in a sentence"`
}

// Validate reports missing or invalid fields.
func (r *ReportedSet) Validate() []Problem {
	var c checks
	c.present("/session", r.Session != "")
	c.present("/phase", r.Phase != "")
	return c
}

// Signature is an Ed25519 signature; package sign defines the signed bytes.
type Signature struct {
	Key   string `json:"key" doc:"first 16 hexadecimal digits of the public key's SHA-256"`
	Value string `json:"value" doc:"base64"`
}

func (c *checks) desired(rev int64, fleetID string) {
	c.atLeast("/rev", rev, 1)
	c.present("/fleet_id", fleetID != "")
}

func (c *checks) signed(counter int64, s *Signature) {
	if s == nil {
		return
	}
	c.present("/sig/key", s.Key != "")
	c.present("/sig/value", s.Value != "")
	if counter < 1 {
		c.add("/counter", "missing", fmt.Sprintf("a signed document has a signature counter above 0, not %d", counter), "")
	}
}

func (c *checks) pin(pointer string, p *ContentPin) {
	if p == nil {
		return
	}
	c.id(pointer+"/id", p.ID)
	c.atLeast(pointer+"/rev", p.Rev, 1)
	c.digest(pointer+"/sha256", p.SHA256)
	c.atLeast(pointer+"/size", p.Size, 1)
}
