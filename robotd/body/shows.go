package body

import (
	"slices"
	"strings"

	"troupe/robotd/driver"
	"troupe/schema"
)

// maxShows is how many bytes the state has of what a unit shows. A whole sentence is in the
// story and in the events.
const maxShows = 120

// shows is what a unit was told to show. A command that holds its unit shows over what was set
// before, which is shown again when the command ends.
type shows struct {
	set, held string
	setBy     uint64 // the command whose set this is
	key       uint64 // of the command that holds the unit; 0 = none
}

// now is what the unit shows.
func (s *shows) now() string {
	if s.key != 0 {
		return s.held
	}
	return s.set
}

// started notes what a unit shows from a command on.
func (b *State) started(i int, c *driver.Command) {
	what := c.Text
	if what == "" {
		what = c.Do.Shown()
	}
	if len(what) > maxShows {
		what = strings.ToValidUTF8(what[:maxShows], "")
	}
	s := &b.shows[i]
	switch kind := b.units[i].Kind; {
	case c.Holds, kind == schema.UnitSpeaker, kind == schema.UnitDrive:
		s.held, s.key = what, c.Key
	default:
		s.set, s.setBy, s.key = what, c.Key, 0
	}
}

// Failed notes that the command of a unit has failed. What the unit shows after a command that should have set it, nobody knows.
func (b *State) Failed(key uint64) {
	b.Ended(key)
	if i := slices.IndexFunc(b.shows, func(s shows) bool { return s.setBy == key }); i >= 0 && key != 0 {
		b.shows[i].set, b.shows[i].setBy = "", 0
	}
}

// Ended notes that the command of a unit has ended, whichever way.
func (b *State) Ended(key uint64) {
	if i := slices.IndexFunc(b.shows, func(s shows) bool { return s.key == key }); i >= 0 && key != 0 {
		b.shows[i].held, b.shows[i].key = "", 0
	}
}
