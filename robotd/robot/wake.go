package robot

import (
	"fmt"
	"time"
)

// Wake is when somebody, such as a timer of the machine, starts a robot that has ended in
// order: at one instant, or every day at a time of its own clock. With the zero value
// nobody knows.
type Wake struct {
	at    time.Time
	daily bool // only the time of day of at counts
}

// ParseWake reads 15:04 or an instant of RFC 3339; empty is the zero value.
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

// Next is the first such time after now, in now's time zone; there may be none.
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
