package control

import (
	"fmt"
	"time"

	"troupe/schema"
)

// What is the kind of an input.
type What string

// The kinds of inputs. The first four are requests and get an answer.
const (
	Acquire  What = "acquire"
	Renew    What = "renew"
	Release  What = "release"
	Takeover What = "takeover"

	Tick What = "tick" // time has passed
	Gone What = "gone" // a client has disconnected
)

func (w What) isRequest() bool { return w != Tick && w != Gone }

// Input is an event that concerns control. Fields that What does not need are empty.
type Input struct {
	What  What
	Who   Who // for Gone only the client
	Rank  Rank
	Scope Scope         // empty = manual
	TTL   time.Duration // 0 = as configured; for Renew: as before
	Lease string        // Renew, Release: the lease id; empty = the sender's own lease
	Req   string        // id of the request
}

// Decision is the result of one step.
type Decision struct {
	Changed  bool // there was a transition
	Repeat   bool // the request was not processed: the caller must repeat it
	From, To Stage
	On       Event
	Why      string
	Previous Lease          // the lease that ended
	Answer   schema.Verdict // to a request: SUCCEEDED or REJECTED
	Lease    *Lease         // with Answer: the granted lease; in a refusal the current holder's, without its id
}

// Step processes one input with at most one transition. If the lease has expired,
// that is the transition, and the caller must repeat the input if it is a request.
func Step(s *State, now time.Duration, c *Config, in Input) Decision {
	d := Decision{From: s.At, To: s.At}
	switch {
	case s.At == Held && now >= s.Lease.Until:
		s.end(OnExpired, &d)
		d.Repeat = in.What.isRequest()
	case in.What == Acquire || in.What == Takeover:
		s.acquire(now, c, in, &d)
	case in.What == Renew:
		s.renew(now, c, in, &d)
	case in.What == Release && s.owned(in, &d):
		s.end(OnReleased, &d)
		d.Answer = schema.Verdict{Status: schema.StatusSucceeded}
	case in.What == Gone && s.At == Held && s.Lease.Who.Client == in.Who.Client:
		s.end(OnGone, &d)
	}
	return d
}

func (s *State) acquire(now time.Duration, c *Config, in Input, d *Decision) {
	if in.Scope == "" {
		in.Scope = ScopeManual
	}
	ttl, ok := c.ttl(in, d)
	switch rank := in.Rank.orOperator(); {
	case !ok:
		return
	case in.Scope != ScopeManual && in.Scope != ScopeAll:
		d.Answer = refused(schema.ReasonBadRequest, "/args/scope", fmt.Sprintf("there is no scope %q: want manual or all", in.Scope))
		return
	case s.At == Free:
		s.transition(OnAcquired, d)
	case s.Holds(in.Who):
		s.transition(OnAgain, d)
	case in.What == Takeover && rank >= s.Lease.Rank:
		d.Previous = s.Lease
		s.transition(OnTakenOver, d)
	default:
		detail := s.Lease.Who.String() + " has control"
		if in.What == Takeover {
			detail += fmt.Sprintf(" as %s; rank %s cannot take over", s.Lease.Rank, rank)
		} else if rank >= s.Lease.Rank {
			detail += "; control/takeover takes it and notifies the holder"
		}
		s.refuseForHolder(d, detail)
		return
	}
	s.granted++
	s.Lease = Lease{
		ID: fmt.Sprintf("%.8s-%d", s.boot, s.granted), Who: in.Who, Rank: in.Rank.orOperator(),
		Scope: in.Scope, TTL: ttl, Until: now + ttl, Req: in.Req,
	}
	lease := s.Lease
	d.Answer, d.Lease = schema.Verdict{Status: schema.StatusSucceeded}, &lease
}

func (s *State) renew(now time.Duration, c *Config, in Input, d *Decision) {
	if in.TTL == 0 {
		in.TTL = s.Lease.TTL
	}
	ttl, ok := c.ttl(in, d)
	if !ok || !s.owned(in, d) {
		return
	}
	s.transition(OnRenewed, d)
	s.Lease.TTL, s.Lease.Until = ttl, now+ttl
	lease := s.Lease
	d.Answer, d.Lease = schema.Verdict{Status: schema.StatusSucceeded}, &lease
}

// owned checks that the sender holds the lease, and that it is the current one if
// the sender names one. If not, it sets the answer.
func (s *State) owned(in Input, d *Decision) bool {
	switch {
	case s.At == Free:
		d.Answer = refused(schema.ReasonNotInControl, "", "no client has control of this robot: the lease has ended")
	case !s.Holds(in.Who):
		s.refuseForHolder(d, s.Lease.Who.String()+" has control")
	case in.Lease != "" && in.Lease != s.Lease.ID:
		d.Answer = refused(schema.ReasonNotInControl, "/args/lease", "that lease is over; you have a newer one")
	default:
		return true
	}
	return false
}

// ttl returns the duration of the lease. If it is not allowed, it sets the answer.
func (c *Config) ttl(in Input, d *Decision) (time.Duration, bool) {
	if in.TTL == 0 {
		return c.Default, true
	}
	if in.TTL < time.Millisecond || in.TTL > c.Max {
		d.Answer = refused(schema.ReasonBadRequest, "/args/ttl_ms", fmt.Sprintf("a lease lasts 1 to %d ms; renew it before its end",
			c.Max.Milliseconds()))
		return 0, false
	}
	return in.TTL, true
}

func (s *State) end(on Event, d *Decision) {
	d.Previous = s.Lease
	if s.transition(on, d) {
		s.Lease = Lease{}
	}
}

// transition changes the stage if the table has a row for the event.
func (s *State) transition(on Event, d *Decision) bool {
	row, ok := Table.Next(s.At, on)
	if ok {
		d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
		s.At = row.To
	}
	return ok
}

func (s *State) refuseForHolder(d *Decision, detail string) {
	holder := s.Lease
	holder.ID, holder.Req = "", ""
	d.Answer, d.Lease = refused(schema.ReasonNotInControl, "", detail), &holder
}

func refused(r schema.Reason, pointer, detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusRejected, Reason: r, Pointer: pointer, Detail: detail}
}
