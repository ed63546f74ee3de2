package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Ask is what a plan is made of.
type Ask struct {
	Content content.Content // resolved: revisions are given
	Bytes   int64           // that a robot has to store for it; 0 = not known
	Robots  []Candidate     // those that are selected
	Spec    Spec            // complete or not
	Seed    uint64          // orders the robots of a wave
	Now     time.Time

	NotBefore    time.Time // zero = it starts when somebody starts it; the expected end is counted from now
	ApproveAbove int       // with more robots, a second person has to approve; 0 = never
}

// Candidate is a selected robot.
type Candidate struct {
	selector.Robot
	Online    bool
	Pinned    bool   // a person pinned what it has of this kind
	Has       bool   // it has the content already
	FreeBytes int64  // on its disk; 0 = not known
	Rollout   string // an open rollout of this kind that has it, and has not decided it; empty = none
	// Refused says why it will refuse the content, such as ReasonUnsupportedVersion; empty = nothing is known against it.
	Refused schema.Reason
	Detail  string // of Refused, in a sentence
	Warning string // what it will leave out, such as acts that its body cannot perform
}

// Plan is how a rollout will go.
type Plan struct {
	Content content.Content
	Digest  string
	Spec    Spec // complete
	Seed    uint64
	Total   int // robots, also those that are left out, pinned or have the content already

	Waves         []PlannedWave
	Refused       []Refusal
	Warnings      []Refusal
	Unchanged     []string // have the content already
	Pinned        []string // keep what they have
	Offline       []string // are not reachable now
	Superseding   []Superseding
	ExpectedEnd   time.Time // if no robot fails and all are reachable, without windows
	NeedsApproval bool

	notBefore time.Time
	rows      []Robot
}

// PlannedWave is a wave of a plan.
type PlannedWave struct {
	Name   string
	Gate   Gate
	Robots []string // in the order in which they are offered the content
}

// Refusal is a robot that will refuse the content, or a part of it.
type Refusal struct {
	Robot  string
	Wave   int // the one that it is in
	Reason schema.Reason
	Detail string
}

// Superseding is a rollout that loses robots to this one.
type Superseding struct {
	Rollout string
	Robots  []string
}

// NewPlan plans a rollout, or says everything that is wrong with it.
//
// Robots that the plan leaves out, and those that keep or have what they have, are in the last wave, behind the
// others: a wave such as the canary consists of robots that get the content. The order is random but repeatable: it
// depends on the seed and the names alone, except that robots that are reachable come first, because a canary that
// is switched off tells nothing.
func NewPlan(a Ask) (Plan, []schema.Problem) {
	spec, found := a.Spec.Complete()
	found = append(found, a.Content.Problems("/content")...)
	if len(a.Robots) == 0 {
		found = append(found, schema.NewProblem("/selector", CodeNoRobot, "no robot is selected", "list the robots with the same selector"))
	}
	if !a.NotBefore.IsZero() && a.NotBefore.Before(a.Now) {
		found = append(found, schema.NewProblem("/not_before", CodeBadValue, "this time is over", "leave it out, and start the rollout yourself"))
	}
	if len(found) > 0 {
		return Plan{}, found
	}
	digest, err := a.Content.Digest()
	if err != nil {
		return Plan{}, []schema.Problem{schema.NewProblem("/content", CodeBadValue, err.Error(), "")}
	}
	p := Plan{Content: a.Content, Digest: digest, Spec: spec, Seed: a.Seed, Total: len(a.Robots), notBefore: a.NotBefore}
	p.NeedsApproval = a.ApproveAbove > 0 && p.Total > a.ApproveAbove

	taking, others := p.sort(a)
	waves := spec.Waves
	if spec.AllAtOnce {
		waves = []WaveSpec{{Name: "all", Percent: 100}}
	}
	taken := make([]bool, len(taking))
	so := 0 // robots in this and earlier waves
	for i, w := range waves {
		out := PlannedWave{Name: w.Name, Gate: withoutGate}
		if !spec.AllAtOnce {
			out.Gate = w.gate()
		}
		want, highest := w.Count, len(taking)
		switch {
		case w.Percent > 0:
			want = ceilPercent(w.Percent, len(taking)) - so
		case w.Robots != nil:
			want = len(taking)
		}
		if w.Max > 0 {
			highest = w.Max
		}
		for j, c := range taking {
			if len(out.Robots) >= min(want, highest) {
				break
			}
			if taken[j] || w.Robots != nil && !w.Robots.Match(c.Robot) {
				continue
			}
			taken[j] = true
			so++
			p.place(i, &out, c)
		}
		if i == len(waves)-1 {
			for _, c := range others {
				p.place(i, &out, c)
			}
		}
		p.Waves = append(p.Waves, out)
	}
	p.ExpectedEnd = p.expectedEnd(a.Now)
	return p, nil
}

// ceilPercent is so many percent of n, rounded up, without the error of floating-point numbers such as 7 % of 100.
func ceilPercent(percent float64, n int) int {
	exact := percent * float64(n) / 100
	whole := int(exact)
	if exact-float64(whole) > 1e-9 {
		whole++
	}
	return min(whole, n)
}

// sort orders the candidates, and separates those that get nothing.
func (p *Plan) sort(a Ask) (taking, others []Candidate) {
	all := slices.Clone(a.Robots)
	slices.SortFunc(all, func(x, y Candidate) int { return cmp.Compare(x.ID, y.ID) })
	all = slices.CompactFunc(all, func(x, y Candidate) bool { return x.ID == y.ID })
	p.Total = len(all)
	superseding := map[string][]string{}
	for i := range all {
		c := &all[i]
		if a.Bytes > 0 && c.FreeBytes > 0 && c.FreeBytes < a.Bytes && c.Refused == "" && !c.Has {
			c.Refused, c.Detail = schema.ReasonNoSpace, fmt.Sprintf("it has %d bytes free, and the content has %d", c.FreeBytes, a.Bytes)
		}
		if c.Rollout != "" {
			superseding[c.Rollout] = append(superseding[c.Rollout], c.ID)
		}
		if !c.Online {
			p.Offline = append(p.Offline, c.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(superseding)) {
		p.Superseding = append(p.Superseding, Superseding{id, superseding[id]})
	}
	random := rand.New(rand.NewPCG(a.Seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(x, y Candidate) int { return reachableFirst(x.Online, y.Online) })
	for _, c := range all {
		if p.leaves(c) || c.Has || c.Pinned && p.Spec.Pinned == PinnedLeave {
			others = append(others, c)
		} else {
			taking = append(taking, c)
		}
	}
	return taking, others
}

func reachableFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

// leaves reports whether the plan leaves the robot out.
func (p *Plan) leaves(c Candidate) bool {
	return c.Refused != "" && !c.Has && p.Spec.Refused == RefusedLeave && !(c.Pinned && p.Spec.Pinned == PinnedLeave)
}

// place puts a robot at the end of a wave.
func (p *Plan) place(number int, w *PlannedWave, c Candidate) {
	row := Robot{ID: c.ID, Wave: number, Place: len(w.Robots), State: Planned}
	switch {
	case c.Pinned && p.Spec.Pinned == PinnedLeave:
		p.Pinned = append(p.Pinned, c.ID)
	case c.Has:
		p.Unchanged = append(p.Unchanged, c.ID)
	case c.Refused != "":
		p.Refused = append(p.Refused, Refusal{c.ID, number, c.Refused, c.Detail})
		if out, ok := RobotTable.Next(row.State, OnLeaveOut); ok && p.leaves(c) {
			row.State, row.Group, row.Why = out.To, string(c.Refused), Report{Reason: c.Refused, Detail: c.Detail}.text()
		}
	case c.Warning != "":
		p.Warnings = append(p.Warnings, Refusal{Robot: c.ID, Wave: number, Detail: c.Warning})
	}
	w.Robots = append(w.Robots, c.ID)
	p.rows = append(p.rows, row)
}

// typicalDelivery is how long a robot takes from the offer until the content is active, if all goes well; only for the
// expected end.
const typicalDelivery = time.Minute

func (p *Plan) expectedEnd(now time.Time) time.Time {
	at := now
	if p.notBefore.After(now) {
		at = p.notBefore
	}
	passed := 0
	for _, w := range p.Waves {
		if len(w.Robots) == 0 {
			continue
		}
		at = at.Add(typicalDelivery + w.Gate.soak())
		if !p.Spec.AllAtOnce {
			at = at.Add(time.Duration(len(w.Robots)) * time.Minute / time.Duration(p.Spec.rate(passed)))
		}
		passed++
	}
	return at
}

// rate is how many offers a minute are allowed after so many waves have passed.
func (s Spec) rate(passed int) int {
	return max(1, min(s.OffersPerMin<<min(passed, maxWaves), s.MaxOffersPerMin))
}

func (g Gate) soak() time.Duration { return time.Duration(g.SoakS) * time.Second }

// New is what a plan does not say about the rollout that is made of it.
type New struct {
	ID       string
	Name     string // empty = what the content is
	Selector string // for people
	Cause    Cause
	CauseID  string
	By       string
	Why      string
	At       time.Time
	Start    bool // at once, unless it needs approval or has a time
}

// Rollout returns the rows of a new rollout.
func (p Plan) Rollout(n New) (Rollout, []Robot) {
	r := Rollout{
		ID: n.ID, Name: cmp.Or(n.Name, p.Content.String()), State: Draft, Why: n.Why, Cause: n.Cause, CauseID: n.CauseID,
		Content: p.Content, Digest: p.Digest, Robots: n.Selector, Spec: p.Spec, Seed: p.Seed,
		CreatedAt: n.At, CreatedBy: n.By, NotBefore: p.notBefore,
	}
	for i, w := range p.Waves {
		r.Waves = append(r.Waves, Wave{
			Number: i, Name: w.Name, State: WavePlanned, Gate: w.Gate, Total: len(w.Robots), Counts: map[RobotState]int{},
		})
	}
	for _, row := range p.rows {
		r.Waves[row.Wave].Counts[row.State]++
	}
	rows := slices.Clone(p.rows)
	for i := range rows {
		rows[i].ChangedAt = n.At
	}
	events := []Event{OnReady}
	switch {
	case p.NeedsApproval:
		events = []Event{OnSubmit}
	case !p.notBefore.IsZero():
		events = append(events, OnSchedule)
	case n.Start:
		events = append(events, OnStart)
	}
	run := Run{Rollout: r}
	for _, on := range events {
		run.move(on, n.Why, n.At)
	}
	return run.Rollout, rows
}
