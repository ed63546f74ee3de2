package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/cronexpr"

	"troupe/fleetd/site"
	"troupe/schema"
)

// Timer knows the instants of a schedule.
type Timer struct {
	zone   *time.Location
	next   func(after time.Time) Instant
	missed Missed
	within time.Duration
}

// Instant is one time at which a schedule runs.
type Instant struct {
	At   time.Time // zero = never again
	Note string    // what a change of the clocks does to it; empty = nothing
}

// Zone is the zone in which people read the instants.
func (t Timer) Zone() *time.Location { return t.zone }

// Next is the first instant after a time.
func (t Timer) Next(after time.Time) Instant {
	if t.next == nil {
		return Instant{}
	}
	i := t.next(after)
	if !i.At.IsZero() {
		i.At = i.At.UTC()
	}
	return i
}

// Coming lists the next instants, at most n, and what changes of the clocks do to each.
func (t Timer) Coming(after time.Time, n int) []Instant {
	all := []Instant{}
	for range n {
		i := t.Next(after)
		if i.At.IsZero() {
			break
		}
		_, before := after.In(t.zone).Zone()
		if _, then := i.At.In(t.zone).Zone(); then != before && i.Note == "" && len(all) > 0 {
			changed, _ := i.At.In(t.zone).ZoneBounds()
			i.Note = site.ClockChange(changed.Add(-time.Second), changed.Add(time.Second), t.zone) + " before it"
		}
		all, after = append(all, i), i.At
	}
	return all
}

func (s Times) compile(sites Sites, now time.Time) (t Timer, found []schema.Problem) {
	t.zone = time.UTC
	var given []string
	for name, is := range map[string]bool{"cron": s.Cron != "", "at": s.At != "", "event": s.Event != ""} {
		if is {
			given = append(given, name)
		}
	}
	if len(given) != 1 {
		return t, []schema.Problem{schema.NewProblem("", "one_of", fmt.Sprintf("it names %d kinds of times", len(given)),
			"name exactly one of cron, at (one instant) and event (opening or closing of a site)")}
	}
	if s.Event == "" && s.Site != "" {
		found = append(found, schema.NewProblem("/site", "bad_value", "site is for event: opening or closing",
			"leave it out; the selector says which robots"))
	}
	if s.Event == "" && s.OffsetS != 0 {
		found = append(found, schema.NewProblem("/offset_s", "bad_value", "offset_s is for event: opening or closing",
			"leave it out, and write another time"))
	}
	var problems []schema.Problem
	switch given[0] {
	case "cron":
		problems = t.useCron(s, now)
	case "at":
		problems = t.useInstant(s, now)
	case "event":
		problems = t.useSite(s, sites)
	}
	return t, append(found, problems...)
}

const hintCron = "write minute, hour, day of the month, month and day of the week, such as 0 9 * * 1-5 for 09:00 from Monday to Friday"

// cronFields are the five fields of an expression.
var cronFields = [...]string{"minute", "hour", "day of the month", "month", "day of the week"}

func (t *Timer) useCron(s Times, now time.Time) (found []schema.Problem) {
	t.zone, found = site.LoadZone("/zone", s.Zone)
	fields := strings.Fields(s.Cron)
	if len(fields) != len(cronFields) {
		return append(found, schema.NewProblem("/cron", "bad_cron", fmt.Sprintf("%q has %d fields, not 5", s.Cron, len(fields)), hintCron))
	}
	for i, field := range fields {
		one := [...]string{"*", "*", "*", "*", "*"}
		one[i] = field
		if _, err := cronexpr.Parse(strings.Join(one[:], " ")); err != nil || strings.HasPrefix(field, ",") || strings.HasSuffix(field, ",") ||
			strings.Contains(field, ",,") || isBackward(field) {
			found = append(found, schema.NewProblem("/cron", "bad_cron", fmt.Sprintf("%q cannot be the %s", field, cronFields[i]), hintCron))
		}
	}
	expr, err := cronexpr.Parse(strings.Join(fields, " "))
	switch {
	case len(found) > 0:
		return found
	case err != nil:
		return append(found, schema.NewProblem("/cron", "bad_cron", fmt.Sprintf("%q cannot be read: %v", s.Cron, err), hintCron))
	}
	c := cron{expr: expr, zone: t.zone, everyHour: fields[1] == "*"}
	if !now.IsZero() && c.next(now).At.IsZero() {
		return append(found, schema.NewProblem("/cron", "never", fmt.Sprintf("%q never happens", s.Cron), "name a day that exists in the month"))
	}
	t.next = c.next
	return found
}

// isBackward reports whether a list has a range such as 5-1, which the parser takes for an empty one.
func isBackward(field string) bool {
	for part := range strings.SplitSeq(field, ",") {
		part, _, _ = strings.Cut(part, "/")
		var from, to int
		if n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); n == 2 && from > to {
			return true
		}
	}
	return false
}

// cron gives the instants of an expression in a zone. The parser is asked for times of day as clocks show them, without a
// zone, so that what a change of the clocks does is decided here only:
//   - a time of day that clocks skip runs when they do, unless the expression is for every hour, which has no such hour then;
//   - one that they show twice runs at the first, unless the expression is for every hour, which has this hour twice.
type cron struct {
	expr      *cronexpr.Expression
	zone      *time.Location
	everyHour bool
}

func (c cron) next(after time.Time) (best Instant) {
	local := after.In(c.zone)
	_, offset := local.Zone()
	wall := after.UTC().Add(time.Duration(offset) * time.Second)
	if begun, ends := local.ZoneBounds(); after.Sub(begun) < mostChange || !ends.IsZero() && ends.Sub(after) < mostChange {
		wall = wall.Add(-mostChange) // clocks may show times of day again
	}
	for {
		if wall = c.expr.Next(wall); wall.IsZero() {
			return best
		}
		first := site.First(wall, c.zone)
		if !best.At.IsZero() && !first.Before(best.At) {
			return best
		}
		for _, i := range c.instants(wall, first) {
			if i.At.After(after) && (best.At.IsZero() || i.At.Before(best.At)) {
				best = i
			}
		}
	}
}

// mostChange is more than clocks are ever put back at once.
const mostChange = 3 * time.Hour

func (c cron) instants(wall, first time.Time) []Instant {
	shown := wall.Format("15:04")
	switch all := site.Instants(wall, c.zone); {
	case len(all) == 0 && c.everyHour:
		return nil
	case len(all) == 0:
		return []Instant{{first, fmt.Sprintf("clocks skip %s on this day: it runs when they are put forward to %s", shown,
			first.In(c.zone).Format("15:04"))}}
	case len(all) == 1:
		return []Instant{{At: all[0]}}
	case c.everyHour:
		return []Instant{{all[0], "clocks show " + shown + " twice on this day: this is the first"},
			{all[1], "clocks show " + shown + " twice on this day: this is the second"}}
	default:
		return []Instant{{all[0], "clocks show " + shown + " twice on this day: it runs at the first"}}
	}
}

func (t *Timer) useInstant(s Times, now time.Time) (found []schema.Problem) {
	at, note, found := s.instant(&t.zone)
	if len(found) == 0 && !at.After(now) {
		found = append(found, schema.NewProblem("/at", "past", s.At+" has passed: it is "+now.In(t.zone).Format("2006-01-02 15:04 MST"),
			"write a time to come"))
	}
	t.next = func(after time.Time) Instant {
		if at.After(after) {
			return Instant{at, note}
		}
		return Instant{}
	}
	return found
}

func (s Times) instant(zone **time.Location) (at time.Time, note string, found []schema.Problem) {
	if at, err := time.Parse(time.RFC3339, s.At); err == nil {
		if s.Zone != "" {
			*zone, found = site.LoadZone("/zone", s.Zone)
		}
		return at, "", found
	}
	*zone, found = site.LoadZone("/zone", s.Zone)
	wall, err := time.Parse("2006-01-02T15:04", strings.Replace(s.At, " ", "T", 1))
	if err != nil {
		return at, "", append(found, schema.NewProblem("/at", "bad_time", fmt.Sprintf("%q is not a time", s.At),
			"write 2026-12-24T18:00 with a zone, or 2026-12-24T18:00:00+01:00"))
	}
	c := cron{zone: *zone}
	i := c.instants(wall, site.First(wall, *zone))[0]
	return i.At, i.Note, found
}

func (t *Timer) useSite(s Times, sites Sites) (found []schema.Problem) {
	if s.Zone != "" {
		found = append(found, schema.NewProblem("/zone", "bad_value", "a site has its own time zone", "leave out zone"))
	}
	if s.Event != "opening" && s.Event != "closing" {
		found = append(found, schema.NewProblem("/event", "bad_value", fmt.Sprintf("%q is nothing that a site does", s.Event),
			"write opening or closing"))
	}
	if s.OffsetS < -12*3600 || s.OffsetS > 12*3600 {
		found = append(found, schema.NewProblem("/offset_s", "out_of_range", fmt.Sprintf("%d s is more than 12 h", s.OffsetS),
			"write -43200 to 43200 seconds"))
	}
	if s.Site == "" {
		return append(found, schema.NewProblem("/site", "missing", "no site is named", "write the site whose opening or closing is meant"))
	}
	hours, known := sites(s.Site)
	if !known {
		return append(found, schema.NewProblem("/site", "not_found", fmt.Sprintf("site %q has no opening hours", s.Site),
			"write its hours first: fleetd site set"))
	}
	t.zone = hours.Zone()
	event := hours.NextOpening
	if s.Event == "closing" {
		event = hours.NextClosing
	}
	offset := time.Duration(s.OffsetS) * time.Second
	t.next = func(after time.Time) Instant {
		at := event(after.Add(-offset))
		if at.IsZero() {
			return Instant{}
		}
		return Instant{At: at.Add(offset)}
	}
	return found
}
