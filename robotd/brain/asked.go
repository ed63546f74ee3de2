package brain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"troupe/robotd/interrupt"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
)

// asked is an act that somebody asks for while ato performs: an interrupt of the
// story, which goes on after it.
type asked struct {
	key       request.Key
	act       score.Act
	languages []string
}

// askedBy is the interrupter in whose name acts are asked for: switched off, it
// keeps all of them away.
const askedBy = "ai"

// askAct lays the act before the queue of interrupts, with all checks.
func (t *turn) askAct(o request.Perform) {
	a, ok := t.actOf(o)
	if !ok {
		return
	}
	t.toQueue = append(t.toQueue, queueInput{
		Input: interrupt.Input{What: interrupt.Ask, Handler: interrupt.RequestHandler, Interrupter: askedBy},
		by:    o.Key, when: o.If, asked: &asked{o.Key, a, t.accepted.languages},
	})
}

// actOf finds the act that an order names, or refuses the order: the robot has no
// such act, or its body cannot perform it.
func (t *turn) actOf(o request.Perform) (score.Act, bool) {
	var acts map[string]score.Act
	if t.accepted != nil {
		acts = t.accepted.Content.Acts
	}
	a, ok := acts[o.Args.Act]
	if !ok {
		names := slices.Sorted(maps.Keys(acts))
		t.refuse(o, schema.ReasonUnknownID, "/args/act", "this robot has no act "+o.Args.Act+"; it has "+cmp.Or(strings.Join(names, ", "), "none"))
		return a, false
	}
	if found := schema.Errors(score.Fit(a, t.capabilities())); len(found) > 0 {
		t.refuse(o, schema.ReasonOutOfRange, "", found[0].Detail)
		return a, false
	}
	return a, true
}

// performable answers whether an act that is asked for can be performed whole.
func (t *turn) performable(a *asked) (ok bool, why string) {
	switch {
	case a == nil:
		return false, "it performs the act that act/perform asks for"
	case a.act.Moves() && t.safety.At != schema.SafetyEnabled:
		return false, "the act moves, and the safety core is " + string(t.safety.At)
	}
	return true, ""
}

// answerAsked tells who asked for an act how its interrupt ended.
func (t *turn) answerAsked(e interrupt.Ended) {
	i := slices.IndexFunc(t.handling, func(h handling) bool { return h.id == e.ID })
	if i < 0 || t.handling[i].key == "" {
		return
	}
	r := reply{Status: schema.StatusSucceeded, Reason: e.Reason}
	switch e.Outcome {
	case interrupt.Failed, interrupt.TimedOut:
		r.Status = schema.StatusFailed
	case interrupt.Cancelled:
		r.Status = schema.StatusCancelled
	}
	t.reply(t.handling[i].key, r)
}

// callOffAct ends the act that a command asked for.
func (t *turn) callOffAct(key request.Key) bool {
	for _, h := range t.handling {
		if h.key == key {
			t.toQueue = append(t.toQueue, queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonCancelled}})
			return true
		}
	}
	return false
}

// cancelAsked ends it for a stop: what somebody asked for before does not go on
// when the robot may move again.
func (t *turn) cancelAsked() {
	for _, h := range t.handling {
		if h.key != "" {
			t.toQueue = append(t.toQueue, queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonStopped}})
		}
	}
}
