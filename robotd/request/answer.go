package request

import (
	"cmp"
	"slices"

	"troupe/schema"
)

// refuse answers at the door. The id may be used again.
func (s *State) refuse(verb schema.Verb, client, id string, ans Answer, out []Effect) []Effect {
	if ans.Status == "" {
		ans.Status = schema.StatusRejected
	}
	ans = complete(verb, ans)
	a := ack(verb.ID(), id, ans)
	if id != "" {
		s.last = schema.LastRequest{ID: id, Client: client, Verb: verb.ID(), Status: ans.Status, Result: ans.Result, Reason: ans.Reason}
	}
	return append(out, Tell{Client: client, Ack: a})
}

// repeat tells again what was told. While nothing could be told yet the answer
// under way serves both copies.
func (s *State) repeat(e *entry, out []Effect) []Effect {
	switch e.phase {
	case Done:
		t := e.tell()
		t.Key, t.Ack.Dup = "", true
		return append(out, t)
	case Working, Told:
		a := ack(e.rec.Verb, e.rec.ID, Answer{Status: cmp.Or(e.interim, schema.StatusAccepted), UncheckedAge: e.rec.Answer.UncheckedAge})
		a.Dup, a.Progress = true, e.progress
		return append(out, Tell{Client: e.rec.Client, Ack: a})
	}
	return out
}

// saved performs what is on disk now, and refuses what the disk did not take.
//
// If it is full, the oldest of what is finished makes room once.
func (s *State) saved(now Now, in Saved, out []Effect) []Effect {
	var again []Record
	crowded := in.Refused == schema.ReasonNoSpace && s.finished() > enough
	for _, k := range in.Keys {
		e := s.openByKey(k)
		if e == nil {
			if in.Refused != "" {
				out = s.unwritten(now, k, out)
			}
			continue
		}
		if crowded && e.phase == Saving && !e.retried {
			e.retried = true
			again = append(again, e.rec)
			continue
		}
		if in.Refused != "" {
			if e.take(OnUnsaved) {
				verb := e.perform.Verb
				s.close(e)
				s.remove(e)
				s.unmark(e)
				s.erase = append(s.erase, k) // whether the write failed wholly is not known
				out = s.refuse(verb, e.rec.Client, e.rec.ID, Answer{Reason: in.Refused, Detail: "the robot could not write the command down, so it was not begun"}, out)
			}
			continue
		}
		if e.phase == Saving && e.expires > 0 && now.Mono >= e.expires {
			out = s.stale(e, out)
			continue
		}
		if e.take(OnSaved) {
			out = append(out, e.perform)
		}
	}
	if len(again) > 0 {
		out = append(out, s.save(s.shed(), again...))
	}
	return out
}

// unwritten takes back a finished record that the disk refused. What was done is
// told at once as what came of it, and its record is offered to the disk again until
// that takes it.
func (s *State) unwritten(now Now, k Key, out []Effect) []Effect {
	e := s.find(k)
	if e == nil || e.phase != Done {
		return out
	}
	s.later(e)
	s.offerAt = now.Mono + offerEvery
	if e.told || e.rec.Delivered {
		return out
	}
	e.told = true
	return append(out, e.tell())
}

func (s *State) stale(e *entry, out []Effect) []Effect {
	e.take(OnStale)
	return s.finish(e, Answer{Status: schema.StatusExpired, Reason: schema.ReasonExpired, Detail: "its time to live ended before it was begun"}, out)
}

// outcome takes what came of a command. An outcome of a command that has its
// final answer already is ignored: there is exactly one.
func (s *State) outcome(now Now, o Outcome, out []Effect) []Effect {
	e := s.openByKey(o.Key)
	if e == nil {
		return out
	}
	e.stateSeq, e.current, e.lease, e.refs = o.StateSeq, o.Current, o.Lease, o.Refs
	if !o.Status.Final() {
		if o.Progress != nil {
			e.progress, e.left = o.Progress, o.Left
		}
		if !e.take(OnBegun) {
			return out
		}
		if e.tellAt = e.arrived + acceptWithin; o.Moves {
			e.tellAt = now.Mono
		}
		if e.class == schema.ClassMode {
			out = s.overtake(e, out)
		}
		return s.tick(now, out)
	}
	if e.take(OnEnded) {
		out = s.finish(e, Answer{Status: o.Status, Result: o.Result, Reason: o.Reason, Detail: o.Detail, Pointer: o.Pointer}, out)
	}
	return out
}

// overtake ends what e took over from. A command of the mode class that ended
// at once, such as mode/enable, takes over from nobody.
func (s *State) overtake(e *entry, out []Effect) []Effect {
	for _, old := range slices.Clone(s.open) {
		if old != e && old.class == schema.ClassMode && old.rec.N < e.rec.N && old.take(OnOvertaken) {
			old.refs = refsTo(e)
			out = s.finish(old, Answer{Status: schema.StatusSuperseded, Reason: schema.ReasonSuperseded, Detail: e.rec.Verb + " " + e.rec.Word + " came later"}, out)
		}
	}
	return out
}

// finish gives e its one final answer. It is written before it is told, but for
// a stop, whose answer waits for no disk.
func (s *State) finish(e *entry, ans Answer, out []Effect) []Effect {
	ans.UncheckedAge, ans.Detail = e.rec.Answer.UncheckedAge, schema.LegibleWithin(ans.Detail, MaxDetail)
	e.rec.Answer = complete(verbOf(e.rec.Verb), ans)
	s.close(e)
	s.note(e)
	t := e.tell()
	if !e.kept {
		t.Key = ""
		return append(out, t)
	}
	if e.class == schema.ClassStop {
		e.told = true
		return append(out, t, s.save(nil, e.rec))
	}
	return append(out, s.save(nil, e.rec), t)
}

func (s *State) note(e *entry) {
	s.last = schema.LastRequest{ID: e.asked, Client: e.rec.Client, Verb: e.rec.Verb, Word: e.rec.Word,
		Status: e.rec.Answer.Status, Result: e.rec.Answer.Result, Reason: e.rec.Answer.Reason}
}

// delivered notes that an answer needs no telling any more. It is not worth a
// write of its own: told twice after a crash does no harm.
func (s *State) delivered(k Key) {
	if e := s.find(k); e != nil && e.phase == Done && !e.rec.Delivered {
		e.rec.Delivered = true
		s.later(e)
	}
}

// later has a finished record written with the next Save.
func (s *State) later(e *entry) {
	if e == nil || e.phase != Done {
		return
	}
	s.late = slices.DeleteFunc(s.late, func(r Record) bool { return r.N == e.rec.N })
	s.late = append(s.late, e.rec)
}

// connected tells every final answer that the broker has not confirmed, oldest
// first.
func (s *State) connected(out []Effect) []Effect {
	var untold []*entry
	for _, j := range s.journals {
		for _, e := range j.entries {
			if e.phase == Done && !e.rec.Delivered {
				untold = append(untold, e)
			}
		}
	}
	slices.SortFunc(untold, func(a, b *entry) int { return cmp.Compare(a.rec.N, b.rec.N) })
	for _, e := range untold {
		out = append(out, e.tell())
	}
	return out
}

func (s *State) tick(now Now, out []Effect) []Effect {
	if s.offerAt > 0 && now.Mono >= s.offerAt {
		if s.offerAt = 0; len(s.late) > 0 {
			out = append(out, s.save(nil))
		}
	}
	for _, e := range slices.Clone(s.open) {
		switch {
		case e.phase == Saving && e.expires > 0 && now.Mono >= e.expires:
			out = s.stale(e, out)
		case e.tellAt == 0 || now.Mono < e.tellAt:
		case e.take(OnPatience):
			out = s.interim(now, e, schema.StatusAccepted, out)
		case e.take(OnProgress):
			out = s.interim(now, e, schema.StatusInProgress, out)
		}
	}
	return out
}

func (s *State) interim(now Now, e *entry, status schema.Status, out []Effect) []Effect {
	e.tellAt = now.Mono + progressEvery
	a := ack(e.rec.Verb, e.rec.ID, Answer{Status: status, UncheckedAge: e.rec.Answer.UncheckedAge})
	a.StateSeq, a.Current = e.stateSeq, e.current
	if e.interim = status; status == schema.StatusInProgress {
		a.Progress, a.EtaMS = e.progress, e.left.Milliseconds()
	}
	s.last = schema.LastRequest{ID: e.rec.ID, Client: e.rec.Client, Verb: e.rec.Verb, Word: e.rec.Word, Status: status}
	return append(out, Tell{Client: e.rec.Client, Ack: a})
}

// tell makes the message of e's final answer. The number of the state document,
// a lease and what an answer points at count within a boot: after a restart they
// would name others, and are left out.
func (e *entry) tell() Tell {
	id := e.asked
	if e.rec.Nameless {
		id = ""
	}
	a := ack(e.rec.Verb, id, e.rec.Answer)
	a.StateSeq, a.Current, a.Lease, a.Refs, a.Dup = e.stateSeq, e.current, e.lease, e.refs, e.dup
	return Tell{Client: e.rec.Client, Key: e.rec.Key(), Ack: a}
}

// ack makes an answer's message; an empty id is one that could not be read.
func ack(verb, id string, ans Answer) schema.Ack {
	a := schema.Ack{Verb: verb, Status: ans.Status, Result: ans.Result, Reason: ans.Reason, Detail: ans.Detail, Pointer: ans.Pointer, UncheckedAge: ans.UncheckedAge}
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

// refsTo points at a command.
func refsTo(e *entry) []schema.Ref {
	return []schema.Ref{{Kind: schema.RefCommand, ID: string(e.rec.Key())}}
}

// complete fills in the coarse result: commands of the mode class answer in the
// mode supervisor's codes, others say ok.
func complete(verb schema.Verb, ans Answer) Answer {
	if ans.Result != "" || !ans.Status.Final() {
		return ans
	}
	mode := verb.Class == schema.ClassMode
	switch {
	case ans.Status == schema.StatusSucceeded && mode:
		ans.Result = schema.ResultSuccess
	case ans.Status == schema.StatusSucceeded:
		ans.Result = schema.ResultOK
	case illSaid(ans.Reason):
		ans.Result = schema.ResultInvCmd
	case !mode || ans.Status != schema.StatusRejected && ans.Status != schema.StatusFailed:
	case ans.Reason == schema.ReasonInvalidTransition:
		ans.Result = schema.ResultInvCmd
	case ans.Reason == schema.ReasonUnknownMode, ans.Reason == schema.ReasonNotEnabled:
		ans.Result = schema.ResultNoMode
	case ans.Reason == schema.ReasonNotCalibrated:
		ans.Result = schema.ResultNoCalib
	default:
		ans.Result = schema.ResultNotReady
	}
	return ans
}

// illSaid tells refusals of the command's form from those of its moment.
func illSaid(r schema.Reason) bool {
	switch r {
	case schema.ReasonBadRequest, schema.ReasonUnknownVerb, schema.ReasonTooBig, schema.ReasonRetainedCommand, schema.ReasonIDReuse, schema.ReasonClockSkew:
		return true
	}
	return false
}
