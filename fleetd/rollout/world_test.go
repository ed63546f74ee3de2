package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/presence"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// start is when each world begins.
var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func story(rev int64) content.Content {
	return content.Content{Story: &content.Story{ID: "welcome", Rev: rev, Apply: schema.ApplyNextAct}}
}

// A bot is a simulated robot: what it has, what it is asked for, and what it reports.
type bot struct {
	id                   string
	online, signedOff    bool
	busy, closed, pinned bool
	gone, unseen         bool // left the fleet; sends no heartbeats
	newer                string
	seen, opens          time.Time
	rev, given           int64           // of its newest desired document; of the one that the rollout gave it
	desired, before      content.Content // what it is asked for; what it was asked for before the rollout
	report               Report
	health               Health
}

// A world is a fleet in fake time, and a database that knows what was saved.
type world struct {
	now    time.Time
	run    *Run
	saved  Rollout
	rows   map[string]Robot
	bots   []*bot
	byID   map[string]*bot
	fleetd presence.Fleetd
	rest   Health
	check  func(before Rollout, c Changes)
}

// newWorld makes robots named r1, r2 and so on, which have revision 1 of the story and are online.
func newWorld(robots int) *world {
	w := &world{now: start, byID: map[string]*bot{}, rows: map[string]Robot{}, fleetd: presence.Fleetd{Connected: true,
		Since: start.Add(-time.Hour)}}
	for i := range robots {
		b := &bot{id: fmt.Sprintf("r%d", i+1), online: true, seen: start, rev: 1, desired: story(1), before: story(1)}
		b.report = Report{Rev: 1, Phase: schema.DeployActive, Active: true}
		b.health = Health{Robots: 1, Acts: 20}
		w.bots, w.byID[b.id] = append(w.bots, b), b
	}
	w.rest = Health{Robots: 1000, Acts: 20000}
	return w
}

func (w *world) ask(spec Spec) Ask {
	a := Ask{Content: story(2), Spec: spec, Seed: 1, Now: w.now}
	for i, b := range w.bots {
		site := "hall"
		if i < 2 {
			site = "lab"
		}
		a.Robots = append(a.Robots, Candidate{Robot: selector.Robot{ID: b.id, Labels: map[string]string{"site": site}}, Online: b.online,
			Pinned: b.pinned, Has: same(b.desired, a.Content)})
	}
	return a
}

// begin plans and saves a rollout.
func (w *world) begin(a Ask, n New) {
	p, found := NewPlan(a)
	if len(found) > 0 {
		panic(fmt.Sprint(found))
	}
	n.ID, n.By, n.At = "ro-1", "ann", w.now
	var rows []Robot
	w.saved, rows = p.Rollout(n)
	for _, b := range rows {
		w.rows[b.ID] = b
	}
	w.restart()
}

// restart loses what is in memory.
func (w *world) restart() {
	w.run = NewRun(w.saved, slices.Collect(maps.Values(w.rows)))
}

func same(a, b content.Content) bool { return a.Story.ID == b.Story.ID && a.Story.Rev == b.Story.Rev }

func (w *world) facts() Facts {
	content, rows := w.saved.Content, w.rows
	return Facts{
		Fleetd: w.fleetd, Rest: w.rest,
		Robot: func(id string) (RobotFacts, bool) {
			b := w.byID[id]
			if b.gone {
				return RobotFacts{}, false
			}
			f := RobotFacts{
				Online: b.online, SignedOff: b.signedOff, SeenAt: b.seen, Idle: !b.busy, InWindow: !b.closed, WindowOpens: b.opens, Pinned: b.pinned,
				Newer: b.newer, DesiredRev: b.rev, Same: same(b.desired, content), Report: b.report, Health: b.health,
			}
			if row := rows[id]; row.State == Restoring && row.Had != nil {
				f.Same = same(b.desired, *row.Had)
			} else if row.State == NotRestored && row.Had != nil {
				f.Same = f.Same || same(b.desired, *row.Had)
			}
			f.Health.Offline = 0
			if !b.online {
				f.Health.Offline = 1
			}
			return f, true
		},
	}
}

// beat lets robots that are online send heartbeats.
func (w *world) beat() {
	for _, b := range w.bots {
		if b.online && !b.unseen {
			b.seen = w.now
		}
	}
}

// step runs one step and its transaction.
func (w *world) step() Changes {
	before := w.saved
	c := Step(w.run, w.now, w.facts())
	c = Assigned(w.run, c, w.assign(c), w.now)
	w.save(before, c)
	return c
}

// assign is what the plans of an assignment do. Robots that left, that a later rollout has or that are pinned get nothing.
func (w *world) assign(c Changes) map[string]Given {
	given := map[string]Given{}
	give := func(id string, to content.Content) {
		b := w.byID[id]
		had := b.desired
		failing := b.report.Rev == b.rev && slices.Contains([]schema.DeployPhase{schema.DeployFailed, schema.DeployRejected,
			schema.DeployRolledBack}, b.report.Phase)
		if same(had, to) && !failing {
			given[id] = Given{Rev: b.rev, Unchanged: true, Had: &had}
			return
		}
		if b.given == 0 {
			b.before = had
		}
		b.rev++
		b.given, b.desired = b.rev, to
		given[id] = Given{Rev: b.rev, Had: &had}
	}
	for _, id := range c.Offers {
		if b := w.byID[id]; b.gone || b.newer != "" || b.pinned && w.saved.Spec.Pinned == PinnedLeave {
			continue
		}
		if row := w.rows[id]; !slices.Contains([]RobotState{Planned, Deferred, WaitingOffline}, row.State) {
			panic(fmt.Sprintf("%s is offered the content while it is %s", id, row.State))
		}
		give(id, w.saved.Content)
	}
	for _, back := range c.Restore {
		for _, id := range back.Robots {
			if b := w.byID[id]; b.gone || b.newer != "" {
				continue
			}
			give(id, back.Content)
		}
	}
	return given
}

func (w *world) save(before Rollout, c Changes) {
	if c.Empty() {
		w.saved.NextAt = c.Rollout.NextAt
		return
	}
	if c.Rollout.Version != w.saved.Version {
		panic("a step of another version")
	}
	w.saved = c.Rollout
	w.saved.Waves = cloneWaves(c.Rollout.Waves)
	w.saved.Version++
	w.run.Rollout.Version = w.saved.Version
	if w.check != nil {
		w.check(before, c)
	}
	for _, b := range c.Robots {
		w.rows[b.ID] = b
	}
}

func (w *world) decide(d Decision) []schema.Problem {
	before := w.saved
	run := NewRun(w.saved, nil)
	if d.NeedsRobots(w.saved.State) {
		run = NewRun(w.saved, slices.Collect(maps.Values(w.rows)))
	}
	c, found := Decide(run, d, w.now)
	if len(found) == 0 {
		w.save(before, c)
		w.restart() // another instance decided: the version differs
	}
	return found
}

// say lists changes for people.
func (w *world) say(before Rollout, was map[string]Robot, c Changes) string {
	at := w.now.Sub(start).Round(time.Second)
	var out strings.Builder
	if c.Rollout.State != before.State {
		fmt.Fprintf(&out, "  %v %s -> %s: %s\n", at, before.State, c.Rollout.State, c.Rollout.Why)
	}
	for i, v := range c.Rollout.Waves {
		if v.State != before.Waves[i].State {
			fmt.Fprintf(&out, "  %v wave %s %s -> %s: %s\n", at, v.Name, before.Waves[i].State, v.State, v.Why)
		}
	}
	groups := map[string][]string{}
	for _, b := range c.Robots {
		if b.State == was[b.ID].State {
			continue
		}
		until := ""
		if b.State == Deferred && !b.RetryAt.IsZero() {
			until = fmt.Sprintf(" until %v", b.RetryAt.Sub(start).Round(time.Second))
		}
		key := fmt.Sprintf("%s -> %s%s (%s)", was[b.ID].State, b.State, until, b.Why)
		groups[key] = append(groups[key], b.ID)
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(&out, "  %v %s %s\n", at, strings.Join(groups[key], " "), key)
	}
	return out.String()
}
