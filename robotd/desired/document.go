package desired

import (
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/sign"
	"troupe/schema/verb"
)

// claim is what Verify needs of every desired document. Documents without a blob have no pin.
// A robot that was adopted by another fleet has forgotten rev; of counter, which rises with every
// document that a fleet signs, it keeps the highest by kind and fleet (sign.Marks), so that an old
// signed document is refused also when it obeys the former fleet again.
type claim struct {
	fleetID      string
	rev, counter int64
	sig          *schema.Signature
	pin          *schema.ContentPin
	released     *schema.Signature
}

// Take takes a desired document of any kind.
func (t Step) Take(ev event.Event) {
	switch ev := ev.(type) {
	case event.DesiredStory:
		d := &ev.Document
		take(t, sign.Story, ev, claim{d.FleetID, d.Rev, d.Counter, d.Sig, d.Story, d.Released}, Step.takeStory)
	case event.DesiredSet:
		d := &ev.Document
		take(t, ev.Kind, ev, claim{d.FleetID, d.Rev, d.Counter, d.Sig, d.Set, d.Released}, Step.takeSet)
	case event.DesiredConfig:
		d := &ev.Document
		take(t, sign.Config, ev, claim{fleetID: d.FleetID, rev: d.Rev, counter: d.Counter, sig: d.Sig}, Step.takeConfig)
	case event.DesiredMode:
		d := &ev.Document
		take(t, sign.Mode, ev, claim{fleetID: d.FleetID, rev: d.Rev, counter: d.Counter, sig: d.Sig}, Step.takeMode)
	}
}

// take verifies a document that was decoded and not deleted, and passes it on by its kind.
func take[T any](t Step, k sign.Kind, ev event.Desired[T], c claim, to func(Step, event.Desired[T], Verification)) {
	switch {
	case len(ev.Problems) > 0:
		p := ev.Problems[0]
		t.Out.Event("bad_request", eventSource(k), p.Pointer, "", effect.Described{Reason: schema.ReasonBadRequest, Detail: "the desired " +
			string(k) + " was not understood: " + schema.SanitizeText(p.String())})
	case ev.Emptied:
		t.deleted(k)
	default:
		to(t, ev, t.Verify(sign.Subject{Kind: k, Robot: t.cfg.ID, FleetID: c.fleetID, Rev: c.rev, Counter: c.counter, Document: ev.Digest}, c.sig,
			c.pin, c.released))
	}
}

// deleted notes that a document was deleted at the broker, which changes nothing.
func (t Step) deleted(k sign.Kind) {
	switch k {
	case sign.Story:
		t.stepStory(delivery.DocumentDeleted{})
	case sign.Activities, sign.Places:
		t.stepSet(k, delivery.DocumentDeleted{})
	default:
		t.Out.Event(string(k)+"_deletion_ignored", string(k), "", "",
			effect.Described{Detail: "the desired state was deleted from the broker; that changes nothing"})
	}
}

// takeStory takes the desired story.
func (t Step) takeStory(ev event.DesiredStory, v Verification) {
	w := delivery.DesiredStory(&ev.Document)
	t.stepStory(delivery.Document{Desired: w, Refused: v.Refused, Detail: v.Detail})
	if t.story.IsCurrent(w) {
		t.noteAccepted(v)
	}
}

// takeSet takes the desired activities or places.
func (t Step) takeSet(ev event.DesiredSet, v Verification) {
	w := delivery.DesiredSet(&ev.Document)
	t.stepSet(ev.Kind, delivery.Document{Desired: w, Refused: v.Refused, Detail: v.Detail})
	if ev.Kind == sign.Places && t.places.IsCurrent(w) || ev.Kind == sign.Activities && t.activities.IsCurrent(w) {
		t.noteAccepted(v)
	}
}

// Ask takes a command, and reports whether it is one of desired documents.
func (t Step) Ask(o effect.Dispatch) bool {
	a, ok := o.Args.(verb.Adopt)
	if ok {
		t.Adopt(o, string(a.FleetID))
	}
	return ok
}

// Adopt makes the robot obey another fleet's desired documents.
func (t Step) Adopt(o effect.Dispatch, fleetID string) {
	was := t.fleetID
	if fleetID != was {
		t.saveFleetID(fleetID)
		t.ToDeliveries(delivery.Adopt{FleetID: fleetID})
		t.stepMode((*modeStatus).adopted)
		t.serveOtherFleet(&t.mode.intake)
		t.serveOtherFleet(&t.config.intake) // the present configuration stays until the other fleet desires another one
		t.config.dirty, t.mode.dirty = true, true
	}
	r := schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "obeys " + t.fleetID}
	if was == fleetID {
		r.Reason = schema.ReasonUnchanged
	}
	t.Out.Reply(o.Key, r)
}
