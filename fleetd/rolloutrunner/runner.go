// Package rolloutrunner drives the open rollouts of the fleet: it gathers what robots report, has package rollout decide
// what follows, and has package change save that and assign the content.
package rolloutrunner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/trace"
	"troupe/fleetd/view"
	"troupe/schema"
)

const (
	// stepInterval is how often rollouts are looked at without a wake-up: time passes, robots fall silent, and another
	// instance may have changed a rollout.
	stepInterval = time.Second
	// restInterval is the shortest time between two looks: while many robots report, each look takes in many reports.
	restInterval = 200 * time.Millisecond
)

// Runner drives rollouts. Only the leader does; the database has everything that a new leader has to know.
type Runner struct {
	deps Deps
	wake chan struct{}

	open   map[string]*open               // the open rollouts, by id
	starts map[schema.TopicKind]time.Time // when the newest rollout of each kind was started, as far as known
}

// Deps is what a Runner needs.
type Deps struct {
	Log    *slog.Logger
	Now    func() time.Time
	Leads  func() bool
	Failed func(what string, err error) // records a failure of the database
	// Save saves a step of a rollout in one transaction: change.Rollouts.Step.
	Save func(ctx context.Context, run *rollout.Run, c rollout.Changes, now time.Time) error

	// Tracer records the waves; nil = nothing does.
	Tracer *trace.Tracer

	// What the view knows of fleetd's connection and of robots.
	Fleetd         func() presence.Fleetd
	Robot          func(robot string, topic schema.TopicKind, now time.Time) (view.Known, bool)
	HealthOfOthers func(updated func(robot string) bool, now time.Time) rollout.Health

	// Windows says whether a maintenance window of a robot with these labels is open, and when the next one opens; nil = always.
	Windows func(labels map[string]string, now time.Time) (open bool, opens time.Time)
}

// open is a rollout that has not ended, as it is in the database, and what else its steps need of it.
type open struct {
	run    *rollout.Run
	newer  map[string]string // later rollouts of the kind, by robot
	pinned map[string]bool
	same   map[string]sameness
	gone   map[string]bool // robots that the database does not have in the fleet
}

// sameness is whether the desired document of a robot asks for the same as the rollout gave it.
type sameness struct {
	given, desired int64 // revisions
	is             bool
}

// New makes a Runner.
func New(d Deps) *Runner {
	return &Runner{deps: d, wake: make(chan struct{}, 1)}
}

// Wake makes Run look at the rollouts soon.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run drives rollouts until ctx ends.
func (r *Runner) Run(ctx context.Context, db *store.Store) {
	for {
		r.stepAll(ctx, db)
		rest, next := time.NewTimer(restInterval), time.NewTimer(stepInterval)
		select {
		case <-ctx.Done():
		case <-rest.C:
			select {
			case <-ctx.Done():
			case <-r.wake:
			case <-next.C:
			}
		}
		rest.Stop()
		next.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// stepAll takes one step of each open rollout. An instance that does not lead forgets them.
func (r *Runner) stepAll(ctx context.Context, db *store.Store) {
	if !r.deps.Leads() {
		r.open, r.starts = nil, nil
		return
	}
	versions, err := db.OpenRollouts(ctx)
	if err != nil {
		r.deps.Failed("rollouts not read", err)
		return
	}
	was := r.open
	r.open = make(map[string]*open, len(versions))
	if len(versions) == 0 {
		return
	}
	starts, err := db.NewestStarts(ctx)
	if err != nil {
		r.deps.Failed("rollouts not read", err)
		return
	}
	for _, v := range versions {
		o := was[v.ID]
		if o == nil || o.run.Rollout.Version != v.Version {
			o, err = load(ctx, db, v.ID)
		} else if topic := o.run.Rollout.Content.Topic(); !starts[topic].Equal(r.starts[topic]) {
			o.newer, err = newerThan(ctx, db, o.run.Rollout)
		}
		if err != nil {
			r.deps.Failed("rollout not read", fmt.Errorf("rollout %s: %w", v.ID, err))
			r.starts = nil // so that the next look reads all of it again
			continue
		}
		r.open[v.ID] = o
	}
	r.starts = maps.Clone(starts)
	for id, o := range r.open {
		if ctx.Err() != nil || !r.deps.Leads() {
			return
		}
		if err := r.step(ctx, db, o); err != nil {
			delete(r.open, id) // it is read again
			if !errors.Is(err, store.ErrConflict) && ctx.Err() == nil {
				r.deps.Failed("rollout step failed", fmt.Errorf("rollout %s: %w", id, err))
			}
		}
	}
}

// load reads a rollout.
func load(ctx context.Context, db *store.Store, id string) (*open, error) {
	row, err := db.Rollout(ctx, id)
	if err != nil {
		return nil, err
	}
	robots, err := db.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: id})
	if err != nil {
		return nil, err
	}
	o := &open{run: rollout.NewRun(row, robots), same: map[string]sameness{}}
	if o.newer, err = newerThan(ctx, db, row); err != nil {
		return nil, err
	}
	return o, o.readPins(ctx, db)
}

func (o *open) readPins(ctx context.Context, db *store.Store) error {
	pins, err := db.Pins(ctx, store.PinQuery{Topic: o.run.Rollout.Content.Topic()})
	if err != nil {
		return err
	}
	o.pinned = make(map[string]bool, len(pins))
	for _, p := range pins {
		o.pinned[p.Robot] = true
	}
	return nil
}

func newerThan(ctx context.Context, db *store.Store, o rollout.Rollout) (map[string]string, error) {
	if o.StartedAt.IsZero() {
		return nil, nil
	}
	return db.NewerRollouts(ctx, o)
}

// step takes one step of a rollout.
func (r *Runner) step(ctx context.Context, db *store.Store, o *open) error {
	now := r.deps.Now()
	row, ended := o.run.Rollout, endedWaves(o.run.Rollout)
	if err := r.compareDesired(ctx, db, o, now); err != nil {
		return err
	}
	facts := rollout.Facts{
		Fleetd: r.deps.Fleetd(),
		Robot:  func(id string) (rollout.RobotFacts, bool) { return r.robot(o, id, now) },
	}
	if watchesHealth(row) {
		facts.Rest = r.deps.HealthOfOthers(o.run.Updated, now)
	}
	c := rollout.Step(o.run, now, facts)
	if c.Empty() {
		return nil
	}
	if err := r.deps.Save(ctx, o.run, c, now); err != nil {
		return err
	}
	after := o.run.Rollout
	r.traceWaves(after, ended)
	if after.State != row.State {
		r.deps.Log.Info("rollout", "rollout", row.ID, "from", row.State, "to", after.State, "why", after.Why)
	}
	if isLeftWaiting(o.run, c.Offers) { // pinned meanwhile, or a later rollout has them
		if err := o.readPins(ctx, db); err != nil {
			return err
		}
		var err error
		o.newer, err = newerThan(ctx, db, after)
		return err
	}
	return nil
}

// endedWaves are the numbers of waves that have ended.
func endedWaves(o rollout.Rollout) map[int]bool {
	all := map[int]bool{}
	for _, w := range o.Waves {
		all[w.Number] = !w.EndedAt.IsZero()
	}
	return all
}

// traceWaves records the waves that ended since. A wave can last for days and have several leaders, so its span is made of
// the times in its row, by the leader that ends it.
func (r *Runner) traceWaves(o rollout.Rollout, ended map[int]bool) {
	for _, w := range o.Waves {
		if w.EndedAt.IsZero() || w.StartedAt.IsZero() || ended[w.Number] {
			continue
		}
		attrs := []trace.Attr{
			trace.String("troupe.rollout", o.ID), trace.Int("troupe.wave", w.Number+1), trace.Int("troupe.robots", w.Total),
			trace.String("troupe.outcome", w.State), trace.String("troupe.rollout.state", o.State),
		}
		for state, n := range w.Counts {
			if n > 0 {
				attrs = append(attrs, trace.Int("troupe.robots."+strings.ToLower(string(state)), n))
			}
		}
		r.deps.Tracer.Record(w.StartedAt, w.EndedAt, "rollout wave", w.State == rollout.WaveFailed, attrs...)
	}
}

// isLeftWaiting reports whether some robot that was to be offered the content was not.
func isLeftWaiting(run *rollout.Run, offers []string) bool {
	return slices.ContainsFunc(offers, func(id string) bool {
		m, _ := run.Robot(id)
		return m.State == rollout.Planned || m.State == rollout.Deferred || m.State == rollout.WaitingOffline
	})
}

// watchesHealth reports whether the next step may compare the updated robots with the others.
func watchesHealth(o rollout.Rollout) bool {
	if o.State != rollout.Running || o.Spec.WatchHealth == nil || !*o.Spec.WatchHealth {
		return false
	}
	return slices.ContainsFunc(o.Waves, func(w rollout.Wave) bool { return w.State == rollout.WaveRunning || w.State == rollout.WaveSoaking })
}

// robot gathers the facts of one robot.
func (r *Runner) robot(o *open, id string, now time.Time) (rollout.RobotFacts, bool) {
	row := &o.run.Rollout
	known, ok := r.deps.Robot(id, row.Content.Topic(), now)
	if !ok { // another instance may have adopted it a moment ago
		return rollout.RobotFacts{InWindow: true, Pinned: o.pinned[id], Newer: o.newer[id]}, !o.gone[id]
	}
	f := known.RobotFacts
	f.Newer, f.Pinned, f.InWindow = o.newer[id], o.pinned[id], true
	if row.Spec.InWindows && r.deps.Windows != nil {
		f.InWindow, f.WindowOpens = r.deps.Windows(known.Labels, now)
	}
	if m, _ := o.run.Robot(id); m.Rev > 0 && f.DesiredRev > m.Rev {
		if s := o.same[id]; s.given == m.Rev && s.desired == f.DesiredRev {
			f.Same = s.is
		} else {
			f.DesiredRev = m.Rev // it was assigned at this moment, and is compared at the next step
		}
	}
	if !f.Report.Active && f.Report.Phase == schema.DeployWaiting && takesEffectLater(row.Content) {
		f.Report.Active = true // it has the content, and uses it at its next start, as was asked
	}
	return f, true
}

// takesEffectLater reports whether robots use a content only from their next start on.
func takesEffectLater(c content.Content) bool {
	return c.Story != nil && c.Story.Apply == schema.ApplyNextStart || c.Mode != nil && c.Mode.Apply != schema.ApplyModeNow
}

// compareDesired compares the desired documents of robots whose revision is higher than the one that the rollout gave
// them: fleetd also publishes the same under a higher revision. It asks the database about robots that the view does not know.
func (r *Runner) compareDesired(ctx context.Context, db *store.Store, o *open, now time.Time) error {
	row := o.run.Rollout
	topic := row.Content.Topic()
	var ids, unknown []string
	for _, m := range o.run.Robots() {
		_, restorable := rollout.RobotTable.Next(m.State, rollout.OnRestore)
		if !m.State.Open() && !m.State.HasFailed() && !(restorable && row.State == rollout.RollingBack) {
			continue
		}
		known, ok := r.deps.Robot(m.ID, topic, now)
		if !ok {
			unknown = append(unknown, m.ID)
		}
		if !ok || m.Rev == 0 || known.DesiredRev <= m.Rev {
			continue
		}
		if s, done := o.same[m.ID]; done && s.given == m.Rev && s.desired == known.DesiredRev {
			continue
		}
		ids = append(ids, m.ID)
	}
	if err := o.lookFor(ctx, db, unknown); err != nil || len(ids) == 0 {
		return err
	}
	documents, err := db.NewestDesired(ctx, topic, selector.IDs(ids...))
	if err != nil {
		return err
	}
	for _, id := range ids {
		m, _ := o.run.Robot(id)
		known, _ := r.deps.Robot(id, topic, now)
		d := documents[id]
		held := content.Held(topic, d.Payload, known.Activities)
		is := row.Content.Within(held)
		if m.Had != nil && (m.State == rollout.Restoring || m.State == rollout.NotRestored) {
			is = m.Had.Within(held) || is && m.State == rollout.NotRestored // which it may not have been assigned
		}
		o.same[id] = sameness{given: m.Rev, desired: d.Rev, is: is}
	}
	return nil
}

// lookFor looks in the database for robots that the view does not know.
func (o *open) lookFor(ctx context.Context, db *store.Store, robots []string) error {
	o.gone = nil
	if len(robots) == 0 {
		return nil
	}
	rows, err := db.Robots(ctx, selector.IDs(robots...))
	if err != nil {
		return err
	}
	o.gone = make(map[string]bool, len(robots))
	for _, id := range robots {
		o.gone[id] = true
	}
	for _, r := range rows {
		delete(o.gone, r.ID)
	}
	return nil
}

// Health compares the robots of a rollout that have the content active with all others, and says in which way they are
// worse off; empty if they are not. Any instance can answer.
func (r *Runner) Health(ctx context.Context, db *store.Store, row rollout.Rollout) (updated, rest rollout.Health, why string, err error) {
	robots, err := db.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: row.ID, States: hadContent})
	if err != nil {
		return updated, rest, "", err
	}
	now, topic := r.deps.Now(), row.Content.Topic()
	run := rollout.NewRun(row, robots)
	updated, rest, why = run.Health(rollout.Facts{
		Robot: func(id string) (rollout.RobotFacts, bool) {
			known, ok := r.deps.Robot(id, topic, now)
			return known.RobotFacts, ok
		},
		Rest: r.deps.HealthOfOthers(run.Updated, now),
	})
	return updated, rest, why, nil
}

// hadContent are the states of robots that may have had the content active.
var hadContent = append([]rollout.RobotState{rollout.Active, rollout.Confirmed}, rollout.Failures...)
