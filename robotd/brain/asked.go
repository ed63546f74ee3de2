package brain

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/interrupt"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
)

// asked is an act that somebody asks for while ato performs: an interrupt of the
// story, which goes on after it.
type asked struct {
	key request.Key
	act.Entry
}

// askedBy is the interrupter in whose name acts are asked for: switched off, it
// keeps all of them away.
const askedBy = "ai"

// askAct lays the act before the queue of interrupts, with all checks. One at a
// time is performed: another one is refused meanwhile, or with clear takes its
// place.
func (t *step) askAct(o request.Perform) {
	e, ok := t.wanted(o)
	if !ok {
		return
	}
	t.toQueue.Put(queueInput{
		Input: interrupt.Input{What: interrupt.Ask, Handler: interrupt.RequestHandler, Interrupter: askedBy, Replaces: o.Args.Clear},
		asked: &asked{o.Key, e},
	}, o.Key, o.If)
}

// wanted finds what an order asks to be performed, or refuses the order.
func (t *step) wanted(o request.Perform) (act.Entry, bool) {
	acts, languages := map[string]score.Act(nil), t.cfg.Languages
	if t.accepted != nil {
		acts, languages = t.accepted.Content.Acts, t.accepted.languages
	}
	e, no := t.lanes.Resolve(o.Args, acts, languages, t.furnished())
	if no != nil {
		t.refuse(o, no.Reason, no.Pointer, no.Detail)
	}
	return e, no == nil
}

// performable answers whether an act that is asked for can be performed whole.
func (t *step) performable(a *asked) (ok bool, why string) {
	switch {
	case a == nil:
		return false, "it performs the act that act/perform asks for"
	case a.Act.Moves() && t.safety.At != schema.SafetyEnabled:
		return false, "the act moves, and the safety core is " + string(t.safety.At)
	}
	return true, ""
}

// answerAsked tells who asked for an act how its interrupt ended, in the step that
// decides on by.
func (t *step) answerAsked(e interrupt.Ended, by request.Key) {
	i := slices.IndexFunc(t.handling, func(h handling) bool { return h.id == e.ID })
	if i < 0 || t.handling[i].key == "" {
		return
	}
	r := request.Verdict{Status: schema.StatusSucceeded, Reason: e.Reason}
	switch e.Outcome {
	case interrupt.Failed, interrupt.TimedOut:
		r.Status = schema.StatusFailed
	case interrupt.Cancelled:
		r.Status = schema.StatusCancelled
		r.Refs = t.handling[i].by.Refs()
		if e.Reason == schema.ReasonSuperseded {
			r.Status, r.Refs = schema.StatusSuperseded, by.Refs()
		}
	}
	t.reply(t.handling[i].key, r)
}

// callOffAct ends the act that a command asked for.
func (t *step) callOffAct(key, by request.Key) bool {
	for i, h := range t.handling {
		if h.key == key {
			t.handling[i].by = by
			t.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonCancelled}})
			return true
		}
	}
	return false
}

// cancelAsked ends it for a stop: what somebody asked for before does not go on
// when the robot may move again.
func (t *step) cancelAsked() {
	for _, h := range t.handling {
		if h.key != "" {
			t.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonStopped}})
		}
	}
}
