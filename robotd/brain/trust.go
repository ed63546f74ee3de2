package brain

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/sign"
)

// Whom the robot obeys: the fleet it belongs to, the keys it trusts, and the
// release counters it has seen.

const (
	fleetIDSetting  = "fleet_id" // UUID of the fleet's database
	countersSetting = "counters" // sign.Marks
)

// restoreTrust reads whom the robot obeyed. Counters that cannot be read are those
// of a disk that lies; the robot starts to count anew, and says so.
func (t *step) restoreTrust(m Memory) {
	t.fleetID, t.marks = cmp.Or(m.Settings[fleetIDSetting], m.Kept[sign.Story].Desired.FleetID, t.cfg.FleetID), sign.Marks{}
	if kept := m.Settings[countersSetting]; kept != "" {
		if err := json.Unmarshal([]byte(kept), &t.marks); err != nil {
			t.marks = sign.Marks{}
			t.raise("untrusted_document", schema.AlertError, "disk", "the release counters could not be read and are counted anew", "have the fleet release once more")
		}
	}
}

// verified is what signatures say of one desired state.
type verified struct {
	what     sign.Subject
	verified bool
	refused  schema.Reason // it must not be obeyed
	detail   string
}

// vouch looks at the signatures of a document, as the robot is told to. The pin
// names what was released, nil for documents without a blob.
func (t *step) vouch(w sign.Subject, sig *schema.Signature, pin *schema.StoryPin, released *schema.Signature) verified {
	v := verified{what: w}
	policy, source := t.cfg.Signing, sourceOf(w.Kind)
	if policy == sign.Off || policy == "" {
		return v
	}
	reason := schema.ReasonBadSignature
	err := t.cfg.Trust.Verify(w, sig)
	if err == nil && pin != nil && t.cfg.Trust.Has(sign.SignsReleases) {
		if err = t.cfg.Trust.Release(sign.ReleaseOf(w.Kind, *pin), released); err != nil {
			err = fmt.Errorf("the release of its content: %w", err)
		}
	}
	if err == nil {
		switch clash, detail := t.marks.Judge(w); clash {
		case sign.Fresh:
			t.clear("untrusted_document", source)
			t.clear("equivocation", source)
			v.verified = true
			return v
		case sign.PlayedBack:
			reason, err = schema.ReasonStaleRevision, fmt.Errorf("%s", detail)
		default:
			reason, err = schema.ReasonEquivocation, fmt.Errorf("%s", detail)
		}
	}
	v.detail = schema.Legible(fmt.Sprintf("revision %d: %v", w.Rev, err))
	if policy == sign.Require {
		v.refused = reason
	}
	if t.fleetID != "" && t.fleetID != w.FleetID {
		return v // that it is not obeyed is told already
	}
	kind, level, hint := "untrusted_document", schema.AlertError, "the robot keeps what it has; sign with a key that it trusts (fleetd serve --sign-key, robotd --trust-key), or see who else writes to the broker"
	if w.Kind == sign.Stop || w.Kind == sign.FleetStop {
		hint = "its stops hold, and it releases none; sign with a key that the robot trusts (fleetd serve --sign-key, robotd --trust-key), or see who else writes to the broker"
	}
	if reason == schema.ReasonEquivocation {
		kind, level = "equivocation", schema.AlertCritical
	}
	if v.refused == "" {
		level, hint = schema.AlertWarn, "it was taken because signing is "+string(policy)+"; require would refuse it"
	}
	t.raise(kind, level, source, source+" "+v.detail, hint)
	return v
}

// sourceOf names the topic of a document, as alerts say it.
func sourceOf(k sign.Kind) string {
	if k == sign.FleetStop {
		return "fleet/stop"
	}
	return "desired/" + string(k)
}

// believe remembers the fleet and the counter of a desired state, now that it is obeyed.
func (t *step) believe(v verified) {
	if t.fleetID == "" {
		t.fleetID = v.what.FleetID
		t.do(effect.SaveSetting{Name: fleetIDSetting, Value: t.fleetID})
		t.everyContent(delivery.Belong{FleetID: t.fleetID})
	}
	if v.verified && t.marks.Note(v.what) {
		t.do(effect.SaveSetting{Name: countersSetting, Value: string(effect.Encode(t.marks))})
	}
}
