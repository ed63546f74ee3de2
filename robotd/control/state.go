package control

import (
	"fmt"
	"time"

	"troupe/schema"
)

// Rank orders those who may want a robot at the same time.
type Rank uint8

// The ranks, lowest first. Unsaid is an operator.
const (
	Unsaid Rank = iota
	Automation
	Operator
	Admin
	Local // stands at the robot
)

var ranks = [...]string{"operator", "automation", "operator", "admin", "local"}

// String is the rank as configurations spell it.
func (r Rank) String() string {
	if int(r) < len(ranks) {
		return ranks[r]
	}
	return fmt.Sprintf("rank %d", uint8(r))
}

// RankOf reads a rank as configurations spell it.
func RankOf(word string) (Rank, bool) {
	for r := Automation; r <= Local; r++ {
		if ranks[r] == word {
			return r, true
		}
	}
	return Unsaid, false
}

// orOperator is the rank that counts.
func (r Rank) orOperator() Rank {
	if r == Unsaid {
		return Operator
	}
	return r
}

// Scope is what a lease covers.
type Scope string

// The scopes.
const (
	ScopeManual Scope = "manual" // manual driving
	ScopeAll    Scope = "all"    // also who is in charge: nobody else sets modes meanwhile
)

// Required is what needs a lease on this robot.
type Required string

// What may be required.
const (
	RequireNone   Required = "none"   // nothing but driving with frames
	RequireManual Required = "manual" // what is done manually
	RequireAll    Required = "all"    // also setting modes
)

// Config is how control is given on this robot.
type Config struct {
	Required Required
	Default  time.Duration // of a lease whose sender says no time
	Longest  time.Duration
}

// Defaults returns the usual configuration.
func Defaults() Config {
	return Config{Required: RequireManual, Default: 30 * time.Second, Longest: time.Minute}
}

// Check returns one sentence for each fault of the configuration.
func (c *Config) Check() []string {
	var faults []string
	switch c.Required {
	case RequireNone, RequireManual, RequireAll:
	default:
		faults = append(faults, fmt.Sprintf("control required %q: want manual, all or none", c.Required))
	}
	if c.Default <= 0 || c.Default > c.Longest {
		faults = append(faults, fmt.Sprintf("leases of %v, at most %v: want a time, the first not the longer", c.Default, c.Longest))
	}
	return faults
}

// Who is somebody who asks: a client of the broker, and the person behind it,
// where the client speaks for several.
type Who struct {
	Client, By string
}

// String names somebody to people.
func (w Who) String() string {
	if w.By == "" {
		return w.Client
	}
	return w.By + " at " + w.Client
}

// Lease is control in somebody's hand.
type Lease struct {
	ID    string
	Who   Who
	Rank  Rank
	Scope Scope
	TTL   time.Duration // as its holder said last
	Until time.Duration
	Req   string // the request that it was given for, told again when it is taken away
}

// State is who has the robot in hand. The zero Lease is nobody's.
type State struct {
	At    Stage
	Lease Lease

	boot  string // makes the ids of leases this run's own
	given int64
}

// Boot is a robot that nobody has in hand. boot names this run of robotd.
func Boot(boot string) State { return State{At: Free, boot: boot} }

// Holds reports whether who has the robot in hand.
func (s *State) Holds(who Who) bool { return s.At == Held && s.Lease.Who == who }

// Deadline is when time alone changes something.
func (s *State) Deadline() (time.Duration, bool) { return s.Lease.Until, s.At == Held }

// Need is what a command asks of control.
type Need string

// The needs, from least to most.
const (
	Nothing   Need = ""
	NotOthers Need = "not-others" // refused while somebody else has the robot in hand
	Modes     Need = "modes"      // changes who is in charge
	Hand      Need = "hand"       // does something manually
)

// Refusal is why somebody may not, naming the holder and never the lease.
type Refusal struct {
	Reason schema.Reason // empty = may
	Detail string
}

// May answers whether who may do what asks for need, as things stand.
func (s *State) May(c *Config, need Need, who Who) Refusal {
	mine, others := s.Holds(who), s.At == Held && !s.Holds(who)
	switch {
	case need == Nothing:
	case need == NotOthers && others,
		need == Modes && others && (s.Lease.Scope == ScopeAll || c.Required == RequireAll),
		need == Hand && others:
		return s.refusal()
	case need == Modes && c.Required == RequireAll && !(mine && s.Lease.Scope == ScopeAll):
		return Refusal{schema.ReasonNotInControl, "this robot's mode is set by who has control of all of it: control/acquire all"}
	case need == Hand && c.Required != RequireNone && !mine:
		return Refusal{schema.ReasonNotInControl, "nobody has control of this robot: control/acquire first"}
	}
	return Refusal{}
}

func (s *State) refusal() Refusal {
	return Refusal{schema.ReasonNotInControl, s.Lease.Who.String() + " has control of this robot"}
}
