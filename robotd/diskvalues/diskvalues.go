// Package diskvalues remembers which of the small values that parts of the robot save
// (effect.SaveValue) the disk refused, and saves them again until it accepts them, deletions
// too.
package diskvalues

import (
	"maps"
	"slices"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
)

// Pause is the pause before a value that the disk refused is saved again.
const Pause = time.Second

// State is what was saved since the start, and what of it the disk refused.
type State struct {
	newest  map[string]string   // by name, as saved last; empty = deleted
	refused map[string]struct{} // names of those whose newest save was refused
	at      time.Duration       // when they are saved again; 0 = none is refused, or a save is under way
}

// Saving notes the newest value under a name. A save that is repeated later uses it, and so
// never replaces a newer value.
func (s *State) Saving(e effect.SaveValue) {
	if s.newest == nil {
		s.newest, s.refused = map[string]string{}, map[string]struct{}{}
	}
	s.newest[e.Name] = e.Value
}

// Saved takes the disk's answer. Answers come in the order of the saves, so the last one
// about a name counts.
func (s *State) Saved(now time.Duration, ev event.ValuesSaved) {
	for _, name := range ev.Names {
		_, known := s.newest[name]
		switch {
		case ev.Refused == "":
			delete(s.refused, name)
		case known:
			s.refused[name] = struct{}{}
			if s.at == 0 {
				s.at = now + Pause
			}
		}
	}
}

// Deadline is when refused values are saved again.
func (s *State) Deadline() (time.Duration, bool) { return s.at, s.at > 0 }

// Retry saves refused values again when it is time, and reports whether it did.
func (s *State) Retry(now time.Duration, out *effect.List) bool {
	if s.at == 0 || now < s.at {
		return false
	}
	s.at = 0
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		out.Do(effect.SaveValue{Name: name, Value: s.newest[name]})
	}
	return len(s.refused) > 0
}
