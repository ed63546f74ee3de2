package brain

import (
	"maps"
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
)

// settingsPause is the pause before a disk that refused a setting is asked again.
const settingsPause = time.Second

// settings remembers which settings the disk refused, so that they are saved again until it
// accepts them, deletions as well as values.
type settings struct {
	newest  map[string]string   // value of each setting that was saved since the start; empty = deleted
	refused map[string]struct{} // names of those whose newest save was refused
	at      time.Duration       // when they are saved again; 0 = none is refused, or a save is under way
}

// saving notes the newest value of a setting. A save that is repeated later uses it, and so
// never replaces a newer value.
func (s *settings) saving(e effect.SaveSetting) {
	if s.newest == nil {
		s.newest, s.refused = map[string]string{}, map[string]struct{}{}
	}
	s.newest[e.Name] = e.Value
}

// saved takes the disk's answer. Answers come in the order of the saves, so the last one
// about a setting counts.
func (s *settings) saved(now clock.Now, ev event.SettingsSaved) {
	for _, name := range ev.Names {
		_, known := s.newest[name]
		switch {
		case ev.Refused == "":
			delete(s.refused, name)
		case known:
			s.refused[name] = struct{}{}
			if s.at == 0 {
				s.at = now.Mono + settingsPause
			}
		}
	}
}

// Deadline is when refused settings are saved again.
func (s *settings) Deadline() (time.Duration, bool) { return s.at, s.at > 0 }

// retrySettings saves refused settings again when it is time. Reports on desired documents
// that were held back with them are published once these saves succeed.
func (t *step) retrySettings() {
	s := &t.settings
	if s.at == 0 || t.now.Mono < s.at {
		return
	}
	s.at = 0
	if len(s.refused) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.refused)) {
		t.do(effect.SaveSetting{Name: name, Value: s.newest[name]})
	}
	t.desired.ReportAgain()
}
