package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
)

// display is a unit that shows one thing: the value it was set to, or the value that
// a running command holds over it.
type display struct {
	base, held string
	key        uint64   // of the command that holds it; 0 if none
	choices    []string // ids of the choices that this command offers
}

func (l *display) shown() string {
	if l.key != 0 {
		return l.held
	}
	return l.base
}

// release ends the hold of the command key; the display shows its base value again.
func (l *display) release(key uint64) {
	if l.key == key {
		l.key, l.held, l.choices = 0, "", nil
	}
}

// setDisplay carries out a command for a display.
func (s *Sim) setDisplay(l *display, c driver.Command, what string) {
	if l.key != 0 {
		s.failed(l.key, schema.ReasonSuperseded, "something else is shown")
		l.release(l.key)
	}
	switch {
	case s.hung[c.Unit]:
	case c.Holds:
		l.key, l.held = c.Key, what
	default:
		l.base = what
		s.done(c.Key)
	}
}

func (s *Sim) breakDisplay(l *display, what string) {
	if l.key != 0 {
		s.failed(l.key, schema.ReasonUnitError, what)
		l.release(l.key)
	}
}
