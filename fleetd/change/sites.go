package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/schema"
)

// SiteChange is what putting a site changes besides the site.
type SiteChange struct {
	Site    Site
	Written []string // schedules that its calendar writes
	Deleted []string // schedules that it wrote before, and no longer writes
	Moved   []string // schedules of people at its openings or closings, whose next instant is another one
}

// PutSite writes a site, and in the same transaction the schedules of its calendar. With dryRun it only checks.
func (s *Schedules) PutSite(
	ctx context.Context, p auth.Principal, row Site, dryRun bool, by audit.Attribution,
) (done SiteChange, found []schema.Problem, err error) {
	err = s.transact(ctx, p, func(tx *store.Tx) error {
		if done, found, err = s.putSite(ctx, tx, p, row, dryRun, by); err == nil && len(found) > 0 {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	return done, nil, err
}

func (s *Schedules) putSite(
	ctx context.Context, tx *store.Tx, p auth.Principal, row Site, dryRun bool, by audit.Attribution,
) (done SiteChange, found []schema.Problem, err error) {
	now := s.Now()
	found = siteProblems(row.ID)
	found = append(found, row.Calendar.Problems()...)
	for at, a := range map[string]*schedule.Action{"/open": row.Open, "/close": row.Close} {
		if a == nil {
			continue
		}
		problems, err := s.checkAction(ctx, tx, p, *a, at)
		if err != nil {
			return done, nil, err
		}
		found = append(found, problems...)
	}
	if len(found) > 0 {
		slices.SortStableFunc(found, func(a, b schema.Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
		return done, found, nil
	}
	was, err := tx.Site(ctx, row.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return done, nil, err
	}
	done = SiteChange{Site: row}
	done.Site.Version, done.Site.Owner, done.Site.ChangedAt, done.Site.ChangedBy = was.Version, cmp.Or(row.Owner, was.Owner), now, by.Who
	if found, err = s.writeCalendar(ctx, tx, &done, p, dryRun, by, now); err != nil || len(found) > 0 || dryRun {
		return done, found, err
	}
	if err := tx.PutSite(ctx, done.Site); err != nil {
		return done, nil, err
	}
	note := audit.Note{
		Who: by.Who, What: audit.ActionSite, Target: "site " + row.ID, Why: by.Why, Detail: describeCalendar(done),
		After: audit.JSON(row.Calendar),
	}
	if was.Version > 0 {
		note.Before = audit.JSON(was.Calendar)
	}
	done.Site.Version++
	return done, nil, tx.Note(ctx, now, note)
}

// describeCalendar says what a change of a site does to schedules.
func describeCalendar(c SiteChange) string {
	var all []string
	for _, one := range []struct {
		what string
		ids  []string
	}{{"writes", c.Written}, {"deletes", c.Deleted}, {"moves", c.Moved}} {
		if len(one.ids) > 0 {
			all = append(all, one.what+" schedules "+strings.Join(one.ids, ", "))
		}
	}
	return strings.Join(all, "; ")
}

// siteProblems reports why no site can have this name.
func siteProblems(id string) []schema.Problem {
	found := selector.LabelProblems(map[string]string{auth.SiteLabel: id})
	if len(found) == 0 && !strings.Contains(id, "/") {
		return nil
	}
	return []schema.Problem{schema.NewProblem("", "bad_id", fmt.Sprintf("%q cannot name a site", id),
		"write the value of the label site of its robots, without /")}
}

// writeCalendar writes the schedules of a site's calendar, and when the schedules of people at its openings and closings run
// next.
func (s *Schedules) writeCalendar(
	ctx context.Context, tx *store.Tx, done *SiteChange, p auth.Principal, dryRun bool, by audit.Attribution, now time.Time,
) (found []schema.Problem, err error) {
	id := done.Site.ID
	all, err := tx.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	hours, found := site.Parse(done.Site.Site)
	if len(found) > 0 {
		return found, nil
	}
	sites := func(string) (site.Hours, bool) { return hours, true }
	wanted := done.Site.Calendar.Schedules(id)
	old := map[string]Schedule{}
	for _, one := range all {
		_, want := wanted[one.ID]
		switch {
		case want && one.OfSite != id:
			found = append(found, schema.NewProblem("", "taken", fmt.Sprintf("schedule %s exists, and is not of the calendar of site %s",
				one.ID, id), "delete it, or give it another name"))
		case one.OfSite == id && !want:
			done.Deleted = append(done.Deleted, one.ID)
			if !dryRun {
				if err := tx.DeleteSchedule(ctx, one.ID); err != nil {
					return nil, err
				}
			}
		case one.OfSite == id:
			old[one.ID] = one
		case one.Event != "" && one.Site == id && one.IsEnabled():
			t, problems := schedule.Compile(one.Schedule, sites, time.Time{})
			next := t.Next(now).At
			if len(problems) > 0 || next.Equal(one.NextAt) || !one.NextAt.IsZero() && !one.NextAt.After(now) {
				continue
			}
			done.Moved = append(done.Moved, one.ID)
			if !dryRun {
				if err := tx.SetNextInstant(ctx, one.ID, one.NextAt, next); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		row := Schedule{ID: name, Schedule: wanted[name], OfSite: id, Owner: done.Site.Owner}
		t, problems := schedule.Compile(row.Schedule, sites, now)
		if len(problems) > 0 {
			return problems, nil
		}
		done.Written = append(done.Written, name)
		was := old[name]
		if !dryRun {
			s.complete(&row, was, t, p, by, now)
			if err := tx.PutSchedule(ctx, row); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// DeleteSite deletes a site with the schedules of its calendar.
func (s *Schedules) DeleteSite(ctx context.Context, p auth.Principal, id string, by audit.Attribution) (found []schema.Problem, err error) {
	err = s.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.Site(ctx, id)
		if err != nil {
			return err
		}
		if found, err = s.deleteSite(ctx, tx, was, by); err == nil && len(found) > 0 {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		return found, nil
	}
	return nil, err
}

func (s *Schedules) deleteSite(ctx context.Context, tx *store.Tx, was Site, by audit.Attribution) ([]schema.Problem, error) {
	all, err := tx.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	var users []string
	for _, one := range all {
		switch {
		case one.OfSite == was.ID:
			if err := tx.DeleteSchedule(ctx, one.ID); err != nil {
				return nil, err
			}
		case one.Event != "" && one.Site == was.ID:
			users = append(users, one.ID)
		}
	}
	if len(users) > 0 {
		return []schema.Problem{schema.NewProblem("", CodeInUse, fmt.Sprintf("schedules are at the openings or closings of site %s: %s",
			was.ID, strings.Join(users, ", ")), "delete or change these first")}, nil
	}
	if err := tx.DeleteSite(ctx, was.ID); err != nil {
		return nil, err
	}
	return nil, tx.Note(ctx, s.Now(), audit.Note{Who: by.Who, What: audit.ActionDelete, Target: "site " + was.ID, Why: by.Why,
		Before: audit.JSON(was.Calendar)})
}
