// Package site says when a site is open and when its robots may be changed. A site is the value of the label site of
// robots; here it has a time zone, opening hours with exceptions such as holidays, and maintenance windows.
//
// A time of day belongs to the date on which its span begins: "20:00-02:00" of Saturday ends on Sunday, whatever the
// hours of Sunday are. If the clocks of the zone skip a time of day, the span begins or ends when they do; if they show it
// twice, at the first of both.
package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a server may lack the data of time zones

	"troupe/schema"
)

// Site is what is known of a site.
type Site struct {
	Zone       string      `json:"zone" maxLength:"63" doc:"IANA time zone" example:"Europe/Berlin" cli:"-"`
	Hours      Week        `json:"hours,omitzero" doc:"opening hours; a day without any is closed" cli:"-"`
	Exceptions []Exception `json:"exceptions,omitempty" doc:"dates with other hours, such as holidays" cli:"-"`
	Windows    []Window    `json:"windows,omitempty" doc:"maintenance windows: rollouts that wait for one give robots nothing outside of them; without any, they may at any time" cli:"-"`
}

// Week is the spans of each weekday.
type Week struct {
	Mon []string `json:"mon,omitempty" doc:"spans such as 09:00-18:00; 00:00-24:00 is the whole day, 20:00-02:00 ends on the next one"`
	Tue []string `json:"tue,omitempty"`
	Wed []string `json:"wed,omitempty"`
	Thu []string `json:"thu,omitempty"`
	Fri []string `json:"fri,omitempty"`
	Sat []string `json:"sat,omitempty"`
	Sun []string `json:"sun,omitempty"`
}

// Exception replaces the hours of dates.
type Exception struct {
	Date  string   `json:"date" maxLength:"10" doc:"such as 2026-12-24"`
	Until string   `json:"until,omitempty" maxLength:"10" doc:"the last date of several; left out for one"`
	Hours []string `json:"hours,omitempty" doc:"spans such as 10:00-14:00; closed without any"`
	Name  string   `json:"name,omitempty" maxLength:"63" doc:"such as Christmas Eve"`
}

// Window is a maintenance window.
type Window struct {
	Days []string `json:"days,omitempty" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"the days on which it begins; every day without any"`
	Span string   `json:"span" maxLength:"11" doc:"such as 22:00-05:00"`
}

// Days are the names of the weekdays, from Monday.
var Days = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// Of returns the spans of a weekday.
func (w *Week) Of(day time.Weekday) *[]string {
	return []*[]string{&w.Sun, &w.Mon, &w.Tue, &w.Wed, &w.Thu, &w.Fri, &w.Sat}[day]
}

// DayName is the name of a weekday in the hours of a site.
func DayName(day time.Weekday) string { return Days[(day+6)%7] }

// Bounds of a site.
const (
	MaxExceptions = 400
	MaxWindows    = 50
	maxSpans      = 8 // of one day
)

// Hours are the times of a site, ready to be asked.
type Hours struct {
	zone       *time.Location
	week       [7][]daySpan // by time.Weekday
	exceptions []exception
	windows    [7][]daySpan
}

// daySpan is a span of one day in minutes after midnight, as clocks show them; to is more than 1440 if it ends on the next
// day.
type daySpan struct{ from, to int }

const minutesOfDay = 24 * 60

func (s daySpan) String() string {
	to := s.to
	if to > minutesOfDay {
		to -= minutesOfDay
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", s.from/60, s.from%60, to/60, to%60)
}

type exception struct {
	from, until time.Time // dates, in UTC
	spans       []daySpan
	name        string
}

// Parse reads the times of a site. It reports all problems at once.
func Parse(s Site) (Hours, []schema.Problem) {
	var h Hours
	zone, found := LoadZone("/zone", s.Zone)
	h.zone = zone
	for day := range h.week {
		at := "/hours/" + DayName(time.Weekday(day))
		spans, problems := parseSpans(at, *s.Hours.Of(time.Weekday(day)))
		h.week[day] = spans
		found = append(found, problems...)
	}
	for day, spans := range h.week {
		next := time.Weekday((day + 1) % 7)
		found = append(found, overlapOfDays("/hours/"+DayName(next), DayName(time.Weekday(day)), spans, h.week[next])...)
	}
	problems := h.parseExceptions(s.Exceptions)
	found = append(found, problems...)
	problems = h.parseWindows(s.Windows)
	return h, sorted(append(found, problems...))
}

func sorted(found []schema.Problem) []schema.Problem {
	slices.SortStableFunc(found, func(a, b schema.Problem) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return found
}

// LoadZone returns a time zone by its IANA name.
func LoadZone(at, name string) (*time.Location, []schema.Problem) {
	const hint = "write the name of an IANA time zone, such as Europe/Berlin or America/New_York"
	if name == "" {
		return time.UTC, []schema.Problem{schema.NewProblem(at, "missing", "there is no time zone", hint)}
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		if strings.HasPrefix(name, "UTC+") || strings.HasPrefix(name, "UTC-") || strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
			return time.UTC, []schema.Problem{schema.NewProblem(at, "unknown_zone",
				fmt.Sprintf("%q is an offset, which knows nothing of summer time", name), hint)}
		}
		return time.UTC, []schema.Problem{schema.NewProblem(at, "unknown_zone", fmt.Sprintf("there is no time zone %q", name), hint)}
	}
	return zone, nil
}

const hintSpan = "write from-to with 24 hours, such as 09:00-18:00; 00:00-24:00 is the whole day"

// parseSpan reads "09:00-18:00".
func parseSpan(at, text string) (daySpan, []schema.Problem) {
	from, to, ok := strings.Cut(text, "-")
	a, okFrom := minuteOf(from)
	b, okTo := minuteOf(to)
	switch {
	case !ok || !okFrom || !okTo || a == minutesOfDay:
		return daySpan{}, []schema.Problem{schema.NewProblem(at, "bad_span", fmt.Sprintf("%q is not a span of a day", text), hintSpan)}
	case a == b:
		return daySpan{}, []schema.Problem{schema.NewProblem(at, "bad_span", fmt.Sprintf("%q begins and ends at the same time", text), hintSpan)}
	case b < a:
		b += minutesOfDay
	}
	return daySpan{a, b}, nil
}

// minuteOf reads "09:00".
func minuteOf(text string) (int, bool) {
	var hour, minute int
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	for i, c := range []byte(text) {
		switch {
		case i == 2:
		case c < '0' || c > '9':
			return 0, false
		case i < 2:
			hour = hour*10 + int(c-'0')
		default:
			minute = minute*10 + int(c-'0')
		}
	}
	m := hour*60 + minute
	return m, minute < 60 && m <= minutesOfDay
}

func parseSpans(at string, texts []string) (spans []daySpan, found []schema.Problem) {
	if len(texts) > maxSpans {
		return nil, []schema.Problem{schema.NewProblem(at, "too_many", fmt.Sprintf("a day has %d spans, at most %d are allowed", len(texts),
			maxSpans), "join spans that follow each other")}
	}
	for i, text := range texts {
		s, problems := parseSpan(fmt.Sprintf("%s/%d", at, i), text)
		if found = append(found, problems...); len(problems) > 0 {
			continue
		}
		for _, other := range spans {
			if s.from < other.to && other.from < s.to {
				found = append(found, schema.NewProblem(fmt.Sprintf("%s/%d", at, i), "overlap", fmt.Sprintf("%s overlaps %s", s, other),
					"join them to one span"))
			}
		}
		spans = append(spans, s)
	}
	slices.SortFunc(spans, func(a, b daySpan) int { return cmp.Compare(a.from, b.from) })
	return spans, found
}

// overlapOfDays finds spans of a day that reach into spans of the next one.
func overlapOfDays(at, day string, spans, next []daySpan) (found []schema.Problem) {
	for _, s := range spans {
		for i, n := range next {
			if s.to-minutesOfDay > n.from {
				found = append(found, schema.NewProblem(fmt.Sprintf("%s/%d", at, i), "overlap", fmt.Sprintf("%s overlaps %s of %s", n, s, day),
					"end the one of "+day+" earlier"))
			}
		}
	}
	return found
}

func (h *Hours) parseExceptions(all []Exception) (found []schema.Problem) {
	if len(all) > MaxExceptions {
		return []schema.Problem{schema.NewProblem("/exceptions", "too_many", fmt.Sprintf("there are %d exceptions, at most %d are allowed",
			len(all), MaxExceptions), "remove those that are past")}
	}
	for i, e := range all {
		at := fmt.Sprintf("/exceptions/%d", i)
		from, err := time.Parse(time.DateOnly, e.Date)
		if err != nil {
			found = append(found, schema.NewProblem(at+"/date", "bad_date", fmt.Sprintf("%q is not a date", e.Date),
				"write year-month-day, such as 2026-12-24"))
		}
		until := from
		if e.Until != "" {
			var badUntil error
			if until, badUntil = time.Parse(time.DateOnly, e.Until); badUntil != nil {
				found = append(found, schema.NewProblem(at+"/until", "bad_date", fmt.Sprintf("%q is not a date", e.Until),
					"write year-month-day, such as 2026-12-26"))
				err = badUntil
			}
		}
		if err == nil && until.Before(from) {
			found = append(found, schema.NewProblem(at+"/until", "bad_date", e.Until+" is before "+e.Date, "write the last date in until"))
			err = errUnordered
		}
		spans, problems := parseSpans(at+"/hours", e.Hours)
		found = append(found, problems...)
		if err != nil {
			continue
		}
		for j, other := range h.exceptions {
			if !from.After(other.until) && !other.from.After(until) {
				both := from
				if other.from.After(from) {
					both = other.from
				}
				found = append(found, schema.NewProblem(at+"/date", "overlap", fmt.Sprintf("exceptions %d and %d both say what happens on %s",
					j+1, i+1, both.Format(time.DateOnly)), "keep one of them"))
			}
		}
		h.exceptions = append(h.exceptions, exception{from, until, spans, e.Name})
	}
	return found
}

var errUnordered = fmt.Errorf("dates in the wrong order")

func (h *Hours) parseWindows(all []Window) (found []schema.Problem) {
	if len(all) > MaxWindows {
		return []schema.Problem{schema.NewProblem("/windows", "too_many", fmt.Sprintf("there are %d windows, at most %d are allowed",
			len(all), MaxWindows), "join those with the same span")}
	}
	for i, w := range all {
		at := fmt.Sprintf("/windows/%d", i)
		span, problems := parseSpan(at+"/span", w.Span)
		days := w.Days
		if len(days) == 0 {
			days = Days
		}
		for j, name := range days {
			day := slices.Index(Days, name)
			if day < 0 {
				problems = append(problems, schema.NewProblem(fmt.Sprintf("%s/days/%d", at, j), "bad_value",
					fmt.Sprintf("there is no day %q", name), "write one of "+strings.Join(Days, ", ")))
				continue
			}
			h.windows[(day+1)%7] = append(h.windows[(day+1)%7], span)
		}
		found = append(found, problems...)
	}
	for day := range h.windows {
		slices.SortFunc(h.windows[day], func(a, b daySpan) int { return cmp.Compare(a.from, b.from) })
	}
	return found
}
