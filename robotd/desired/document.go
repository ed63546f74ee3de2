package desired

import (
	"troupe/robotd/delivery"
	"troupe/robotd/desiredmode"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/sign"
)

// TakeStory hears which story the fleet desires.
func (t Step) TakeStory(ev event.DesiredStory) {
	if t.misunderstood(sign.Story, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.delivering(delivery.Emptied{})
		return
	}
	d := &ev.Document
	v := t.Verify(sign.Subject{Kind: sign.Story, Robot: t.cfg.ID, FleetID: d.FleetID, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Story, d.Released)
	w := delivery.DesiredStory(d)
	t.delivering(delivery.Document{Desired: w, Refused: v.Refused, Detail: v.Detail})
	if t.story.Took(w) {
		t.believe(v)
	}
}

// TakeSet hears which activities or places the fleet desires.
func (t Step) TakeSet(ev event.DesiredSet) {
	if t.misunderstood(ev.Kind, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.furnishing(ev.Kind, delivery.Emptied{})
		return
	}
	d := &ev.Document
	v := t.Verify(sign.Subject{Kind: ev.Kind, Robot: t.cfg.ID, FleetID: d.FleetID, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Set, d.Released)
	w := delivery.DesiredSet(d)
	t.furnishing(ev.Kind, delivery.Document{Desired: w, Refused: v.Refused, Detail: v.Detail})
	if ev.Kind == sign.Places && t.places.Took(w) || ev.Kind == sign.Activities && t.activities.Took(w) {
		t.believe(v)
	}
}

// misunderstood tells of a desired state that cannot be read; it changes nothing.
func (t Step) misunderstood(k sign.Kind, problems []schema.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	p := problems[0]
	t.Out.Event("bad_request", deliveryOf(k), p.Pointer, "", effect.Described{Reason: schema.ReasonBadRequest, Detail: "the desired " + string(k) + " was not understood: " + schema.Legible(p.String())})
	return true
}

// Adopt makes the robot obey another fleet's desired documents.
func (t Step) Adopt(o request.Perform) {
	was := t.fleetID
	if a := o.Args.FleetID; a != was {
		t.fleetID = a
		t.Out.Do(effect.SaveSetting{Name: FleetIDSetting, Value: a})
		t.Content(delivery.Adopt{FleetID: a})
		t.stepMode(desiredmode.Input{What: desiredmode.Adopted})
		t.forget(&t.mode.intake)
		t.forget(&t.config.intake) // what is in force stays until the other fleet desires otherwise
		t.config.dirty, t.mode.dirty = true, true
	}
	r := request.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "obeys " + t.fleetID}
	if was == o.Args.FleetID {
		r.Reason = schema.ReasonUnchanged
	}
	t.Out.Reply(o.Key, r)
}
