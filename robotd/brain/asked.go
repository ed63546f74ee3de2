package brain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

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

// wanted finds what an order asks to be performed, or refuses the order: it is not
// well said, the robot has no such act, or its body cannot perform it.
func (t *step) wanted(o request.Perform) (act.Entry, bool) {
	w, found := score.WantedBy(o.Args)
	if found = schema.Errors(found); len(found) > 0 {
		t.refuse(o, schema.ReasonBadRequest, found[0].Pointer, inWords(found[0]))
		return act.Entry{}, false
	}
	e := act.Entry{Act: w.Inline, With: w.With, Languages: t.cfg.Languages}
	if t.accepted != nil {
		e.Languages = t.accepted.languages
	}
	if w.Inline == nil && !t.ofStory(o, &e) {
		return e, false
	}
	why, p := schema.ReasonOutOfRange, schema.Problem{}
	if found := schema.Errors(score.Fit(*e.Act, t.furnished())); len(found) > 0 {
		p = found[0]
	} else if no := t.lanes.Check(e.Act); no != nil {
		why, p = no.Reason, schema.Problem{Pointer: no.Pointer, Detail: no.Detail}
	} else {
		return e, true
	}
	if p.Pointer = "/args" + p.Pointer; w.Inline == nil { // its sender sees no actions
		p.Pointer = ""
	}
	t.refuse(o, why, p.Pointer, inWords(p))
	return e, false
}

// inWords is a problem in one line, without its place.
func inWords(p schema.Problem) string { return strings.TrimSuffix(p.Detail+"; "+p.Hint, "; ") }

// ofStory finds an act by its id: one of the story's.
func (t *step) ofStory(o request.Perform, e *act.Entry) bool {
	var acts map[string]score.Act
	if t.accepted != nil {
		acts = t.accepted.Content.Acts
	}
	a, ok := acts[o.Args.Act]
	if !ok {
		names := slices.Sorted(maps.Keys(acts))
		t.refuse(o, schema.ReasonUnknownID, "/args/act", "this robot has no act "+o.Args.Act+"; it has "+cmp.Or(strings.Join(names, ", "), "none"))
		return false
	}
	if found := schema.Errors(a.ValidateWith(e.With)); len(found) > 0 {
		t.refuse(o, schema.ReasonBadRequest, "/args/with"+found[0].Pointer, inWords(found[0]))
		return false
	}
	e.Act = &a
	return true
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
