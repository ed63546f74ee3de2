package desired

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/sign"
)

// Trust: the fleet that the robot obeys, the keys that it trusts, and the signature counters
// that it has accepted.

const (
	FleetIDKey  = "fleet_id" // UUID of the fleet's database
	CountersKey = "counters" // sign.Marks
)

// restoreTrust reads which fleet the robot obeys. If the counters cannot be read, the robot
// starts with none and raises an alert.
func (t Step) restoreTrust(m Memory) {
	fleetID := m.Values[FleetIDKey]
	t.fleetIDSaved = fleetID != ""
	for _, k := range []sign.Kind{sign.Story, sign.Activities, sign.Places} { // earlier releases saved no fleet of an enrolment
		fleetID = cmp.Or(fleetID, m.Deliveries[k].Desired.FleetID)
	}
	t.fleetID, t.counters = cmp.Or(fleetID, t.cfg.FleetID), sign.Marks{}
	if kept := m.Values[CountersKey]; kept != "" {
		if err := json.Unmarshal([]byte(kept), &t.counters); err != nil {
			t.counters = sign.Marks{}
			t.Out.Raise("untrusted_document", schema.AlertError, "disk", "the signature counters could not be read and are counted anew",
				"change something that the fleet desires of the robot: the next document that fleetd signs sets the counter")
		}
	}
}

// Verification is the result of checking the signatures of one document.
type Verification struct {
	what     sign.Subject
	verified bool
	Refused  schema.Reason // not empty: it must not be obeyed
	Detail   string
}

// Verify checks the signatures of a document as the policy demands. The pin names the
// released content; it is nil for documents without a blob.
func (t Step) Verify(w sign.Subject, sig *schema.Signature, pin *schema.ContentPin, released *schema.Signature) Verification {
	v := Verification{what: w}
	policy, source := t.cfg.Signing, alertSource(w.Kind)
	if policy == sign.Off || policy == "" {
		return v
	}
	reason := schema.ReasonBadSignature
	err := t.cfg.Trust.Verify(w, sig)
	signed := err == nil
	if err == nil && pin != nil && t.cfg.Trust.Has(sign.SignsReleases) {
		if err = t.cfg.Trust.VerifyRelease(sign.ReleaseOf(w.Kind, *pin), released); err != nil {
			err = fmt.Errorf("the release of its content: %w", err)
		}
	}
	if err == nil {
		switch clash, detail := t.counters.Check(w); clash {
		case sign.Fresh:
			t.Out.Clear("untrusted_document", source)
			t.Out.Clear("equivocation", source)
			v.verified = true
			return v
		case sign.Replayed:
			reason, err = schema.ReasonStaleRevision, fmt.Errorf("%s", detail)
		default:
			reason, err = schema.ReasonEquivocation, fmt.Errorf("%s", detail)
		}
	}
	v.Detail = schema.SanitizeText(fmt.Sprintf("revision %d: %v", w.Rev, err))
	if policy == sign.Require {
		v.Refused = reason
	}
	if t.fleetID != "" && t.fleetID != w.FleetID {
		return v // another event reports that it is not obeyed
	}
	kind, level, hint := "untrusted_document", schema.AlertError, "the robot keeps what it has; sign with a key that it trusts (fleetd "+
		"serve --sign-key, robotd --trust-key), or see who else writes to the broker"
	if w.Kind == sign.Stop || w.Kind == sign.FleetStop {
		hint = "its stops hold, and it releases none; sign with a key that the robot trusts (fleetd serve --sign-key, robotd --trust-key), or " +
			"see who else writes to the broker"
	}
	if reason == schema.ReasonBadSignature && signed {
		hint = "the robot keeps what it has; sign the release of the content with a key that it trusts (fleetd serve --release-key, robotd " +
			"--trust-key release:...), then withdraw it and assign it again"
	}
	switch reason {
	case schema.ReasonEquivocation:
		kind, level = "equivocation", schema.AlertCritical
		hint = "the robot keeps what it has. A trusted key signed two documents under one signature counter: find out which programs sign with " +
			"it, and replace it if in doubt"
	case schema.ReasonStaleRevision:
		hint = "the robot keeps what it has. A trusted key signed this document and a newer one: if the database of fleetd was restored, " +
			"change or assign it again, which signs it anew; otherwise see who sends old documents to the broker"
	}
	if v.Refused == "" {
		level, hint = schema.AlertWarn, "it was taken because signing is "+string(policy)+"; require would refuse it"
	}
	t.Out.Do(effect.RaiseAlert{Kind: kind, Level: level, Source: source, Detail: source + " " + v.Detail, Hint: hint,
		Params: schema.AlertParams{Reason: reason}})
	return v
}

// alertSource is the source of alerts about a document: its topic.
func alertSource(k sign.Kind) string {
	if k == sign.FleetStop {
		return "fleet/stop"
	}
	return "desired/" + string(k)
}

// VerifyStops checks the signatures of a document that latches stops, and remembers its counter,
// unless it is of another fleet.
func (t Step) VerifyStops(w sign.Subject, sig *schema.Signature) Verification {
	v := t.Verify(w, sig, nil, nil)
	if v.Refused == "" && v.verified && (t.fleetID == "" || t.fleetID == v.what.FleetID) && t.counters.Note(v.what) {
		t.saveCounters()
	}
	return v
}

func (t Step) saveFleetID(id string) {
	t.fleetID, t.fleetIDSaved = id, true
	t.Out.Do(effect.SaveValue{Name: FleetIDKey, Value: id})
}

// saveCounters saves the newest counters, with which those that could not be read are replaced.
func (t Step) saveCounters() {
	t.Out.Do(effect.SaveValue{Name: CountersKey, Value: string(effect.Encode(t.counters))})
	t.Out.Clear("untrusted_document", "disk")
}

// noteAccepted remembers the counter of a document that is obeyed, and its fleet: from the first one
// on the robot belongs to it, also if it is enrolled at another fleet afterwards.
func (t Step) noteAccepted(v Verification) {
	if t.fleetID == "" {
		t.fleetID = v.what.FleetID
		t.ToDeliveries(delivery.FleetKnown{FleetID: t.fleetID})
	}
	if !t.fleetIDSaved {
		t.saveFleetID(t.fleetID)
	}
	if v.verified && t.counters.Note(v.what) {
		t.saveCounters()
	}
}
