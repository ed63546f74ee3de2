package brain

import (
	"troupe/robotd/delivery"
	"troupe/robotd/desiredmode"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/sign"
)

// takeDesiredStory hears which story the fleet desires.
func (t *step) takeDesiredStory(ev event.DesiredStory) {
	if t.misunderstood(sign.Story, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.delivering(delivery.Emptied{})
		return
	}
	d := &ev.Document
	v := t.vouch(sign.Subject{Kind: sign.Story, Robot: t.cfg.ID, FleetID: d.FleetID, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Story, d.Released)
	w := delivery.DesiredStory(d)
	t.delivering(delivery.Document{Desired: w, Refused: v.refused, Detail: v.detail})
	if t.story.Took(w) {
		t.believe(v)
	}
}

// takeDesiredSet hears which activities or places the fleet desires.
func (t *step) takeDesiredSet(ev event.DesiredSet) {
	if t.misunderstood(ev.Kind, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.furnishing(ev.Kind, delivery.Emptied{})
		return
	}
	d := &ev.Document
	v := t.vouch(sign.Subject{Kind: ev.Kind, Robot: t.cfg.ID, FleetID: d.FleetID, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Set, d.Released)
	w := delivery.DesiredSet(d)
	t.furnishing(ev.Kind, delivery.Document{Desired: w, Refused: v.refused, Detail: v.detail})
	if ev.Kind == sign.Places && t.places.Took(w) || ev.Kind == sign.Activities && t.activities.Took(w) {
		t.believe(v)
	}
}

// misunderstood tells of a desired state that cannot be read; it changes nothing.
func (t *step) misunderstood(k sign.Kind, problems []schema.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	p := problems[0]
	t.tell("bad_request", deliveryOf(k), p.Pointer, "", effect.Described{Reason: schema.ReasonBadRequest, Detail: "the desired " + string(k) + " was not understood: " + schema.Legible(p.String())})
	return true
}

// adopt makes the robot obey another fleet's desired documents.
func (t *step) adopt(o request.Perform) {
	was := t.fleetID
	if a := o.Args.FleetID; a != was {
		t.fleetID = a
		t.do(effect.SaveSetting{Name: fleetIDSetting, Value: a})
		t.everyContent(delivery.Adopt{FleetID: a})
		t.stepDesiredMode(desiredmode.Input{What: desiredmode.Adopted})
		t.forget(&t.desiredMode.desiredIntake)
		t.forget(&t.config.desiredIntake) // what is in force stays until the other fleet desires otherwise
		t.config.dirty, t.desiredMode.dirty = true, true
	}
	r := request.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "obeys " + t.fleetID}
	if was == o.Args.FleetID {
		r.Reason = schema.ReasonUnchanged
	}
	t.reply(o.Key, r)
}
