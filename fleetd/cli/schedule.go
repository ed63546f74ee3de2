package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/schedule"
	"troupe/fleetd/site"
	"troupe/schema"
	"troupe/schema/score"
)

// described is what a file describes: one thing, whose kind and name are its first key.
type described struct {
	path string
	text []byte
	name string
	body map[string]any // without the name
}

// readDescribed reads the file of one thing, such as "site: berlin".
func (sh *shell) readDescribed(path, kind string) (d described, err error) {
	text, out, err := sh.readAsJSON(path)
	if err != nil {
		return d, err
	}
	d = described{path: path, text: text}
	if err := json.Unmarshal(out, &d.body); err != nil {
		return d, usage("%s: the file has no fields: write %s: NAME and what belongs to it", path, kind)
	}
	d.name, _ = d.body[kind].(string)
	if delete(d.body, kind); d.name == "" {
		return d, usage("%s: the file names no %s: write %s: NAME", path, kind, kind)
	}
	return d, nil
}

// in names the places of problems in the file.
func (d described) in(err error) error {
	var f *failure
	if !errors.As(err, &f) || f.problem == nil || len(f.problem.Errors) == 0 {
		return err
	}
	var inFile []schema.Problem
	var lines []string
	for _, e := range f.problem.Errors {
		if e.In == "body" {
			inFile = append(inFile, e.Problem)
		} else {
			lines = append(lines, formatFinding(e, d.path, d.text))
		}
	}
	inFile = score.Locate(d.text, inFile)
	slices.SortStableFunc(inFile, func(a, b schema.Problem) int { return a.Line - b.Line })
	for _, p := range inFile {
		lines = append(lines, formatProblem(p, d.path, d.text))
	}
	f.err, f.problem = errors.New(strings.Join(lines, "\n")), nil
	return f
}

// putDescribed sends the thing that a file describes; what its path names is the name.
func putDescribed(kind string) func(*shell, *cobra.Command) finish {
	return func(sh *shell, _ *cobra.Command) finish {
		return func(ctx context.Context, args []string, r rowRequest) error {
			d, err := sh.readDescribed(args[0], kind)
			if err != nil {
				return err
			}
			r.path["id"] = d.name
			for name, value := range r.body { // flags
				d.body[name] = value
			}
			r.body = d.body
			return d.in(sh.sendRow(ctx, r))
		}
	}
}

// nextInstants shows when a schedule runs, by its id or in a file.
func nextInstants(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, args []string, r rowRequest) error {
		if schema.ValidID(args[0]) {
			var got api.Schedule
			if err := sh.do(ctx, "get-schedule", given{"id": args[0]}, &got); err != nil {
				return err
			}
			return sh.show(api.ComingInstants{Next: got.Coming}, func(out io.Writer) { instantTable(out, got.Coming) })
		}
		d, err := sh.readDescribed(args[0], "schedule")
		if err != nil {
			return err
		}
		r.body = map[string]any{}
		for _, name := range []string{"cron", "at", "zone", "event", "site", "offset_s"} {
			if value, has := d.body[name]; has {
				r.body[name] = value
			}
		}
		return d.in(sh.sendRow(ctx, r))
	}
}

func instantTable(out io.Writer, all []api.ComingInstant) {
	if len(all) == 0 {
		fmt.Fprintln(out, "never again")
		return
	}
	writeTable(out, "NEXT\tUTC\tCLOCKS", all, func(t api.ComingInstant) []any {
		return []any{t.Local, t.At.Time().Format("2006-01-02 15:04"), dash(t.Note)}
	})
}

func scheduleText(_ *shell, out io.Writer, s api.Schedule) {
	verb := "schedule " + s.ID
	if s.DryRun {
		verb = "valid; this would be schedule " + s.ID
	}
	fmt.Fprintf(out, "%s: %s, %s\n", verb, s.TimesText, s.Text)
	if robots := s.RobotsText(); robots != "" {
		fmt.Fprintf(out, "robots: %s\n", robots)
	}
	if s.Missed == schedule.RunOnce {
		fmt.Fprintf(out, "missed: the newest missed instant runs, up to %v late\n", time.Duration(s.WithinS)*time.Second)
	} else {
		fmt.Fprintln(out, "missed: skipped")
	}
	fmt.Fprintf(out, "acts as: %s%s\n", s.Author.User, sitesText(s.Author.Sites))
	if s.OfSite != "" {
		fmt.Fprintf(out, "written by the calendar of site %s: change the site\n", s.OfSite)
	}
	if s.Last != nil {
		fmt.Fprintf(out, "last: %s %s%s\n", formatTime(s.Last.Instant), s.Last.Outcome, afterColon(s.Last.Why))
	}
	if !s.IsEnabled() {
		fmt.Fprintln(out, "disabled: it does not run")
		return
	}
	instantTable(out, s.Coming)
}

func sitesText(sites []string) string {
	if len(sites) == 0 {
		return ""
	}
	return ", for robots of " + strings.Join(sites, ", ") + " only"
}

func afterColon(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func siteChangedText(_ *shell, out io.Writer, c api.SiteChanged) {
	did := "site " + c.Site.ID + " is set"
	if c.DryRun {
		did = "valid; nothing is changed"
	}
	fmt.Fprintf(out, "%s: %s, %s; rollouts %s\n", did, c.Site.Zone, c.Site.State(), c.Site.WindowText())
	for _, one := range []struct {
		what string
		ids  []string
	}{{"writes", c.Written}, {"deletes", c.Deleted}, {"moves", c.Moved}} {
		if len(one.ids) > 0 {
			fmt.Fprintf(out, "%s schedules %s\n", one.what, strings.Join(one.ids, ", "))
		}
	}
	if len(c.Next) > 0 {
		writeTable(out, "NEXT\tSCHEDULE\tACTION\tCLOCKS", c.Next, func(t api.ComingInstant) []any {
			return []any{t.Local, t.Schedule, t.Action, dash(t.Note)}
		})
	}
}

// hourFlags are the usual changes of the hours of a site.
type hourFlags struct {
	zone                   string
	hours, closed, windows []string
	onOpen, onClose        string
}

// siteHours changes some of what a site has, and leaves the rest.
func siteHours(sh *shell, c *cobra.Command) finish {
	var f hourFlags
	flags := c.Flags()
	flags.StringVar(&f.zone, "zone", "", "IANA time zone, such as Europe/Berlin; a new site needs one")
	flags.StringArrayVar(&f.hours, "hours", nil,
		"opening hours of days: mon-fri=09:00-18:00, sat=10:00-13:00,14:00-17:00, sun=closed; may be repeated")
	flags.StringArrayVar(&f.closed, "closed", nil, "closed on a date, or on several: 2026-12-24, 2026-12-24..2026-12-26=Christmas; other "+
		"hours with @: 2026-12-31@10:00-14:00; may be repeated")
	flags.StringArrayVar(&f.windows, "window", nil,
		"maintenance window, which replaces all others: 22:00-05:00, mon,tue=22:00-05:00; none removes all; may be repeated")
	flags.StringVar(&f.onOpen, "on-open", "",
		"what happens at each opening: start, stop, pause or continue (the performance), mode=MODE, story=ID, none")
	flags.StringVar(&f.onClose, "on-close", "", "what happens at each closing")
	return func(ctx context.Context, args []string, r rowRequest) error {
		var was api.Site
		err := sh.do(ctx, "get-site", given{"id": args[0]}, &was)
		var failed *failure
		if err != nil && !(errors.As(err, &failed) && failed.problem != nil && failed.problem.Of(api.KindNotFound)) {
			return err
		}
		next := was.Calendar
		if err := f.apply(&next); err != nil {
			return err
		}
		text, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("write the site: %w", err)
		}
		body := map[string]any{}
		if err := json.Unmarshal(text, &body); err != nil {
			return fmt.Errorf("write the site: %w", err)
		}
		for name, value := range r.body {
			body[name] = value
		}
		r.body, r.path["id"] = body, args[0]
		return sh.sendRow(ctx, r)
	}
}

func (f hourFlags) apply(c *schedule.Calendar) (err error) {
	c.Zone = orElse(f.zone, c.Zone)
	for _, text := range f.hours {
		days, spans, is := strings.Cut(text, "=")
		list, ok := daysOf(days)
		if !is || !ok {
			return usage("--hours %s: write days=from-to, such as mon-fri=09:00-18:00 or sun=closed", text)
		}
		for _, day := range list {
			*c.Hours.Of(day) = spansOf(spans)
		}
	}
	for _, text := range f.closed {
		dates, name, _ := strings.Cut(text, "=")
		dates, spans, _ := strings.Cut(dates, "@")
		e := site.Exception{Name: name, Hours: spansOf(spans)}
		e.Date, e.Until, _ = strings.Cut(dates, "..")
		c.Exceptions = slices.DeleteFunc(c.Exceptions, func(old site.Exception) bool { return old.Date == e.Date && old.Until == e.Until })
		c.Exceptions = append(c.Exceptions, e)
	}
	if len(f.windows) > 0 {
		c.Windows = nil
	}
	for _, text := range f.windows {
		if text == "none" {
			continue
		}
		w := site.Window{Span: text}
		if days, span, is := strings.Cut(text, "="); is {
			list, ok := daysOf(days)
			if !ok {
				return usage("--window %s: write days=from-to, such as mon,tue=22:00-05:00", text)
			}
			w.Span = span
			for _, day := range list {
				w.Days = append(w.Days, site.DayName(day))
			}
		}
		c.Windows = append(c.Windows, w)
	}
	if c.Open, err = actionOf("--on-open", f.onOpen, c.Open); err != nil {
		return err
	}
	c.Close, err = actionOf("--on-close", f.onClose, c.Close)
	return err
}

// spansOf reads spans with commas between them; none for a closed day.
func spansOf(text string) []string {
	if text == "" || text == "closed" {
		return nil
	}
	return strings.Split(text, ",")
}

// daysOf reads days such as mon-fri, or sat,sun.
func daysOf(text string) (days []time.Weekday, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, b := slices.Index(site.Days, from), slices.Index(site.Days, to)
		if a < 0 || b < 0 {
			return nil, false
		}
		for ; ; a = (a + 1) % 7 {
			days = append(days, time.Weekday((a+1)%7))
			if a == b {
				break
			}
		}
	}
	return days, true
}

func actionOf(flag, text string, was *schedule.Action) (*schedule.Action, error) {
	if text == "" {
		return was, nil
	}
	if text == "none" {
		return nil, nil
	}
	what, value, _ := strings.Cut(text, "=")
	fields := map[string]any{}
	switch what {
	case "start", "stop", "pause", "continue":
		fields["performance"] = what
	case "mode":
		fields["mode"] = modeNamed(value)
	case "story":
		if value == "" {
			return nil, usage("%s story= names none; a file can say that robots shall have none: {assign: {story: {}}}", flag)
		}
		fields["assign"] = map[string]any{"story": map[string]any{"id": value}}
	default:
		return nil, usage("%s %s: write start, stop, pause, continue, mode=MODE, story=ID or none; a file has more: fleetd site set", flag, text)
	}
	encoded, err := json.Marshal(fields)
	var a schedule.Action
	if err == nil {
		err = json.Unmarshal(encoded, &a)
	}
	if err != nil {
		return nil, usage("%s %s: %q is no number", flag, text, value)
	}
	return &a, nil
}

// halfHour is how much of a day one column of a drawn week is.
const halfHour = 30 * time.Minute

// weekText draws a week: a line for each day, half an hour for each column.
func weekText(sh *shell, out io.Writer, w api.WeekOfSite) {
	open, window, both, closed := "█", "░", "▓", "·"
	if !sh.utf8() {
		open, window, both, closed = "#", "-", "=", "."
	}
	fmt.Fprintf(out, "%s, %s: %s open, %s maintenance window, %s both\n", w.Site, w.Zone, open, window, both)
	zone, _ := site.LoadZone("", w.Zone)
	ruler := ""
	for hour := 0; hour < 24; hour += 3 {
		ruler += fmt.Sprintf("%-6s", fmt.Sprintf("%02d", hour))
	}
	fmt.Fprintf(out, "%16s%s\n", "", strings.TrimRight(ruler, " "))
	for _, d := range w.Days {
		date, err := time.Parse(time.DateOnly, d.Date)
		if err != nil {
			continue
		}
		var line strings.Builder
		for i := range 48 {
			at := site.First(date.Add(time.Duration(i)*halfHour), zone)
			switch {
			case within(d.Windows, at) && within(d.Open, at):
				line.WriteString(both)
			case within(d.Open, at):
				line.WriteString(open)
			case within(d.Windows, at):
				line.WriteString(window)
			default:
				line.WriteString(closed)
			}
		}
		var spans []string
		for _, s := range d.Open {
			spans = append(spans, s.String())
		}
		said := orElse(strings.Join(spans, ", "), "closed")
		if d.Exception != "" {
			said += " (" + d.Exception + ")"
		}
		if d.Clocks != "" {
			said += "; " + d.Clocks
		}
		fmt.Fprintf(out, "%s %s  %s  %s\n", d.Day.Day, d.Date, line.String(), said)
	}
}

func within(spans []site.DaySpan, at time.Time) bool {
	return slices.ContainsFunc(spans, func(s site.DaySpan) bool { return !at.Before(s.Begin) && at.Before(s.End) })
}
