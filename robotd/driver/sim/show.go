package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

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

func (s *Sim) startFace(c driver.Command) {
	do, _ := c.Do.Do.(score.Face)
	if !slices.Contains(faces, do.Face) && c.Asset == "" {
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no face "+do.Face)
		return
	}
	s.setDisplay(s.displays[c.Unit], c, do.Face)
}

func (s *Sim) startLED(c driver.Command) {
	do, _ := c.Do.Do.(score.LED)
	what := do.Colour
	if do.Pattern != "" {
		what += " " + do.Pattern
	}
	if do.PeriodMS > 0 {
		what += fmt.Sprintf(" every %d ms", do.PeriodMS)
	}
	if do.LED != "" {
		what += " on " + do.LED
	}
	s.setDisplay(s.displays[c.Unit], c, strings.TrimSpace(what))
}
