package signal

import (
	"time"

	"troupe/robotd/clock"
	"troupe/schema/interrupts"
)

// State is the signals of a robot and its rules about them.
type State struct {
	Values
	Location
	Moving bool // the drive does
	rules  Rules
	asks   []Ask
}

// New returns the state of a robot that has sensed nothing.
func New() State { return State{Values: newValues()} }

// Step returns what the rules ask for now. It is valid until the next call.
func (s *State) Step(now clock.Now, set *CompiledRules, k Known) []Ask {
	k.Location = s.At
	s.Values.Step(now, k)
	s.asks = s.rules.Step(now.Mono, set, &s.Values, s.asks[:0])
	return s.asks
}

// Chosen notes that a person chose what a screen offers.
func (s *State) Chosen(now time.Duration, choice string) { s.Happens(now, interrupts.Choice, choice) }

// Moved notes whether the drive moves.
func (s *State) Moved(on bool) {
	s.Moving = on
	s.Location.Moved(on)
}

// Deadline is when time alone changes something.
func (s *State) Deadline() (at time.Duration, any bool) {
	at = sooner(s.next, s.rules.next)
	return at, at != 0
}

// Location is the point at which the robot stands, according to its last command to go to one.
type Location struct {
	At  string // empty = none, or not known
	key uint64 // of the command that moves the drive; 0 = none
	to  string // the point to which it goes; empty = elsewhere
}

// Leaves notes that a command moves the drive: to a point, or elsewhere if point is empty.
func (p *Location) Leaves(key uint64, point string) { *p = Location{key: key, to: point} }

// Done notes that a command is done.
func (p *Location) Done(key uint64) {
	if p.key == key && key != 0 {
		*p = Location{At: p.to}
	}
}

// Moved notes whether the drive moves. Without a command it is driven or pushed.
func (p *Location) Moved(on bool) {
	if on && p.key == 0 {
		p.At = ""
	}
}
