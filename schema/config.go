package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// DesiredConfig is the fleet's desired state for a robot's settings. Retained. It is the
// whole document, not a patch: a key that is absent has its default.
type DesiredConfig struct {
	Rev     int64                     `json:"rev"`
	FleetID string                    `json:"fleet_id"`
	Values  map[string]jsontext.Value `json:"values"`
	By      string                    `json:"by,omitempty"`
	TS      Time                      `json:"ts"`
	Counter int64                     `json:"counter,omitzero"`
	Sig     *Signature                `json:"sig,omitzero"`
}

// Validate reports what the desired state must carry and does not.
func (d *DesiredConfig) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.said("/values", d.Values != nil)
	return c
}

// ReportedConfig tells for each key of the newest desired state what became of it.
type ReportedConfig struct {
	TS            Time                      `json:"ts"`
	Session       string                    `json:"session"`
	FleetID       string                    `json:"fleet_id,omitempty"`
	DesiredRev    int64                     `json:"desired_rev"` // 0 = nothing was ever desired
	Phase         DeployPhase               `json:"phase"`
	Reason        Reason                    `json:"reason,omitempty"`
	Retry         Retry                     `json:"retry,omitempty"`
	Detail        string                    `json:"detail,omitempty"`
	Applied       map[string]jsontext.Value `json:"applied"`
	Rejected      []RejectedKey             `json:"rejected"`
	RestartNeeded []string                  `json:"restart_needed"`     // kept, and in force after the next start
	Truncated     bool                      `json:"truncated,omitzero"` // over the limit: details, then values left out
}

// RejectedKey is one key that was not applied, and why.
type RejectedKey struct {
	Key    string `json:"key"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Validate reports what the report must carry and does not.
func (r *ReportedConfig) Validate() []Problem {
	var c checks
	c.said("/session", r.Session != "")
	c.said("/phase", r.Phase != "")
	return c
}

// ApplyMode says when a desired mode is taken.
type ApplyMode string

const (
	ApplyModeBoot ApplyMode = "boot" // after start-up has succeeded
	ApplyModeNow  ApplyMode = "now"  // once when this revision is first seen, and after start-up
)

// DesiredMode is the fleet's desired state for the mode of a robot. It never leads out of
// safe, of a latch or of a lease in somebody's hand, and is not applied again at
// a reconnect: nobody is moved by a message older than his last decision.
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

// Validate reports what the desired state must carry and does not.
func (d *DesiredMode) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.said("/mode", d.Mode != "")
	if d.Apply != ApplyModeBoot && d.Apply != ApplyModeNow {
		c.add("/apply", "bad_value", strconv.Quote(string(d.Apply))+" is not a time to apply a mode", "boot or now")
	}
	return c
}

// ReportedMode tells what became of the desired mode. Its phases are idle,
// waiting (for start-up, or the switch runs), held (see Reason; it will not be
// taken by itself), active, rejected and failed.
type ReportedMode struct {
	TS         Time        `json:"ts"`
	Session    string      `json:"session"`
	FleetID    string      `json:"fleet_id,omitempty"`
	DesiredRev int64       `json:"desired_rev"`
	Phase      DeployPhase `json:"phase"`
	Reason     Reason      `json:"reason,omitempty"`
	Retry      Retry       `json:"retry,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	Mode       ModeID      `json:"mode,omitempty"` // the one desired
	Diverged   bool        `json:"diverged"`       // another mode was asked for since
}

// Validate reports what the report must carry and does not.
func (r *ReportedMode) Validate() []Problem {
	var c checks
	c.said("/session", r.Session != "")
	c.said("/phase", r.Phase != "")
	return c
}

// DesiredSet is the fleet's desired state for a set that travels as one blob: activities
// or places. It has the rules of a desired story; Set nil under a higher Rev
// withdraws.
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

// Validate reports what the desired state must carry and does not.
func (d *DesiredSet) Validate() []Problem {
	var c checks
	c.desired(d.Rev, d.FleetID)
	c.signed(d.Counter, d.Sig)
	c.pin("/set", d.Set)
	return c
}

// ReportedSet is the robot's answer to a desired set.
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
}

// Validate reports what the report must carry and does not.
func (r *ReportedSet) Validate() []Problem {
	var c checks
	c.said("/session", r.Session != "")
	c.said("/phase", r.Phase != "")
	return c
}

// Signature is an Ed25519 signature over what package sign says, by the key of
// that name.
type Signature struct {
	Key   string `json:"key"`   // first 16 hexadecimal digits of the public key's SHA-256
	Value string `json:"value"` // base64
}

func (c *checks) desired(rev int64, fleetID string) {
	c.atLeast("/rev", rev, 1)
	c.said("/fleet_id", fleetID != "")
}

func (c *checks) signed(counter int64, s *Signature) {
	if s == nil {
		return
	}
	c.said("/sig/key", s.Key != "")
	c.said("/sig/value", s.Value != "")
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
