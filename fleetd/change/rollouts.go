package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Rollouts plans rollouts, decides about them, and saves their steps.
type Rollouts struct {
	Deps
	Name         string // of this instance, for what a rollout decides by itself
	ApproveAbove int    // rollouts to more robots need the approval of a second person; 0 = none does
	// Candidate returns what is known of a robot now; false if nothing is.
	Candidate func(robot string) (rollout.Candidate, bool)
}

// Queries of rollouts and pins.
type (
	RolloutQuery      = store.RolloutQuery
	RolloutRobotQuery = store.RolloutRobotQuery
	RolloutFailures   = store.RolloutFailures
	PinQuery          = store.PinQuery
	Pin               = store.Pin
)

// RolloutRequest asks for a rollout.
type RolloutRequest struct {
	Name      string
	Content   content.Content
	Robots    selector.Selector
	Selected  string // Robots as they were asked for, for people
	Spec      rollout.Spec
	NotBefore time.Time // it starts by itself then; zero = when somebody starts it
	Start     bool      // at once
	Cause     rollout.Cause
	CauseID   string

	// What the plan said. A rollout that would be another one is refused; empty and nil = anything.
	Digest    string
	Expected  *int // number of robots
	Supersede *int // number of robots that it takes from open rollouts; without it, it may take none
}

// Plan shows what a rollout would do; nothing is written. total is the number of robots that match.
func (o *Rollouts) Plan(ctx context.Context, r RolloutRequest) (p rollout.Plan, total int, found []schema.Problem, err error) {
	err = o.query(ctx, func(tx *store.Tx) error {
		p, total, found, err = o.plan(ctx, tx, r)
		return err
	})
	return p, total, found, err
}

// Create creates a rollout as its plan shows it. With problems nothing is written.
func (o *Rollouts) Create(
	ctx context.Context, p auth.Principal, r RolloutRequest, by audit.Attribution,
) (created rollout.Rollout, total int, found []schema.Problem, err error) {
	err = o.transact(ctx, p, func(tx *store.Tx) (err error) {
		if created, total, found, err = o.create(ctx, tx, r, by); err == nil && len(found) > 0 {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		return created, total, found, nil
	}
	if err == nil {
		o.Changed(ctx, nil)
	}
	return created, total, nil, err
}

// create creates a rollout in a transaction, which the caller has to roll back if there are problems.
func (o *Rollouts) create(
	ctx context.Context, tx *store.Tx, r RolloutRequest, by audit.Attribution,
) (created rollout.Rollout, total int, found []schema.Problem, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return created, 0, nil, fmt.Errorf("make an id for a rollout: %w", err)
	}
	plan, total, found, err := o.plan(ctx, tx, r)
	if err != nil {
		return created, total, nil, err
	}
	if len(found) == 0 {
		found = o.differences(r, plan)
	}
	if len(found) > 0 {
		return created, total, found, nil
	}
	created, robots := plan.Rollout(rollout.New{
		ID: id.String(), Name: r.Name, Selector: cmp.Or(r.Selected, r.Robots.String()), Cause: cmp.Or(r.Cause,
			rollout.ByPerson), CauseID: r.CauseID,
		By: by.Who, Why: by.Why, At: o.Now(), Start: r.Start,
	})
	if r.Start {
		if err := startLast(ctx, tx, &created); err != nil {
			return created, total, nil, err
		}
	}
	if err := tx.AddRollouts(ctx, store.NewRollout{Rollout: created, Members: robots}); err != nil {
		return created, total, nil, err
	}
	created.Version = 1
	n := rolloutNote(created, audit.ActionRollout, by.Who, by.Why)
	n.Detail = fmt.Sprintf("%s to %d robots in %d waves", created.Content, len(robots), len(created.Waves))
	return created, total, nil, tx.Note(ctx, created.CreatedAt, n)
}

// differences says how a plan differs from the one that the request was made for.
func (o *Rollouts) differences(r RolloutRequest, p rollout.Plan) (found []schema.Problem) {
	if r.Expected != nil && *r.Expected != p.Total {
		found = append(found, schema.NewProblem("/expected_count", desired.CodeCountChanged,
			fmt.Sprintf("%d robots are selected, %d were expected", p.Total, *r.Expected), "look at the plan again"))
	}
	if r.Digest != "" && r.Digest != p.Digest {
		found = append(found, schema.NewProblem("/digest", rollout.CodeDigestChanged,
			"the content would be "+p.Content.String()+" with the digest "+p.Digest, "look at the plan again"))
	}
	taken := 0
	for _, s := range p.Superseding {
		taken += len(s.Robots)
	}
	switch {
	case r.Supersede == nil && taken > 0:
		found = append(found, schema.NewProblem("/supersede", library.CodeConfirm,
			fmt.Sprintf("it would take %d robots from open rollouts of the same kind",
				taken), fmt.Sprintf("confirm the number with supersede: %d, or select other robots", taken)))
	case r.Supersede != nil && *r.Supersede != taken:
		found = append(found, schema.NewProblem("/supersede", desired.CodeCountChanged,
			fmt.Sprintf("it would take %d robots from open rollouts of the same kind, %d were expected", taken,
				*r.Supersede), "look at the plan again"))
	}
	return found
}

// plan plans a rollout from rows of a transaction.
func (o *Rollouts) plan(
	ctx context.Context, tx *store.Tx, r RolloutRequest,
) (p rollout.Plan, total int, found []schema.Problem, err error) {
	rows, err := tx.Robots(ctx, r.Robots)
	if err != nil {
		return p, 0, nil, err
	}
	if err := checkKnown(r.Robots, rows); err != nil {
		return p, len(rows), nil, err
	}
	c, found, err := o.resolveContent(ctx, tx, r.Content, "/content")
	if err != nil {
		return p, len(rows), nil, err
	}
	now := o.Now()
	ask := rollout.Ask{Content: c, Spec: r.Spec, Now: now, NotBefore: r.NotBefore, ApproveAbove: o.ApproveAbove}
	if len(found) > 0 { // what else is wrong
		_, others := r.Spec.Complete()
		if len(rows) == 0 {
			others = append(others, schema.NewProblem("/selector", rollout.CodeNoRobot, "no robot is selected",
				"list the robots with the same selector"))
		}
		return p, len(rows), append(found, others...), nil
	}
	if ask.Robots, err = o.candidates(ctx, tx, c, rows, now); err != nil {
		return p, len(rows), nil, err
	}
	if ask.Seed, err = seedOf(c, rows); err != nil {
		return p, len(rows), nil, err
	}
	p, found = rollout.NewPlan(ask)
	return p, len(rows), found, nil
}

// seedOf makes the seed of a rollout of a content to robots: the plan and the rollout that is made of it have the same
// one, and another content or other robots have another one.
func seedOf(c content.Content, rows []store.Robot) (uint64, error) {
	digest, err := c.Digest()
	if err != nil {
		return 0, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(digest)) // never fails
	for _, r := range rows {
		_, _ = h.Write([]byte(" " + r.ID))
	}
	return h.Sum64(), nil
}

// candidates returns what a plan looks at of each robot.
func (o *Rollouts) candidates(
	ctx context.Context, tx *store.Tx, c content.Content, rows []store.Robot, now time.Time,
) (all []rollout.Candidate, err error) {
	if len(rows) == 0 {
		return nil, nil
	}
	topic, ids, at := c.Topic(), make([]string, len(rows)), make(map[string]int, len(rows))
	for i, r := range rows {
		known, ok := o.Candidate(r.ID)
		if !ok {
			known.Presence = "unknown"
		}
		known.ID, known.Labels = r.ID, r.Labels
		all = append(all, known)
		ids[i], at[r.ID] = r.ID, i
	}
	planned, found, err := o.planContent(ctx, tx, c, ids, audit.Attribution{At: now})
	if err != nil {
		return nil, err
	}
	if len(found) > 0 { // the content was resolved before
		return nil, fmt.Errorf("plan %s for robots: %s", c, found[0])
	}
	for _, robot := range planned.Unchanged {
		all[at[robot]].Has = true
	}
	for _, m := range planned.Misfits {
		refused, text := misfitText(m)
		for _, robot := range m.Robots {
			k := &all[at[robot]]
			switch {
			case refused && k.Refused == "":
				k.Refused, k.Detail = reasonMisfit, text
			case !refused && k.Warning == "":
				k.Warning = text
			}
		}
	}
	pins, err := tx.Pins(ctx, store.PinQuery{Topic: topic})
	if err != nil {
		return nil, err
	}
	for _, pin := range pins {
		if i, ok := at[pin.Robot]; ok {
			all[i].Pinned = true
		}
	}
	open, err := tx.RobotsOfOpenRollouts(ctx, topic, selector.IDs(ids...), openStates)
	if err != nil {
		return nil, err
	}
	for _, m := range open {
		if i, ok := at[m.Robot]; ok {
			all[i].Rollout = m.Rollout
		}
	}
	return all, nil
}

// openStates are the states of robots of which a rollout is not done with.
var openStates = slices.DeleteFunc(slices.Clone(rollout.RobotStates), func(s rollout.RobotState) bool { return !s.Open() })

// reasonMisfit groups robots whose body lacks what a content needs.
const reasonMisfit schema.Reason = "misfit"

// misfitText says what robots lack, and whether they will refuse the content for it: they leave out formats and
// languages.
func misfitText(m library.Misfit) (refused bool, text string) {
	var parts []string
	for _, p := range m.Problems {
		refused = refused || p.Severity != schema.SeverityWarning && p.Code != library.CodeFormat
		if !slices.Contains(parts, p.Detail) {
			parts = append(parts, p.Detail)
		}
	}
	return refused, strings.Join(parts, "; ")
}

// List lists rollouts with their waves, the newest first.
func (o *Rollouts) List(ctx context.Context, q RolloutQuery) ([]rollout.Rollout, error) {
	return read(&o.Deps, func(db *store.Store) ([]rollout.Rollout, error) { return db.Rollouts(ctx, q) })
}

// Get returns a rollout with its waves, and the robots that failed by reason.
func (o *Rollouts) Get(ctx context.Context, id string) (r rollout.Rollout, failures []RolloutFailures, err error) {
	db, err := o.Store()
	if err != nil {
		return r, nil, err
	}
	if r, err = db.Rollout(ctx, id); err != nil || r.Failures() == 0 {
		return r, nil, err
	}
	failures, err = db.RolloutFailures(ctx, id, rollout.Failures)
	return r, failures, err
}

// Robots lists robots of a rollout by wave and place.
func (o *Rollouts) Robots(ctx context.Context, q RolloutRobotQuery) ([]rollout.Robot, error) {
	return read(&o.Deps, func(db *store.Store) ([]rollout.Robot, error) { return db.RolloutRobots(ctx, q) })
}
