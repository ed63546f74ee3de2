package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Sending is the command that a schedule sends to robots.
type Sending struct {
	Schedule  string
	Instant   time.Time
	Verb      string
	Args      jsontext.Value
	Selector  string // as the schedule says, for the audit
	Robots    []string
	Why       string
	Principal auth.Principal
}

// Sent says what became of it.
type Sent struct {
	Batch string // id
	Total int    // robots that get it
	Note  string // who does not, and why; empty = everybody does
}

// Send saves commands in a transaction, which may run again. They are sent after its commit.
type Send func(ctx context.Context, tx *store.Tx, s Sending) (Sent, []schema.Problem, error)

// Advance decides about the instants of a schedule that are due: in one transaction it records them, does what the schedule
// says for at most the newest of them, and saves when the next one is. An instant that was recorded before is not run again.
// It returns what it recorded, which is nothing if nothing is due.
func (s *Schedules) Advance(
	ctx context.Context, id string, resolve func(selector.Selector) selector.Selector, send Send,
) (runs []ScheduleRun, err error) {
	var touched []string
	err = s.transact(ctx, auth.Principal{}, func(tx *store.Tx) error {
		runs, touched = nil, nil
		now := s.Now()
		row, err := tx.Schedule(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound): // somebody deleted it
			return nil
		case err != nil:
			return err
		}
		t, found, err := compile(ctx, tx, row.Schedule, time.Time{})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("read schedule %s: %s", id, found[0])
		}
		due := t.Due(row.NextAt, now)
		if due.Next.Equal(row.NextAt) {
			return nil
		}
		p := principalOf(row)
		tx.ActFor(p)
		for _, m := range due.Missed {
			run := ScheduleRun{Schedule: id, Instant: m.At, At: now, Outcome: schedule.WasMissed, Why: m.Why}
			if runs, err = s.record(ctx, tx, runs, run); err != nil {
				return err
			}
		}
		if !due.Run.IsZero() {
			run := ScheduleRun{Schedule: id, Instant: due.Run, At: now, Outcome: schedule.Done}
			added, err := tx.AddScheduleRuns(ctx, run)
			if err != nil {
				return err
			}
			if added == 1 { // else it was decided before the clock was set back
				if touched, err = s.act(ctx, tx, p, row, &run, resolve, send); err != nil {
					return err
				}
				if err := tx.SetScheduleRun(ctx, run); err != nil {
					return err
				}
				runs = append(runs, run)
				if err := s.noteRun(ctx, tx, run); err != nil {
					return err
				}
			}
		}
		return tx.SetNextInstant(ctx, id, row.NextAt, due.Next)
	})
	if err != nil {
		return nil, err
	}
	if len(runs) > 0 {
		s.Changed(ctx, touched)
	}
	return runs, nil
}

func (s *Schedules) record(ctx context.Context, tx *store.Tx, runs []ScheduleRun, run ScheduleRun) ([]ScheduleRun, error) {
	added, err := tx.AddScheduleRuns(ctx, run)
	if err != nil || added == 0 {
		return runs, err
	}
	return append(runs, run), s.noteRun(ctx, tx, run)
}

func (s *Schedules) noteRun(ctx context.Context, tx *store.Tx, run ScheduleRun) error {
	n := audit.Note{What: audit.ActionScheduleRun, Target: "schedule " + run.Schedule, Why: run.Why,
		Detail: "instant " + run.Instant.UTC().Format(time.RFC3339)}
	switch run.Outcome {
	case schedule.Done:
		n.Outcome = audit.Done
		n.Detail += fmt.Sprintf(", %d robots", run.Robots)
	case schedule.WasMissed:
		n.Outcome = audit.Refused
	default:
		n.Outcome = audit.Failed
	}
	return tx.Note(ctx, run.At, n)
}

// act does what a schedule says, and completes run. What is refused is the outcome of the run, and not an error.
func (s *Schedules) act(
	ctx context.Context, tx *store.Tx, p auth.Principal, row Schedule, run *ScheduleRun,
	resolve func(selector.Selector) selector.Selector, send Send,
) (touched []string, err error) {
	fail := func(found ...schema.Problem) {
		run.Outcome = schedule.Failed
		for i, problem := range found {
			if i > 0 {
				run.Why += "; "
			}
			run.Why += problem.Detail
		}
	}
	if right := RightFor(row.Action); !p.May(right) {
		fail(schema.NewProblem("", "not_allowed", fmt.Sprintf("%s, who saved the schedule, had no right to %s", row.Author.User, right), ""))
		return nil, nil
	}
	if row.Action.Rollout != "" {
		found, err := s.startRollout(ctx, tx, p, row, run)
		if len(found) > 0 {
			fail(found...)
		}
		return nil, err
	}
	robots, missing, err := s.robotsOf(ctx, tx, p, resolve(*row.Selector))
	if err != nil {
		return nil, err
	}
	var notes []string
	if len(missing) > 0 {
		notes = append(notes, "not in the fleet: "+strings.Join(missing, ", "))
	}
	why := cmp.Or(row.Why, "schedule "+row.ID)
	var found []schema.Problem
	switch verb, args := row.Action.Command(); {
	case len(robots) == 0:
		found = []schema.Problem{schema.NewProblem("", "no_robot", "no robot matches "+row.Selector.String(), "")}
	case verb != "":
		var sent Sent
		sent, found, err = send(ctx, tx, Sending{
			Schedule: row.ID, Instant: run.Instant, Verb: verb, Args: args, Selector: row.Selector.String(), Robots: robots, Why: why, Principal: p,
		})
		run.Batch, run.Robots = sent.Batch, sent.Total
		if sent.Note != "" {
			notes = append(notes, sent.Note)
		}
	default:
		var pinned int
		if robots, pinned, err = withoutPinned(ctx, tx, robots, row.Action.Assign.Topic()); err != nil {
			return nil, err
		}
		if pinned > 0 {
			notes = append(notes, fmt.Sprintf("%d are pinned, and keep what they have", pinned))
		}
		if len(robots) == 0 {
			break
		}
		by := audit.Attribution{Who: p.Name, Why: why, At: run.At}
		touched, found, err = s.assign(ctx, tx, row, robots, by)
		run.Robots = len(robots)
	}
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		run.Batch, run.Robots = "", 0
		fail(found...)
		return nil, nil
	}
	run.Why = strings.Join(notes, "; ")
	return touched, nil
}

// robotsOf returns the robots that a selector means now and that the principal sees, and which of the names in it belong to
// no robot of the fleet.
func (s *Schedules) robotsOf(
	ctx context.Context, tx *store.Tx, p auth.Principal, sel selector.Selector,
) (robots, missing []string, err error) {
	rows, err := tx.Robots(ctx, sel)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = true
		if p.Sees(r.Labels) {
			robots = append(robots, r.ID)
		}
	}
	for _, id := range sel.IDs {
		if !known[id] {
			missing = append(missing, id)
		}
	}
	return robots, missing, nil
}

func withoutPinned(ctx context.Context, tx *store.Tx, robots []string, topic schema.TopicKind) (free []string, pinned int, err error) {
	pins, err := tx.Pins(ctx, store.PinQuery{Topic: topic})
	if err != nil {
		return nil, 0, err
	}
	has := map[string]bool{}
	for _, pin := range pins {
		has[pin.Robot] = true
	}
	free = slices.DeleteFunc(slices.Clone(robots), func(id string) bool { return has[id] })
	return free, len(robots) - len(free), nil
}

// assign gives robots the content of a schedule. A revision of 0 is the newest at this instant.
func (s *Schedules) assign(
	ctx context.Context, tx *store.Tx, row Schedule, robots []string, by audit.Attribution,
) (touched []string, found []schema.Problem, err error) {
	c, found, err := s.resolveContent(ctx, tx, *row.Action.Assign, "")
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	planned, found, err := s.planContent(ctx, tx, c, robots, by)
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	if err := planned.apply(ctx); err != nil {
		return nil, nil, err
	}
	return planned.Updated, nil, s.addAssignments(ctx, tx, []assignment{{content: c, given: planned.given, schedule: row.ID}},
		*row.Selector, by)
}

// seesAll reports whether a principal sees all these robots. Robots that left the fleet belong to no site any more.
func seesAll(ctx context.Context, tx *store.Tx, p auth.Principal, ids []string) (bool, error) {
	if p.SeesAll() {
		return true, nil
	}
	rows, err := tx.Robots(ctx, selector.IDs(ids...))
	return !slices.ContainsFunc(rows, func(r store.Robot) bool { return !p.Sees(r.Labels) }), err
}

func robotIDs(members []rollout.Robot) []string {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	return ids
}

// startRollout starts the prepared rollout of a schedule.
func (s *Schedules) startRollout(
	ctx context.Context, tx *store.Tx, p auth.Principal, row Schedule, run *ScheduleRun,
) ([]schema.Problem, error) {
	id := row.Action.Rollout
	o, err := tx.Rollout(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return []schema.Problem{schema.NewProblem("", "not_found", "rollout "+id+" does not exist any more", "")}, nil
	}
	if err != nil {
		return nil, err
	}
	robots, err := tx.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: id})
	if err != nil {
		return nil, err
	}
	if all, err := seesAll(ctx, tx, p, robotIDs(robots)); err != nil {
		return nil, err
	} else if !all {
		return []schema.Problem{schema.NewProblem("", "not_allowed",
			row.Author.User+", who saved the schedule, does not see every robot of rollout "+id, "")}, nil
	}
	why := cmp.Or(row.Why, "schedule "+row.ID)
	changes, found := rollout.Decide(rollout.NewRun(o, robots), rollout.Decision{On: rollout.OnStart, By: p.Name, Why: why}, run.At)
	if len(found) > 0 {
		return found, nil
	}
	if err := tx.SaveRollout(ctx, changes); err != nil {
		return nil, err
	}
	run.Rollout, run.Robots = id, len(robots)
	return nil, tx.Note(ctx, run.At, audit.Note{Who: p.Name, What: audit.ActionRollout, Target: "rollout " + id, Why: why,
		Detail: "started by schedule " + row.ID})
}

// Recheck finds schedules whose next instant is later than it should be, because the clock was ahead when it was computed, and
// saves the right one. Instants that were decided while it was ahead are left out.
func (s *Schedules) Recheck(ctx context.Context) (earlier []string, err error) {
	err = s.transact(ctx, auth.Principal{}, func(tx *store.Tx) error {
		earlier = nil
		now := s.Now()
		all, err := tx.Schedules(ctx)
		if err != nil {
			return err
		}
		for _, row := range all {
			if !row.IsEnabled() || !row.NextAt.IsZero() && !row.NextAt.After(now) {
				continue
			}
			t, found, err := compile(ctx, tx, row.Schedule, time.Time{})
			if err != nil {
				return err
			}
			if len(found) > 0 {
				continue
			}
			next, err := undecided(ctx, tx, row.ID, t, now)
			if err != nil {
				return err
			}
			if next.IsZero() || !row.NextAt.IsZero() && !next.Before(row.NextAt) {
				continue
			}
			if err := tx.SetNextInstant(ctx, row.ID, row.NextAt, next); err != nil {
				return err
			}
			earlier = append(earlier, row.ID)
		}
		return nil
	})
	return earlier, err
}

// undecided is the first instant after now that was not decided before.
func undecided(ctx context.Context, tx *store.Tx, id string, t schedule.Timer, now time.Time) (time.Time, error) {
	for {
		next := t.Next(now).At
		if next.IsZero() {
			return next, nil
		}
		decided, err := tx.HasScheduleRun(ctx, id, next)
		if err != nil || !decided {
			return next, err
		}
		now = next
	}
}
