package perform

import (
	"cmp"
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/interrupt"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
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

// AskAct puts the act into the inbox of the interrupts, after all checks. One at a time
// is performed: another one is refused meanwhile, or with clear takes its place.
func (t Step) AskAct(o request.Perform, a verb.WholeAct) {
	e, ok := t.wanted(o, a)
	if !ok {
		return
	}
	t.toQueue.Put(queueInput{
		Input: interrupt.Input{What: interrupt.Request, Handler: interrupt.RequestHandler, Interrupter: askedBy, Replaces: a.Replaces()},
		asked: &asked{o.Key, e},
	}, o.Key, o.If)
}

// wanted finds what an order asks to be performed, or refuses the order.
func (t Step) wanted(o request.Perform, a verb.WholeAct) (act.Entry, bool) {
	acts, files, languages := t.Repertoire()
	e, no := t.Lanes.Resolve(a, acts, languages, score.WithAssets(t.Body.Capabilities(t.cfg.Languages), files))
	if no != nil {
		t.Out.Refuse(o.Key, no.Reason, no.Pointer, no.Detail)
	}
	return e, no == nil
}

// performable answers whether an act that is asked for can be performed whole.
func (t Step) performable(a *asked) (ok bool, why string) {
	switch {
	case a == nil:
		return false, "it performs the act that act/perform asks for"
	case a.Act.Moves() && t.Safety != schema.SafetyEnabled:
		return false, "the act moves, and the safety core is " + string(t.Safety)
	}
	return true, ""
}

// answerAsked answers the sender of an act whose interrupt ended, in the step that
// decides on by.
func (t Step) answerAsked(e interrupt.Ended, by request.Key) {
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
	t.Out.Reply(t.handling[i].key, r)
}

// Cancel ends the act that a command asked for.
func (s *State) Cancel(key, by request.Key) bool {
	for i, h := range s.handling {
		if h.key == key {
			s.handling[i].by = by
			s.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonCancelled}})
			return true
		}
	}
	return false
}

// cancelAsked ends it for a stop: what somebody asked for before the stop does not go on
// when the robot may move again.
func (t Step) cancelAsked() {
	for _, h := range t.handling {
		if h.key != "" {
			t.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonStopped}})
		}
	}
}

// AskAuto and AskQueue let an order wait for ato, and for the queue of interrupts.
func (s *State) AskAuto(o request.Perform, in auto.Input) {
	in.Client, in.Person, in.Req, in.Why = o.Client, o.By, o.ID, cmp.Or(in.Why, o.Why)
	s.toAuto.Put(autoInput{Input: in}, o.Key, o.If)
}

func (s *State) AskQueue(o request.Perform, in interrupt.Input) {
	s.toQueue.Put(queueInput{Input: in}, o.Key, o.If)
}

// Drop takes an order away that waits for its turn.
func (s *State) Drop(k request.Key) bool {
	queue, ato := s.toQueue.Drop(k), s.toAuto.Drop(k)
	return queue || ato
}

// Pending reports whether something waits for its turn.
func (s *State) Pending() bool { return s.toQueue.Len()+s.toAuto.Len() > 0 || s.again }

// met reports whether what an order was bound to still holds, and refuses it if not.
func (t Step) met(by request.Key, when schema.Precondition) bool {
	v, fails := request.Unmet(when, t.Standing)
	if fails {
		t.Out.Reply(by, v)
	}
	return !fails
}

// Refs name what of it a reason is about.
func (s *State) Refs(why schema.Reason) (refs []schema.Ref) {
	switch why {
	case schema.ReasonIgnoredDuplicate:
		for _, e := range s.queue.Running() {
			refs = append(refs, schema.Ref{Kind: schema.RefInterrupt, ID: e.ID})
		}
	case schema.ReasonIgnoredGlobal:
		for _, p := range s.auto.Held() {
			if p.Kind.Global() {
				refs = append(refs, schema.Ref{Kind: schema.RefPause, ID: p.Name()})
			}
		}
	}
	return refs
}
