package site

import (
	"cmp"
	"time"
)

// Span is a span of time.
type Span struct{ From, To time.Time }

// searchDays bounds the search for the next opening: a whole year of exceptions, and a little.
const searchDays = 400

// Zone is the time zone of the site.
func (h *Hours) Zone() *time.Location { return h.zone }

// Open reports whether the site is open.
func (h *Hours) Open(t time.Time) bool { return h.within(h.openOn, t) }

// NextOpening is the first time after t at which the site opens; zero if it does not within a year.
func (h *Hours) NextOpening(t time.Time) time.Time {
	for s := range h.spans(h.openOn, t) {
		if s.From.After(t) {
			return s.From
		}
	}
	return time.Time{}
}

// NextClosing is the first time after t at which the site closes; zero if it does not within a year.
func (h *Hours) NextClosing(t time.Time) time.Time {
	for s := range h.spans(h.openOn, t) {
		if s.To.After(t) && s.To != farFuture {
			return s.To
		}
	}
	return time.Time{}
}

// InWindow reports whether a maintenance window is open; always, if there is none.
func (h *Hours) InWindow(t time.Time) bool { return !h.hasWindows() || h.within(h.windowsOn, t) }

// NextWindow is when the next maintenance window opens after t; zero if never.
func (h *Hours) NextWindow(t time.Time) time.Time {
	if !h.hasWindows() {
		return time.Time{}
	}
	for s := range h.spans(h.windowsOn, t) {
		if s.From.After(t) {
			return s.From
		}
	}
	return time.Time{}
}

func (h *Hours) hasWindows() bool {
	for _, day := range h.windows {
		if len(day) > 0 {
			return true
		}
	}
	return false
}

func (h *Hours) within(on func(time.Time) []daySpan, t time.Time) bool {
	for s := range h.spans(on, t) {
		if s.From.After(t) {
			return false
		}
		if t.Before(s.To) {
			return true
		}
	}
	return false
}

// spans yields the spans around t and after it, in order; spans that touch are one. The first may have begun earlier than it
// says.
func (h *Hours) spans(on func(date time.Time) []daySpan, t time.Time) func(yield func(Span) bool) {
	return func(yield func(Span) bool) {
		first := dateOf(t.In(h.zone)).AddDate(0, 0, -2)
		var open Span
		for i := range searchDays {
			date := first.AddDate(0, 0, i)
			for _, s := range on(date) {
				span := h.at(date, s)
				switch {
				case !span.To.After(span.From): // clocks skip all of it
				case open.To.IsZero():
					open = span
				case !span.From.After(open.To):
					if span.To.After(open.To) {
						open.To = span.To
					}
				default:
					if !yield(open) {
						return
					}
					open = span
				}
			}
		}
		// The last one may go on for ever: then it has no end that anybody can name.
		if last := first.AddDate(0, 0, searchDays-2); !open.To.IsZero() && open.To.Before(First(last, h.zone)) {
			yield(open)
		} else if !open.To.IsZero() {
			yield(Span{open.From, farFuture})
		}
	}
}

// farFuture ends a span without an end within the search. It is no closing time.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *Hours) at(date time.Time, s daySpan) Span {
	return Span{First(date.Add(time.Duration(s.from)*time.Minute), h.zone), First(date.Add(time.Duration(s.to)*time.Minute), h.zone)}
}

// dateOf is the date of a time in its zone, as midnight in UTC.
func dateOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func (h *Hours) openOn(date time.Time) []daySpan {
	if e := h.exceptionOn(date); e != nil {
		return e.spans
	}
	return h.week[date.Weekday()]
}

func (h *Hours) windowsOn(date time.Time) []daySpan { return h.windows[date.Weekday()] }

func (h *Hours) exceptionOn(date time.Time) *exception {
	for i, e := range h.exceptions {
		if !date.Before(e.from) && !date.After(e.until) {
			return &h.exceptions[i]
		}
	}
	return nil
}

// Day is one day of a site, for a calendar.
type Day struct {
	Date      string    `json:"date" doc:"such as 2026-12-24"`
	Day       string    `json:"day" enum:"mon,tue,wed,thu,fri,sat,sun"`
	Open      []DaySpan `json:"open" doc:"closed without any"`
	Windows   []DaySpan `json:"windows" doc:"maintenance windows"`
	Exception string    `json:"exception,omitempty" doc:"name of the exception that says when it is open"`
	Clocks    string    `json:"clock_change,omitempty" doc:"set if clocks are changed on this day"`
}

// DaySpan is the part of a span that lies on one day.
type DaySpan struct {
	From  string    `json:"from" doc:"what clocks show there, such as 09:00"`
	To    string    `json:"to" doc:"24:00 at the end of the day"`
	Begin time.Time `json:"from_at"`
	End   time.Time `json:"to_at"`
}

func (s DaySpan) String() string { return s.From + "-" + s.To }

// WeekOf returns the seven days of the week of t in the zone of the site, from Monday.
func (h *Hours) WeekOf(t time.Time) (week []Day) {
	date := dateOf(t.In(h.zone))
	monday := date.AddDate(0, 0, -int((date.Weekday()+6)%7))
	for i := range 7 {
		date := monday.AddDate(0, 0, i)
		whole := Span{First(date, h.zone), First(date.AddDate(0, 0, 1), h.zone)}
		day := Day{
			Date: date.Format(time.DateOnly), Day: DayName(date.Weekday()), Open: h.partsOn(h.openOn, whole), Windows: h.partsOn(h.windowsOn, whole),
			Clocks: ClockChange(whole.From, whole.To, h.zone),
		}
		if e := h.exceptionOn(date); e != nil {
			day.Exception = cmp.Or(e.name, "exception")
		}
		week = append(week, day)
	}
	return week
}

// partsOn returns the parts of spans that lie on a day.
func (h *Hours) partsOn(on func(time.Time) []daySpan, day Span) []DaySpan {
	out := []DaySpan{}
	for s := range h.spans(on, day.From) {
		if !s.From.Before(day.To) {
			break
		}
		from, to := s.From, s.To
		if from.Before(day.From) {
			from = day.From
		}
		end := to.In(h.zone).Format("15:04")
		if !to.Before(day.To) {
			to, end = day.To, "24:00"
		}
		if to.After(from) {
			out = append(out, DaySpan{from.In(h.zone).Format("15:04"), end, from.In(h.zone), to.In(h.zone)})
		}
	}
	return out
}
