package request

import (
	"cmp"
	"slices"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// refuse answers a command that is not admitted. Its id may be used again.
func (t Step) refuse(v verb.Verb, client, id string, ans schema.Verdict) {
	if ans.Status == "" {
		ans.Status = schema.StatusRejected
	}
	ans = complete(v, ans)
	if id != "" {
		t.last = schema.LastRequest{ID: id, Client: client, Verb: v.ID(), Status: ans.Status, Result: ans.Result, Reason: ans.Reason}
	}
	t.answer(SendAck{Client: client, Ack: ack(v.ID(), id, ans)})
}

// resend sends the newest answer again. If there is none yet, the coming answer
// serves both copies.
func (t Step) resend(e *entry) {
	switch e.phase {
	case Done:
		a := e.finalAck()
		a.Key, a.Ack.Dup = "", true
		t.answer(a)
	case Working, Acknowledged:
		a := ack(e.rec.Verb, e.rec.ID, schema.Verdict{Status: cmp.Or(e.lastInterim, schema.StatusAccepted)})
		a.Dup, a.Progress, a.UncheckedAge = true, e.progress, e.rec.Answer.UncheckedAge
		t.answer(SendAck{Client: e.rec.Client, Ack: a})
	}
}

// Saved performs the commands whose records are on disk now and refuses those
// that the disk refused. If the disk is full, it erases old finished records and
// tries once more.
func (t Step) Saved(ev event.RequestsSaved) {
	var again []command.Record
	diskFull := ev.Refused == schema.ReasonNoSpace && t.finished() > minFinished
	for _, k := range ev.Keys {
		e := t.openByKey(k)
		if e == nil {
			if ev.Refused != "" {
				t.unwritten(k)
			}
			continue
		}
		if diskFull && e.phase == Saving && !e.retried {
			e.retried = true
			again = append(again, e.rec)
			continue
		}
		if ev.Refused != "" {
			if e.transition(OnUnsaved) {
				v := e.dispatch.Verb
				t.closeEntry(e)
				t.remove(e)
				t.unmarkSeq(e)
				t.toErase = append(t.toErase, k) // it may have been written in part
				t.refuse(v, e.rec.Client, e.rec.ID, schema.Verdict{Reason: ev.Refused,
					Detail: "the robot could not write the command down, so it was not begun"})
			}
			continue
		}
		if e.phase == Saving && e.expires > 0 && t.Now.Mono >= e.expires {
			t.expire(e)
			continue
		}
		if e.transition(OnSaved) {
			t.Out.Do(e.dispatch)
		}
	}
	if len(again) > 0 {
		t.save(t.evictHalf(), again...)
	}
}

// unwritten handles a finished record that the disk refused: the final answer is
// sent at once, and the write is repeated until the disk accepts it.
func (t Step) unwritten(k command.Key) {
	e := t.find(k)
	if e == nil || e.phase != Done {
		return
	}
	t.saveLater(e)
	t.rewriteAt = t.Now.Mono + rewriteEvery
	if e.answered || e.rec.Delivered {
		return
	}
	e.answered = true
	t.answer(e.finalAck())
}

func (t Step) expire(e *entry) {
	e.transition(OnExpired)
	t.finish(e, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired,
		Detail: "its time to live ended before it was begun"})
}

// outcome processes the result of a command, which the state document with this number shows.
// It ignores the outcome of a command that has its final answer, since there is exactly one.
func (t Step) outcome(r effect.Reply, stateSeq int64, current *schema.AckState) {
	e := t.openByKey(r.To)
	if e == nil {
		return
	}
	e.stateSeq, e.current, e.lease, e.refs = stateSeq, current, r.Lease, r.Refs
	switch {
	case !r.Status.Final():
		t.begin(e, r.StartsMotion)
	case e.transition(OnEnded):
		t.finish(e, r.Verdict)
	}
}

// Progress notes how far a command is that has not ended.
func (t Step) Progress(in effect.Progress) {
	if e := t.openByKey(in.Of); e != nil {
		e.stateSeq, e.current, e.lease, e.refs = 0, nil, nil, nil
		e.progress, e.remaining = &in.Percent, in.Remaining
		t.begin(e, false)
	}
}

// begin notes that a command has begun. ACCEPTED is sent at once if a motion begins.
func (t Step) begin(e *entry, startsMotion bool) {
	if !e.transition(OnBegun) {
		return
	}
	if e.interimAt = e.arrived + acceptWithin; startsMotion {
		e.interimAt = t.Now.Mono
	}
	if e.class == verb.ClassMode {
		t.supersede(e)
	}
	t.tick()
}

// supersede ends the older commands of the mode class that have begun, because e
// has begun. A mode command that ends at once, such as mode/enable, supersedes
// none.
func (t Step) supersede(e *entry) {
	for _, old := range slices.Clone(t.open) {
		if old != e && old.class == verb.ClassMode && old.rec.N < e.rec.N && old.transition(OnSuperseded) {
			old.refs = refsTo(e)
			t.finish(old, schema.Verdict{Status: schema.StatusSuperseded, Reason: schema.ReasonSuperseded, Detail: e.rec.Verb + " " + e.rec.Word +
				" came later"})
		}
	}
}

// finish gives e its one final answer. The record is written before the answer is
// sent, except for a stop and for a command that changed nothing, whose answers do not wait for the disk.
func (t Step) finish(e *entry, ans schema.Verdict) {
	ans.Detail, ans.Refs = schema.SanitizeTextWithin(ans.Detail, MaxDetail), nil
	e.rec.Answer.Verdict = complete(verbOf(e.rec.Verb), ans)
	t.closeEntry(e)
	t.noteLast(e)
	a := e.finalAck()
	switch {
	case !e.inJournal:
		a.Key = ""
		t.answer(a)
	case e.class == verb.ClassStop:
		e.answered = true
		t.answer(a)
		t.save(nil, e.rec)
	case e.unrecorded && ans.Reason == schema.ReasonUnchanged:
		// The answer promises nothing that a loss of power could undo, so it waits for no disk.
		e.answered = true
		t.saveLater(e)
		switch {
		case len(t.unsaved)+len(t.toErase) >= unsavedMost:
			t.save(nil)
		case t.rewriteAt == 0:
			t.rewriteAt = t.Now.Mono + unchangedWithin
		}
		t.answer(a)
	default:
		t.save(nil, e.rec)
		t.answer(a)
	}
}

func (s *State) noteLast(e *entry) {
	s.last = schema.LastRequest{ID: e.ackID, Client: e.rec.Client, Verb: e.rec.Verb, FirstArgument: e.rec.Word,
		Status: e.rec.Answer.Status, Result: e.rec.Answer.Result, Reason: e.rec.Answer.Reason}
}

// revoked notifies the sender of a succeeded command that control, which it granted, was taken
// away. This is the only case of a second final answer: from now on the command
// is CANCELLED, also for repetitions. A command that was evicted from the journal
// is ignored.
func (t Step) revoked(in effect.Revoke) {
	e := t.find(in.Key)
	if e == nil || e.rec.Answer.Status != schema.StatusSucceeded || !e.transition(OnRevoked) {
		return
	}
	e.rec.Answer.Verdict = complete(verbOf(e.rec.Verb), schema.Verdict{
		Status: schema.StatusCancelled, Reason: schema.ReasonNotInControl, Detail: schema.SanitizeTextWithin(in.Detail, MaxDetail),
	})
	e.rec.Delivered, e.lease, e.refs = false, in.Lease, in.By
	t.save(nil, e.rec)
	t.answer(e.finalAck())
}

// Delivered records that the broker has confirmed the final answer to a command, which need not
// be sent again. This goes to disk with
// the next save, since sending an answer twice after a crash does no harm.
func (s *State) Delivered(k command.Key) {
	if e := s.find(k); e != nil && e.phase == Done && !e.rec.Delivered {
		e.rec.Delivered = true
		s.saveLater(e)
	}
}

// saveLater adds a finished record to the next save.
func (s *State) saveLater(e *entry) {
	if e == nil || e.phase != Done {
		return
	}
	s.unsaved = slices.DeleteFunc(s.unsaved, func(r command.Record) bool { return r.N == e.rec.N })
	s.unsaved = append(s.unsaved, e.rec)
}

// Connected sends every final answer that the broker has not confirmed, oldest
// first.
func (t Step) Connected() {
	var unconfirmed []*entry
	for _, j := range t.journals {
		for _, e := range j.entries {
			if e.phase == Done && !e.rec.Delivered {
				unconfirmed = append(unconfirmed, e)
			}
		}
	}
	slices.SortFunc(unconfirmed, func(a, b *entry) int { return cmp.Compare(a.rec.N, b.rec.N) })
	for _, e := range unconfirmed {
		t.answer(e.finalAck())
	}
}

// Tick lets time pass if anything is due.
func (t Step) Tick() {
	if at, ok := t.Deadline(); ok && t.Now.Mono >= at {
		t.tick()
	}
}

func (t Step) tick() {
	if t.rewriteAt > 0 && t.Now.Mono >= t.rewriteAt {
		if t.rewriteAt = 0; len(t.unsaved)+len(t.toErase) > 0 {
			t.save(nil)
		}
	}
	for _, e := range slices.Clone(t.open) {
		switch {
		case e.phase == Saving && e.expires > 0 && t.Now.Mono >= e.expires:
			t.expire(e)
		case e.interimAt == 0 || t.Now.Mono < e.interimAt:
		case e.transition(OnAckDue):
			t.sendInterim(e, schema.StatusAccepted)
		case e.transition(OnProgressDue):
			t.sendInterim(e, schema.StatusInProgress)
		}
	}
}

func (t Step) sendInterim(e *entry, status schema.Status) {
	e.interimAt = t.Now.Mono + progressEvery
	a := ack(e.rec.Verb, e.rec.ID, schema.Verdict{Status: status})
	a.StateSeq, a.Current, a.UncheckedAge = e.stateSeq, e.current, e.rec.Answer.UncheckedAge
	if e.lastInterim = status; status == schema.StatusInProgress {
		a.Progress, a.EtaMS = e.progress, e.remaining.Milliseconds()
	}
	t.last = schema.LastRequest{ID: e.rec.ID, Client: e.rec.Client, Verb: e.rec.Verb, FirstArgument: e.rec.Word, Status: status}
	t.answer(SendAck{Client: e.rec.Client, Ack: a})
}

// finalAck returns the message with e's final answer. The state document's number,
// the lease and the refs are valid within one boot only, so they are omitted after
// a restart.
func (e *entry) finalAck() SendAck {
	id := e.ackID
	if e.rec.IDUnreadable {
		id = ""
	}
	a := ack(e.rec.Verb, id, e.rec.Answer.Verdict)
	a.StateSeq, a.Current, a.Lease, a.Refs, a.Dup, a.UncheckedAge = e.stateSeq, e.current, e.lease, e.refs, e.dup, e.rec.Answer.UncheckedAge
	return SendAck{Client: e.rec.Client, Key: e.rec.Key(), Ack: a}
}

// ack returns an answer's message; id is empty if it could not be read.
func ack(verbID, id string, ans schema.Verdict) schema.Ack {
	a := schema.Ack{Verb: verbID, Status: ans.Status, Result: ans.Result, Reason: ans.Reason, Detail: ans.Detail, Pointer: ans.Pointer}
	if id != "" {
		a.ID = &id
	}
	if ans.Reason != "" && ans.Status != schema.StatusSucceeded {
		a.Retry = ans.Reason.Describe().Retry
	}
	if ans.Reason == schema.ReasonOverloaded {
		a.RetryMS = 1000
	}
	return a
}

// refsTo returns a reference to the command of e.
func refsTo(e *entry) []schema.Ref {
	return []schema.Ref{{Kind: schema.RefCommand, ID: string(e.rec.Key())}}
}

// complete fills in the result: commands of the mode class use the mode
// supervisor's MS_* codes, a malformed command of any class MS_INV_CMD; a success of any other class is ok, and what did
// not succeed has none.
func complete(v verb.Verb, ans schema.Verdict) schema.Verdict {
	if ans.Result != "" || !ans.Status.Final() {
		return ans
	}
	mode := v.Class == verb.ClassMode
	switch {
	case ans.Status == schema.StatusSucceeded && mode:
		ans.Result = schema.ResultSuccess
	case ans.Status == schema.StatusSucceeded:
		ans.Result = schema.ResultOK
	case malformed(ans.Reason):
		ans.Result = schema.ResultInvCmd
	case !mode || ans.Status != schema.StatusRejected && ans.Status != schema.StatusFailed:
	case ans.Reason == schema.ReasonInvalidTransition:
		ans.Result = schema.ResultInvCmd
	case ans.Reason == schema.ReasonUnknownMode, ans.Reason == schema.ReasonModeDisabled:
		ans.Result = schema.ResultNoMode
	case ans.Reason == schema.ReasonNotCalibrated:
		ans.Result = schema.ResultNoCalib
	default:
		ans.Result = schema.ResultNotReady
	}
	return ans
}

// malformed reports whether r is about the form of a command, not about the
// robot's state.
func malformed(r schema.Reason) bool {
	switch r {
	case schema.ReasonBadRequest, schema.ReasonUnknownVerb, schema.ReasonTooBig, schema.ReasonRetainedCommand, schema.ReasonIDReuse,
		schema.ReasonClockSkew:
		return true
	}
	return false
}
