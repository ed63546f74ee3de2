package request

import "troupe/schema"

// revoked tells the sender of a command that went well that what it gave is
// taken away. It is the one second answer that there is: the command is cancelled
// from now on, whoever asks for it. One that left the journal is of no interest
// to anybody any more.
func (s *State) revoked(in Revoked, out []Effect) []Effect {
	e := s.find(in.Key)
	if e == nil || e.rec.Answer.Status != schema.StatusSucceeded || !e.take(OnRevoked) {
		return out
	}
	e.rec.Answer = complete(verbOf(e.rec.Verb), Answer{
		Status: schema.StatusCancelled, Reason: in.Reason, Detail: schema.LegibleWithin(in.Detail, MaxDetail), UncheckedAge: e.rec.Answer.UncheckedAge,
	})
	e.rec.Delivered, e.lease, e.refs = false, in.Lease, in.Refs
	return append(out, s.save(nil, e.rec), e.tell())
}
