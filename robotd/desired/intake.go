package desired

import (
	"fmt"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// intake is where desired documents without a blob come in: a newer one of the robot's own fleet
// that may be obeyed, and no other.
type intake struct {
	rev     int64 // the newest that was obeyed; 0 = none
	refused notObeyed
	foreign event.Event // the newest desired state of another fleet
}

// notObeyed is a desired state that was kept out.
type notObeyed struct {
	rev    int64
	reason schema.Reason
	detail string
}

// admit lets a desired state in, or says why not. same says that it wants what the newest
// one wants. A desired state that was refused is not taken for the newest: else whoever made
// it up would shut out the true ones after it.
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
	case w.Rev == d.rev && !same: // such as by a fleet whose database was set back
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
		return false // seen again
	}
	d.rev = w.Rev
	return true
}

// show puts a desired state that was kept out over what is told of the one that is obeyed.
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
		*retry = schema.RetryNever // it is final for its revision
	}
}

// forget makes the door that of another fleet; what that fleet desired already comes
// in now.
func (t Step) forget(d *intake) {
	foreign := d.foreign
	*d = intake{}
	if foreign != nil {
		t.Take(foreign)
	}
}

// Keep offers the disk again what it may have refused of the desired documents without
// a blob and of whom the robot believes, as they are now, and then tells of them:
// what was not on the disk was not told.
func (t Step) Keep() {
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
