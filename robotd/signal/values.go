package signal

import (
	"math"
	"slices"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/interrupts"
)

// Limits of what is remembered, whatever a body reports.
const (
	maxValues = 32
	maxNames  = 128
)

// Value is one signal of the body.
type Value struct {
	Signal interrupts.Signal
	Name   string // such as the area of a touch
	On     bool
	Level  float64
	Since  time.Duration // when it became so; of a pulse, when it was the last time
}

// slot is a value, and the newest reading, which becomes the value when it has lasted long
// enough.
type slot struct {
	Value
	row     *interrupts.SignalRow
	pending bool
	on      bool
	level   float64
	from    time.Duration // when readings began to differ from the value
	pulse   bool          // of a pulse: it happened since the last step
}

// Sense takes a reading of the body. It becomes a value in a step after it has lasted long enough.
func (v *Values) Sense(now time.Duration, ev driver.Event) {
	i := slices.IndexFunc(interrupts.Signals, func(r interrupts.SignalRow) bool { return string(r.Signal) == string(ev.Signal) })
	if i < 0 || ev.Signal == driver.Sound && ev.On && v.known.MakesSound {
		return
	}
	row := &interrupts.Signals[i]
	if row.Pulse {
		if ev.On {
			v.Happens(now, row.Signal, ev.Name)
		}
		return
	}
	s := v.slot(row, ev.Name)
	if s == nil {
		return
	}
	level := math.Round(ev.Level*10) / 10
	if math.IsNaN(level) || math.IsInf(level, 0) {
		level = 0
	}
	on := ev.On
	if row.Signal == interrupts.People || row.Signal == interrupts.Heat { // the body says only the level of these
		on = level > 0
	}
	switch {
	case on == s.On && level == s.Level:
		s.pending = false
	case !s.pending || on != s.on:
		s.pending, s.from = true, now
	}
	s.on, s.level = on, level
}

// Happens notes a signal that does not last.
func (v *Values) Happens(now time.Duration, signal interrupts.Signal, name string) {
	i := slices.IndexFunc(interrupts.Signals, func(r interrupts.SignalRow) bool { return r.Signal == signal })
	s := v.slot(&interrupts.Signals[i], name)
	if s == nil || s.On && now-s.Since < s.row.On {
		return
	}
	s.On, s.Since, s.pulse, v.pulses = true, now, true, true
	v.Note(now, string(signal))
}

// slot returns the slot of a signal, taking that of one that is off if there are too many;
// nil if all are on.
func (v *Values) slot(row *interrupts.SignalRow, name string) *slot {
	name = schema.SanitizeText(name)
	i := slices.IndexFunc(v.slots, func(s slot) bool { return s.Signal == row.Signal && s.Name == name })
	if i >= 0 {
		return &v.slots[i]
	}
	fresh := slot{Value: Value{Signal: row.Signal, Name: name}, row: row}
	if len(v.slots) < maxValues {
		v.slots = append(v.slots, fresh)
		return &v.slots[len(v.slots)-1]
	}
	i = slices.IndexFunc(v.slots, func(s slot) bool { return s.row.Pulse && !s.pulse || !s.On && !s.pending })
	if i < 0 {
		return nil
	}
	v.slots[i] = fresh
	return &v.slots[i]
}

// takeLasting makes values of the readings that have lasted long enough, and returns when the
// next one will have; 0 = none waits.
func (v *Values) takeLasting(now time.Duration) (next time.Duration) {
	for i := range v.slots {
		s := &v.slots[i]
		if !s.pending {
			continue
		}
		at := s.from + s.row.On
		if !s.on || s.level < s.Level {
			at = s.from + s.row.Off
		}
		if now < at {
			next = sooner(next, at)
			continue
		}
		if s.on != s.On {
			s.Since = now
		}
		began := s.on && !s.On
		v.listChanged = v.listChanged || s.on != s.On || s.Signal == interrupts.People
		s.pending, s.On, s.Level = false, s.on, s.level
		v.changes++
		if began {
			v.Note(now, string(s.Signal))
		}
		v.sensed()
	}
	return next
}

// On reports whether a signal is on: by any name if name is empty, and above a level if
// one is given. A pulse is on in the step after it happened.
func (v *Values) On(signal interrupts.Signal, name string, above *float64) bool {
	return slices.ContainsFunc(v.slots, func(s slot) bool {
		on := s.On
		if s.row.Pulse {
			on = s.pulse
		}
		return on && s.Signal == signal && (name == "" || s.Name == name) && (above == nil || s.Level > *above)
	})
}

// List lists the signals that are on, except pulses, and temperatures, which change all the
// time.
func (v *Values) List() (list []Value) {
	for _, s := range v.slots {
		if s.On && !s.row.Pulse && s.Signal != interrupts.Heat {
			list = append(list, s.Value)
		}
	}
	return list
}

// Changed reports whether what List returns has changed since the last call.
func (v *Values) Changed() bool {
	changed := v.listChanged
	v.listChanged = false
	return changed
}

// sooner is the earlier of two times, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
