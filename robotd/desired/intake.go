package desired

import (
	"fmt"

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
func (t Step) admit(d *intake, v Verification, ev event.Event, same bool) bool {
	w, was := v.what, d.refused
	switch source := eventSource(w.Kind); {
	case t.fleetID != "" && w.FleetID != t.fleetID:
		d.foreign = ev
		d.refused = notObeyed{w.Rev, schema.ReasonWrongFleet,
			fmt.Sprintf("revision %d of fleet %s is not obeyed: this robot belongs to %s; sys/adopt changes that", w.Rev, w.FleetID, t.fleetID)}
		if d.refused != was {
			t.Out.Event(string(schema.ReasonWrongFleet), source, "", "", effect.Described{Reason: schema.ReasonWrongFleet, Detail: d.refused.detail})
		}
		return false
	case w.Rev < d.rev:
		t.Out.Event(string(schema.ReasonStaleRevision), source, "", "", effect.Described{Reason: schema.ReasonStaleRevision,
			Detail: fmt.Sprintf("revision %d came after revision %d", w.Rev, d.rev)})
		return false
	case w.Rev == d.rev && !same: // for example by a fleet whose database was restored
		v.Refused, v.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d came again with another content; a revision never changes",
			w.Rev)
		fallthrough
	case w.Rev > d.rev && v.Refused != "":
		if d.refused = (notObeyed{w.Rev, v.Refused, v.Detail}); d.refused != was {
			t.Out.Event(string(v.Refused), source, "", "", effect.Described{Reason: v.Refused, Detail: v.Detail})
		}
		return false
	}
	d.refused, d.foreign = notObeyed{}, nil
	t.noteAccepted(v)
	if w.Rev == d.rev {
		return false // received before
	}
	d.rev = w.Rev
	return true
}

// reportRefused shows a refused document in the report on the one that is obeyed.
func (d *intake) reportRefused(rev *int64, phase *schema.DeployPhase, reason *schema.Reason, retry *schema.Retry, detail *string) {
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
	if (*phase == schema.DeployRejected || *phase == schema.DeployHeld) && *retry == schema.RetryLater {
		*retry = schema.RetryNever // it is final for this revision
	}
}

// serveOtherFleet makes the intake serve another fleet. A document of that fleet that was refused as
// foreign before is taken now.
func (t Step) serveOtherFleet(d *intake) {
	foreign := d.foreign
	*d = intake{}
	if foreign != nil {
		t.Take(foreign)
	}
}

// ReportAgain makes the reports on documents without a blob be published once more: the disk
// refused a value, and nothing is reported before it is on the disk.
func (s *State) ReportAgain() { s.config.dirty, s.mode.dirty = true, true }
