package change

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/schedule"
	"troupe/fleetd/site"
	"troupe/schema"
)

// schedules makes the sites and then the schedules as the folder says. Sites that are no longer wanted are deleted
// last, so that a site and what happens at its openings can go together.
func (r *folderRun) schedules(ctx context.Context, objects folder.Objects) error {
	writer := &Schedules{r.Deps}
	sites, err := r.tx.Sites(ctx)
	if err != nil {
		return err
	}
	all, err := r.tx.Schedules(ctx)
	if err != nil {
		return err
	}
	gone := func(kind folder.Kind, id, owner string) bool {
		_, kept := r.folder.Paths()[folder.Ref{Kind: kind, ID: id}]
		return r.ask.Prune && !kept && owner == r.folder.Name
	}
	had := map[string]Schedule{}
	for _, one := range all {
		if had[one.ID] = one; one.OfSite != "" || !gone(folder.KindSchedule, one.ID, one.Owner) {
			continue
		}
		path := folder.FilePath(folder.Ref{Kind: folder.KindSchedule, ID: one.ID})
		r.needs(path, RightFor(one.Action), "schedule "+one.ID)
		r.made.Add(r.made.ScheduleChange(one.ID, path, &one.Schedule, nil))
		if err := writer.deleteSchedule(ctx, r.tx, one, r.by); err != nil {
			return err
		}
	}
	known := map[string]Site{}
	for _, one := range sites {
		known[one.ID] = one
	}
	for _, of := range objects.Sites {
		if err := r.site(ctx, writer, of, known[of.ID]); err != nil {
			return err
		}
	}
	for _, of := range objects.Schedules {
		if err := r.schedule(ctx, writer, of, had[of.ID]); err != nil {
			return err
		}
	}
	for _, one := range sites {
		if !gone(folder.KindSite, one.ID, one.Owner) {
			continue
		}
		path := folder.FilePath(folder.Ref{Kind: folder.KindSite, ID: one.ID})
		r.needs(path, auth.Assign, "site "+one.ID)
		r.made.Add(r.made.SiteChange(one.ID, path, &one.Calendar, nil))
		problems, err := writer.deleteSite(ctx, r.tx, one, r.by)
		if err != nil {
			return err
		}
		for _, p := range problems {
			r.found = append(r.found, library.FileProblem{Problem: p})
		}
	}
	if all, err = r.tx.Schedules(ctx); err != nil {
		return err
	}
	r.refuseAssigned(all)
	return nil
}

// refuseAssigned refuses to delete stories and activities that schedules assign, those of calendars, too.
func (r *folderRun) refuseAssigned(after []Schedule) {
	for _, s := range after {
		if s.Action.Assign == nil {
			continue
		}
		by := "schedule " + s.ID
		if s.OfSite != "" {
			by = "the calendar of site " + s.OfSite
		}
		r.refuseGone(*s.Action.Assign, by+" assigns it")
	}
}

// checkSchedules checks the times and actions of the schedules of a folder of which the library is wrong.
func (r *folderRun) checkSchedules(objects folder.Objects) {
	calendars := map[string]schedule.Calendar{}
	for _, one := range r.before.Sites {
		calendars[one.ID] = one.Calendar
	}
	for _, of := range objects.Sites {
		calendars[of.ID] = of.Is
	}
	sites := func(id string) (site.Hours, bool) {
		c, known := calendars[id]
		hours, _ := site.Parse(c.Site) // its problems are those of its own file
		return hours, known
	}
	for _, of := range objects.Schedules {
		r.refuse(of.Object, checkScheduleName(of.ID))
		_, problems := schedule.Compile(of.Is, sites, time.Time{})
		r.refuse(of.Object, problems)
	}
}

// site puts one site, with the schedules of its calendar.
func (r *folderRun) site(ctx context.Context, writer *Schedules, of folder.Of[schedule.Calendar], was Site) error {
	var before *schedule.Calendar
	if was.Version > 0 {
		before = &was.Calendar
	}
	c := r.made.SiteChange(of.ID, of.Path, before, &of.Is)
	if r.made.Add(c); c.Effect == library.EffectNone && was.Owner == r.folder.Name {
		return nil
	}
	r.needs(of.Path, auth.Assign, "site "+of.ID)
	for _, a := range []*schedule.Action{of.Is.Open, of.Is.Close} {
		if a != nil {
			r.needs(of.Path, RightFor(*a), "site "+of.ID)
		}
	}
	row := Site{ID: of.ID, Calendar: of.Is, Owner: r.folder.Name}
	_, problems, err := writer.putSite(ctx, r.tx, r.principal, row, false, r.by)
	if err != nil {
		return err
	}
	r.refuse(of.Object, problems)
	return nil
}

// checkScheduleName is CheckScheduleID for a file of a folder.
func checkScheduleName(id string) []schema.Problem {
	found := CheckScheduleID(id)
	for i := range found {
		found[i].Pointer = "/schedule"
	}
	return found
}

// schedule puts one schedule.
func (r *folderRun) schedule(ctx context.Context, writer *Schedules, of folder.Of[schedule.Schedule], was Schedule) error {
	if found := checkScheduleName(of.ID); len(found) > 0 {
		r.refuse(of.Object, found)
		return nil
	}
	if was.OfSite != "" {
		r.refuse(of.Object, []schema.Problem{ofCalendar(was)})
		return nil
	}
	var before *schedule.Schedule
	if was.Version > 0 {
		before = &was.Schedule
	}
	c := r.made.ScheduleChange(of.ID, of.Path, before, &of.Is)
	r.made.Add(c)
	unchanged := c.Effect == library.EffectNone
	now := r.by.At
	if unchanged { // an instant of it may be over
		now = time.Time{}
	}
	t, problems, err := compile(ctx, r.tx, of.Is, now)
	if err != nil {
		return err
	}
	if unchanged && was.Owner == r.folder.Name {
		return nil
	}
	if !unchanged {
		more, err := writer.checkAction(ctx, r.tx, r.principal, of.Is.Action, "/action")
		if err != nil {
			return err
		}
		problems = append(problems, more...)
		if s := of.Is.Selector; s != nil && len(problems) == 0 {
			if _, err := matching(ctx, r.tx, *s); err != nil {
				problems = append(problems, schema.NewProblem("/selector/ids", "unknown_robot", err.Error(), "list the robots: fleetd robot list"))
			}
		}
	}
	r.needs(of.Path, RightFor(of.Is.Action), fmt.Sprintf("schedule %s", of.ID))
	if len(problems) > 0 {
		r.refuse(of.Object, problems)
		return nil
	}
	row := Schedule{ID: of.ID, Schedule: of.Is, Owner: r.folder.Name}
	writer.complete(&row, was, t, r.principal, r.by, r.by.At)
	return writer.putSchedule(ctx, r.tx, row, was, r.by)
}
