package sim

import (
	"slices"
	"time"
	"unicode/utf8"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var speakerKind = kind{
	unit: schema.Unit{ID: speaker, Kind: schema.UnitSpeaker, Sounds: names(sounds)}, start: (*Sim).startVoice, fail: (*Sim).failVoices,
}

// sounds lists the built-in recordings with their lengths.
var sounds = map[string]time.Duration{
	"chime":    1200 * time.Millisecond,
	"fanfare":  3 * time.Second,
	"applause": 4 * time.Second,
	"drumroll": 2500 * time.Millisecond,
	"birds":    6 * time.Second,
	"bell":     1500 * time.Millisecond,
}

// voice is a text or a sound that is playing.
type voice struct {
	key    uint64
	what   string
	speech bool
	loop   bool
	left   time.Duration
}

func (s *Sim) startVoice(c driver.Command) {
	v := &voice{key: c.Key}
	switch do := c.Do.Do.(type) {
	case score.Say:
		rate := 1.0
		if do.Rate != nil {
			rate = min(max(*do.Rate, 0.5), 2)
		}
		seconds := float64(utf8.RuneCountInString(c.Text)) / charactersPerSecond / rate
		if v.what = c.Text; do.Voice != "" {
			v.what = do.Voice + ": " + c.Text
		}
		v.speech, v.left = true, max(shortestSpeech, time.Duration(seconds*float64(time.Second)))
	case score.Sound:
		length, known := sounds[do.Sound]
		if c.Asset != "" { // a file of the story takes precedence over a built-in recording
			var err error
			if length, err = s.soundLength(c.Asset); err != nil {
				s.failed(c.Key, schema.ReasonUnitError, "the speaker cannot play "+do.Sound+": "+err.Error())
				return
			}
			known = true
		}
		if !known {
			s.failed(c.Key, schema.ReasonOutOfRange, "there is no sound "+do.Sound)
			return
		}
		v.what, v.loop, v.left = do.Sound, do.Loop, length
	default:
		s.failed(c.Key, schema.ReasonBadRequest, "the speaker knows no "+string(c.Do.Type()))
		return
	}
	v.left -= c.From
	if v.speech { // only one text at a time
		s.voices = slices.DeleteFunc(s.voices, func(old *voice) bool {
			if old.speech {
				s.failed(old.key, schema.ReasonSuperseded, "something else is said")
			}
			return old.speech
		})
	}
	s.voices = append(s.voices, v)
}

// playVoices simulates dt of the speaker.
func (s *Sim) playVoices(dt time.Duration) {
	if s.hung[speaker] {
		return
	}
	s.voices = slices.DeleteFunc(s.voices, func(v *voice) bool {
		if v.left -= dt; v.left > 0 || v.loop {
			return false
		}
		s.done(v.key)
		return true
	})
}

func (s *Sim) stopVoice(key uint64) {
	s.voices = slices.DeleteFunc(s.voices, func(v *voice) bool { return v.key == key })
}

func (s *Sim) failVoices(why string) {
	for _, v := range s.voices {
		s.failed(v.key, schema.ReasonUnitError, why)
	}
	s.voices = nil
}
