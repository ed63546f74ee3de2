package perform

import (
	"cmp"
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// requestedAct is an act that was requested while ato performs: an interrupt of the story, which
// continues afterwards.
type requestedAct struct {
	key command.Key
	act.Entry
	files []score.Asset // that it names
}

// AskAct queues the act as an interrupt, after all checks. One at a time is performed:
// further ones wait for it, or replace all of them with clear.
func (t Step) AskAct(o effect.Dispatch, a verb.WholeAct) {
	e, files, ok := t.resolveRequestedAct(o, a)
	if !ok {
		return
	}
	t.toInterrupts.Put(interruptInput{
		Input: interrupt.Input{What: interrupt.Request, Handler: interrupt.RequestHandler, Interrupter: interrupt.AIInterrupter,
			Replaces: a.Replaces()},
		requested: &requestedAct{o.Key, e, files},
	}, o.Key, o.If)
}

// resolveRequestedAct returns the act that a command requests, or refuses the command.
func (t Step) resolveRequestedAct(o effect.Dispatch, a verb.WholeAct) (e act.Entry, files []score.Asset, ok bool) {
	acts, files, languages := t.Repertoire()
	e, no := t.Lanes.Resolve(a, acts, languages, score.WithAssets(t.Body.Capabilities(t.cfg.Languages), files))
	if no != nil {
		t.Out.Refuse(o.Key, no.Reason, no.Pointer, no.Detail)
	}
	e.Req = string(o.Key)
	return e, files, no == nil
}

// performable reports whether the robot can perform a requested act completely now, and if not,
// why.
func (t Step) performable(a *requestedAct) (ok bool, why string) {
	switch {
	case a == nil:
		return false, "the handler request performs only what act/perform asks for; send act/perform"
	case a.Act.Moves() && t.Safety != schema.SafetyEnabled:
		return false, "the act moves: " + t.Standstill.String()
	}
	return true, ""
}

// answerRequestedActs answers the commands of the acts of an interrupt that ended, in the same step.
func (t Step) answerRequestedActs(e interrupt.Ended, by command.Key) {
	i := slices.IndexFunc(t.runningHandlers, func(h runningHandler) bool { return h.id == e.ID })
	if i < 0 {
		return
	}
	for j, a := range t.runningHandlers[i].requests {
		r := schema.Verdict{Status: schema.StatusSucceeded, Reason: e.Reason, Detail: a.script.leftOut()}
		if j == 0 {
			r.Detail = t.detail(e.ID)
		}
		switch e.Outcome {
		case interrupt.Failed, interrupt.TimedOut:
			r.Status = schema.StatusFailed
		case interrupt.Cancelled:
			r.Status = schema.StatusCancelled
			r.Refs = a.by.Refs()
			if e.Reason == schema.ReasonSuperseded {
				r.Status, r.Refs = schema.StatusSuperseded, by.Refs()
			}
		}
		t.Out.Reply(a.key, r)
	}
}

// Cancel marks the act that a command requested; Handlers ends it, or removes it from those that
// wait. It reports whether there is such an act.
func (s *State) Cancel(key, by command.Key) bool {
	for i := range s.runningHandlers {
		for j := range s.runningHandlers[i].requests {
			if a := &s.runningHandlers[i].requests[j]; a.key == key {
				a.cancelled, a.by = true, by
				return true
			}
		}
	}
	return false
}

// cancelRequestedActs ends the requested acts because of a stop: what was requested before a stop
// does not continue when the robot may move again.
func (t Step) cancelRequestedActs() {
	for _, h := range t.runningHandlers {
		if len(h.requests) > 0 {
			t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonStopped}})
		}
	}
}

// Ask takes a command, and reports whether it is one of the story or of interrupts.
func (s *State) Ask(o effect.Dispatch) bool {
	switch a := o.Args.(type) {
	case verb.StartStory:
		s.AskAuto(o, auto.Input{What: auto.StartStory})
	case verb.StopStory:
		s.AskAuto(o, auto.Input{What: auto.StopStory})
	case verb.SkipAct:
		s.askAuto(o, autoInput{Input: auto.Input{What: auto.SkipAct, Why: a.Why}, act: string(a.Act)})
	case verb.PauseStory:
		s.AskAuto(o, auto.Input{What: auto.Pause, Why: a.Why})
	case verb.ContinueStory:
		s.AskAuto(o, auto.Input{What: auto.Continue, Token: string(a.Token)})
	case verb.RequestInterrupt:
		s.AskInterrupts(o, interrupt.Input{What: interrupt.Request, Handler: a.Handler, Interrupter: cmp.Or(a.Interrupter, "operator")})
	case verb.CancelInterrupt:
		s.AskInterrupts(o, interrupt.Input{What: interrupt.Cancel, ID: a.ID, Reason: schema.ReasonStopped})
	case verb.RunInterrupter:
		s.AskInterrupts(o, interrupt.Input{What: interrupt.Run, Interrupter: a.Interrupter})
	case verb.StopInterrupter:
		s.AskInterrupts(o, interrupt.Input{What: interrupt.Stop, Interrupter: a.Interrupter})
	default:
		return false
	}
	return true
}

// AskAuto and AskInterrupts queue a command for ato, and for the interrupts.
func (s *State) AskAuto(o effect.Dispatch, in auto.Input) { s.askAuto(o, autoInput{Input: in}) }

func (s *State) askAuto(o effect.Dispatch, in autoInput) {
	in.Client, in.Person, in.Req, in.Why = o.Client, o.By, o.ID, cmp.Or(in.Why, o.Why)
	s.toAuto.Put(in, o.Key, o.If)
}

func (s *State) AskInterrupts(o effect.Dispatch, in interrupt.Input) {
	s.toInterrupts.Put(interruptInput{Input: in}, o.Key, o.If)
}

// Drop removes a queued command.
func (s *State) Drop(k command.Key) bool {
	interrupts, ato := s.toInterrupts.Drop(k), s.toAuto.Drop(k)
	return interrupts || ato
}

// Pending reports whether there is something to decide at once: an input, or what the last step
// left for the next one.
func (s *State) Pending() bool {
	return s.toInterrupts.Len()+s.toAuto.Len() > 0 || s.again ||
		s.focus.run != s.pausedForRun || s.focus.next != nil && !s.focusFrozen()
}

// Refs lists what a reason is about.
func (s *State) Refs(why schema.Reason) (refs []schema.Ref) {
	switch why {
	case schema.ReasonAlreadyRunning:
		for _, e := range s.interrupts.Running() {
			refs = append(refs, schema.Ref{Kind: schema.RefInterrupt, ID: e.ID})
		}
	case schema.ReasonNotPerforming:
		for _, p := range s.auto.Held() {
			if p.Kind.Global() {
				refs = append(refs, schema.Ref{Kind: schema.RefPause, ID: p.Name()})
			}
		}
	}
	return refs
}
