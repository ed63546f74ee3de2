package request

import "troupe/schema"

// revoked tells the sender of a succeeded command that what it granted was taken
// away. This is the only case of a second final answer: from now on the command
// is CANCELLED, also for repetitions. A command that was evicted from the journal
// is ignored.
func (s *State) revoked(in Revoked, out []Effect) []Effect {
	e := s.find(in.Key)
	if e == nil || e.rec.Answer.Status != schema.StatusSucceeded || !e.take(OnRevoked) {
		return out
	}
	e.rec.Answer = complete(verbOf(e.rec.Verb), Answer{
		Status: schema.StatusCancelled, Reason: in.Reason, Detail: schema.LegibleWithin(in.Detail, MaxDetail), UncheckedAge: e.rec.Answer.UncheckedAge,
	})
	e.rec.Delivered, e.lease, e.refs = false, in.Lease, in.Refs
	return append(out, s.save(nil, e.rec), e.finalAck())
}
