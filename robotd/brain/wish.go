package brain

import (
	"troupe/robotd/delivery"
	"troupe/robotd/request"
	"troupe/robotd/wish"
	"troupe/schema"
	"troupe/schema/sign"
)

// WishedSet is what activities or places the fleet wants the robot to have.
type WishedSet struct {
	Kind     sign.Kind
	Wish     schema.DesiredSet
	Digest   string           // as of Wished
	Problems []schema.Problem // as of Wished
	Emptied  bool             // as of Wished
}

func (WishedSet) event() {}

// wished hears which story the fleet wishes.
func (t *turn) wished(ev Wished) {
	if t.misunderstood(sign.Story, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.delivering(delivery.Emptied{})
		return
	}
	d := &ev.Wish
	v := t.vouch(sign.Wish{Kind: sign.Story, Robot: t.cfg.ID, Authority: d.Authority, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Story, d.Released)
	w := delivery.StoryWish(d)
	t.delivering(delivery.Wished{Wish: w, Refused: v.refused, Detail: v.detail})
	if t.story.Took(w) {
		t.believe(v)
	}
}

// wishedSet hears which activities or places the fleet wishes.
func (t *turn) wishedSet(ev WishedSet) {
	if t.misunderstood(ev.Kind, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.furnishing(ev.Kind, delivery.Emptied{})
		return
	}
	d := &ev.Wish
	v := t.vouch(sign.Wish{Kind: ev.Kind, Robot: t.cfg.ID, Authority: d.Authority, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, d.Set, d.Released)
	w := delivery.SetWish(d)
	t.furnishing(ev.Kind, delivery.Wished{Wish: w, Refused: v.refused, Detail: v.detail})
	if ev.Kind == sign.Places && t.places.Took(w) || ev.Kind == sign.Activities && t.activities.Took(w) {
		t.believe(v)
	}
}

// misunderstood tells of a wish that cannot be read; it changes nothing.
func (t *turn) misunderstood(k sign.Kind, problems []schema.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	p := problems[0]
	t.tell("bad_request", deliveryOf(k), p.Pointer, "", described{Reason: schema.ReasonBadRequest, Detail: "the desired " + string(k) + " was not understood: " + legible(p.String())})
	return true
}

// adopt makes the robot obey another fleet's wishes.
func (t *turn) adopt(o request.Perform) {
	was := t.authority
	if a := o.Args.Authority; a != was {
		t.authority = a
		t.do(SaveSetting{authoritySetting, a})
		t.everyContent(delivery.Adopt{Authority: a})
		t.wishing(wish.Input{What: wish.Adopted})
		t.forget(&t.modeWish.door)
		t.forget(&t.config.door) // what is in force stays until the other fleet wishes otherwise
		t.config.dirty, t.modeWish.dirty = true, true
	}
	r := reply{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "obeys " + t.authority}
	if was == o.Args.Authority {
		r.Reason = schema.ReasonUnchanged
	}
	t.reply(o.Key, r)
}
