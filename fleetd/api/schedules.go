package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/operation"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Schedule is a schedule, its next instants and its last run.
type Schedule struct {
	ID string `json:"id"`
	schedule.Schedule
	OfSite    string          `json:"site_of,omitempty" doc:"the site whose calendar writes it; then only the site is changed"`
	Owner     string          `json:"owner,omitempty" doc:"the folder that it was applied from"`
	Text      string          `json:"text" doc:"what it does, in a few words"`
	TimesText string          `json:"times" doc:"when, in a few words"`
	Next      schema.Time     `json:"next_at,omitzero" doc:"left out if it does not run any more, or is not enabled"`
	Coming    []ComingInstant `json:"next,omitempty" doc:"the next ten instants; of one schedule only"`
	Last      *ScheduleRun    `json:"last,omitempty" doc:"the newest instant that was run or missed"`
	Author    schedule.Author `json:"author" doc:"as whom it acts"`
	Changed   schema.Time     `json:"changed_at,omitzero"`
	By        string          `json:"changed_by,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"`
}

// RobotsText is the selector as on a command line.
func (s Schedule) RobotsText() string {
	if s.Selector == nil {
		return ""
	}
	return s.Selector.String()
}

// LastText says what became of the newest instant.
func (s Schedule) LastText() string {
	if s.Last == nil {
		return ""
	}
	return string(s.Last.Outcome)
}

// StateText says when it runs next, or why it does not.
func (s Schedule) StateText() string {
	switch {
	case !s.IsEnabled():
		return "disabled"
	case s.Next == 0:
		return "never again"
	}
	return s.Next.Time().Format("2006-01-02 15:04 UTC")
}

// ComingInstant is one instant at which a schedule runs.
type ComingInstant struct {
	At       schema.Time `json:"at"`
	Local    string      `json:"local" doc:"what clocks show in the zone of the schedule" example:"Thu 2026-12-24 18:00 CET"`
	Note     string      `json:"note,omitempty" doc:"what a change of the clocks does to it"`
	Schedule string      `json:"schedule,omitempty" doc:"of a site: which schedule runs"`
	Action   string      `json:"action,omitempty" doc:"of a site: what happens"`
}

// ComingInstants are the next instants of a schedule.
type ComingInstants struct {
	Zone string          `json:"zone"`
	Next []ComingInstant `json:"next" doc:"at most ten"`
}

// ScheduleList lists schedules.
type ScheduleList struct {
	Schedules []Schedule `json:"schedules"`
}

// ScheduleRun is one instant that was run or missed.
type ScheduleRun struct {
	Schedule string                `json:"schedule"`
	Instant  schema.Time           `json:"instant"`
	At       schema.Time           `json:"at" doc:"when fleetd decided it"`
	Outcome  schedule.Outcome      `json:"outcome" enum:"done,missed,failed"`
	Why      string                `json:"why,omitempty" doc:"why it was missed or failed, or who was left out"`
	Robots   int                   `json:"robots" doc:"how many it was for"`
	Batch    string                `json:"batch,omitempty" doc:"id of the commands that it sent"`
	Rollout  string                `json:"rollout,omitempty" doc:"id of the rollout that it started"`
	Counts   map[command.State]int `json:"counts,omitempty" doc:"its commands by state"`
	Refused  []change.NotDone      `json:"refused,omitempty" doc:"some of the robots that did not do it, and why"`
}

// AnswersText says what the robots answered.
func (r ScheduleRun) AnswersText() string {
	var all []string
	for _, state := range slices.Sorted(maps.Keys(r.Counts)) {
		all = append(all, fmt.Sprintf("%d %s", r.Counts[state], state))
	}
	for _, one := range r.Refused {
		all = append(all, one.Robot+": "+one.Why)
	}
	return strings.Join(all, ", ")
}

// ScheduleRuns lists runs.
type ScheduleRuns struct {
	Runs []ScheduleRun `json:"runs"`
}

// ScheduleRequest is a schedule to save.
type ScheduleRequest struct {
	schedule.Schedule
	By     string `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	DryRun bool   `json:"dry_run,omitempty" doc:"only show when it would run"`
}

// PathSchedule names a schedule.
type PathSchedule struct {
	caller
	ID string `path:"id" maxLength:"80"`
}

// comingInstants is how many instants are shown.
const comingInstants = 10

// scheduling are the rights of which a schedule needs one; its action says which.
const scheduling = auth.Assign | auth.Command

const scheduleColumns = "ID id | NEXT StateText() | TIMES times | ACTION text | ROBOTS RobotsText() | SITE site_of | LAST LastText()"

func (s *server) schedules(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-schedules", Method: http.MethodGet, Path: "/schedules", Tag: "schedules", Right: auth.View,
		Summary: "List schedules",
		Use:     "schedule list",
		Columns: scheduleColumns,
		None:    "no schedules",
	}, func(ctx context.Context, in *noInput) (*answer[ScheduleList], error) {
		all, last, err := s.Schedules.List(ctx)
		if err != nil {
			return nil, s.fail(err, "schedules")
		}
		out := ScheduleList{Schedules: []Schedule{}}
		for _, row := range all {
			if !seesSchedule(in.principal, row) {
				continue
			}
			one := scheduleOf(row)
			if run, has := last[row.ID]; has {
				one.Last = runOf(run)
			}
			out.Schedules = append(out.Schedules, one)
		}
		return &answer[ScheduleList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-schedule", Method: http.MethodGet, Path: "/schedules/{id}", Tag: "schedules", Right: auth.View,
		Summary: "Get one schedule with its next ten instants",
		Use:     "schedule get ID",
		Example: "schedule get berlin-open",
	}, func(ctx context.Context, in *PathSchedule) (*answer[Schedule], error) {
		return s.getSchedule(ctx, in.principal, in.ID)
	})
	operation.Register(t, operation.Row{
		ID: "put-schedule", Method: http.MethodPut, Path: "/schedules/{id}", Tag: "schedules", Right: scheduling,
		Summary: "Save a schedule",
		Description: "It acts with the rights and sites that its author has when it is saved. A schedule releases no stop and " +
			"enables no robot: " +
			"a stopped robot refuses what it sends.",
		Audit:   audit.ActionSchedule,
		Use:     "schedule put FILE",
		Example: "schedule put morning.yaml",
		Long: "Save the schedule that a file in YAML or JSON describes; --dry-run shows the next ten instants instead.\n\n" +
			"  schedule: morning\n  cron: \"0 9 * * 1-5\"        # or at: 2026-12-24T18:00, or event: opening and site: berlin\n" +
			"  zone: Europe/Berlin\n" +
			"  missed: run_once         # default skip\n  within_s: 1800\n  action: {performance: start}   # or mode, assign, rollout\n" +
			"  selector: {labels: [{key: site, value: berlin}]}\n  why: opening",
	}, func(ctx context.Context, in *struct {
		PathSchedule
		Body ScheduleRequest
	}) (*answer[Schedule], error) {
		return s.putSchedule(ctx, in.principal, in.ID, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "delete-schedule", Method: http.MethodDelete, Path: "/schedules/{id}", Tag: "schedules", Right: scheduling,
		Summary: "Delete a schedule",
		Audit:   audit.ActionDelete,
		Use:     "schedule delete ID",
		Example: "schedule delete morning",
		Done:    "schedule {id} is deleted",
	}, func(ctx context.Context, in *struct {
		PathSchedule
		AttributionQuery
	}) (*struct{}, error) {
		if _, err := s.schedule(ctx, in.principal, in.ID); err != nil {
			return nil, err
		}
		found, err := s.Schedules.DeleteSchedule(ctx, in.principal, in.ID, in.attribution(in.principal))
		if err := s.failed(err, "schedule "+in.ID, inBody("", found)); err != nil {
			return nil, err
		}
		return nil, nil
	})
	operation.Register(t, operation.Row{
		ID: "next-instants", Method: http.MethodPost, Path: "/schedules/next", Tag: "schedules", Right: auth.View, ReadOnly: true,
		Summary:     "Show when a schedule would run",
		Description: "The next ten instants, and what changes of the clocks do to each. Only the times of the schedule count.",
		Use:         "schedule next FILE",
		Example:     "schedule next morning.yaml\nschedule next berlin-open",
		Long:        "Show the next ten instants of a schedule, by its id or in a file, and what changes of the clocks do to each.",
	}, func(ctx context.Context, in *bodyOf[schedule.Times]) (*answer[ComingInstants], error) {
		return s.nextInstants(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "list-schedule-runs", Method: http.MethodGet, Path: "/schedules/runs", Tag: "schedules", Right: auth.View,
		Summary: "List the instants that schedules ran or missed, the newest first",
		Use:     "schedule runs",
		Columns: "INSTANT instant | SCHEDULE schedule | OUTCOME outcome | ROBOTS robots | WHY why | ANSWERS AnswersText() | BATCH batch | " +
			"ROLLOUT rollout",
		None: "no schedule ran yet",
	}, func(ctx context.Context, in *struct {
		caller
		Schedule string `query:"schedule" maxLength:"80" doc:"only of this schedule"`
		Outcome  string `query:"outcome" enum:"done,missed,failed" doc:"only with this outcome"`
		Limit    int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"at most this many"`
	}) (*answer[ScheduleRuns], error) {
		return s.scheduleRuns(ctx, in.principal, change.ScheduleRunQuery{Outcome: schedule.Outcome(in.Outcome), Limit: in.Limit}, in.Schedule)
	})
}

// seesSchedule reports whether a principal sees and may change a schedule: if all of its robots are of the principal's
// sites, whatever labels robots get.
func seesSchedule(p auth.Principal, row change.Schedule) bool {
	if p.SeesAll() {
		return true
	}
	theirs := func(sites []string) bool {
		return len(sites) > 0 && !slices.ContainsFunc(sites, func(site string) bool { return !slices.Contains(p.Sites, site) })
	}
	if theirs(row.Author.Sites) {
		return true
	}
	return row.Selector != nil && slices.ContainsFunc(row.Selector.Labels, func(l selector.Label) bool {
		return l.Key == auth.SiteLabel && slices.Contains(p.Sites, l.Value)
	})
}

func (s *server) schedule(ctx context.Context, p auth.Principal, id string) (change.Schedule, error) {
	row, err := s.Schedules.Get(ctx, id)
	switch {
	case err != nil:
		return row, s.fail(err, "schedule "+id)
	case !seesSchedule(p, row):
		return row, KindNotAllowed.Problem(fmt.Sprintf("schedule %s may be for robots of other sites, and %s has the sites %s", id, p.ID,
			strings.Join(p.Sites, ", ")),
			"somebody with every site can, such as an administrator")
	}
	return row, nil
}

func scheduleOf(row change.Schedule) Schedule {
	return Schedule{
		ID: row.ID, Schedule: row.Schedule, OfSite: row.OfSite, Owner: row.Owner, Text: row.Action.String(), TimesText: row.Times.String(),
		Next:   timeOf(row.NextAt),
		Author: row.Author, Changed: timeOf(row.ChangedAt), By: row.ChangedBy,
	}
}

func runOf(r change.ScheduleRun) *ScheduleRun {
	return &ScheduleRun{
		Schedule: r.Schedule, Instant: timeOf(r.Instant), At: timeOf(r.At), Outcome: r.Outcome, Why: r.Why, Robots: r.Robots,
		Batch: r.Batch, Rollout: r.Rollout,
	}
}

func timeAt(i schedule.Instant, zone *time.Location) ComingInstant {
	return ComingInstant{At: timeOf(i.At), Local: i.At.In(zone).Format("Mon 2006-01-02 15:04 MST"), Note: i.Note}
}

func coming(t schedule.Timer, now time.Time) []ComingInstant {
	out := []ComingInstant{}
	for _, i := range t.Coming(now, comingInstants) {
		out = append(out, timeAt(i, t.Zone()))
	}
	return out
}

func (s *server) getSchedule(ctx context.Context, p auth.Principal, id string) (*answer[Schedule], error) {
	row, err := s.schedule(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := scheduleOf(row)
	if row.IsEnabled() {
		t, _, err := s.Schedules.Timer(ctx, row.Schedule)
		if err != nil {
			return nil, s.fail(err, "schedule "+id)
		}
		out.Coming = coming(t, s.Now())
	}
	runs, err := s.Schedules.Runs(ctx, change.ScheduleRunQuery{Schedules: []string{id}, Limit: 1})
	if err != nil {
		return nil, s.fail(err, "schedule "+id)
	}
	if len(runs) > 0 {
		out.Last = runOf(runs[0])
	}
	return &answer[Schedule]{out}, nil
}

func (s *server) putSchedule(ctx context.Context, p auth.Principal, id string, w ScheduleRequest) (*answer[Schedule], error) {
	if found := change.CheckScheduleID(id); len(found) > 0 {
		return nil, refusal(findings("path", found))
	}
	if len(w.Action.Problems("")) == 0 { // else it is refused with all other problems
		if no := forbidden(p, change.RightFor(w.Action), "Schedule to "+w.Action.String()); no != nil {
			return nil, no
		}
	}
	if _, err := s.schedule(ctx, p, id); err != nil && !isNotFound(err) {
		return nil, err
	}
	if w.Site != "" {
		if err := ofSite(p, w.Site); err != nil {
			return nil, err
		}
	}
	if w.Selector != nil && len(w.Selector.Problems()) == 0 {
		if _, err := s.narrow(p, *w.Selector, false); err != nil {
			return nil, err
		}
	}
	row, t, found, err := s.Schedules.PutSchedule(ctx, p, change.Schedule{ID: id, Schedule: w.Schedule}, w.DryRun,
		audit.Attribution{Who: actingName(p, w.By), Why: w.Why})
	var unknown *change.UnknownRobots
	if errors.As(err, &unknown) {
		return nil, refusal(inBody("/selector", unknownRobotProblems(*w.Selector, unknown.IDs)))
	}
	if err := s.failed(err, "schedule "+id, inBody("", found)); err != nil {
		return nil, err
	}
	out := scheduleOf(row)
	if out.DryRun = w.DryRun; row.IsEnabled() {
		out.Coming = coming(t, s.Now())
	}
	return &answer[Schedule]{out}, nil
}

func isNotFound(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Of(KindNotFound)
}

func (s *server) nextInstants(ctx context.Context, p auth.Principal, w schedule.Times) (*answer[ComingInstants], error) {
	if w.Site != "" {
		if err := ofSite(p, w.Site); err != nil {
			return nil, err
		}
	}
	t, found, err := s.Schedules.Times(ctx, w)
	if err := s.failed(err, "the site", inBody("", found)); err != nil {
		return nil, err
	}
	return &answer[ComingInstants]{ComingInstants{Zone: t.Zone().String(), Next: coming(t, s.Now())}}, nil
}

func (s *server) scheduleRuns(ctx context.Context, p auth.Principal, q change.ScheduleRunQuery, id string) (*answer[ScheduleRuns], error) {
	if id != "" {
		q.Schedules = []string{id}
	}
	if !p.SeesAll() {
		all, _, err := s.Schedules.List(ctx)
		if err != nil {
			return nil, s.fail(err, "schedules")
		}
		q.Schedules = []string{}
		for _, row := range all {
			if (id == "" || row.ID == id) && seesSchedule(p, row) {
				q.Schedules = append(q.Schedules, row.ID)
			}
		}
	}
	rows, err := s.Schedules.Runs(ctx, q)
	if err != nil {
		return nil, s.fail(err, "runs of schedules")
	}
	var batches []string
	for _, r := range rows {
		if r.Batch != "" {
			batches = append(batches, r.Batch)
		}
	}
	answers, err := s.Schedules.Answers(ctx, batches)
	if err != nil {
		return nil, s.fail(err, "runs of schedules")
	}
	out := ScheduleRuns{Runs: []ScheduleRun{}}
	for _, r := range rows {
		one := runOf(r)
		one.Counts, one.Refused = answers[r.Batch].Counts, slices.Clone(answers[r.Batch].Refused)
		one.Refused = slices.DeleteFunc(one.Refused, func(r change.NotDone) bool { return s.outside(p, r.Robot) != nil })
		out.Runs = append(out.Runs, *one)
	}
	return &answer[ScheduleRuns]{out}, nil
}
