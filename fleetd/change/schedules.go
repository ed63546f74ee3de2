package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Schedules changes sites and schedules; Advance does what a schedule says.
type Schedules struct{ Deps }

type (
	// Site is a site with what the database knows of the change.
	Site = store.Site
	// SiteMap is the map of a site, without its image.
	SiteMap = store.SiteMap
	// Schedule is a schedule with its place in time.
	Schedule = store.Schedule
	// ScheduleRun is one instant of a schedule that was run or missed.
	ScheduleRun = store.ScheduleRun
	// ScheduleRunQuery selects runs.
	ScheduleRunQuery = store.ScheduleRunQuery
)

// Sites lists the sites of which something is known.
func (s *Schedules) Sites(ctx context.Context) ([]Site, error) {
	return read(&s.Deps, func(db *store.Store) ([]Site, error) { return db.Sites(ctx) })
}

// Site returns one site.
func (s *Schedules) Site(ctx context.Context, id string) (Site, error) {
	return read(&s.Deps, func(db *store.Store) (Site, error) { return db.Site(ctx, id) })
}

// List lists all schedules, and the newest run of each that has one.
func (s *Schedules) List(ctx context.Context) (all []Schedule, last map[string]ScheduleRun, err error) {
	db, err := s.Store()
	if err != nil {
		return nil, nil, err
	}
	if all, err = db.Schedules(ctx); err != nil {
		return nil, nil, err
	}
	last, err = db.LastScheduleRuns(ctx)
	return all, last, err
}

// Get returns one schedule.
func (s *Schedules) Get(ctx context.Context, id string) (Schedule, error) {
	return read(&s.Deps, func(db *store.Store) (Schedule, error) { return db.Schedule(ctx, id) })
}

// Runs lists runs, the newest first.
func (s *Schedules) Runs(ctx context.Context, q ScheduleRunQuery) ([]ScheduleRun, error) {
	return read(&s.Deps, func(db *store.Store) ([]ScheduleRun, error) { return db.ScheduleRuns(ctx, q) })
}

type (
	// Answers are what became of the commands of a batch.
	Answers = store.Answers
	// NotDone is a robot that did not do what it was sent.
	NotDone = store.NotDone
)

// Answers returns what became of the commands of these batches, by batch.
func (s *Schedules) Answers(ctx context.Context, batches []string) (map[string]Answers, error) {
	return read(&s.Deps, func(db *store.Store) (map[string]Answers, error) { return db.Answers(ctx, batches) })
}

// Timer reads the times of a schedule, and reports everything that is wrong with the schedule itself.
func (s *Schedules) Timer(ctx context.Context, one schedule.Schedule) (t schedule.Timer, found []schema.Problem, err error) {
	err = s.query(ctx, func(tx *store.Tx) error {
		t, found, err = compile(ctx, tx, one, s.Now())
		return err
	})
	return t, found, err
}

// Times reads times that belong to no schedule.
func (s *Schedules) Times(ctx context.Context, times schedule.Times) (schedule.Timer, []schema.Problem, error) {
	all := selector.All()
	return s.Timer(ctx, schedule.Schedule{Times: times, Action: schedule.Action{Performance: "start"}, Selector: &all})
}

// compile is schedule.Compile with the site from the database. With the zero time for now, instants in the past are no
// problem.
func compile(ctx context.Context, tx *store.Tx, one schedule.Schedule, now time.Time) (schedule.Timer, []schema.Problem, error) {
	var hours site.Hours
	known := false
	if one.Site != "" {
		row, err := tx.Site(ctx, one.Site)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return schedule.Timer{}, nil, err
		default:
			var found []schema.Problem
			if hours, found = site.Parse(row.Site); len(found) > 0 {
				return schedule.Timer{}, nil, fmt.Errorf("read the hours of site %s: %s", one.Site, found[0])
			}
			known = true
		}
	}
	t, found := schedule.Compile(one, func(string) (site.Hours, bool) { return hours, known }, now)
	return t, found, nil
}

// Codes of problems of schedules and sites, besides those of the packages that read them.
const (
	CodeOfCalendar = "of_calendar" // the calendar of a site writes it
	CodeInUse      = "in_use"      // schedules are at the openings or closings of the site
)

// CheckScheduleID reports why no schedule can have this id. next and runs are paths of the API.
func CheckScheduleID(id string) []schema.Problem {
	if schema.ValidID(id) && id != "next" && id != "runs" {
		return nil
	}
	return []schema.Problem{schema.NewProblem("/id", "bad_id", fmt.Sprintf("%q cannot name a schedule", id),
		"write a to z, 0 to 9 and -, at most 63 characters, and not next or runs")}
}

// PutSchedule writes a schedule in the name of a principal, whose rights the caller has checked. With dryRun it only checks.
func (s *Schedules) PutSchedule(
	ctx context.Context, p auth.Principal, row Schedule, dryRun bool, by audit.Attribution,
) (done Schedule, t schedule.Timer, found []schema.Problem, err error) {
	err = s.transact(ctx, p, func(tx *store.Tx) error {
		now := s.Now()
		done = row
		was, err := tx.Schedule(ctx, row.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return err
		case was.OfSite != "":
			found = []schema.Problem{ofCalendar(was)}
			return errRefused
		}
		if t, found, err = compile(ctx, tx, row.Schedule, now); err != nil {
			return err
		}
		problems, err := s.checkAction(ctx, tx, p, row.Action, "/action")
		if err != nil {
			return err
		}
		if found = append(found, problems...); len(found) > 0 {
			return errRefused
		}
		if row.Selector != nil {
			if _, err := matching(ctx, tx, *row.Selector); err != nil {
				return err
			}
		}
		s.complete(&done, was, t, p, by, now)
		if dryRun {
			return nil
		}
		return s.putSchedule(ctx, tx, done, was, by)
	})
	if errors.Is(err, errRefused) {
		return done, t, found, nil
	}
	return done, t, nil, err
}

func ofCalendar(was Schedule) schema.Problem {
	return schema.NewProblem("", CodeOfCalendar, fmt.Sprintf("the calendar of site %s writes schedule %s", was.OfSite, was.ID),
		"change the site: fleetd site set, or its page")
}

// nextOf is the next instant of a schedule that replaces was. An instant that is due at this moment stays due.
func nextOf(one schedule.Schedule, t schedule.Timer, was Schedule, now time.Time) time.Time {
	switch {
	case !one.IsEnabled():
		return time.Time{}
	case was.Times == one.Times && !was.NextAt.IsZero() && !was.NextAt.After(now):
		return was.NextAt
	}
	return t.Next(now).At
}

// complete fills in what fleetd knows of a schedule that is saved in place of was, which has the version 0 if there is none.
func (s *Schedules) complete(row *Schedule, was Schedule, t schedule.Timer, p auth.Principal, by audit.Attribution, now time.Time) {
	row.Version, row.Owner, row.Author = was.Version, cmp.Or(row.Owner, was.Owner), authorOf(p)
	row.ChangedAt, row.ChangedBy, row.NextAt = now, by.Who, nextOf(row.Schedule, t, was, now)
}

func (s *Schedules) putSchedule(ctx context.Context, tx *store.Tx, row, was Schedule, by audit.Attribution) error {
	now := row.ChangedAt
	if err := tx.PutSchedule(ctx, row); err != nil {
		return err
	}
	note := audit.Note{Who: by.Who, What: audit.ActionSchedule, Target: "schedule " + row.ID, Why: by.Why, Detail: row.Action.String(),
		After: audit.JSON(row.Schedule)}
	if was.Version > 0 {
		note.Before = audit.JSON(was.Schedule)
	}
	return tx.Note(ctx, now, note)
}

// authorOf is what a schedule keeps of who saved it.
func authorOf(p auth.Principal) schedule.Author {
	return schedule.Author{User: p.ID, Rights: p.Rights.Names(), Sites: p.Sites}
}

// principalOf is as whom a schedule acts: with the rights and sites that its author had when it was saved.
func principalOf(row Schedule) auth.Principal {
	p := auth.Principal{ID: row.Author.User, Kind: auth.KindSchedule, Name: "schedule " + row.ID, Sites: row.Author.Sites,
		From: auth.Origin{Via: audit.ViaSchedule}}
	for right := auth.Rights(1); right <= auth.All; right <<= 1 {
		if slices.Contains(row.Author.Rights, right.Names()[0]) {
			p.Rights |= right
		}
	}
	return p
}

// RightFor is the right that somebody needs for an action.
func RightFor(a schedule.Action) auth.Rights {
	switch {
	case a.Rollout != "" || a.Assign != nil:
		return auth.Assign
	}
	return auth.Command
}

// checkAction reports what is wrong with an action of a principal, as far as the library and the rollouts say now. A rollout with a
// robot that the principal does not see is none that it could start: the answer is that of one that does not exist.
func (s *Schedules) checkAction(
	ctx context.Context, tx *store.Tx, p auth.Principal, a schedule.Action, at string,
) (found []schema.Problem, err error) {
	switch {
	case len(a.Problems(at)) > 0: // is reported by the schedule itself
	case a.Assign != nil:
		_, found, err = s.resolveContent(ctx, tx, *a.Assign, at+"/assign")
	case a.Rollout != "":
		o, err := tx.Rollout(ctx, a.Rollout)
		all := true
		if err == nil && !p.SeesAll() {
			members, err := tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: a.Rollout})
			if err != nil {
				return nil, err
			}
			if all, err = seesAll(ctx, tx, p, robotIDs(members)); err != nil {
				return nil, err
			}
		}
		switch {
		case errors.Is(err, store.ErrNotFound), !all:
			return []schema.Problem{schema.NewProblem(at+"/rollout", "not_found", fmt.Sprintf("there is no rollout %q", a.Rollout),
				"create it first: fleetd rollout create")}, nil
		case err != nil:
			return nil, err
		case o.State.Over() || !o.StartedAt.IsZero():
			return []schema.Problem{schema.NewProblem(at+"/rollout", "wrong_state", fmt.Sprintf("rollout %s is %s, and starts once", a.Rollout,
				o.State), "create another one")}, nil
		}
	}
	return found, err
}

// DeleteSchedule deletes a schedule.
func (s *Schedules) DeleteSchedule(
	ctx context.Context, p auth.Principal, id string, by audit.Attribution,
) (found []schema.Problem, err error) {
	err = s.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.Schedule(ctx, id)
		if err != nil {
			return err
		}
		if was.OfSite != "" {
			found = []schema.Problem{ofCalendar(was)}
			return errRefused
		}
		return s.deleteSchedule(ctx, tx, was, by)
	})
	if errors.Is(err, errRefused) {
		return found, nil
	}
	return nil, err
}

func (s *Schedules) deleteSchedule(ctx context.Context, tx *store.Tx, was Schedule, by audit.Attribution) error {
	if err := tx.DeleteSchedule(ctx, was.ID); err != nil {
		return err
	}
	return tx.Note(ctx, s.Now(), audit.Note{Who: by.Who, What: audit.ActionDelete, Target: "schedule " + was.ID, Why: by.Why,
		Before: audit.JSON(was.Schedule)})
}
