package change_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/fleetd/ca"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/score"
)

// policyWorld is a world with the stories museum and other, and what changes them and policies.
type policyWorld struct {
	*world
	policies *change.Policies
	desired  *change.Desired
	labels   *change.Labels
	library  *change.Library
}

// withPolicies runs a test on both databases.
func withPolicies(t *testing.T, test func(w *policyWorld)) {
	for _, d := range []struct {
		name    string
		address func(testing.TB) string
	}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}} {
		t.Run(d.name, func(t *testing.T) {
			w := &policyWorld{world: &world{T: t, db: storetest.Open(t, d.address(t))}}
			now := storetest.Start
			w.deps = change.Deps{
				Now:   func() time.Time { now = now.Add(time.Second); return now },
				Store: func() (*store.Store, error) { return w.db, nil }, Changed: func(context.Context, []string) {},
				Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
				TakenBy: func(string) string { return "" },
			}
			rollouts := &change.Rollouts{Deps: w.deps, Name: "fleetd", Candidate: func(string) (rollout.Candidate,
				bool) {
				return rollout.Candidate{}, false
			}}
			w.policies = &change.Policies{Deps: w.deps, Rollouts: rollouts}
			w.desired, w.labels, w.library = &change.Desired{Deps: w.deps}, &change.Labels{Deps: w.deps}, &change.Library{Deps: w.deps}
			for _, s := range []library.Source{
				{Kind: library.KindAct, Body: []byte("act: wave\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n")},
				{Kind: library.KindStory, Body: []byte("story: museum\nname: {en: Museum}\nrepeat: loop\nacts: [{act: wave}]\n")},
				{Kind: library.KindStory, Body: []byte("story: other\nname: {en: Other}\nrepeat: loop\nacts: [{act: wave}]\n")},
				{Kind: library.KindActivity, Body: []byte("activity: greet\nname: {en: Greet}\nrepeat: once\nnature: interactive\n" +
					"acts: [{act: wave}]\n")},
			} {
				_, found, err := w.library.PublishAll(t.Context(), anna, []library.Source{s}, nil, false, who)
				w.fine(found, err)
			}
			_, found, err := w.library.Save(t.Context(), anna, library.KindStory, "draft",
				[]byte("story: draft\nname: {en: Draft}\nrepeat: loop\nacts: [{act: wave}]\n"), nil, who)
			w.fine(found, err)
			test(w)
		})
	}
}

func (w *policyWorld) fine(found []schema.Problem, err error) {
	w.Helper()
	if err != nil || len(found) > 0 {
		w.Fatal(found, err)
	}
}

func anyRobots(selector.Selector) error { return nil }

func site(name string) selector.Selector {
	return selector.Labelled(selector.Label{Key: "site", Value: name})
}

func storyOf(id string) content.Content { return content.Content{Story: &content.Story{ID: id}} }

// put makes a policy whose robots get at once what it says.
func (w *policyWorld) put(p policy.Policy) change.PolicyEffect {
	w.Helper()
	p.Enabled = true
	e, found, err := w.policies.Put(w.Context(), anna, change.PolicyPut{Policy: p, Now: true}, anyRobots, who)
	w.fine(found, err)
	return e
}

func (w *policyWorld) label(robot string, labels map[string]string) {
	w.Helper()
	w.check(nil, w.labels.Set(w.Context(), anna, robot, labels, who))
}

func (w *policyWorld) assign(story string, robots ...string) library.Assigned {
	w.Helper()
	done, _, found, err := w.desired.Assign(w.Context(), anna, selector.IDs(robots...), library.Assignment{Story: story}, false, who)
	w.fine(found, err)
	return done
}

// story returns the story of a robot, and why it has it: by the decider and its policy.
func (w *policyWorld) story(robot string) string {
	w.Helper()
	all, _, err := w.policies.Why(w.Context(), robot)
	w.check(nil, err)
	e := all[0]
	text := "nothing"
	if e.Has.Topic() != "" {
		text = e.Has.String()
	}
	text += " by " + string(e.By)
	if e.Policy != nil {
		text += " " + e.Policy.ID
	}
	if e.Differ {
		text += ", differs"
	}
	for _, l := range e.Losers {
		text += "; not " + l.Policy
	}
	return text
}

func (w *policyWorld) want(robot, story string) {
	w.Helper()
	if got := w.story(robot); got != story {
		w.Errorf("%s has %s, want %s", robot, got, story)
	}
}

func (w *policyWorld) newest() audit.Entry {
	w.Helper()
	all := w.audit()
	return all[len(all)-1]
}

// A robot that is labelled, adopted or enrolled gets what its policy says in the same transaction, and the audit says because of
// which policy.
func TestNewcomersGetWhatTheirPolicySays(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.put(policy.Policy{ID: "lobby", Place: 10, Selector: site("lobby"), Content: storyOf("museum")})
		w.put(policy.Policy{ID: "quiet", Place: 10, Selector: site("lobby"),
			Content: content.Content{Config: &desired.Config{Set: map[string]jsontext.Value{"probation_ms": jsontext.Value("20000")}}}})
		w.put(policy.Policy{ID: "ato", Selector: selector.All(), Content: content.Content{Mode: &desired.Mode{Mode: schema.ModeAto}}})
		w.put(policy.Policy{ID: "greet", Selector: site("hall"),
			Content: content.Content{Activities: &content.Activities{Pins: []library.Pin{{ID: "greet"}}}}})

		for _, robot := range []string{"r1", "r2"} {
			_, err := (&change.Adoptions{Deps: w.deps}).Adopt(ctx, anna, robot, who)
			w.check(nil, err)
		}
		w.want("r1", "nothing by nobody")
		if all, _, err := w.policies.Why(ctx, "r1"); err != nil || all[3].By != policy.ByPolicy || all[3].Differ {
			t := all[3]
			w.Errorf("the mode of an adopted robot: %+v %v", t, err)
		}
		if n := w.newest(); n.What != audit.ActionDesired || n.Why != "policy ato, since r2 was adopted: the show" || n.Who != "anna" {
			w.Errorf("the audit says %+v", n.Note)
		}
		w.label("r1", map[string]string{"site": "lobby"})
		w.want("r1", "story museum revision 1 by policy lobby")
		changed, _, found, err := w.labels.Edit(ctx, anna, change.LabelEdit{Robots: selector.IDs("r1", "r2"),
			Set: map[string]string{"site": "lobby", "floor": "2"}}, who)
		w.fine(found, err)
		if len(changed) != 2 {
			w.Errorf("changed %q", changed)
		}
		w.want("r2", "story museum revision 1 by policy lobby")
		if documents, _, err := w.desired.Of(ctx, "r2"); err != nil || !strings.Contains(string(documents[schema.TopicDesiredConfig]), `"probation_ms":20000`) ||
			!strings.Contains(string(documents[schema.TopicDesiredConfig]), `"site":"lobby"`) {
			w.Errorf("the settings of r2: %s %v", documents[schema.TopicDesiredConfig], err)
		}

		w.enrol("r7", map[string]string{"site": "lobby"})
		w.want("r7", "story museum revision 1 by policy lobby")
		if r, err := w.db.Robot(ctx, "r7"); err != nil || r.Labels["site"] != "lobby" {
			w.Errorf("the labels of r7: %v %v", r.Labels, err)
		}
		w.enrol("r8", nil)
		w.want("r8", "nothing by nobody")

		// Another site takes nothing away that no policy decides, and gives what its policies say.
		w.label("r7", map[string]string{"site": "hall"})
		w.want("r7", "story museum revision 1 by person")
		if all, _, err := w.policies.Why(ctx, "r7"); err != nil || all[1].By != policy.ByPolicy || all[1].Has.String() != "activities greet@1" {
			w.Errorf("the activities of r7: %+v %v", all[1], err)
		}
		rollouts, err := w.db.Rollouts(ctx, store.RolloutQuery{Robot: "r7"})
		w.check(nil, err)
		if !slices.ContainsFunc(rollouts, func(o rollout.Rollout) bool {
			return o.Cause == rollout.ByPolicy && o.CauseID == "lobby" && o.State == rollout.Running
		}) {
			w.Errorf("the history of r7 has %+v", rollouts)
		}
	})
}

// enrol enrols a robot with a token that has labels.
func (w *policyWorld) enrol(robot string, labels map[string]string) {
	w.Helper()
	ctx, ids := w.Context(), &change.Identities{Deps: w.deps}
	root, intermediate, err := ca.New("museum", storetest.Start)
	w.check(nil, err)
	authority, err := ca.Open(root.Certificate, intermediate, storetest.Start)
	w.check(nil, err)
	token := schema.EnrolmentToken{Robot: robot}
	w.check(rand.Read(token.Secret[:]))
	row := enrol.Token{Digest: enrol.DigestOf(token), Robot: robot, Labels: labels, CreatedAt: storetest.Start, CreatedBy: "anna",
		ExpiresAt: storetest.Start.Add(time.Hour)}
	w.check(nil, ids.NewToken(ctx, anna, row, ""))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.check(nil, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: robot}}, key)
	w.check(nil, err)
	_, err = ids.Grant(ctx, anna, authority, token, "", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})))
	w.check(nil, err)
}

// A policy, a pin and an assignment by a person on one robot: what it has, who decided that, and who did not.
func TestWhoDecidesIsExplained(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		for _, robot := range []string{"r1", "r2", "r3"} {
			w.check(w.db.AddRobot(ctx, robot, storetest.Start))
		}
		w.assign("other", "r3")
		w.want("r3", "story other revision 1 by person")
		w.label("r1", map[string]string{"site": "lobby"})
		w.label("r2", map[string]string{"site": "lobby"})
		w.put(policy.Policy{ID: "lobby", Place: 10, Selector: site("lobby"), Content: storyOf("museum")})
		w.put(policy.Policy{ID: "fleet", Place: 20, Selector: selector.All(), Content: storyOf("other")})
		w.want("r1", "story museum revision 1 by policy lobby; not fleet")
		w.want("r3", "story other revision 1 by policy fleet")
		if pins, err := w.db.Pins(ctx, store.PinQuery{}); err != nil || len(pins) > 0 {
			w.Errorf("policies pinned %+v %v", pins, err)
		}

		// Assigned against the policy, a robot is pinned; assigned what the policy says, it is not.
		if done := w.assign("other", "r1"); !slices.Equal(done.Pinned, []string{"r1"}) {
			w.Errorf("pinned %q", done.Pinned)
		}
		if done := w.assign("museum", "r2"); len(done.Pinned) > 0 {
			w.Errorf("pinned %q, though the policy says the same", done.Pinned)
		}
		w.want("r1", "story other revision 1 by pin lobby, differs; not lobby; not fleet")
		e := w.put(policy.Policy{ID: "lobby", Place: 5, Selector: site("lobby"), Content: storyOf("museum")})
		if !slices.Equal(e.Pinned, []string{"r1"}) || !slices.Equal(e.Unchanged, []string{"r2"}) || len(e.Updated) > 0 {
			w.Errorf("the policy gives %q something else, leaves %q, and %q are pinned", e.Updated, e.Unchanged, e.Pinned)
		}
		w.label("r1", map[string]string{"site": "lobby", "floor": "1"})
		w.want("r1", "story other revision 1 by pin lobby, differs; not lobby; not fleet")

		// A dry run says the same and pins nothing; a revert is an assignment, too.
		dry, _, found, err := w.desired.Assign(ctx, anna, selector.IDs("r2", "r3"), library.Assignment{Story: "other"}, true, who)
		w.fine(found, err)
		if !slices.Equal(dry.Pinned, []string{"r2"}) {
			w.Errorf("a dry run would pin %q", dry.Pinned)
		}
		back, _, found, err := w.desired.Revert(ctx, anna, selector.IDs("r1"), library.Reversion{}, false, who)
		w.fine(found, err)
		if len(back.To) != 1 || len(back.Pinned) > 0 {
			w.Errorf("reverted to %+v, pinned %q", back.To, back.Pinned)
		}
		w.want("r1", "story museum revision 1 by pin lobby; not lobby; not fleet")
		w.assign("other", "r1")
		w.check(nil, w.policies.Rollouts.RemovePin(ctx, anna, "r1", schema.TopicDesiredStory, who))
		w.want("r1", "story museum revision 1 by policy lobby; not fleet")
		if n := w.newest(); n.Why != "policy lobby, since the pin was removed: the show" {
			w.Errorf("the audit says %+v", n.Note)
		}
	})
}

// A setting that a policy does not name is a person's to set, and so is one whose value is the same.
func TestOnlyContradictingSettingsArePinned(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.check(w.db.AddRobot(ctx, "r1", storetest.Start))
		w.put(policy.Policy{ID: "quiet", Selector: selector.All(),
			Content: content.Content{Config: &desired.Config{Set: map[string]jsontext.Value{"probation_ms": jsontext.Value("20000")}}}})
		body, _, err := score.EncodePlaces(nil, map[string]score.Point{"dock": {XM: 1}})
		w.check(nil, err)
		w.put(policy.Policy{ID: "hall", Selector: selector.All(), Content: content.Content{Places: &desired.Set{ID: "hall", Body: body}}})
		for _, c := range []struct {
			what   string
			ask    desired.Request
			pinned int
		}{
			{"another setting", desired.Request{Config: &desired.Config{Set: map[string]jsontext.Value{"boot_mode": jsontext.Value(`"ato"`)}}}, 0},
			{"the same value", desired.Request{Config: &desired.Config{Set: map[string]jsontext.Value{"probation_ms": jsontext.Value("20000")}}}, 0},
			{"the same places", desired.Request{Places: &desired.Set{ID: "hall", Body: body}}, 0},
			{"no places", desired.Request{Places: &desired.Set{}}, 1},
			{"another value", desired.Request{Config: &desired.Config{Set: map[string]jsontext.Value{"probation_ms": jsontext.Value("30000")}}}, 1},
		} {
			done, _, found, err := w.desired.Set(ctx, anna, selector.IDs("r1"), c.ask, false, who)
			w.fine(found, err)
			if len(done.Pinned) != c.pinned {
				w.Errorf("%s: pinned %q", c.what, done.Pinned)
			}
		}
	})
}

// A changed policy is a rollout: its robots get nothing at once, newcomers do, and the rollout says which policy began it.
func TestChangedPolicyIsARollout(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		for i := range 6 {
			w.check(w.db.AddRobot(ctx, fmt.Sprintf("r%d", i), storetest.Start))
			w.label(fmt.Sprintf("r%d", i), map[string]string{"site": "lobby"})
		}
		ask := change.PolicyPut{Policy: policy.Policy{ID: "lobby", Enabled: true, Selector: site("lobby"), Content: storyOf("museum")},
			DryRun: true}
		e, found, err := w.policies.Put(ctx, anna, ask, anyRobots, who)
		w.fine(found, err)
		if len(e.Updated) != 6 || len(e.Rollouts) != 1 || len(e.Rollouts[0].Plan.Waves) < 2 || e.Rollouts[0].Rollout.ID != "" {
			w.Fatalf("the dry run says %q by %d rollouts", e.Updated, len(e.Rollouts))
		}
		if all, err := w.policies.List(ctx); err != nil || len(all) > 0 {
			w.Fatalf("a dry run wrote %+v %v", all, err)
		}
		five, six := 5, 6
		ask.DryRun, ask.Expected = false, &five
		if _, found, err := w.policies.Put(ctx, anna, ask, anyRobots,
			who); err != nil || len(found) != 1 || found[0].Code != desired.CodeCountChanged ||
			!strings.Contains(found[0].Detail, "6 robots") || !strings.Contains(found[0].Detail, "5 were") {
			w.Fatalf("another number: %v %v", found, err)
		}
		ask.Expected = &six
		e, found, err = w.policies.Put(ctx, anna, ask, anyRobots, who)
		w.fine(found, err)
		o := e.Rollouts[0].Rollout
		if o.Cause != rollout.ByPolicy || o.CauseID != "lobby" || o.State != rollout.Running || o.Robots != "-l site=lobby" {
			w.Errorf("the rollout is %+v", o)
		}
		w.want("r1", "nothing by policy lobby, differs")
		w.label("r1", map[string]string{"site": "lobby", "floor": "2"}) // its decision stays: it waits for its turn
		w.want("r1", "nothing by policy lobby, differs")

		// A newcomer is not exposed before the others: it waits for the last wave.
		w.check(w.db.AddRobot(ctx, "r9", storetest.Start))
		w.label("r9", map[string]string{"site": "lobby"})
		w.want("r9", "nothing by policy lobby, differs")
		if n := w.newest(); n.What != audit.ActionPolicy || n.Outcome != audit.Accepted || !strings.Contains(n.Why, "in wave 1 of ") {
			w.Errorf("the audit says %+v", n.Note)
		}
		// A robot whose pin is removed is none either, though it is a member: the rollout left it out.
		w.assign("other", "r5")
		w.check(nil, w.policies.Rollouts.RemovePin(ctx, anna, "r5", schema.TopicDesiredStory, who))
		w.want("r5", "story other revision 1 by policy lobby, differs")
		members, err := w.db.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: o.ID})
		w.check(nil, err)
		for i := range members {
			if members[i].ID == "r5" {
				members[i].State = rollout.Pinned
			}
		}
		row, err := w.db.Rollout(ctx, o.ID)
		w.check(nil, err)
		row.Wave = len(row.Waves) - 1
		w.check(nil, w.policies.Rollouts.Step(ctx, rollout.NewRun(row, members), rollout.Changes{Rollout: row,
			Notes: []rollout.Note{{What: rollout.OnWavePassed}}}, storetest.Start.Add(time.Hour)))
		w.want("r9", "story museum revision 1 by policy lobby")
		w.want("r5", "story museum revision 1 by policy lobby")
		w.want("r1", "nothing by policy lobby, differs")

		// Once more: its robots are in an open rollout, which a person has to confirm.
		seven := 7 // with r9
		ask.Policy.Content, ask.Expected = storyOf("other"), &seven
		if _, found, err = w.policies.Put(ctx, anna, ask, anyRobots, who); err != nil || len(found) != 1 || found[0].Code != library.CodeConfirm {
			w.Fatalf("robots of an open rollout: %v %v", found, err)
		}
		six = 6 // without the robot that got it outside of a rollout in waves
		ask.Supersede = &six
		e, found, err = w.policies.Put(ctx, anna, ask, anyRobots, who)
		w.fine(found, err)
		if len(e.Rollouts) != 1 || len(e.Updated) != 7 {
			w.Errorf("%d robots by %d rollouts", len(e.Updated), len(e.Rollouts))
		}
		w.state(o.ID, rollout.Aborted)
		w.state(e.Rollouts[0].Rollout.ID, rollout.Running)
	})
}

func (w *policyWorld) state(id string, want rollout.State) {
	w.Helper()
	if o, err := w.db.Rollout(w.Context(), id); err != nil || o.State != want {
		w.Errorf("the rollout is %s, want %s: %v", o.State, want, err)
	}
}

// Robots whose turn comes later do not get what a policy does not say any more.
func TestChangedPolicyEndsItsRollout(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		for i := range 6 {
			w.check(w.db.AddRobot(w.Context(), fmt.Sprintf("r%d", i), storetest.Start))
			w.label(fmt.Sprintf("r%d", i), map[string]string{"site": "lobby"})
		}
		w.put(policy.Policy{ID: "fleet", Place: 50, Selector: selector.All(), Content: storyOf("museum")})
		put := func(p policy.Policy) change.PolicyEffect {
			e, found, err := w.policies.Put(w.Context(), anna, change.PolicyPut{Policy: p}, anyRobots, who)
			w.fine(found, err)
			return e
		}
		p := policy.Policy{ID: "lobby", Place: 10, Enabled: true, Selector: site("lobby"), Content: storyOf("other")}
		for _, c := range []struct {
			what string
			do   func(policy.Policy)
		}{
			{"puts back what it said", func(p policy.Policy) { p.Content = storyOf("museum"); put(p) }},
			{"disables it", func(p policy.Policy) { p.Enabled = false; put(p) }},
			{"narrows it", func(p policy.Policy) { p.Selector = site("hall"); put(p) }},
			{"places it behind another one", func(p policy.Policy) { p.Place = 60; put(p) }},
			{"deletes it", func(policy.Policy) {
				_, found, err := w.policies.Delete(w.Context(), anna, change.PolicyPut{Policy: policy.Policy{ID: "lobby"}}, anyRobots, who)
				w.fine(found, err)
			}},
		} {
			o := put(p).Rollouts[0].Rollout // no robot is left in the rollout of before, though its runner has not looked at it yet
			w.state(o.ID, rollout.Running)
			w.Log("somebody", c.what)
			dry := p
			dry.Enabled = false
			e, found, err := w.policies.Put(w.Context(), anna, change.PolicyPut{Policy: dry, DryRun: true}, anyRobots, who)
			w.fine(found, err)
			if len(e.Ends) != 1 || e.Ends[0].Rollout.ID != o.ID || len(e.Ends[0].Robots) != 6 || !e.Ends[0].Whole {
				w.Errorf("a dry run says that it ends %+v", e.Ends)
			}
			w.state(o.ID, rollout.Running)
			c.do(p)
			w.state(o.ID, rollout.Aborted)
			if states := w.states(o.ID); states[rollout.Cancelled] != 6 {
				w.Errorf("the robots of the aborted rollout are %v", states)
			}
		}
	})
}

func (w *policyWorld) states(id string) map[rollout.RobotState]int {
	w.Helper()
	members, err := w.db.RolloutRobots(w.Context(), store.RolloutRobotQuery{Rollout: id})
	w.check(nil, err)
	states := map[rollout.RobotState]int{}
	for _, m := range members {
		states[m.State]++
	}
	return states
}

// A policy comes before another one, whose rollout has robots yet to come that have already what the new policy says: they keep it.
func TestNewPolicyTakesItsRobotsFromOpenRollouts(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		for i := range 6 {
			w.check(w.db.AddRobot(w.Context(), fmt.Sprintf("r%d", i), storetest.Start))
		}
		w.label("r1", map[string]string{"site": "lobby"})
		w.label("r2", map[string]string{"site": "lobby"})
		w.assign("museum", "r1", "r2", "r3")
		put := func(p policy.Policy, dryRun bool) change.PolicyEffect {
			p.Enabled = true
			e, found, err := w.policies.Put(w.Context(), anna, change.PolicyPut{Policy: p, DryRun: dryRun}, anyRobots, who)
			w.fine(found, err)
			return e
		}
		o := put(policy.Policy{ID: "fleet", Place: 20, Selector: selector.All(), Content: storyOf("other")}, false).Rollouts[0].Rollout
		lobby := policy.Policy{ID: "lobby", Place: 10, Selector: site("lobby"), Content: storyOf("museum")}
		e := put(lobby, true)
		if len(e.Rollouts) > 0 || len(e.Ends) != 1 || e.Ends[0].Rollout.ID != o.ID || e.Ends[0].Whole ||
			!slices.Equal(e.Ends[0].Robots, []string{"r1", "r2"}) {
			w.Errorf("a dry run says %+v", e.Ends)
		}
		if states := w.states(o.ID); states[rollout.Planned] != 6 {
			w.Errorf("after a dry run its robots are %v", states)
		}
		put(lobby, false)
		w.state(o.ID, rollout.Running)
		if states := w.states(o.ID); states[rollout.Superseded] != 2 || states[rollout.Planned] != 4 {
			w.Errorf("its robots are %v", states)
		}
		row, err := w.db.Rollout(w.Context(), o.ID)
		w.check(nil, err)
		if n := row.Waves[0].Counts[rollout.Superseded] + row.Waves[len(row.Waves)-1].Counts[rollout.Superseded]; n == 0 {
			w.Errorf("its counts are %+v", row.Waves)
		}
	})
}

// What a policy or a schedule names cannot be deleted behind its back.
func TestWhatPoliciesAndSchedulesNameIsNotDeleted(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.put(policy.Policy{ID: "lobby", Selector: site("lobby"), Content: storyOf("museum")})
		w.put(policy.Policy{ID: "greet", Selector: selector.All(),
			Content: content.Content{Activities: &content.Activities{Pins: []library.Pin{{ID: "greet"}}}}})
		w.check(w.db.AddRobot(ctx, "r1", storetest.Start))
		assign := storyOf("museum")
		_, _, found, err := (&change.Schedules{Deps: w.deps}).PutSchedule(ctx, anna, change.Schedule{ID: "morning", Schedule: schedule.Schedule{
			Times:  schedule.Times{Cron: "0 9 * * *", Zone: "Europe/Berlin"},
			Action: schedule.Action{Assign: &assign}, Selector: new(selector.All()),
		}}, false, who)
		w.fine(found, err)
		for _, c := range []struct {
			kind library.Kind
			id   string
			want []string
		}{
			{library.KindStory, "museum", []string{"policy lobby names", "schedule morning names"}},
			{library.KindActivity, "greet", []string{"policy greet names"}},
			{library.KindStory, "other", nil},
		} {
			for _, expect := range []*library.Expect{nil, {}} {
				_, found, err := w.library.Delete(ctx, anna, c.kind, c.id, expect, who)
				w.check(nil, err)
				if len(found) != len(c.want) {
					w.Errorf("deleting %s: %v", c.id, found)
					continue
				}
				for i, p := range found {
					if p.Code != library.CodeInUse || !strings.HasPrefix(p.Detail, c.want[i]) || p.Hint == "" {
						w.Errorf("deleting %s: %+v", c.id, p)
					}
				}
			}
		}
	})
}

// A deleted policy leaves its robots to the next one, or with what they have.
func TestDeletedPolicyLeavesItsRobotsToTheNextOne(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		for _, robot := range []string{"r1", "r2"} {
			w.check(w.db.AddRobot(ctx, robot, storetest.Start))
			w.label(robot, map[string]string{"site": "lobby"})
		}
		w.label("r2", map[string]string{"site": "lobby", "floor": "2"})
		w.put(policy.Policy{ID: "lobby", Place: 1, Selector: site("lobby"), Content: storyOf("museum")})
		w.put(policy.Policy{ID: "floor", Place: 2, Selector: selector.Labelled(selector.Label{Key: "floor", Value: "2"}),
			Content: storyOf("other")})
		e, found, err := w.policies.Delete(ctx, anna, change.PolicyPut{Policy: policy.Policy{ID: "lobby"}, Now: true}, anyRobots, who)
		w.fine(found, err)
		if !slices.Equal(e.Updated, []string{"r2"}) || !slices.Equal(e.Left, []string{"r1"}) {
			w.Errorf("%q get something else, %q keep what they have", e.Updated, e.Left)
		}
		w.want("r1", "story museum revision 1 by person")
		w.want("r2", "story other revision 1 by policy floor")
		if _, _, err := w.policies.Delete(ctx, anna, change.PolicyPut{Policy: policy.Policy{ID: "lobby"}}, anyRobots, who); !errors.Is(err,
			change.ErrNotFound) {
			w.Errorf("a policy that is gone: %v", err)
		}
		no := errors.New("not yours")
		if _, _, err := w.policies.Delete(ctx, anna, change.PolicyPut{Policy: policy.Policy{ID: "floor"}},
			func(selector.Selector) error { return no }, who); !errors.Is(err, no) {
			w.Errorf("a policy of others: %v", err)
		}
	})
}

// What a policy says cannot be assigned any more: what made it apply does not fail, and the audit says why.
func TestPolicyThatCannotBeAppliedStopsNothing(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.check(w.db.AddRobot(ctx, "r1", storetest.Start))
		w.put(policy.Policy{ID: "lobby", Selector: site("lobby"), Content: storyOf("museum")})
		_, found, err := w.library.Delete(ctx, anna, library.KindAct, "wave", &library.Expect{Stories: 3, Activities: 1}, who)
		w.fine(found, err)
		w.label("r1", map[string]string{"site": "lobby"})
		w.want("r1", "nothing by policy lobby, differs")
		n := w.newest()
		if n.What != audit.ActionPolicy || n.Outcome != audit.Failed || n.Target != "policy lobby" || !strings.Contains(n.Detail,
			"r1") || n.Why == "" {
			w.Errorf("the audit says %+v", n.Note)
		}
	})
}

// Everything that is wrong with a policy is reported at once, with its place and a way out, and nothing is written.
func TestWrongPolicyWritesNothing(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.check(w.db.AddRobot(ctx, "r1", storetest.Start))
		w.put(policy.Policy{ID: "lobby", Place: 10, Selector: site("lobby"), Content: storyOf("museum")})
		noted := len(w.audit())
		config := func(text string) content.Content {
			c := desired.Config{Set: map[string]jsontext.Value{}}
			key, value, _ := strings.Cut(text, "=")
			c.Set[key] = jsontext.Value(value)
			return content.Content{Config: &c}
		}
		two, zero := int64(2), int64(0)
		for _, c := range []struct {
			what    string
			content content.Content
			put     change.PolicyPut
			want    string
		}{
			{"an unknown story", storyOf("nothing"), change.PolicyPut{}, "/content/story/id not_found"},
			{"a draft", storyOf("draft"), change.PolicyPut{}, "/content/story/id not_published"},
			{"a revision that does not exist", content.Content{Story: &content.Story{ID: "museum", Rev: 7}}, change.PolicyPut{},
				"/content/story/rev not_found"},
			{"a wrong apply and an unknown story", content.Content{Story: &content.Story{ID: "nothing", Apply: "soon"}}, change.PolicyPut{},
				"/content/story/apply bad_value, /content/story/id not_found"},
			{"activities twice, and unknown ones", content.Content{Activities: &content.Activities{Pins: []library.Pin{{ID: "greet"}, {ID: "greet"},
				{ID: "wink"}}}}, change.PolicyPut{},
				"/content/activities/pins/1 duplicate_id, /content/activities/pins/2 not_found"},
			{"an unknown setting", config("volum=20"), change.PolicyPut{}, "/content/config/set/volum unknown_field"},
			{"a wrong value", config(`probation_ms="long"`), change.PolicyPut{}, "/content/config/set/probation_ms bad_value"},
			{"labels as a setting", config(`labels={}`), change.PolicyPut{}, "/content/config/set/labels reserved"},
			{"no setting", content.Content{Config: &desired.Config{}}, change.PolicyPut{}, "/content/config missing"},
			{"the start-up mode", content.Content{Mode: &desired.Mode{Mode: schema.ModeStr}}, change.PolicyPut{}, "/content/mode/mode bad_value"},
			{"a wrong apply of a mode", content.Content{Mode: &desired.Mode{Mode: "x", Apply: "soon"}}, change.PolicyPut{},
				"/content/mode/mode bad_value, /content/mode/apply bad_value"},
			{"places that are not published", content.Content{Places: &desired.Set{ID: "hall", SHA256: strings.Repeat("a", 64)}},
				change.PolicyPut{}, "/content/places/sha256 not_found"},
			{"places that are no places", content.Content{Places: &desired.Set{ID: "Hall", Body: jsontext.Value(`{}`)}}, change.PolicyPut{}, "/content/places/id bad_id"},
			{"another version", storyOf("museum"), change.PolicyPut{Policy: policy.Policy{ID: "lobby"}, Version: &two}, "/version other_version"},
			{"a policy that is there", storyOf("museum"), change.PolicyPut{Policy: policy.Policy{ID: "lobby"}, Version: &zero},
				"/version other_version"},
			{"all of it", storyOf("nothing"), change.PolicyPut{Policy: policy.Policy{ID: "No", Place: -1, Selector: selector.IDs("r1")},
				Version: &two},
				"/id bad_id, /place bad_value, /selector/ids not_labels, /content/story/id not_found, /version other_version"},
		} {
			if c.put.Policy.ID == "" {
				c.put.Policy.ID = "new"
			}
			if len(c.put.Policy.Selector.IDs) == 0 {
				c.put.Policy.Selector = site("lobby")
			}
			c.put.Policy.Content, c.put.Policy.Enabled = c.content, true
			_, found, err := w.policies.Put(ctx, anna, c.put, anyRobots, who)
			w.check(nil, err)
			var got []string
			for _, p := range found {
				got = append(got, p.Pointer+" "+p.Code)
				if p.Detail == "" {
					w.Errorf("%s: %+v says nothing", c.what, p)
				}
			}
			if text := strings.Join(got, ", "); text != c.want {
				w.Errorf("%s: got %s, want %s", c.what, text, c.want)
			}
		}
		all, err := w.policies.List(ctx)
		w.check(nil, err)
		if len(all) != 1 || all[0].Version != 1 || len(w.audit()) != noted {
			w.Errorf("%d policies, %d entries more", len(all), len(w.audit())-noted)
		}
	})
}

// Robots enter a mode with apply now once, when a person gives them another mode. None leaves a mode by itself because a policy is put
// again, labels or pins change, or another policy goes: what they get then holds from their next start on.
func TestPoliciesMoveNoRobotAgain(t *testing.T) {
	ato := content.Content{Mode: &desired.Mode{Mode: schema.ModeAto, Apply: schema.ApplyModeNow}}
	mnl := content.Content{Mode: &desired.Mode{Mode: schema.ModeMnl, Apply: schema.ApplyModeNow}}
	withPolicies(t, func(w *policyWorld) {
		ctx := w.Context()
		w.check(w.db.AddRobot(ctx, "r1", storetest.Start))
		w.label("r1", map[string]string{"site": "lobby"})
		document := func() schema.DesiredMode {
			documents, err := w.db.DesiredOf(ctx, "r1")
			w.check(nil, err)
			d, _ := schema.Decode[schema.DesiredMode](documents[schema.TopicDesiredMode])
			return d
		}
		has := func(what string, mode schema.ModeID, apply schema.ApplyMode) {
			w.Helper()
			if d := document(); d.Mode != mode || d.Apply != apply {
				w.Errorf("%s: the robot shall be in %s %s, want %s %s", what, d.Mode, d.Apply, mode, apply)
			}
		}
		lobby := policy.Policy{ID: "lobby", Place: 10, Selector: site("lobby"), Content: ato}
		if e := w.put(lobby); len(e.Updated) != 1 {
			w.Fatalf("a new policy: %+v", e)
		}
		has("a new policy", schema.ModeAto, schema.ApplyModeNow)

		// The robot has a higher revision than the database, as after a restore: fleetd numbers the document again.
		w.check(nil, w.db.Tx(ctx, func(tx *store.Tx) error {
			rows, err := tx.DesiredRows(ctx, schema.TopicDesiredMode, selector.IDs("r1"))
			w.check(nil, err)
			rows.Robots[0].Reported = schema.ReportedRev{Rev: 40}
			by := audit.Attribution{Who: "fleetd", At: storetest.Start}
			changes, found := desired.Renumber(schema.TopicDesiredMode, rows, by)
			w.fine(found, nil)
			return tx.ApplyDesired(ctx, changes, by)
		}))
		has("renumbered", schema.ModeAto, schema.ApplyModeBoot)
		rev := document().Rev

		lobby.Place = 20
		if e := w.put(lobby); len(e.Updated) != 0 || len(e.Unchanged) != 1 {
			w.Errorf("the same policy again: %q updated, %q unchanged", e.Updated, e.Unchanged)
		}
		lobby.Enabled = true
		e, found, err := w.policies.Put(ctx, anna, change.PolicyPut{Policy: lobby}, anyRobots, who)
		w.fine(found, err)
		if len(e.Rollouts) > 0 {
			w.Errorf("the same policy again is a rollout to %q", e.Updated)
		}
		if all, _, err := w.policies.Why(ctx, "r1"); err != nil || all[3].Differ {
			w.Errorf("the robot does not have what the policy says: %+v %v", all[3], err)
		}
		if document().Rev != rev {
			w.Errorf("the robot got revision %d after %d", document().Rev, rev)
		}

		w.put(policy.Policy{ID: "hall", Place: 5, Selector: site("hall"), Content: mnl})
		w.label("r1", map[string]string{"site": "hall"})
		has("another label", schema.ModeMnl, schema.ApplyModeBoot)
		w.label("r1", map[string]string{"site": "lobby"})
		has("the label as before", schema.ModeAto, schema.ApplyModeBoot)

		_, _, found, err = w.desired.Set(ctx, anna, selector.IDs("r1"), desired.Request{Mode: mnl.Mode}, false, who)
		w.fine(found, err)
		has("a person", schema.ModeMnl, schema.ApplyModeNow)
		w.check(nil, w.policies.Rollouts.RemovePin(ctx, anna, "r1", schema.TopicDesiredMode, who))
		has("without the pin", schema.ModeAto, schema.ApplyModeBoot)

		w.put(policy.Policy{ID: "first", Place: 1, Selector: selector.All(), Content: mnl})
		has("a new policy comes before it", schema.ModeMnl, schema.ApplyModeNow)
		_, found, err = w.policies.Delete(ctx, anna, change.PolicyPut{Policy: policy.Policy{ID: "first"}, Now: true}, anyRobots, who)
		w.fine(found, err)
		has("without it", schema.ModeAto, schema.ApplyModeBoot)

		_, err = (&change.Adoptions{Deps: w.deps}).Adopt(ctx, anna, "r2", who)
		w.check(nil, err)
		w.label("r2", map[string]string{"site": "lobby"})
		documents, err := w.db.DesiredOf(ctx, "r2")
		w.check(nil, err)
		if d, _ := schema.Decode[schema.DesiredMode](documents[schema.TopicDesiredMode]); d.Mode != schema.ModeAto ||
			d.Apply != schema.ApplyModeBoot {
			w.Errorf("a newcomer shall be in %s %s", d.Mode, d.Apply)
		}
	})
}
