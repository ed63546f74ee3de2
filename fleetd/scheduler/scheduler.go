// Package scheduler does what schedules say when their time has come. The database is the schedule: it has when each runs
// next and which instants were decided, so that another leader goes on where this one stopped, and no instant runs twice.
//
// A schedule only sends what a person could send. A robot that is stopped refuses it, and stays stopped.
package scheduler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/schema"
)

// pollInterval is how often Run looks for due schedules: another instance may have saved one. An instant runs up to so late.
const pollInterval = time.Second

// within bounds the transaction of one schedule.
const within = 10 * time.Second

// Scheduler runs schedules while this instance leads.
type Scheduler struct {
	deps Deps

	sites atomic.Pointer[map[string]*site.Hours] // of all sites, nil for one that cannot be read; replaced, never changed

	// Owned by Run.
	sitesRev string
	leading  bool
	last     time.Time            // the clock at the last look, without its monotonic part
	unsure   map[string]time.Time // batches of commits whose outcome was unknown, and until when they are looked for
}

// Deps is what a Scheduler needs.
type Deps struct {
	Log       *slog.Logger
	Now       func() time.Time
	Leads     func() bool
	Failed    func(what string, err error) // records a failure of the database
	Schedules *change.Schedules

	// What the view knows of robots.
	Loaded  func() bool
	Targets func(s selector.Selector, stop bool) (targets []command.Target, unknown []string)
	Resolve func(s selector.Selector) selector.Selector

	// The dispatcher saves commands, sends them, and finds those whose commit had an unknown outcome.
	Save   func(ctx context.Context, tx *store.Tx, batch command.Batch, commands []command.Command) (*dispatch.Handle, error)
	Begin  func(t *dispatch.Handle)
	Resume func(ctx context.Context, db *store.Store, batch string) (there bool, err error)
}

// New makes a scheduler.
func New(d Deps) *Scheduler { return &Scheduler{deps: d, unsure: map[string]time.Time{}} }

// Run runs due schedules until ctx ends.
func (s *Scheduler) Run(ctx context.Context, db *store.Store) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		s.look(ctx, db)
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
}

// Windows reports whether a maintenance window of the site of a robot with these labels is open, and when the next one opens;
// zero = never, or not known, as for a site that cannot be read. A robot without a site, or whose site has no windows, may be changed
// at any time.
func (s *Scheduler) Windows(labels map[string]string, now time.Time) (open bool, opens time.Time) {
	sites := s.sites.Load()
	if sites == nil {
		return false, time.Time{} // until the sites were read nobody knows
	}
	hours, known := (*sites)[labels[auth.SiteLabel]]
	switch {
	case known && hours == nil:
		return false, time.Time{}
	case !known || hours.InWindow(now):
		return true, time.Time{}
	}
	return false, hours.NextWindow(now)
}

// look runs what is due.
func (s *Scheduler) look(ctx context.Context, db *store.Store) {
	s.readSites(ctx, db)
	now := s.deps.Now().Round(0)
	s.resume(ctx, db, now) // also without leading: no other instance knows of them
	if !s.deps.Leads() || !s.deps.Loaded() {
		s.leading = false
		return
	}
	if !s.leading || now.Before(s.last) {
		earlier, err := s.deps.Schedules.Recheck(ctx)
		if err != nil {
			s.deps.Failed("schedules not checked", err)
			return
		}
		if len(earlier) > 0 {
			s.deps.Log.Warn("schedules run earlier than was computed, because the clock was set back", "schedules", earlier)
		}
	}
	s.leading, s.last = true, now
	due, err := db.DueSchedules(ctx, now)
	if err != nil {
		s.deps.Failed("due schedules not read", err)
		return
	}
	for _, id := range due {
		if !s.deps.Leads() || ctx.Err() != nil {
			return
		}
		s.advance(ctx, id)
	}
}

// readSites reads the sites again if one was changed.
func (s *Scheduler) readSites(ctx context.Context, db *store.Store) {
	rev, err := db.SitesRev(ctx)
	if err == nil && rev == s.sitesRev {
		return
	}
	var rows []store.Site
	if err == nil {
		rows, err = db.Sites(ctx)
	}
	if err != nil {
		s.deps.Failed("sites not read", err)
		return
	}
	all := make(map[string]*site.Hours, len(rows))
	for _, row := range rows {
		hours, found := site.Parse(row.Site)
		if len(found) > 0 { // as after the data of time zones lost a name
			s.deps.Log.Error("site not read: rollouts wait until it is written again", "site", row.ID, "problem", found[0])
			all[row.ID] = nil
			continue
		}
		all[row.ID] = &hours
	}
	s.sites.Store(&all)
	s.sitesRev = rev
}

// advance runs one schedule.
func (s *Scheduler) advance(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var handle *dispatch.Handle
	var batch string
	runs, err := s.deps.Schedules.Advance(ctx, id, s.deps.Resolve, func(ctx context.Context, tx *store.Tx,
		c change.Sending) (change.Sent, []schema.Problem, error) {
		handle = nil
		x, sent, found := s.expand(c)
		if len(found) > 0 {
			return sent, found, nil
		}
		batch = x.Batch.ID
		t, err := s.deps.Save(ctx, tx, x.Batch, x.Commands)
		handle = t
		return sent, nil, err
	})
	switch {
	case errors.Is(err, store.ErrOutcomeUnknown) && handle != nil:
		s.unsure[batch] = s.deps.Now().Add(unsureFor)
		fallthrough
	case err != nil:
		s.deps.Failed("schedule not run", fmt.Errorf("schedule %s: %w", id, err))
		return
	}
	for _, run := range runs {
		attrs := []any{"schedule", id, "instant", run.Instant, "robots", run.Robots, "why", run.Why}
		if run.Outcome == schedule.Done {
			s.deps.Log.Info("schedule run", attrs...)
		} else {
			s.deps.Log.Warn("schedule "+string(run.Outcome), attrs...)
		}
	}
	if handle != nil && slices.ContainsFunc(runs, func(r change.ScheduleRun) bool { return r.Batch != "" }) {
		delete(s.unsure, batch)
		s.deps.Begin(handle)
	}
}

// resume sends the commands of commits whose outcome was unknown, if they were saved. If they were not, the schedule is
// still due.
func (s *Scheduler) resume(ctx context.Context, db *store.Store, now time.Time) {
	for id, until := range s.unsure {
		there, err := s.deps.Resume(ctx, db, id)
		if err != nil {
			s.deps.Failed("commands of a schedule not read", err)
			continue
		}
		if there || now.After(until) {
			delete(s.unsure, id)
		}
	}
}

// expand makes the commands of a schedule, whose ids follow from the schedule and the instant.
func (s *Scheduler) expand(c change.Sending) (command.Expansion, change.Sent, []schema.Problem) {
	sel, _ := selector.Parse("--all")
	if len(c.Robots) <= selector.MaxIDs {
		sel = selector.IDs(c.Robots...)
	}
	targets, _ := s.deps.Targets(sel, false)
	meant := make(map[string]bool, len(c.Robots))
	for _, id := range c.Robots {
		meant[id] = true
	}
	targets = slices.DeleteFunc(targets, func(t command.Target) bool { return !meant[t.Robot] })
	n := 0
	name := func() string {
		n++
		return uuid.NewSHA1(namespace, fmt.Appendf(nil, "%s %d %d", c.Schedule, c.Instant.UnixMicro(), n)).String()
	}
	x, found := command.Expand(command.Request{Verb: c.Verb, Args: c.Args, Selector: c.Selector, By: c.Principal.Name, Why: c.Why},
		targets, s.deps.Now(), name)
	if len(found) > 0 {
		return x, change.Sent{}, found
	}
	x.Batch.Source = c.Principal.Source()
	sent := change.Sent{Batch: x.Batch.ID, Total: x.Batch.Total}
	if k := x.Skipped; len(k) > 0 {
		sent.Note = fmt.Sprintf("%d do not get it; %s: %s", len(k), k[0].Robot, k[0].Detail)
	}
	return x, sent, nil
}

// unsureFor is how long a commit may still be under way after its outcome was unknown.
const unsureFor = time.Minute

// namespace is that of the ids of the commands of schedules.
var namespace = uuid.MustParse("6a3c1b52-2f0e-5d0b-9c57-6f7d0a1e4b90")
