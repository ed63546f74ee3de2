package store

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/schedule"
	"troupe/schema"
)

// Site is what the database has of a site.
type Site struct {
	ID      string
	Version int64 // rises with every change; 0 = it is new
	schedule.Calendar
	Owner     string // the folder that it was applied from; empty = never of a folder
	ChangedAt time.Time
	ChangedBy string
}

const selectSites = `SELECT id, version, body, owner, changed_at, changed_by FROM sites`

func scanSite(scan func(...any) error) (s Site, err error) {
	var body []byte
	var changed int64
	if err := scan(&s.ID, &s.Version, &body, &s.Owner, &changed, &s.ChangedBy); err != nil {
		return s, err
	}
	s.ChangedAt = timeOf(changed)
	s.Calendar, err = decodeColumn[schedule.Calendar](body, "calendar", "site "+s.ID)
	return s, err
}

// Sites lists the sites of which something is known.
func (r reads) Sites(ctx context.Context) ([]Site, error) {
	all, err := queryAll(ctx, r, scanSite, selectSites+" ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list sites: %w", err)
	}
	return all, nil
}

// Site returns one site, or ErrNotFound.
func (r reads) Site(ctx context.Context, id string) (Site, error) {
	s, err := queryOne(ctx, r, scanSite, selectSites+" WHERE id = $1", id)
	if err != nil {
		return s, fmt.Errorf("site %s: %w", id, err)
	}
	return s, nil
}

// SitesRev changes with each change of a site.
func (r reads) SitesRev(ctx context.Context) (rev string, err error) {
	var n, versions, changed int64
	if err := r.queryRow(ctx, `SELECT COUNT(*), COALESCE(SUM(version), 0), COALESCE(MAX(changed_at), 0) FROM sites`).Scan(&n, &versions, &changed); err != nil {
		return "", fmt.Errorf("read whether sites changed: %w", err)
	}
	return fmt.Sprint(n, versions, changed), nil
}

// PutSite writes a site whose version is that of the row, or 0 if there is none; otherwise the error is ErrConflict.
func (t *Tx) PutSite(ctx context.Context, s Site) error {
	body, err := schema.Encode(s.Calendar)
	if err != nil {
		return fmt.Errorf("write site %s: %w", s.ID, err)
	}
	query := `UPDATE sites SET version = version + 1, body = $3, owner = $4, changed_at = $5, changed_by = $6 WHERE id = $1 AND version = $2`
	if s.Version == 0 {
		query = `INSERT INTO sites (id, version, body, owner, changed_at, changed_by) VALUES ($1, $2 + 1, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`
	}
	n, err := t.exec(ctx, query, s.ID, s.Version, body, s.Owner, micros(s.ChangedAt), s.ChangedBy)
	return expectOne(n, err, "site "+s.ID)
}

// DeleteSite deletes a site, or returns ErrNotFound.
func (t *Tx) DeleteSite(ctx context.Context, id string) error {
	return t.deleteOne(ctx, "site "+id, `DELETE FROM sites WHERE id = $1`, id)
}

// Schedule is a schedule with its place in time.
type Schedule struct {
	ID      string
	Version int64 // rises with every change by a person; 0 = it is new
	schedule.Schedule
	Author    schedule.Author
	OfSite    string    // whose calendar wrote it; empty = a person
	Owner     string    // the folder that it was applied from; empty = never of a folder
	NextAt    time.Time // zero = never again, or it is disabled
	ChangedAt time.Time
	ChangedBy string
}

const selectSchedules = `SELECT id, version, body, author, site, owner, next_at, changed_at, changed_by FROM schedules`

func scanSchedule(scan func(...any) error) (s Schedule, err error) {
	var body, author []byte
	var next, changed int64
	if err := scan(&s.ID, &s.Version, &body, &author, &s.OfSite, &s.Owner, &next, &changed, &s.ChangedBy); err != nil {
		return s, err
	}
	s.NextAt, s.ChangedAt = timeOf(next), timeOf(changed)
	if s.Author, err = decodeColumn[schedule.Author](author, "author", "schedule "+s.ID); err != nil {
		return s, err
	}
	s.Schedule, err = decodeColumn[schedule.Schedule](body, "body", "schedule "+s.ID)
	return s, err
}

// Schedules lists all schedules.
func (r reads) Schedules(ctx context.Context) ([]Schedule, error) {
	all, err := queryAll(ctx, r, scanSchedule, selectSchedules+" ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	return all, nil
}

// Schedule returns one schedule, or ErrNotFound.
func (r reads) Schedule(ctx context.Context, id string) (Schedule, error) {
	s, err := queryOne(ctx, r, scanSchedule, selectSchedules+" WHERE id = $1", id)
	if err != nil {
		return s, fmt.Errorf("schedule %s: %w", id, err)
	}
	return s, nil
}

// dueAtOnce bounds how many schedules are read at once; the caller reads again while there are more.
const dueAtOnce = 500

const dueSchedules = `SELECT id FROM schedules WHERE next_at > 0 AND next_at <= $1 ORDER BY next_at LIMIT $2`

// DueSchedules lists the ids of schedules whose next instant has come, the longest due first.
func (r reads) DueSchedules(ctx context.Context, now time.Time) ([]string, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (id string, err error) { return id, scan(&id) }, dueSchedules,
		micros(now), dueAtOnce)
	if err != nil {
		return nil, fmt.Errorf("list due schedules: %w", err)
	}
	return all, nil
}

// PutSchedule writes a schedule whose version is that of the row, or 0 if there is none; otherwise the error is ErrConflict.
func (t *Tx) PutSchedule(ctx context.Context, s Schedule) error {
	body, err := schema.Encode(s.Schedule)
	if err != nil {
		return fmt.Errorf("write schedule %s: %w", s.ID, err)
	}
	author, err := schema.Encode(s.Author)
	if err != nil {
		return fmt.Errorf("write the author of schedule %s: %w", s.ID, err)
	}
	query := `UPDATE schedules SET version = version + 1, body = $3, author = $4, site = $5, owner = $6, next_at = $7, changed_at = $8, changed_by = $9
		WHERE id = $1 AND version = $2`
	if s.Version == 0 {
		query = `INSERT INTO schedules (id, version, body, author, site, owner, next_at, changed_at, changed_by)
			VALUES ($1, $2 + 1, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`
	}
	n, err := t.exec(ctx, query, s.ID, s.Version, body, author, s.OfSite, s.Owner, micros(s.NextAt), micros(s.ChangedAt), s.ChangedBy)
	return expectOne(n, err, "schedule "+s.ID)
}

// SetNextInstant writes when a schedule runs next. If its next instant is not was any more, the error is ErrConflict.
func (t *Tx) SetNextInstant(ctx context.Context, id string, was, next time.Time) error {
	n, err := t.exec(ctx, `UPDATE schedules SET next_at = $3 WHERE id = $1 AND next_at = $2`, id, micros(was), micros(next))
	return expectOne(n, err, "the next instant of schedule "+id)
}

// DeleteSchedule deletes a schedule, or returns ErrNotFound. Its runs stay until they are pruned.
func (t *Tx) DeleteSchedule(ctx context.Context, id string) error {
	return t.deleteOne(ctx, "schedule "+id, `DELETE FROM schedules WHERE id = $1`, id)
}

func (t *Tx) deleteOne(ctx context.Context, what, query, id string) error {
	n, err := t.exec(ctx, query, id)
	if err != nil {
		return fmt.Errorf("delete %s: %w", what, err)
	}
	if n == 0 {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return nil
}

// ScheduleRun is one instant of a schedule that was run or missed.
type ScheduleRun struct {
	Schedule string
	Instant  time.Time
	At       time.Time // when it was decided
	Outcome  schedule.Outcome
	Why      string
	Robots   int    // how many it was for
	Batch    string // id of the commands that it sent; empty = none
	Rollout  string // id of the rollout that it started; empty = none
}

var scheduleRunColumns = []column[ScheduleRun]{
	text("schedule", func(r ScheduleRun) string { return r.Schedule }),
	number("instant", func(r ScheduleRun) int64 { return micros(r.Instant) }),
	number("at", func(r ScheduleRun) int64 { return micros(r.At) }),
	text("outcome", func(r ScheduleRun) string { return string(r.Outcome) }),
	text("why", func(r ScheduleRun) string { return r.Why }),
	number("robots", func(r ScheduleRun) int64 { return int64(r.Robots) }),
	text("batch", func(r ScheduleRun) string { return r.Batch }),
	text("rollout", func(r ScheduleRun) string { return r.Rollout }),
}

// AddScheduleRuns adds runs, and returns how many: instants that were decided before stay as they are.
func (t *Tx) AddScheduleRuns(ctx context.Context, runs ...ScheduleRun) (added int64, err error) {
	added, err = writeRows(ctx, t, runs, scheduleRunColumns, `INSERT INTO schedule_runs (schedule, instant, at, outcome, why, robots, batch, rollout)
		SELECT schedule, instant, at, outcome, why, robots, batch, rollout FROM given WHERE true ON CONFLICT (schedule, instant) DO NOTHING`)
	if err != nil {
		return 0, fmt.Errorf("add %d runs of schedules: %w", len(runs), err)
	}
	return added, nil
}

// SetScheduleRun replaces what a run says of its outcome.
func (t *Tx) SetScheduleRun(ctx context.Context, r ScheduleRun) error {
	n, err := t.exec(ctx, `UPDATE schedule_runs SET outcome = $3, why = $4, robots = $5, batch = $6, rollout = $7 WHERE schedule = $1 AND instant = $2`,
		r.Schedule, micros(r.Instant), string(r.Outcome), r.Why, r.Robots, r.Batch, r.Rollout)
	return expectOne(n, err, "a run of schedule "+r.Schedule)
}

// ScheduleRunQuery selects runs. Zero values select all.
type ScheduleRunQuery struct {
	Schedules []string // nil = of all
	Outcome   schedule.Outcome
	Since     time.Time // instants at or after
	Limit     int       // 0 = 100
}

const selectScheduleRuns = `SELECT schedule, instant, at, outcome, why, robots, batch, rollout FROM schedule_runs`

func scanScheduleRun(scan func(...any) error) (r ScheduleRun, err error) {
	var instant, at int64
	err = scan(&r.Schedule, &instant, &at, &r.Outcome, &r.Why, &r.Robots, &r.Batch, &r.Rollout)
	r.Instant, r.At = timeOf(instant), timeOf(at)
	return r, err
}

// ScheduleRuns lists runs, the newest instant first.
func (r reads) ScheduleRuns(ctx context.Context, q ScheduleRunQuery) ([]ScheduleRun, error) {
	var w where
	if q.Schedules != nil {
		w.addIn("schedule", q.Schedules)
	}
	w.addIf(q.Outcome != "", "outcome = %s", string(q.Outcome))
	w.addIf(!q.Since.IsZero(), "instant >= %s", micros(q.Since))
	all, err := queryAll(ctx, r, scanScheduleRun, selectScheduleRuns+w.String()+" ORDER BY instant DESC, schedule LIMIT "+
		w.arg(limitOf(q.Limit)), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list runs of schedules: %w", err)
	}
	return all, nil
}

// HasScheduleRun reports whether an instant of a schedule was decided.
func (r reads) HasScheduleRun(ctx context.Context, id string, instant time.Time) (bool, error) {
	var n int64
	if err := r.queryRow(ctx, `SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1 AND instant = $2`, id, micros(instant)).Scan(&n); err != nil {
		return false, fmt.Errorf("read a run of schedule %s: %w", id, err)
	}
	return n > 0, nil
}

const lastScheduleRuns = `SELECT r.schedule, r.instant, r.at, r.outcome, r.why, r.robots, r.batch, r.rollout
	FROM schedules s JOIN schedule_runs r ON r.schedule = s.id
	WHERE r.instant = (SELECT MAX(o.instant) FROM schedule_runs o WHERE o.schedule = s.id)`

// LastScheduleRuns returns the newest run of each schedule.
func (r reads) LastScheduleRuns(ctx context.Context) (map[string]ScheduleRun, error) {
	all, err := queryAll(ctx, r, scanScheduleRun, lastScheduleRuns)
	if err != nil {
		return nil, fmt.Errorf("list the last runs of schedules: %w", err)
	}
	last := make(map[string]ScheduleRun, len(all))
	for _, run := range all {
		last[run.Schedule] = run
	}
	return last, nil
}

const oldScheduleRuns = `DELETE FROM schedule_runs WHERE (schedule, instant) IN (
	SELECT schedule, instant FROM schedule_runs WHERE instant < $1 ORDER BY instant LIMIT $2)`

// PruneScheduleRuns deletes up to limit of the oldest runs of instants before then.
func (s *Store) PruneScheduleRuns(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "runs of schedules", oldScheduleRuns, micros(then), limit)
}

// Answers are what became of the commands of a batch.
type Answers struct {
	Counts  map[command.State]int
	Refused []NotDone // the first few
}

// NotDone is a robot that did not do what it was sent.
type NotDone struct {
	Robot string        `json:"robot"`
	State command.State `json:"state"`
	Why   string        `json:"why"`
}

// refusedShown is how many robots of a batch Answers names.
const refusedShown = 5

// Answers returns what became of the commands of these batches, by batch.
func (r reads) Answers(ctx context.Context, batches []string) (map[string]Answers, error) {
	all := map[string]Answers{}
	if len(batches) == 0 {
		return all, nil
	}
	type row struct {
		batch   string
		n       int
		refused NotDone
		answer  []byte
	}
	var w where
	w.addNamed("batch", batches)
	counts, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) {
		return v, scan(&v.batch, &v.refused.State, &v.n)
	}, "SELECT batch, state, COUNT(*) FROM commands"+w.String()+" GROUP BY batch, state", w.args...)
	if err != nil {
		return nil, fmt.Errorf("count commands of batches: %w", err)
	}
	for _, v := range counts {
		a := all[v.batch]
		if a.Counts == nil {
			a.Counts = map[command.State]int{}
		}
		a.Counts[v.refused.State] = v.n
		all[v.batch] = a
	}
	w.addIf(true, "ended_at > %s", 0)
	w.addIf(true, "state <> %s", string(command.Succeeded))
	rows, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) {
		return v, scan(&v.batch, &v.refused.Robot, &v.refused.State, &v.refused.Why, &v.answer)
	}, `SELECT batch, robot, state, because, answer FROM (SELECT batch, robot, state, because, answer,
			ROW_NUMBER() OVER (PARTITION BY batch ORDER BY robot) AS i FROM commands`+w.String()+`) g WHERE i <= `+w.arg(refusedShown)+` ORDER BY batch, robot`, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list commands of batches that were refused: %w", err)
	}
	for _, v := range rows {
		if ack, problems := schema.Decode[schema.Ack](v.answer); len(v.answer) > 0 && len(problems) == 0 && ack.Detail != "" {
			v.refused.Why = ack.Detail
		}
		a := all[v.batch]
		a.Refused = append(a.Refused, v.refused)
		all[v.batch] = a
	}
	return all, nil
}
