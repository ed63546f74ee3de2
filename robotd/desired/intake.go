package desired

import (
	"fmt"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// intake admits desired documents without a blob: a newer one of the robot's own fleet, if
// it may be obeyed.
type intake struct {
	rev     int64 // revision of the newest one that was obeyed; 0 = none
	refused notObeyed
	foreign event.Event // the newest document of another fleet
}

// notObeyed is a document that is not obeyed, with the reason.
type notObeyed struct {
	rev    int64
	reason schema.Reason
	detail string
}

// admit admits a document, or reports why it is not obeyed. same says that its content is
// that of the newest one. A refused document does not count as the newest: otherwise a
// forged one would block the true ones after it.
func (t Step) admit(d *intake, v Verified, ev event.Event, same bool) bool {
	w, was := v.what, d.refused
	switch source := deliveryOf(w.Kind); {
	case t.fleetID != "" && w.FleetID != t.fleetID:
		d.foreign = ev
		d.refused = notObeyed{w.Rev, schema.ReasonWrongFleet, fmt.Sprintf("revision %d of fleet %s is not obeyed: this robot belongs to %s; sys/adopt changes that", w.Rev, w.FleetID, t.fleetID)}
		if d.refused != was {
			t.Out.Event(string(schema.ReasonWrongFleet), source, "", "", effect.Described{Reason: schema.ReasonWrongFleet, Detail: d.refused.detail})
		}
		return false
	case w.Rev < d.rev:
		t.Out.Event(string(schema.ReasonStaleRevision), source, "", "", effect.Described{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came after revision %d", w.Rev, d.rev)})
		return false
	case w.Rev == d.rev && !same: // for example by a fleet whose database was restored
		v.Refused, v.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d came again with another content; a revision never changes", w.Rev)
		fallthrough
	case w.Rev > d.rev && v.Refused != "":
		if d.refused = (notObeyed{w.Rev, v.Refused, v.Detail}); d.refused != was {
			t.Out.Event(string(v.Refused), source, "", "", effect.Described{Reason: v.Refused, Detail: v.Detail})
		}
		return false
	}
	d.refused, d.foreign = notObeyed{}, nil
	t.accept(v)
	if w.Rev == d.rev {
		return false // received before
	}
	d.rev = w.Rev
	return true
}

// show shows a refused document in the report on the one that is obeyed.
func (d *intake) show(rev *int64, phase *schema.DeployPhase, reason *schema.Reason, retry *schema.Retry, detail *string) {
	switch no := d.refused; {
	case no.reason == "":
	case no.reason != schema.ReasonWrongFleet:
		*rev, *phase, *reason, *detail = no.rev, schema.DeployRejected, no.reason, no.detail
	case *reason == "":
		*reason, *detail = no.reason, no.detail
	}
	if *reason != "" {
		*retry = reason.Describe().Retry
	}
	if *phase == schema.DeployRejected && *retry == schema.RetryLater {
		*retry = schema.RetryNever // the refusal is final for this revision
	}
}

// forget makes the intake serve another fleet, and takes what that fleet already desired.
func (t Step) forget(d *intake) {
	foreign := d.foreign
	*d = intake{}
	if foreign != nil {
		t.Take(foreign)
	}
}

// keepPause is the pause before a disk that refused a setting is asked again.
const keepPause = time.Second

// SettingsSaved notes whether the disk refused a setting: then the documents are saved again
// until it accepts them. Its success with another setting proves nothing about these.
func (s *State) SettingsSaved(now clock.Now, refused schema.Reason) {
	if refused != "" {
		s.keepAt = now.Mono + keepPause
	}
}

// KeepAgain saves the documents again when it is time.
func (t Step) KeepAgain() {
	if t.keepAt > 0 && t.Now.Mono >= t.keepAt {
		t.keepAt = 0
		t.keep()
	}
}

// keep saves again what the disk may have refused: documents without a blob, the fleet id
// and the counters. Then it reports them, because nothing is reported before it is on the
// disk.
func (t Step) keep() {
	if t.fleetID != "" {
		t.Out.Do(effect.SaveSetting{Name: FleetIDSetting, Value: t.fleetID})
	}
	if len(t.marks) > 0 {
		t.Out.Do(effect.SaveSetting{Name: CountersSetting, Value: string(effect.Encode(t.marks))})
	}
	if t.config.rev > 0 {
		t.Out.Do(effect.SaveSetting{Name: ConfigSetting, Value: string(effect.Encode(t.config.kept))})
	}
	if t.mode.rev > 0 {
		t.Out.Do(effect.SaveSetting{Name: ModeSetting, Value: string(effect.Encode(&t.mode.state))})
	}
	t.config.dirty, t.mode.dirty = true, true
}
