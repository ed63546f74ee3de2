package auto

import (
	"slices"
	"time"

	"troupe/schema"
)

// Step processes one input. It updates the pauses of the facts first, so that no
// act begins during a pause; there is at most one transition.
func Step(s *State, now time.Duration, l Limits, f Facts, in Input) Decision {
	d := Decision{From: s.Status, To: s.Status}
	if in.What == Enter && in.Asked {
		s.left = stillness{}
	}
	if in.What == Enter && f.entryRefusal() == "" && s.Status == schema.AutoNotActive && s.left.needsContinue {
		s.tokens.acquire(Token{Kind: BySafety, Why: string(schema.ReasonNeedsContinue), Since: now, sticky: true}, &d)
	}
	if s.Status != schema.AutoNotActive || in.What == Enter && f.entryRefusal() == "" {
		s.tokens.refresh(now, BySafety, f.Safety, &d)
		s.tokens.refresh(now, BySafeguard, f.Safeguard, &d)
		s.tokens.refresh(now, ByLink, f.LinkLost, &d)
		s.restartAct = s.restartAct || f.Safety.Present && f.Safety.Sticky
	}
	switch in.What {
	case Enter:
		s.enter(now, f, in, &d)
	case Leave:
		s.leave(now, &d)
	case StartStory:
		s.start(now, f, in, &d)
	case StopStory:
		s.stop(now, &d)
	case SkipAct:
		s.skip(now, l, f, &d)
	case Pause:
		s.pause(now, f, in, &d)
	case Continue:
		d.Answer = s.release(f, in, &d)
	case Acquire:
		if s.Status != schema.AutoNotActive {
			s.tokens.acquire(Token{Kind: in.Kind, Key: in.Key, Why: in.Why, Since: now}, &d)
		}
	case Release:
		if i := s.tokens.find(Token{Kind: in.Kind, Key: in.Key}); i >= 0 {
			s.tokens.drop(i, &d)
		}
	case ActDone, ActFailed:
		if s.Begun {
			s.actEnded(now, l, f, in, &d)
		}
	}
	if d.resumedByPerson(in) {
		s.FailedRounds = 0
	}
	s.followStory(now, l, f, &d)
	s.proceed(now, &d)
	return d
}

// transition changes the status if the table has a row for the event, at most once in a step.
func (s *State) transition(now time.Duration, d *Decision, on Event) bool {
	row, ok := Table.Next(s.Status, on)
	if !ok || d.Changed {
		return false
	}
	d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
	if row.To != s.Status {
		s.Status, s.Since = row.To, now
	}
	return true
}

// resumedByPerson reports whether a person ended a pause: with auto/continue, or because they
// enabled the robot. They have seen what failed before, so only what fails from now on is news.
// A story without motion goes on in DISABLED, so its pause also ends without a person, when the
// robot has come to rest. That counts, too: if the next round fails, that is known again.
func (d *Decision) resumedByPerson(in Input) bool {
	return slices.ContainsFunc(d.Released, func(t Token) bool { return in.What == Continue || t.Kind == BySafety })
}

// rewind sets the story to its first act.
func (s *State) rewind(now time.Duration, story Story) {
	s.Story, s.Act, s.Loop, s.Begun, s.Reason = story, 0, 0, false, ""
	s.round, s.FailedRounds = Round{}, 0
	s.tries, s.roundStart, s.notBefore, s.restartAct = 0, now, 0, false
}

// cancel ends the current act if it is running.
func (s *State) cancel(d *Decision) {
	d.Cancel = d.Cancel || s.Begun
	s.Begun = false
}

func (s *State) enter(now time.Duration, f Facts, in Input, d *Decision) {
	if d.Refused = f.entryRefusal(); d.Refused != "" {
		return
	}
	on, stopped := OnEnter, s.left.stopped
	switch {
	case stopped:
		on = OnEnterStopped
	case s.tokens.n > 0:
		on = OnEnterHeld
	}
	if s.transition(now, d, on) {
		s.rewind(now, f.Story)
		s.left, s.requested = stillness{}, in.Asked
		if stopped {
			s.Reason = schema.ReasonStopped
		}
	}
}

// leave ends everything that belongs to ato. An operator's pause stays, so that the
// story does not resume after a change to another mode and back. What else people asked holds again
// if nobody asks for the next entry.
func (s *State) leave(now time.Duration, d *Decision) {
	left := s.stillness()
	if !s.transition(now, d, OnLeave) {
		return
	}
	s.left = left
	s.cancel(d)
	s.rewind(now, s.Story)
	for i := s.tokens.n - 1; i >= 0; i-- {
		if s.tokens.held[i].Kind != ByOperator {
			s.tokens.drop(i, d)
		}
	}
}

func (s *State) start(now time.Duration, f Facts, in Input, d *Decision) {
	why, detail, ok := f.Ready()
	switch {
	case s.Status == schema.AutoNotActive:
		d.Answer = refused(schema.ReasonNotInAto, "mode/set ato starts the story")
	case s.Status == schema.AutoPerforming:
		d.Answer = unchanged("the story is performed already")
	case s.Status == schema.AutoPaused:
		d.Answer = unchanged(s.PausedBy(in.Client, in.Person, f.Standstill))
	case !ok:
		d.Answer = refused(why, detail)
	default:
		on := OnStart
		if s.tokens.n > 0 {
			on = OnStartHeld
		}
		s.transition(now, d, on)
		s.rewind(now, f.Story)
		d.Answer = succeeded("")
	}
}

func (s *State) stop(now time.Duration, d *Decision) {
	switch {
	case s.Status == schema.AutoNotActive:
		d.Answer = refused(schema.ReasonNotInAto, "ato is not in charge; there is no story to stop")
	case s.StoppedByRequest():
		d.Answer = unchanged("the story is stopped")
	case s.transition(now, d, OnStop):
		s.cancel(d)
		s.rewind(now, s.Story)
		s.Reason = schema.ReasonStopped
		d.Answer = succeeded("")
	}
}

// skip ends the current act as a stop does, and continues as if the act had ended. An act that
// waits, because of a pause or between rounds, can be skipped too.
func (s *State) skip(now time.Duration, l Limits, f Facts, d *Decision) {
	switch {
	case s.Status == schema.AutoNotActive:
		d.Answer = refused(schema.ReasonNotInAto, "ato is not in charge; there is no act to skip")
		return
	case s.Status == schema.AutoStopped:
		d.Answer = refused(schema.ReasonNeedsStart, "the story is stopped, and no act is performed; auto/start starts it")
		return
	}
	for _, t := range s.Held() {
		switch t.Kind {
		case ByInterrupt:
			d.Answer = refused(schema.ReasonBusy, "the interrupt "+t.Key+
				" is performed now, not the story; interrupt/cancel ends it, and then the act can be skipped")
			return
		case ByActivity:
			d.Answer = refused(schema.ReasonBusy,
				"an activity is performed now, not the story; life/stop-focus ends it, and then the act can be skipped")
			return
		}
	}
	d.Skipped = true
	d.Answer = succeeded("")
	s.cancel(d)
	s.round.Skipped++
	s.afterAct(now, l, f, d, OnSkip)
}

func (s *State) pause(now time.Duration, f Facts, in Input, d *Decision) {
	t := Token{Kind: ByOperator, Client: in.Client, Person: in.Person, Req: in.Req, Why: in.Why, Since: now}
	switch {
	case s.Status == schema.AutoNotActive:
		d.Answer = refused(schema.ReasonNotInAto, "ato is not in charge; there is nothing to pause")
	case s.tokens.find(t) >= 0:
		d.Answer = unchanged("this pause is held already")
	case !s.tokens.acquire(t, d):
		d.Answer = refused(schema.ReasonOverloaded, s.stillPaused(in, f))
	default:
		d.Answer = succeeded("release it with auto/continue, or by its name " + t.Name())
	}
}

// actEnded counts how an act ended and decides whether it is tried again.
func (s *State) actEnded(now time.Duration, l Limits, f Facts, in Input, d *Decision) {
	s.Begun = false
	if in.What == ActFailed {
		switch {
		case s.Story.OnError == Stop:
			s.transition(now, d, OnActError)
			s.rewind(now, s.Story)
			s.Reason = in.Reason
			return
		case s.Story.OnError == Retry && s.tries < s.Story.Retries:
			s.tries++
			s.transition(now, d, OnAgain)
			return
		}
		s.round.Failed++
	} else {
		s.FailedRounds = 0
		s.round.Performed++
	}
	s.afterAct(now, l, f, d, OnActDone)
}

// afterAct makes the transition after an act that is over, or that another revision lacks: to the next act, to the
// next round, or to the end of the story.
func (s *State) afterAct(now time.Duration, l Limits, f Facts, d *Decision, on Event) {
	s.tries, s.restartAct = 0, false
	if f.revises(s) {
		s.Story, s.FailedRounds, on = f.Story, 0, OnRevised
		if s.Act = f.Place.Act; !f.Place.Kept {
			s.Act-- // the one there is the next
		}
	}
	if f.Story != s.Story && f.Apply != schema.ApplyNextStart || f.Story.Acts == 0 {
		return // followStory decides what comes next
	}
	switch {
	case s.Act+1 < s.Story.Acts:
		s.transition(now, d, on)
		s.Act++
	case s.Story.Times == 0 || s.Loop+1 < int64(s.Story.Times):
		s.transition(now, d, on)
		s.endRound(d)
		s.notBefore = s.roundStart + l.Round
		if d.Over.everyActFailed() {
			s.notBefore = max(s.notBefore, now+l.Failed)
		}
		s.Act, s.roundStart = 0, max(now, s.notBefore)
		s.Loop++
	default:
		s.transition(now, d, OnEnd)
		s.endRound(d)
		s.rewind(now, s.Story)
	}
}

func (s *State) endRound(d *Decision) {
	d.Over, d.Story, s.round = s.round, s.Story, Round{}
	d.Over.Number = s.Loop + 1
	if d.Over.everyActFailed() {
		s.FailedRounds++
	}
}

// followStory switches to the accepted story when Facts.Apply allows it.
func (s *State) followStory(now time.Duration, l Limits, f Facts, d *Decision) {
	if f.Story == s.Story && f.Story.Acts > 0 {
		return
	}
	if s.Status != schema.AutoPerforming && s.Status != schema.AutoPaused {
		if s.Story != f.Story && !d.Changed { // nothing is running: it is the next to start
			reason := s.whyStopped(f)
			s.rewind(now, f.Story)
			s.Reason = reason
		}
		return
	}
	why, _, ok := f.Ready()
	switch {
	case !ok && s.transition(now, d, OnWithdrawn):
		s.cancel(d)
		s.rewind(now, Story{})
		s.Reason = why
	case !ok:
	case f.Apply == schema.ApplyNextStart:
	case f.Apply != schema.ApplyNow && s.Begun:
	case f.revises(s) && d.Changed: // in the next step
	case f.revises(s) && f.Place.Kept:
		s.transition(now, d, OnRevised)
		s.Story, s.Act, s.FailedRounds = f.Story, f.Place.Act, 0
		if !f.Place.Same {
			s.tries = 0
			s.cancel(d)
		}
	case f.revises(s):
		s.cancel(d)
		s.afterAct(now, l, f, d, OnRevised)
	case s.transition(now, d, OnReplaced):
		s.cancel(d)
		s.rewind(now, f.Story)
	}
}

// whyStopped returns why the story of f, which is the next to start, is not performed. If
// somebody stopped ato, that stays the reason.
func (s *State) whyStopped(f Facts) schema.Reason {
	why, _, ready := f.Ready()
	switch {
	case s.Status == schema.AutoNotActive || s.Reason == schema.ReasonStopped:
		return s.Reason
	case ready:
		return schema.ReasonNeedsStart
	}
	return why
}

// proceed updates the status from the pauses and begins the act that is due. An act
// that a HALT or E_STOP interrupted restarts.
func (s *State) proceed(now time.Duration, d *Decision) {
	switch {
	case s.tokens.n > 0:
		s.transition(now, d, OnHeld)
	case s.transition(now, d, OnFree) && s.restartAct:
		s.cancel(d)
	}
	if s.tokens.n == 0 && s.Status == schema.AutoPerforming {
		s.restartAct = false
		// After a skip the next act begins in the next step, so that a story that waits for the
		// end of the act takes over first.
		if !s.Begun && !d.Skipped && now >= s.notBefore && s.Act < s.Story.Acts {
			s.Begun, d.Begin = true, true
		}
	}
}
