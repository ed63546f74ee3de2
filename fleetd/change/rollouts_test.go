package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// publishAll publishes an act, two stories and an activity.
func (w *world) publishAll() {
	w.Helper()
	lib := &change.Library{Deps: w.deps}
	for _, d := range []struct {
		kind library.Kind
		id   string
		text string
	}{
		{library.KindAct, "a", "act: a\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n"},
		{library.KindStory, "day", "story: day\nname: {en: Story}\nrepeat: loop\nacts: [{act: a}]\n"},
		{library.KindStory, "night", "story: night\nname: {en: Story}\nrepeat: loop\nacts: [{act: a}]\n"},
		{library.KindActivity, "greet", "activity: greet\nname: {en: Greet}\nrepeat: once\nnature: solitary\nacts: [{act: a}]\n"},
	} {
		_, found, err := lib.Save(w.Context(), anna, d.kind, d.id, []byte(d.text), nil, who)
		w.none(found, err)
		_, found, err = lib.Publish(w.Context(), anna, d.kind, d.id, nil, nil, who)
		w.none(found, err)
	}
}

func (w *world) none(found []schema.Problem, err error) {
	w.Helper()
	if err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
}

// newest describes the newest rollouts: what robots were given, and each robot with its state and what it had.
func (w *world) newest(n int) (lines []string) {
	w.Helper()
	all, err := w.db.Rollouts(w.Context(), store.RolloutQuery{Limit: n})
	w.check(nil, err)
	for _, o := range all {
		line := fmt.Sprintf("%s %s %s by %s:", o.State, o.Cause, o.Content, o.CreatedBy)
		robots, err := w.db.RolloutRobots(w.Context(), store.RolloutRobotQuery{Rollout: o.ID})
		w.check(nil, err)
		slices.SortFunc(robots, func(a, b rollout.Robot) int { return strings.Compare(a.ID, b.ID) })
		documents, err := w.db.NewestDesired(w.Context(), o.Content.Topic(), selector.All())
		w.check(nil, err)
		for _, m := range robots {
			line += fmt.Sprintf(" %s %s", m.ID, m.State)
			if m.Had != nil {
				line += " had " + m.Had.String()
			}
			if m.State == rollout.Offered && m.Rev != documents[m.ID].Rev {
				w.Errorf("%s was offered revision %d, its document is %d", m.ID, m.Rev, documents[m.ID].Rev)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (w *world) count() int {
	w.Helper()
	all, err := w.db.Rollouts(w.Context(), store.RolloutQuery{Limit: 100})
	w.check(nil, err)
	return len(all)
}

func TestEveryAssignmentIsARollout(t *testing.T) {
	w := newWorld(t)
	w.check(w.db.AddRobot(t.Context(), "r2", storetest.Start))
	w.publishAll()
	now := storetest.Start
	w.deps.Now = func() time.Time { now = now.Add(time.Second); return now }
	d := &change.Desired{Deps: w.deps}
	both := selector.IDs("r1", "r2")
	story := func(id string, sel selector.Selector) {
		_, _, found, err := d.Assign(t.Context(), anna, sel, library.Assignment{Story: id}, false, who)
		w.none(found, err)
	}
	set := func(ask desired.Request) {
		_, _, found, err := d.Set(t.Context(), anna, both, ask, false, who)
		w.none(found, err)
	}
	body := jsontext.Value(`{"schema":1,"points":{"door":{"x_m":1,"y_m":2,"theta_rad":0}}}`)
	for _, test := range []struct {
		what string
		do   func()
		want []string
	}{
		{"the first story", func() { story("day", selector.IDs("r1")) },
			[]string{"RUNNING assignment story day revision 1 by anna: r1 OFFERED had no default story"}},
		{"a story that one robot has", func() { story("day", both) },
			[]string{"RUNNING assignment story day revision 1 by anna: r1 UNCHANGED r2 OFFERED had no default story"}},
		{"another story", func() { story("night", selector.IDs("r1")) },
			[]string{"RUNNING assignment story night revision 1 by anna: r1 OFFERED had story day revision 1"}},
		{"back", func() {
			_, _, found, err := d.Revert(t.Context(), anna, both, library.Reversion{}, false, who)
			w.none(found, err)
		}, []string{"RUNNING assignment story day revision 1 by anna: r1 OFFERED had story night revision 1",
			"RUNNING assignment no default story by anna: r2 OFFERED had story day revision 1"}},
		{"activities", func() {
			_, _, found, err := d.AssignActivities(t.Context(), anna, both,
				library.ActivitiesAssignment{Activities: []library.Pin{{ID: "greet"}}}, false, who)
			w.none(found, err)
		}, []string{"RUNNING assignment activities greet@1 by anna: r1 OFFERED had no activities r2 OFFERED had no activities"}},
		{"settings", func() {
			set(desired.Request{Config: &desired.Config{Set: map[string]jsontext.Value{"low_battery": jsontext.Value("0.3")}}})
		}, []string{"RUNNING assignment settings low_battery by anna: r1 OFFERED had settings low_battery (default) r2 OFFERED had settings " +
			"low_battery (default)"}},
		{"a mode", func() { set(desired.Request{Mode: &desired.Mode{Mode: schema.ModeAto}}) },
			[]string{"RUNNING assignment mode ato by anna: r1 OFFERED had mode  r2 OFFERED had mode "}},
		{"places", func() { set(desired.Request{Places: &desired.Set{ID: "hall", Rev: 2, Body: body}}) },
			[]string{"RUNNING assignment places hall by anna: r1 OFFERED had no places r2 OFFERED had no places"}},
		{"no places", func() { set(desired.Request{Places: &desired.Set{}}) },
			[]string{"RUNNING assignment no places by anna: r1 OFFERED had places hall r2 OFFERED had places hall"}},
	} {
		before := w.count()
		test.do()
		got := w.newest(len(test.want))
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.what, strings.Join(got, "\n     "), strings.Join(test.want, "\n     "))
		}
		if added := w.count() - before; added != len(test.want) {
			t.Errorf("%s: %d rollouts were added", test.what, added)
		}
		test.do() // changes nothing, except for a way back
		if added := w.count() - before; added != len(test.want) && test.what != "back" {
			t.Errorf("%s again: %d rollouts were added", test.what, added)
		} else if test.what == "back" {
			test.do()
		}
	}
}

// An assignment of any number of robots takes the same number of statements: of these, three are for the rollout.
func TestStatementsOfAnAssignmentDoNotGrowWithTheRobots(t *testing.T) {
	w := newWorld(t)
	w.db = storetest.Open(t, storetest.Postgres(t))
	for i := range 300 {
		w.check(w.db.AddRobot(t.Context(), fmt.Sprintf("r%d", i), storetest.Start))
	}
	w.publishAll()
	d := &change.Desired{Deps: w.deps}
	count := func(robots ...string) (n int) {
		w.db.SetBeforeStatement(func() error { n++; return nil })
		defer w.db.SetBeforeStatement(nil)
		_, _, found, err := d.Assign(t.Context(), anna, selector.IDs(robots...), library.Assignment{Story: "day"}, false, who)
		w.none(found, err)
		return n
	}
	var many []string
	for i := range 299 {
		many = append(many, fmt.Sprintf("r%d", i+1))
	}
	if one, all := count("r0"), count(many...); one != all {
		t.Errorf("%d statements for one robot, %d for %d", one, all, len(many))
	}
}

func (w *world) rollouts() *change.Rollouts {
	return &change.Rollouts{Deps: w.deps, Name: "fleetd", ApproveAbove: 1, Candidate: func(id string) (rollout.Candidate, bool) {
		return rollout.Candidate{Robot: selector.Robot{ID: id}, Online: true}, true
	}}
}

// What changed since the plan is a conflict with both numbers, and nothing is written.
func TestRolloutIsWhatItsPlanSaid(t *testing.T) {
	w := newWorld(t)
	w.check(w.db.AddRobot(t.Context(), "r2", storetest.Start))
	w.publishAll()
	r := w.rollouts()
	ask := change.RolloutRequest{Content: content.Content{Story: &content.Story{ID: "day"}}, Robots: selector.All()}
	plan, total, found, err := r.Plan(t.Context(), ask)
	w.none(found, err)
	if total != 2 || !plan.NeedsApproval || plan.Content.Story.Rev != 1 || len(plan.Superseding) != 0 {
		t.Errorf("the plan is %+v", plan)
	}
	three, none := 3, 0
	wrong := ask
	wrong.Expected, wrong.Digest, wrong.Supersede = &three, "another", &three
	_, _, found, err = r.Create(t.Context(), anna, wrong, who)
	if err != nil || len(found) != 3 || !strings.Contains(found[0].Detail, "2 robots are selected, 3 were expected") {
		t.Errorf("%v %v", found, err)
	}
	wrong = ask
	wrong.Content.Story, wrong.Spec.OffersPerMin = &content.Story{ID: "noon"}, -1
	if _, _, found, err = r.Create(t.Context(), anna, wrong, who); err != nil || len(found) != 2 ||
		found[0].Pointer != "/content/story/id" || found[1].Pointer != "/spec/offers_per_min" {
		t.Errorf("%v %v", found, err)
	}
	if all := w.newest(10); len(all) != 0 {
		t.Errorf("refused requests left %v", all)
	}
	ask.Expected, ask.Digest, ask.Supersede, ask.Start = &total, plan.Digest, &none, true
	o, _, found, err := r.Create(t.Context(), anna, ask, who)
	w.none(found, err)
	if o.State != rollout.WaitingForApproval {
		t.Errorf("it is %s", o.State)
	}
	// A second one takes its robots, which has to be confirmed by their number.
	_, _, found, err = r.Create(t.Context(), anna, change.RolloutRequest{Content: content.Content{Story: &content.Story{ID: "night"}},
		Robots: selector.IDs("r1")}, who)
	if err != nil || len(found) != 1 || found[0].Pointer != "/supersede" || !strings.Contains(found[0].Hint, "supersede: 1") {
		t.Errorf("%v %v", found, err)
	}
	decide := func(d rollout.Decision) (rollout.State, []schema.Problem) {
		after, _, found, err := r.Decide(t.Context(), anna, o.ID, d, nil)
		w.check(nil, err)
		return after.State, found
	}
	if _, found := decide(rollout.Decision{On: rollout.OnStart, By: "anna"}); len(found) != 1 || !strings.Contains(found[0].Hint, "approve") {
		t.Errorf("starting it without approval: %v", found)
	}
	if _, found := decide(rollout.Decision{On: rollout.OnApprove, By: "anna", Digest: plan.Digest}); len(found) != 1 ||
		found[0].Code != rollout.CodeOwnRollout {
		t.Errorf("who made it approves it: %v", found)
	}
	if _, found := decide(rollout.Decision{On: rollout.OnApprove, By: "ben", Digest: plan.Digest}); len(found) > 0 {
		t.Errorf("ben approves it: %v", found)
	}
	if state, found := decide(rollout.Decision{On: rollout.OnStart, By: "ben", Why: "it is time"}); len(found) > 0 ||
		state != rollout.Running {
		t.Errorf("it is started: %v, %s", found, state)
	}
	if _, _, found, err := r.Decide(t.Context(), anna, o.ID, rollout.Decision{On: rollout.OnPause, By: "ben"}, &three); err != nil ||
		len(found) != 1 || found[0].Pointer != "/expected_count" {
		t.Errorf("with another number: %v %v", found, err)
	}
	var done []string
	for _, e := range w.audit() {
		if strings.HasPrefix(string(e.What), string(audit.ActionRollout)) {
			done = append(done, fmt.Sprintf("%s by %s", e.What, e.Who))
		}
	}
	if want := []string{"rollout by anna", "rollout approve by ben", "rollout start by ben"}; !slices.Equal(done, want) {
		t.Errorf("the audit has %v, want %v", done, want)
	}
}
