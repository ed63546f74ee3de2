package control

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

// Rank is the priority of a sender that wants control.
type Rank uint8

// The ranks, lowest first. Unset counts as Operator.
const (
	Unset Rank = iota
	Automation
	Operator
	Admin
	Local // at the robot itself
)

var ranks = [...]string{"operator", "automation", "operator", "admin", "local"}

// String returns the rank as written in configurations.
func (r Rank) String() string {
	if int(r) < len(ranks) {
		return ranks[r]
	}
	return fmt.Sprintf("rank %d", uint8(r))
}

// RankOf parses a rank as written in configurations.
func RankOf(word string) (Rank, bool) {
	for r := Automation; r <= Local; r++ {
		if ranks[r] == word {
			return r, true
		}
	}
	return Unset, false
}

// orOperator replaces Unset by Operator.
func (r Rank) orOperator() Rank {
	if r == Unset {
		return Operator
	}
	return r
}

// Scope is what a lease covers.
type Scope string

// The scopes.
const (
	ScopeManual Scope = "manual" // manual verbs
	ScopeAll    Scope = "all"    // also the mode: no other client can set it
)

// Required says which commands need a lease on this robot.
type Required string

// The values of Required. Driving always needs the lease: package manual asks Holds for it.
const (
	RequireNone   Required = "none"   // driving only: velocity frames, and acts with a drive action
	RequireManual Required = "manual" // manual verbs
	RequireAll    Required = "all"    // also setting the mode
)

// Config is the configuration of control on this robot.
type Config struct {
	Required Required
	Default  time.Duration // of a lease requested without ttl_ms
	Max      time.Duration // the longest lease
}

// Defaults returns the usual configuration.
func Defaults() Config {
	return Config{Required: RequireManual, Default: 30 * time.Second, Max: time.Minute}
}

// Check returns one sentence for each error in the configuration.
func (c *Config) Check() []string {
	var problems []string
	switch c.Required {
	case RequireNone, RequireManual, RequireAll:
	default:
		problems = append(problems, fmt.Sprintf("control required %q: want manual, all or none", c.Required))
	}
	if c.Default <= 0 || c.Default > c.Max {
		problems = append(problems, fmt.Sprintf("leases of %v, at most %v: want a default above zero and not above the maximum",
			c.Default, c.Max))
	}
	return problems
}

// Who is the sender of a command: a client of the broker, and a person (By) if the
// client sends for several people.
type Who struct {
	Client, By string
}

// String returns the sender's name for people.
func (w Who) String() string {
	if w.By == "" {
		return w.Client
	}
	return w.By + " at " + w.Client
}

// Lease is control of the robot by one holder.
type Lease struct {
	ID    string
	Who   Who
	Rank  Rank
	Scope Scope
	TTL   time.Duration // as last requested by the holder
	Until time.Duration
	Req   string // the request that acquired it; reported when it is taken away
}

// State is the current holder. Without one, Lease is zero.
type State struct {
	At    Stage
	Lease Lease

	boot    string // makes lease ids unique across runs
	granted int64  // leases granted in this run
}

// Boot returns the state without a holder. boot identifies this run of robotd.
func Boot(boot string) State { return State{At: Free, boot: boot} }

// Holds reports whether who is the holder.
func (s *State) Holds(who Who) bool { return s.At == Held && s.Lease.Who == who }

// Deadline returns when the next Tick is due, or false.
func (s *State) Deadline() (time.Duration, bool) { return s.Lease.Until, s.At == Held }

// Refusal is why a command is refused. It contains the holder but not the lease id.
type Refusal struct {
	Reason schema.Reason // empty = allowed
	Detail string
}

// May checks whether who may send a command with this need now. A client that drives has to hold the
// lease besides.
func (s *State) May(c *Config, need verb.Need, who Who) Refusal {
	mine, others := s.Holds(who), s.At == Held && !s.Holds(who)
	switch {
	case need == verb.NeedNone:
	case need == verb.NeedNoOtherHolder && others,
		need == verb.NeedModes && others && (s.Lease.Scope == ScopeAll || c.Required == RequireAll),
		need == verb.NeedManual && others:
		return s.refusal(who)
	case need == verb.NeedModes && c.Required == RequireAll && !(mine && s.Lease.Scope == ScopeAll):
		return Refusal{schema.ReasonNotInControl, "only the holder of a lease with scope all may set this robot's mode: control/acquire all"}
	case need == verb.NeedManual && c.Required != RequireNone && !mine:
		return Refusal{schema.ReasonNotInControl, "no client has control; acquire it with control/acquire"}
	}
	return Refusal{}
}

func (s *State) refusal(who Who) Refusal {
	detail := s.Lease.Who.String() + " has control of this robot; "
	if who.Client == s.Lease.Who.Client && who.By == "" {
		detail += "if that is you, send the command with your name in by; else "
	}
	return Refusal{schema.ReasonNotInControl, detail + "wait until it is free, or take it with control/takeover"}
}
