package robot

import (
	"fmt"
	"time"
)

// Wake says when a robot that has ended in order will be started again, such as by a timer
// of the machine: at one instant, or daily at a time of its own clock. The zero value means
// that this is unknown.
type Wake struct {
	at    time.Time
	daily bool // only the time of day of at counts
}

// ParseWake parses a time of day (15:04) or an instant (RFC 3339); an empty text is the zero
// value.
func ParseWake(text string) (Wake, error) {
	if text == "" {
		return Wake{}, nil
	}
	if at, err := time.Parse("15:04", text); err == nil {
		return Wake{at, true}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return Wake{}, fmt.Errorf("%q is neither a time of day such as 08:30 nor an instant such as 2026-05-17T08:30:00Z", text)
	}
	return Wake{at: at}, nil
}

// Next returns the first such time after now, in now's time zone, or false if there is none.
func (w Wake) Next(now time.Time) (time.Time, bool) {
	if !w.daily {
		return w.at, w.at.After(now)
	}
	at := func(days int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+days, w.at.Hour(), w.at.Minute(), 0, 0, now.Location())
	}
	if today := at(0); today.After(now) {
		return today, true
	}
	return at(1), true
}
