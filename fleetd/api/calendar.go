package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/schema"
)

// Site is what fleetd knows of a site, and how it is there now.
type Site struct {
	ID string `json:"id" doc:"value of the label site of its robots"`
	schedule.Calendar
	Robots      int         `json:"robots" doc:"how many have its label"`
	OpenNow     bool        `json:"open_now" doc:"it is within its opening hours"`
	Opens       schema.Time `json:"opens_at,omitzero" doc:"when it opens next; left out if it does not within a year"`
	Closes      schema.Time `json:"closes_at,omitzero" doc:"when it closes next"`
	InWindow    bool        `json:"in_window" doc:"its robots may be changed now: a maintenance window is open, or it has none"`
	WindowOpens schema.Time `json:"window_opens_at,omitzero" doc:"when the next window opens"`
	LocalTime   string      `json:"local_time" doc:"what clocks show there" example:"Mon 09:30 CET"`
	Map         *SiteMap    `json:"map,omitempty" doc:"the image of its floor, which GET /sites/{id}/map downloads"`
	Owner       string      `json:"owner,omitempty" doc:"the folder that it was applied from"`
	Changed     schema.Time `json:"changed_at"`
	By          string      `json:"changed_by"`
}

// State says in words whether the site is open, and until when.
func (s Site) State() string {
	zone, _ := site.LoadZone("", s.Zone)
	switch {
	case s.Zone == "":
		return ""
	case s.OpenNow && s.Closes == 0:
		return "open, always"
	case s.OpenNow:
		return "open until " + s.Closes.Time().In(zone).Format("Mon 15:04")
	case s.Opens == 0:
		return "closed"
	}
	return "closed until " + s.Opens.Time().In(zone).Format("Mon 2 Jan 15:04")
}

// WindowText says in words whether robots of the site may be changed.
func (s Site) WindowText() string {
	zone, _ := site.LoadZone("", s.Zone)
	switch {
	case len(s.Windows) == 0:
		return "at any time"
	case s.InWindow:
		return "now"
	}
	return "from " + s.WindowOpens.Time().In(zone).Format("Mon 2 Jan 15:04")
}

// OpenText and CloseText say what happens at openings and closings.
func (s Site) OpenText() string  { return actionText(s.Open) }
func (s Site) CloseText() string { return actionText(s.Close) }

func actionText(a *schedule.Action) string {
	if a == nil {
		return ""
	}
	return a.String()
}

// SiteList lists sites.
type SiteList struct {
	Sites []Site `json:"sites"`
}

// SiteRequest is the calendar of a site.
type SiteRequest struct {
	schedule.Calendar
	DryRun bool `json:"dry_run,omitempty" doc:"only show what it would do"`
	audit.Attribution
}

// SiteChanged is what a request for a site did.
type SiteChanged struct {
	DryRun  bool            `json:"dry_run,omitempty"`
	Site    Site            `json:"site"`
	Written []string        `json:"written" doc:"schedules that the calendar writes"`
	Deleted []string        `json:"deleted" doc:"schedules that it does not write any more"`
	Moved   []string        `json:"moved" doc:"schedules of people at its openings and closings that run at another time now"`
	Next    []ComingInstant `json:"next" doc:"the next ten openings and closings at which something happens"`
}

// WeekOfSite is one week of a site, in its zone.
type WeekOfSite struct {
	Site string        `json:"site"`
	Zone string        `json:"zone"`
	Days []CalendarDay `json:"days" doc:"from Monday"`
}

// CalendarDay is one day of a site, and what happens on it.
type CalendarDay struct {
	site.Day
	Runs []CalendarRun `json:"runs" doc:"when schedules of the site run"`
}

// CalendarRun is one instant of a schedule on a day.
type CalendarRun struct {
	Schedule string `json:"schedule"`
	At       string `json:"at" doc:"what clocks show there, such as 09:00"`
	Text     string `json:"text" doc:"what happens, in a few words"`
}

// PathSite names a site.
type PathSite struct {
	caller
	ID string `path:"id" maxLength:"63" doc:"value of the label site"`
}

// calendarRight is for hours, windows, and what happens at openings; the action needs its own right, too.
const calendarRight = auth.Assign | auth.Command

func (s *server) sites(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-sites", Method: http.MethodGet, Path: "/sites", Tag: "schedules", Right: auth.View,
		Summary: "List sites with their opening hours, maintenance windows and maps",
		Description: "Also those that fleetd knows only as the label site of robots: then zone is empty. The map of robots without a site is " +
			"that of -.",
		Use: "site list",
		Columns: "SITE id | ROBOTS robots | ZONE zone | THERE local_time | HOURS State() | ROLLOUTS WindowText() | OPENING OpenText() | " +
			"CLOSING CloseText()",
		None: "no site has hours or windows yet: fleetd site hours SITE",
	}, func(ctx context.Context, in *noInput) (*answer[SiteList], error) {
		rows, err := s.Schedules.Sites(ctx)
		if err != nil {
			return nil, s.fail(err, "sites")
		}
		images, err := s.Schedules.SiteMaps(ctx)
		if err != nil {
			return nil, s.fail(err, "maps of sites")
		}
		sites := map[string]Site{}
		for _, row := range rows {
			sites[row.ID] = s.siteOf(row)
		}
		for _, m := range images {
			one, shown := sites[m.Site], siteMapOf(m)
			one.ID, one.Map = m.Site, &shown
			sites[m.Site] = one
		}
		for _, r := range visible(in.principal, s.View.Robots()) {
			id := cmp.Or(r.Labels[auth.SiteLabel], site.None)
			if one, known := sites[id]; known || id != site.None {
				one.ID = id
				one.Robots++
				sites[id] = one
			}
		}
		out := SiteList{Sites: []Site{}}
		for id, one := range sites {
			if one.Robots > 0 || ofSite(in.principal, id) == nil {
				out.Sites = append(out.Sites, one)
			}
		}
		slices.SortFunc(out.Sites, func(a, b Site) int { return strings.Compare(a.ID, b.ID) })
		return &answer[SiteList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-site", Method: http.MethodGet, Path: "/sites/{id}", Tag: "schedules", Right: auth.View,
		Summary: "Get the hours and windows of a site",
		Use:     "site get SITE",
		Example: "site get berlin",
		Columns: "SITE id | ZONE zone | THERE local_time | HOURS State() | ROLLOUTS WindowText() | OPENING OpenText() | CLOSING CloseText() | " +
			"CHANGED changed_at | BY changed_by",
	}, func(ctx context.Context, in *PathSite) (*answer[Site], error) {
		row, err := s.site(ctx, in.principal, in.ID)
		if err != nil {
			return nil, err
		}
		return &answer[Site]{s.siteOf(row)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "put-site", Method: http.MethodPut, Path: "/sites/{id}", Tag: "schedules", Right: calendarRight,
		Summary: "Set the hours and windows of a site",
		Description: "The request replaces what the site had. What happens at openings and closings becomes the schedules SITE-open and " +
			"SITE-close. A dry run shows when they run next.",
		Audit:   audit.ActionSite,
		Use:     "site set FILE",
		Example: "site set berlin.yaml",
		Long: "Set the zone, the opening hours with exceptions, the maintenance windows, and what happens at openings and closings\n" +
			"of the site that a file in YAML or JSON describes. It replaces what the site had.\n\n" +
			"  site: berlin\n  zone: Europe/Berlin\n  hours: {tue: [\"09:00-12:30\", \"13:30-18:00\"], sat: [\"20:00-02:00\"]}\n" +
			"  exceptions: [{date: 2026-12-24, until: 2026-12-26, name: Christmas}]\n  windows: [{days: [mon], span: \"22:00-05:00\"}]\n" +
			"  open: {performance: start}\n  close: {performance: stop}",
	}, func(ctx context.Context, in *struct {
		PathSite
		Body SiteRequest
	}) (*answer[SiteChanged], error) {
		return s.putSite(ctx, in.principal, in.ID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "delete-site", Method: http.MethodDelete, Path: "/sites/{id}", Tag: "schedules", Right: calendarRight,
		Summary:     "Delete the hours and windows of a site",
		Description: "Its robots keep their label. The schedules SITE-open and SITE-close are deleted, too.",
		Audit:       audit.ActionDelete,
		Use:         "site delete SITE",
		Example:     "site delete berlin",
		Done:        "the hours and windows of site {id} are deleted",
	}, func(ctx context.Context, in *struct {
		PathSite
		AttributionQuery
	}) (*struct{}, error) {
		if _, err := s.site(ctx, in.principal, in.ID); err != nil {
			return nil, err
		}
		found, err := s.Schedules.DeleteSite(ctx, in.principal, in.ID, in.attribution(in.principal))
		if err := s.failed(err, "site "+in.ID, inBody("", found)); err != nil {
			return nil, err
		}
		return nil, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-site-week", Method: http.MethodGet, Path: "/sites/{id}/week", Tag: "schedules", Right: auth.View,
		Summary: "Get one week of a site, in its zone",
		Use:     "site week SITE",
		Example: "site week berlin\nsite week berlin --from 2026-12-21",
		Short:   "draw a week of a site: opening hours, exceptions, maintenance windows",
	}, func(ctx context.Context, in *struct {
		PathSite
		From string `query:"from" maxLength:"10" doc:"a date of the week, such as 2026-12-24; default today"`
	}) (*answer[WeekOfSite], error) {
		return s.siteWeek(ctx, in.principal, in.ID, in.From)
	})
}

// ofSite says why a principal may not see or change what belongs to a site; nil = it may.
func ofSite(p auth.Principal, id string) error {
	if p.SeesAll() || slices.Contains(p.Sites, id) {
		return nil
	}
	return notTheirSite(p, id)
}

func (s *server) site(ctx context.Context, p auth.Principal, id string) (change.Site, error) {
	if err := ofSite(p, id); err != nil {
		return change.Site{}, err
	}
	row, err := s.Schedules.Site(ctx, id)
	if err != nil {
		return row, s.fail(err, "site "+id+" with hours or windows")
	}
	return row, nil
}

func (s *server) siteOf(row change.Site) Site {
	now := s.Now()
	out := Site{ID: row.ID, Calendar: row.Calendar, Owner: row.Owner, Changed: timeOf(row.ChangedAt), By: row.ChangedBy}
	hours, found := site.Parse(row.Site)
	if len(found) > 0 {
		return out
	}
	out.OpenNow, out.Opens, out.Closes = hours.Open(now), timeOf(hours.NextOpening(now)), timeOf(hours.NextClosing(now))
	out.InWindow, out.WindowOpens = hours.InWindow(now), timeOf(hours.NextWindow(now))
	out.LocalTime = now.In(hours.Zone()).Format("Mon 15:04 MST")
	return out
}

func (s *server) putSite(ctx context.Context, p auth.Principal, id string, w SiteRequest) (*answer[SiteChanged], error) {
	if err := ofSite(p, id); err != nil {
		return nil, err
	}
	for _, a := range []*schedule.Action{w.Open, w.Close} {
		if a == nil || len(a.Problems("")) > 0 { // which is refused with all other problems
			continue
		}
		if no := forbidden(p, change.RightFor(*a), "Have a site "+a.String()); no != nil {
			return nil, no
		}
	}
	done, found, err := s.Schedules.PutSite(ctx, p, change.Site{ID: id, Calendar: w.Calendar}, w.DryRun, attribute(p, w.Attribution))
	if err := s.failed(err, "site "+id, inBody("", found)); err != nil {
		return nil, err
	}
	out := SiteChanged{
		DryRun: w.DryRun, Site: s.siteOf(done.Site), Written: nonNil(done.Written), Deleted: nonNil(done.Deleted), Moved: nonNil(done.Moved),
		Next: openings(id, w.Calendar, s.Now()),
	}
	return &answer[SiteChanged]{out}, nil
}

// openings are the next instants of the schedules that a calendar writes.
func openings(id string, c schedule.Calendar, now time.Time) []ComingInstant {
	out := []ComingInstant{}
	hours, _ := site.Parse(c.Site)
	for name, one := range c.Schedules(id) {
		t, _ := schedule.Compile(one, func(string) (site.Hours, bool) { return hours, true }, now)
		for _, i := range t.Coming(now, comingInstants) {
			at := timeAt(i, t.Zone())
			at.Schedule, at.Action = name, one.Action.String()
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b ComingInstant) int {
		return strings.Compare(a.At.String()+a.Schedule, b.At.String()+b.Schedule)
	})
	return out[:min(len(out), comingInstants)]
}

func (s *server) siteWeek(ctx context.Context, p auth.Principal, id, from string) (*answer[WeekOfSite], error) {
	row, err := s.site(ctx, p, id)
	if err != nil {
		return nil, err
	}
	hours, found := site.Parse(row.Site)
	if len(found) > 0 {
		return nil, s.fail(errors.New(found[0].String()), "site "+id)
	}
	at := s.Now()
	if from != "" {
		date, err := time.ParseInLocation(time.DateOnly, from, hours.Zone())
		if err != nil {
			problem := schema.NewProblem("/from", "bad_date", fmt.Sprintf("%q is not a date", from), "write year-month-day, such as 2026-12-24")
			return nil, refusal(findings("query", []schema.Problem{problem}))
		}
		at = date
	}
	all, _, err := s.Schedules.List(ctx)
	if err != nil {
		return nil, s.fail(err, "schedules")
	}
	out := WeekOfSite{Site: id, Zone: row.Zone, Days: []CalendarDay{}}
	for _, d := range hours.WeekOf(at) {
		out.Days = append(out.Days, CalendarDay{Day: d, Runs: []CalendarRun{}})
	}
	for _, one := range all {
		if one.IsEnabled() && isAbout(one, id) && seesSchedule(p, one) {
			addRuns(out.Days, one, hours)
		}
	}
	return &answer[WeekOfSite]{out}, nil
}

// isAbout reports whether a schedule is about a site: by its times, or by its robots. One at the openings of another site is not: its
// instants follow from hours that who sees this site may not see.
func isAbout(row change.Schedule, id string) bool {
	return row.Site == id || row.Site == "" && row.Selector != nil &&
		slices.Contains(row.Selector.Labels, selector.Label{Key: auth.SiteLabel, Value: id})
}

// runsOfWeek bounds how often one schedule is shown in a week.
const runsOfWeek = 50

// addRuns adds the instants of a schedule to the days of a week.
func addRuns(days []CalendarDay, row change.Schedule, hours site.Hours) {
	t, found := schedule.Compile(row.Schedule, func(string) (site.Hours, bool) { return hours, true }, time.Time{})
	monday, err := time.Parse(time.DateOnly, days[0].Date)
	if len(found) > 0 || err != nil {
		return
	}
	at := site.First(monday, hours.Zone()).Add(-time.Second)
	for range runsOfWeek {
		if at = t.Next(at).At; at.IsZero() {
			return
		}
		local := at.In(hours.Zone())
		i := slices.IndexFunc(days, func(d CalendarDay) bool { return d.Date == local.Format(time.DateOnly) })
		if i < 0 {
			return
		}
		days[i].Runs = append(days[i].Runs, CalendarRun{row.ID, local.Format("15:04"), row.Action.String()})
		slices.SortStableFunc(days[i].Runs, func(a, b CalendarRun) int { return strings.Compare(a.At, b.At) })
	}
}
