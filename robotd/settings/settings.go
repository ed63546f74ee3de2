// Package settings remembers which of the settings that parts save the disk refused, so that
// they are saved again until it accepts them, deletions as well as values.
package settings

import (
	"maps"
	"slices"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
)

// Pause is the pause before a disk that refused a setting is asked again.
const Pause = time.Second

// State is what the disk has of the settings since the start.
type State struct {
	newest  map[string]string   // value of each setting that was saved; empty = deleted
	refused map[string]struct{} // names of those whose newest save was refused
	at      time.Duration       // when they are saved again; 0 = none is refused, or a save is under way
}

// Saving notes the newest value of a setting. A save that is repeated later uses it, and so
// never replaces a newer value.
func (s *State) Saving(e effect.SaveSetting) {
	if s.newest == nil {
		s.newest, s.refused = map[string]string{}, map[string]struct{}{}
	}
	s.newest[e.Name] = e.Value
}

// Saved takes the disk's answer. Answers come in the order of the saves, so the last one
// about a setting counts.
func (s *State) Saved(now time.Duration, ev event.SettingsSaved) {
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

// Deadline is when refused settings are saved again.
func (s *State) Deadline() (time.Duration, bool) { return s.at, s.at > 0 }

// Retry saves refused settings again when it is time, and reports whether it did.
func (s *State) Retry(now time.Duration, out *effect.List) bool {
	if s.at == 0 || now < s.at {
		return false
	}
	s.at = 0
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		out.Do(effect.SaveSetting{Name: name, Value: s.newest[name]})
	}
	return len(s.refused) > 0
}
