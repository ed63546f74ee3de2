package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DesiredConfig contains a robot's settings as the fleet desires them. Retained. It is the
// complete document, not a patch: an absent key has its default.
type DesiredConfig struct {
	Rev     int64                     `json:"rev"`
	FleetID string                    `json:"fleet_id"`
	Values  map[string]jsontext.Value `json:"values"`
	By      string                    `json:"by,omitempty"`
	TS      Time                      `json:"ts"`
	Counter int64                     `json:"counter,omitzero"`
	Sig     *Signature                `json:"sig,omitzero"`
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
	TS            Time                      `json:"ts"`
	Session       string                    `json:"session"`
	FleetID       string                    `json:"fleet_id,omitempty"`
	DesiredRev    int64                     `json:"desired_rev"` // 0 = no document received
	Phase         DeployPhase               `json:"phase"`
	Reason        Reason                    `json:"reason,omitempty"`
	Retry         Retry                     `json:"retry,omitempty"`
	Detail        string                    `json:"detail,omitempty"`
	Applied       map[string]jsontext.Value `json:"applied"`
	Rejected      []RejectedKey             `json:"rejected"`
	RestartNeeded []string                  `json:"restart_needed"`     // stored; take effect after the next start
	Truncated     bool                      `json:"truncated,omitzero"` // over the size limit: details are left out, then values
}

// RejectedKey is a key that was not applied, with the reason.
type RejectedKey struct {
	Key    string `json:"key"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
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
	Rev     int64      `json:"rev"`
	FleetID string     `json:"fleet_id"`
	Mode    ModeID     `json:"mode"`
	Apply   ApplyMode  `json:"apply"`
	By      string     `json:"by,omitempty"`
	TS      Time       `json:"ts"`
	Counter int64      `json:"counter,omitzero"`
	Sig     *Signature `json:"sig,omitzero"`
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
// idle, waiting (for the end of start-up or of the switch), held (see Reason; the mode is
// not applied by itself), active, rejected and failed.
type ReportedMode struct {
	TS         Time        `json:"ts"`
	Session    string      `json:"session"`
	FleetID    string      `json:"fleet_id,omitempty"`
	DesiredRev int64       `json:"desired_rev"`
	Phase      DeployPhase `json:"phase"`
	Reason     Reason      `json:"reason,omitempty"`
	Retry      Retry       `json:"retry,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	Mode       ModeID      `json:"mode,omitempty"` // the desired mode
	Diverged   bool        `json:"diverged"`       // another mode was requested since
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
	Rev      int64      `json:"rev"`
	FleetID  string     `json:"fleet_id"`
	Set      *StoryPin  `json:"set" jsonschema:"nullable"`
	By       string     `json:"by,omitempty"`
	TS       Time       `json:"ts"`
	Counter  int64      `json:"counter,omitzero"`
	Sig      *Signature `json:"sig,omitzero"`
	Released *Signature `json:"released,omitzero"`
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
	TS         Time        `json:"ts"`
	Session    string      `json:"session"`
	FleetID    string      `json:"fleet_id,omitempty"`
	DesiredRev int64       `json:"desired_rev"`
	Phase      DeployPhase `json:"phase"`
	Reason     Reason      `json:"reason,omitempty"`
	Retry      Retry       `json:"retry,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	Pointer    string      `json:"pointer,omitempty"`
	Attempts   int         `json:"attempts"`
	Fetching   string      `json:"fetching,omitempty"`
	Progress   *int        `json:"progress,omitzero"` // of fetching, in per cent of the bytes
	Active     *StoryRef   `json:"active" jsonschema:"nullable"`
	Previous   *StoryRef   `json:"previous" jsonschema:"nullable"`

	// Refused are the parts of the active set that this robot leaves out. The others are in use.
	Refused   []RefusedPart `json:"refused,omitempty"`
	Truncated bool          `json:"truncated,omitzero"` // some of Refused, or their details, are left out
}

// RefusedPart is a part of a set that a robot leaves out, such as an activity that its body
// cannot perform.
type RefusedPart struct {
	ID      string `json:"id"`
	Reason  Reason `json:"reason"`
	Pointer string `json:"pointer,omitempty"`
	Detail  string `json:"detail,omitempty"`
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
	Key   string `json:"key"`   // first 16 hexadecimal digits of the public key's SHA-256
	Value string `json:"value"` // base64
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
		c.add("/counter", "missing", fmt.Sprintf("a signed desired state carries its release counter, not %d", counter), "")
	}
}

func (c *checks) pin(pointer string, p *StoryPin) {
	if p == nil {
		return
	}
	c.id(pointer+"/id", p.ID)
	c.atLeast(pointer+"/rev", p.Rev, 1)
	c.digest(pointer+"/sha256", p.SHA256)
	c.atLeast(pointer+"/size", p.Size, 1)
}
