package brain

import (
	"fmt"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// desiredIntake is where desired documents without a blob come in: a newer one of the robot's own fleet
// that may be obeyed, and no other.
type desiredIntake struct {
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
func (t *step) admit(d *desiredIntake, v verified, ev event.Event, same bool) bool {
	w, was := v.what, d.refused
	switch source := deliveryOf(w.Kind); {
	case t.fleetID != "" && w.FleetID != t.fleetID:
		d.foreign = ev
		d.refused = notObeyed{w.Rev, schema.ReasonWrongFleet, fmt.Sprintf("revision %d of fleet %s is not obeyed: this robot belongs to %s; sys/adopt changes that", w.Rev, w.FleetID, t.fleetID)}
		if d.refused != was {
			t.tell(string(schema.ReasonWrongFleet), source, "", "", effect.Described{Reason: schema.ReasonWrongFleet, Detail: d.refused.detail})
		}
		return false
	case w.Rev < d.rev:
		t.tell(string(schema.ReasonStaleRevision), source, "", "", effect.Described{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came after revision %d", w.Rev, d.rev)})
		return false
	case w.Rev == d.rev && !same: // such as by a fleet whose database was set back
		v.refused, v.detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d came again with another content; a revision never changes", w.Rev)
		fallthrough
	case w.Rev > d.rev && v.refused != "":
		if d.refused = (notObeyed{w.Rev, v.refused, v.detail}); d.refused != was {
			t.tell(string(v.refused), source, "", "", effect.Described{Reason: v.refused, Detail: v.detail})
		}
		return false
	}
	d.refused, d.foreign = notObeyed{}, nil
	t.believe(v)
	if w.Rev == d.rev {
		return false // seen again
	}
	d.rev = w.Rev
	return true
}

// show puts a desired state that was kept out over what is told of the one that is obeyed.
func (d *desiredIntake) show(rev *int64, phase *schema.DeployPhase, reason *schema.Reason, retry *schema.Retry, detail *string) {
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
func (t *step) forget(d *desiredIntake) {
	foreign := d.foreign
	*d = desiredIntake{}
	if foreign != nil {
		t.takeDesired(foreign)
	}
}

// keepDesired offers the disk again what it may have refused of the desired documents without
// a blob and of whom the robot believes, as they are now, and then tells of them:
// what was not on the disk was not told.
func (t *step) keepDesired() {
	if t.fleetID != "" {
		t.do(effect.SaveSetting{Name: fleetIDSetting, Value: t.fleetID})
	}
	if len(t.marks) > 0 {
		t.do(effect.SaveSetting{Name: countersSetting, Value: string(effect.Encode(t.marks))})
	}
	if t.config.rev > 0 {
		t.do(effect.SaveSetting{Name: configSetting, Value: string(effect.Encode(t.config.kept))})
	}
	if t.desiredMode.rev > 0 {
		t.do(effect.SaveSetting{Name: desiredModeSetting, Value: string(effect.Encode(&t.desiredMode.state))})
	}
	t.config.dirty, t.desiredMode.dirty = true, true
}

// takeDesired hears a desired state without a blob.
func (t *step) takeDesired(ev event.Event) {
	switch ev := ev.(type) {
	case event.DesiredConfig:
		t.takeDesiredConfig(ev)
	case event.DesiredMode:
		t.takeDesiredMode(ev)
	}
}
