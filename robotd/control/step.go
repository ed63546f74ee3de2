package control

import (
	"fmt"
	"time"

	"troupe/schema"
)

// What is told or asked.
type What string

// The inputs. The first four are requests and are answered.
const (
	Acquire  What = "acquire"
	Renew    What = "renew"
	Release  What = "release"
	Takeover What = "takeover"

	Tick What = "tick" // time has passed
	Gone What = "gone" // a client is not connected any more
)

func (w What) asks() bool { return w != Tick && w != Gone }

// Input is one of them; what a What does not need stays empty.
type Input struct {
	What  What
	Who   Who // of Gone only the client
	Rank  Rank
	Scope Scope         // empty = manual
	TTL   time.Duration // 0 = as configured; of a renewal: as before
	Lease string        // renew, release: which; empty = the sender's own
	Req   string        // names the request
}

// Answer is what the sender of a request is told.
type Answer struct {
	Status  schema.Status // SUCCEEDED or REJECTED; empty: nobody asked
	Reason  schema.Reason
	Pointer string
	Detail  string
	// Lease is control that was given; with a refusal who holds it, without its id.
	Lease *Lease
}

// Decision is what one step came to.
type Decision struct {
	Changed  bool // an edge was taken
	Again    bool // the request was not looked at: it is to be given again
	From, To Stage
	On       Event
	Why      string
	Was      Lease // before, when it ended
	Answer   Answer
}

// Step takes one input. It changes control at most once: where a lease has run
// out, that is the edge, and what somebody asks has to be given again.
func Step(s *State, now time.Duration, c *Config, in Input) Decision {
	d := Decision{From: s.At, To: s.At}
	switch {
	case s.At == Held && now >= s.Lease.Until:
		s.end(OnExpired, &d)
		d.Again = in.What.asks()
	case in.What == Acquire || in.What == Takeover:
		s.acquire(now, c, in, &d)
	case in.What == Renew:
		s.renew(now, c, in, &d)
	case in.What == Release && s.owned(in, &d):
		s.end(OnReleased, &d)
		d.Answer = Answer{Status: schema.StatusSucceeded}
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
		d.Answer = refused(schema.ReasonBadRequest, "/args/scope", fmt.Sprintf("%q is no scope: manual or all", in.Scope))
		return
	case s.At == Free:
		s.take(OnAcquired, d)
	case s.Holds(in.Who):
		s.take(OnAgain, d)
	case in.What == Takeover && rank >= s.Lease.Rank:
		d.Was = s.Lease
		s.take(OnTakenOver, d)
	default:
		detail := s.Lease.Who.String() + " has control"
		if in.What == Takeover {
			detail += fmt.Sprintf(" as %s, whom nobody of rank %s takes over from", s.Lease.Rank, rank)
		} else if rank >= s.Lease.Rank {
			detail += "; control/takeover takes it, and tells"
		}
		d.Answer = s.refusedByHolder(detail)
		return
	}
	s.given++
	s.Lease = Lease{
		ID: fmt.Sprintf("%.8s-%d", s.boot, s.given), Who: in.Who, Rank: in.Rank.orOperator(),
		Scope: in.Scope, TTL: ttl, Until: now + ttl, Req: in.Req,
	}
	given := s.Lease
	d.Answer = Answer{Status: schema.StatusSucceeded, Lease: &given}
}

func (s *State) renew(now time.Duration, c *Config, in Input, d *Decision) {
	if in.TTL == 0 {
		in.TTL = s.Lease.TTL
	}
	ttl, ok := c.ttl(in, d)
	if !ok || !s.owned(in, d) {
		return
	}
	s.take(OnRenewed, d)
	s.Lease.TTL, s.Lease.Until = ttl, now+ttl
	given := s.Lease
	d.Answer = Answer{Status: schema.StatusSucceeded, Lease: &given}
}

// owned holds that a lease is changed by its holder alone, and that a holder
// who names one means the present one.
func (s *State) owned(in Input, d *Decision) bool {
	switch {
	case s.At == Free:
		d.Answer = refused(schema.ReasonNotInControl, "", "nobody has control of this robot; the lease is over")
	case !s.Holds(in.Who):
		d.Answer = s.refusedByHolder(s.Lease.Who.String() + " has control")
	case in.Lease != "" && in.Lease != s.Lease.ID:
		d.Answer = refused(schema.ReasonNotInControl, "/args/lease", "that lease is over; you have a newer one")
	default:
		return true
	}
	return false
}

// ttl is how long the lease shall last.
func (c *Config) ttl(in Input, d *Decision) (time.Duration, bool) {
	if in.TTL == 0 {
		return c.Default, true
	}
	if in.TTL < time.Millisecond || in.TTL > c.Longest {
		d.Answer = refused(schema.ReasonBadRequest, "/args/ttl_ms", fmt.Sprintf("a lease lasts 1 to %d ms; renew it before its end", c.Longest.Milliseconds()))
		return 0, false
	}
	return in.TTL, true
}

func (s *State) end(on Event, d *Decision) {
	d.Was = s.Lease
	if s.take(on, d) {
		s.Lease = Lease{}
	}
}

func (s *State) take(on Event, d *Decision) bool {
	row, ok := Table.Next(s.At, on)
	if ok {
		d.Changed, d.To, d.On, d.Why = true, row.To, on, row.Why
		s.At = row.To
	}
	return ok
}

func (s *State) refusedByHolder(detail string) Answer {
	a := refused(schema.ReasonNotInControl, "", detail)
	holder := s.Lease
	holder.ID, holder.Req = "", ""
	a.Lease = &holder
	return a
}

func refused(r schema.Reason, pointer, detail string) Answer {
	return Answer{Status: schema.StatusRejected, Reason: r, Pointer: pointer, Detail: detail}
}
