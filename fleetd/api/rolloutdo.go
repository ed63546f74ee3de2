package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/rollout"
	"troupe/schema"
)

// Bounds of what answers about rollouts name.
const (
	namedRobots   = 5
	namedRefusals = 1000
	// namedSelector is the length above which a selector is shown as it was asked for, without the names that sites make of it.
	namedSelector = 1000
)

// ask is a request for a rollout as package change takes it.
func (s *server) rolloutAsk(p auth.Principal, w RolloutRequest) (change.RolloutRequest, error) {
	if found := w.Selector.Problems(); len(found) > 0 { // also what else is wrong, at once
		_, others := w.Spec.Complete()
		return change.RolloutRequest{}, refusal(slices.Concat(inBody("/selector", found), inBody("", w.Content.Problems("/content")),
			inBody("", others)))
	}
	narrowed, err := s.narrow(p, w.Selector, false)
	if err != nil {
		return change.RolloutRequest{}, err
	}
	text := narrowed.String()
	if len(text) > namedSelector {
		text = w.Selector.String()
	}
	return change.RolloutRequest{Name: w.Name, Content: w.Content, Robots: s.View.Resolve(narrowed), Selected: text, Spec: w.Spec}, nil
}

func (s *server) planRollout(ctx context.Context, p auth.Principal, w RolloutRequest) (*answer[RolloutPlan], error) {
	ask, err := s.rolloutAsk(p, w)
	if err != nil {
		return nil, err
	}
	plan, total, found, err := s.Rollouts.Plan(ctx, ask)
	if err := s.failedSelected(err, "rollout", w.Selector, found, total); err != nil {
		return nil, err
	}
	out, err := s.rolloutPlan(ctx, plan)
	if err != nil {
		return nil, err
	}
	out.Selector = ask.Selected
	return &answer[RolloutPlan]{out}, nil
}

func (s *server) rolloutPlan(ctx context.Context, p rollout.Plan) (RolloutPlan, error) {
	out := RolloutPlan{
		Content: withoutBodies(p.Content), Text: p.Content.String(), Kind: kindOf(p.Content.Topic()), Digest: p.Digest, Spec: p.Spec,
		Total: p.Total,
		Waves: []RolloutPlanWave{}, Refused: []RolloutRefusal{}, RefusedTotal: len(p.Refused), Warnings: []RolloutRefusal{},
		WarningsTotal: len(p.Warnings),
		Unchanged:     someRobots(p.Unchanged), Pinned: someRobots(p.Pinned), Offline: someRobots(p.Offline),
		Superseding: []RolloutSuperseded{}, ExpectedEnd: timeOf(p.ExpectedEnd), Approval: p.NeedsApproval,
	}
	for i, w := range p.Waves {
		out.Waves = append(out.Waves, RolloutPlanWave{Number: i, Name: w.Name, Total: len(w.Robots), Robots: someRobots(w.Robots).Robots,
			Gate: w.Gate})
	}
	for _, r := range p.Refused {
		out.Waves[r.Wave].Refused++
	}
	out.Refused, out.Warnings = refusals(p.Refused), refusals(p.Warnings)
	for _, taken := range p.Superseding {
		r, _, err := s.Rollouts.Get(ctx, taken.Rollout)
		if err != nil {
			return out, s.fail(err, "rollout "+taken.Rollout)
		}
		out.Superseding = append(out.Superseding, RolloutSuperseded{taken.Rollout, r.Name, len(taken.Robots)})
	}
	return out, nil
}

func refusals(all []rollout.Refusal) []RolloutRefusal {
	out := []RolloutRefusal{}
	for _, r := range all[:min(len(all), namedRefusals)] {
		out = append(out, RolloutRefusal{r.Robot, r.Wave, string(r.Reason), cmp.Or(r.Detail, r.Reason.Describe().Text)})
	}
	return out
}

func someRobots(all []string) SomeRobots {
	return SomeRobots{len(all), nonNil(all[:min(len(all), namedRobots)])}
}

// withoutBodies is a content without the body of its places, which may be large.
func withoutBodies(c content.Content) content.Content {
	if p := c.Places; p != nil && len(p.Body) > 0 {
		c.Places = &desired.Set{ID: p.ID, Rev: p.Rev}
	}
	return c
}

func (s *server) createRollout(ctx context.Context, p auth.Principal, w NewRollout) (*answer[RolloutDetail], error) {
	ask, err := s.rolloutAsk(p, w.RolloutRequest)
	if err != nil {
		return nil, err
	}
	ask.Digest, ask.Expected, ask.Supersede, ask.Start = w.Digest, w.ExpectedCount, w.Supersede, w.Start
	if w.NotBefore != 0 {
		ask.NotBefore = w.NotBefore.Time()
	}
	made, total, found, err := s.Rollouts.Create(ctx, p, ask, attribute(p, w.Attribution))
	if err := s.failedSelected(err, "rollout", w.Selector, found, total); err != nil {
		return nil, err
	}
	return &answer[RolloutDetail]{rolloutDetail(made, nil)}, nil
}

func (s *server) listRollouts(ctx context.Context, in *RolloutQuery) (*answer[RolloutList], error) {
	q := change.RolloutQuery{Robot: in.Robot, Limit: in.Limit, Sites: in.principal.Sites}
	if q.Open = in.State == "open"; !q.Open {
		q.State = rollout.State(in.State)
	}
	found, err := s.Rollouts.List(ctx, q)
	if err != nil {
		return nil, s.fail(err, "rollouts")
	}
	out := RolloutList{Rollouts: []RolloutSummary{}}
	for _, r := range found {
		out.Rollouts = append(out.Rollouts, rolloutSummary(r))
	}
	return &answer[RolloutList]{out}, nil
}

// rolloutFor returns a rollout all of whose robots a principal sees; robots that left the fleet do not count.
func (s *server) rolloutFor(ctx context.Context, p auth.Principal, id string) (rollout.Rollout, []change.RolloutFailures, error) {
	return s.rolloutTo(ctx, p, id, false)
}

// rolloutTo returns a rollout all of whose robots a principal sees, or at least one if the principal wants to hold it back,
// which is always safe: a robot may have moved to another site since. Then the failures of robots are left out.
func (s *server) rolloutTo(
	ctx context.Context, p auth.Principal, id string, holdBack bool,
) (rollout.Rollout, []change.RolloutFailures, error) {
	r, failures, err := s.Rollouts.Get(ctx, id)
	if err != nil {
		return r, nil, s.fail(err, "rollout "+id)
	}
	if p.SeesAll() {
		return r, failures, nil
	}
	robots, err := s.Rollouts.Robots(ctx, change.RolloutRobotQuery{Rollout: id})
	if err != nil {
		return r, nil, s.fail(err, "rollout "+id)
	}
	seen, others := 0, 0
	for _, one := range robots {
		loaded := s.View.Loaded() // before the look-up, see outside
		if _, there := s.View.Robot(one.ID); !there && loaded {
			continue
		}
		switch no := s.outside(p, one.ID); {
		case no == nil:
			seen++
		case no.Of(KindNotAllowed):
			others++
		default:
			return r, nil, no
		}
	}
	switch {
	case others == 0 && seen > 0:
		return r, failures, nil
	case holdBack && seen > 0:
		return r, nil, nil
	}
	// it must not name them
	return r, nil, KindNotAllowed.Problem(fmt.Sprintf("rollout %s has robots of other sites, and %s has %s", id, p.ID,
		strings.Join(p.Sites, ", ")),
		"somebody with every site can see and change it; people who see one of its robots can pause and abort it")
}

func (s *server) getRollout(ctx context.Context, p auth.Principal, id, known string) (*rolloutAnswer, error) {
	r, failures, err := s.rolloutFor(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := rolloutDetail(r, failures)
	if out.Health, err = s.rolloutHealth(ctx, p, r); err != nil {
		return nil, s.fail(err, "rollout "+id)
	}
	tag := etagOf(r.Version, out.Health)
	if known == tag {
		return &rolloutAnswer{Status: http.StatusNotModified, ETag: tag}, nil
	}
	return &rolloutAnswer{Status: http.StatusOK, ETag: tag, Body: out}, nil
}

// etagOf is the ETag of a version of a rollout with the health of its robots, which changes without the version.
func etagOf(version int64, h *RolloutHealth) string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // it has numbers and texts only
	}
	sum := fnv.New32a()
	_, _ = sum.Write(text) // never fails
	return strconv.Quote(fmt.Sprintf("%d-%x", version, sum.Sum32()))
}

// updatedRobots is which robots of a version of a rollout have its content, for the comparison of their health.
type updatedRobots struct {
	version int64
	run     *rollout.Run
	used    time.Time
}

// updatedCache has the newest of these, so that pages that watch a rollout do not read its robots each second.
type updatedCache struct {
	mu  sync.Mutex
	all map[string]updatedRobots
}

const maxUpdatedCache = 16 // rollouts that are watched at once

func (c *updatedCache) get(id string, version int64, now time.Time) *rollout.Run {
	c.mu.Lock()
	defer c.mu.Unlock()
	u, has := c.all[id]
	if !has || u.version != version {
		return nil
	}
	u.used = now
	c.all[id] = u
	return u.run
}

func (c *updatedCache) put(id string, u updatedRobots) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]updatedRobots{}
	}
	if _, has := c.all[id]; !has && len(c.all) >= maxUpdatedCache {
		oldest := ""
		for other, o := range c.all {
			if oldest == "" || o.used.Before(c.all[oldest].used) {
				oldest = other
			}
		}
		delete(c.all, oldest)
	}
	c.all[id] = u
}

// rolloutHealth compares the robots that have the content with the others, while the rollout runs or is paused.
func (s *server) rolloutHealth(ctx context.Context, p auth.Principal, r rollout.Rollout) (*RolloutHealth, error) {
	if r.State != rollout.Running && r.State != rollout.Paused || r.Spec.WatchHealth != nil && !*r.Spec.WatchHealth {
		return nil, nil
	}
	now := s.Now()
	run := s.updated.get(r.ID, r.Version, now)
	if run == nil {
		states := append([]rollout.RobotState{rollout.Active, rollout.Confirmed}, rollout.Failures...)
		robots, err := s.Rollouts.Robots(ctx, change.RolloutRobotQuery{Rollout: r.ID, States: states})
		if err != nil {
			return nil, err
		}
		run = rollout.NewRun(r, robots)
		s.updated.put(r.ID, updatedRobots{r.Version, run, now})
	}
	leftOut := run.Updated
	if !p.SeesAll() { // the others of their sites only
		seen := map[string]bool{}
		for _, row := range s.View.Robots() {
			seen[row.ID] = p.Sees(row.Labels)
		}
		leftOut = func(robot string) bool { return run.Updated(robot) || !seen[robot] }
	}
	updated, rest, why := run.Health(rollout.Facts{
		Robot: func(id string) (rollout.RobotFacts, bool) {
			known, there := s.View.ForRollout(id, r.Content.Topic(), now)
			return known.RobotFacts, there
		},
		Rest: s.View.HealthOfOthers(leftOut, now),
	})
	return &RolloutHealth{HealthCounts(updated), HealthCounts(rest), why}, nil
}

func (s *server) listRolloutRobots(ctx context.Context, in *RolloutRobotsQuery) (*answer[RolloutRobots], error) {
	r, _, err := s.rolloutFor(ctx, in.principal, in.ID)
	if err != nil {
		return nil, err
	}
	q := change.RolloutRobotQuery{Rollout: in.ID, After: in.After, Limit: in.Limit + 1}
	switch state := rollout.RobotState(strings.ToUpper(in.State)); {
	case in.State == "":
	case in.State == "failed":
		q.States = rollout.Failures
	case slices.Contains(rollout.RobotStates, state):
		q.States = []rollout.RobotState{state}
	default:
		return nil, refusal(findings("query", []schema.Problem{schema.NewProblem("/state", "bad_value",
			fmt.Sprintf("there is no state %q", in.State), "write failed, or a state such as CONFIRMED")}))
	}
	if in.Wave != "" {
		wave := slices.IndexFunc(r.Waves, func(w rollout.Wave) bool { return w.Name == in.Wave || strconv.Itoa(w.Number) == in.Wave })
		if wave < 0 {
			return nil, refusal(findings("query", []schema.Problem{schema.NewProblem("/wave", "bad_value",
				fmt.Sprintf("the rollout has no wave %q", in.Wave), "write one of its names, or its number from 0")}))
		}
		q.Wave = &wave
	}
	robots, err := s.Rollouts.Robots(ctx, q)
	if err != nil {
		return nil, s.fail(err, "rollout "+in.ID)
	}
	out := RolloutRobots{Robots: []RolloutRobot{}}
	if len(robots) > in.Limit {
		robots = robots[:in.Limit]
		out.Next = robots[in.Limit-1].ID
	}
	for _, m := range robots {
		one := RolloutRobot{
			Robot: m.ID, Wave: m.Wave, WaveName: r.Waves[m.Wave].Name, State: m.State, Phase: string(m.Phase), Why: m.Why, Reason: m.Group,
			Rev:   m.Rev,
			Tries: m.Tries, ChangedAt: timeOf(m.ChangedAt),
		}
		if m.Had != nil {
			one.Had = m.Had.String()
		}
		out.Robots = append(out.Robots, one)
	}
	return &answer[RolloutRobots]{out}, nil
}

func (s *server) approveRollout(ctx context.Context, p auth.Principal, id string, w Approval) (*answer[RolloutDetail], error) {
	return s.decideRollout(ctx, p, id, rollout.Decision{On: rollout.OnApprove, Digest: w.Digest}, Decision{Attribution: w.Attribution})
}

func (s *server) startRollout(ctx context.Context, p auth.Principal, id string, w Start) (*answer[RolloutDetail], error) {
	d := rollout.Decision{On: rollout.OnStart}
	if w.NotBefore != 0 {
		d = rollout.Decision{On: rollout.OnSchedule, NotBefore: w.NotBefore.Time()}
	}
	return s.decideRollout(ctx, p, id, d, w.Decision)
}

func (s *server) decideRollout(
	ctx context.Context, p auth.Principal, id string, d rollout.Decision, w Decision,
) (*answer[RolloutDetail], error) {
	holdBack := d.On == rollout.OnPause || d.On == rollout.OnAbort
	if _, _, err := s.rolloutTo(ctx, p, id, holdBack); err != nil {
		return nil, err
	}
	by := attribute(p, w.Attribution)
	d.By, d.Why = by.Who, by.Why
	_, robots, found, err := s.Rollouts.Decide(ctx, p, id, d, w.ExpectedCount)
	switch {
	case err != nil:
		return nil, s.fail(err, "rollout "+id)
	case len(found) > 0:
		return nil, refusal(inBody("", found)).withCount(robots)
	}
	r, failures, err := s.rolloutTo(ctx, p, id, holdBack)
	if err != nil {
		return nil, err
	}
	return &answer[RolloutDetail]{rolloutDetail(r, failures)}, nil
}

// decided are what people decide as they know it, in the order of a rollout's life.
var decided = []rollout.Event{rollout.OnApprove, rollout.OnStart, rollout.OnPause, rollout.OnResume, rollout.OnRetry, rollout.OnAbort,
	rollout.OnRollback}

func rolloutSummary(r rollout.Rollout) RolloutSummary {
	out := RolloutSummary{
		ID: r.ID, Name: r.Name, State: r.State, Why: r.Why, Waits: r.Waits(), Cause: r.Cause, CauseID: r.CauseID,
		Content: r.Content.String(), Kind: kindOf(r.Content.Topic()),
		Digest: r.Digest, Selector: r.Robots, Counts: map[string]int{}, Wave: r.Wave, WaveCount: len(r.Waves),
		CreatedAt: timeOf(r.CreatedAt), CreatedBy: r.CreatedBy, ApprovedAt: timeOf(r.ApprovedAt), ApprovedBy: r.ApprovedBy,
		NotBefore: timeOf(r.NotBefore),
		StartedAt: timeOf(r.StartedAt), EndedAt: timeOf(r.EndedAt), NextAt: timeOf(r.NextAt), Can: []string{},
	}
	for _, w := range r.Waves {
		out.Total += w.Total
		for state, n := range w.Counts {
			if n > 0 {
				out.Counts[string(state)] += n
			}
		}
	}
	possible := r.Possible()
	for _, on := range decided {
		if slices.Contains(possible, on) && !(on == rollout.OnRetry && r.Failures() == 0) {
			out.Can = append(out.Can, string(on))
		}
	}
	return out
}

func rolloutDetail(r rollout.Rollout, failures []change.RolloutFailures) RolloutDetail {
	out := RolloutDetail{
		RolloutSummary: rolloutSummary(r), Version: r.Version, Document: withoutBodies(r.Content), Spec: r.Spec, Waves: []RolloutWave{},
		Failures: []RolloutFailure{},
	}
	for _, w := range r.Waves {
		one := RolloutWave{
			Number: w.Number, Name: w.Name, State: w.State, Why: w.Why, Gate: w.Gate, Total: w.Total, Counts: map[string]int{},
			StartedAt: timeOf(w.StartedAt), SoakFrom: timeOf(w.SoakFrom), EndedAt: timeOf(w.EndedAt),
		}
		if w.State == rollout.WaveSoaking {
			one.SoakUntil = timeOf(w.SoakFrom.Add(time.Duration(w.Gate.SoakS) * time.Second))
		}
		for state, n := range w.Counts {
			if n > 0 {
				one.Counts[string(state)] = n
			}
		}
		out.Waves = append(out.Waves, one)
	}
	for _, f := range failures {
		out.Failures = append(out.Failures, RolloutFailure{f.Reason, f.State, f.Count, f.Detail, nonNil(f.Robots)})
	}
	return out
}
