package change_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/desired"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// world is a database with robot r1, and what changes reported of it.
type world struct {
	*testing.T
	db      *store.Store
	deps    change.Deps
	commits int        // reported
	touched [][]string // by each
}

var (
	anna = auth.Principal{ID: "token-7", Kind: auth.KindToken, Rights: auth.All}
	who  = audit.Attribution{Who: "anna", Why: "the show"}
)

func newWorld(t *testing.T) *world {
	w := &world{T: t, db: storetest.Open(t, storetest.SQLite(t))}
	w.deps = change.Deps{
		Now:   func() time.Time { return storetest.Start },
		Store: func() (*store.Store, error) { return w.db, nil },
		Changed: func(_ context.Context, touched []string) {
			w.commits++
			w.touched = append(w.touched, touched)
		},
		Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
		TakenBy: func(name string) string {
			if name == "fleetd" {
				return "this instance"
			}
			return ""
		},
	}
	w.check(w.db.AddRobot(t.Context(), "r1", storetest.Start))
	return w
}

func (w *world) check(_ any, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// audit returns the newest entries of the audit, the oldest of them first.
func (w *world) audit() []audit.Entry {
	w.Helper()
	all, err := w.db.Audit(w.Context(), store.AuditQuery{})
	w.check(nil, err)
	slices.Reverse(all)
	return all
}

func TestEveryChangeIsAuditedUnderItsPrincipal(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	l, d := &change.Library{Deps: w.deps}, &change.Desired{Deps: w.deps}
	i, gone := &change.Identities{Deps: w.deps}, &change.Decommissions{Deps: w.deps}
	none := func(found []schema.Problem, err error) {
		t.Helper()
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	_, found, err := l.PutAsset(ctx, anna, "beep",
		[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55"), who)
	none(found, err)
	found, err = l.DeleteAsset(ctx, anna, "beep", who)
	none(found, err)
	none(nil, (&change.Labels{Deps: w.deps}).Set(ctx, anna, "r1", map[string]string{"hall": "a"}, who))
	_, _, found, err = d.Set(ctx, anna, selector.IDs("r1"), desired.Request{Mode: &desired.Mode{Mode: schema.ModeAto}}, false, who)
	none(found, err)
	none(nil, i.NewToken(ctx, anna, enrol.Token{Digest: "d", Robot: "r2", CreatedAt: storetest.Start, CreatedBy: who.Who,
		ExpiresAt: storetest.Start.Add(time.Hour)}, who.Why))
	_, err = i.Revoke(ctx, anna, "r1", true, false, who)
	none(nil, err)
	none(nil, i.RestoreName(ctx, anna, "r1", who))
	_, err = i.RevokeSerial(ctx, anna, "ab12", who)
	none(nil, err)
	_, err = gone.Begin(ctx, anna, "r1", who)
	none(nil, err)
	none(nil, gone.DeleteDocuments(ctx, anna, "r9", who))
	for _, added := range []bool{true, false} { // a robot that is in the fleet is not noted again
		if got, err := (&change.Adoptions{Deps: w.deps}).Adopt(ctx, anna, "r3", who); err != nil || got != added {
			t.Errorf("r3 was added: %v %v, want %v", got, err, added)
		}
	}
	none(nil, (&change.Commands{Deps: w.deps}).NoteCancelled(ctx, anna, "c1", who))

	want := []string{"put", "delete", "label", "desired", "make enrolment token", "revoke", "restore name", "revoke", "decommission",
		"delete documents", "adopt", "cancel"}
	var got []string
	for _, n := range w.audit() {
		if n.Principal != anna.ID || n.Who != who.Who {
			t.Errorf("%s of %s is noted of %q by %q", n.What, n.Target, n.Principal, n.Who)
		}
		got = append(got, string(n.What))
	}
	if !slices.Equal(got, want) {
		t.Errorf("noted %q, want %q", got, want)
	}
	if w.commits != len(want)-1 { // a token and a cancellation change nothing that others show; both adoptions are reported
		t.Errorf("%d commits were reported, want %d", w.commits, len(want)-1)
	}
	touched := [][]string{nil, nil, {"r1"}, {"r1"}, {"r1"}, {"r1"}, nil, {"r1"}, nil, {"r3"}, {"r3"}}
	if !slices.EqualFunc(w.touched, touched, slices.Equal[[]string]) {
		t.Errorf("touched %q, want %q", w.touched, touched)
	}
}

func TestRefusedChangeWritesNothing(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	d, i := &change.Desired{Deps: w.deps}, &change.Identities{Deps: w.deps}
	two := 2

	_, total, found, err := d.Set(ctx, anna, selector.IDs("r1"), desired.Request{Mode: &desired.Mode{Mode: schema.ModeAto}, Expected: &two},
		false, who)
	if err != nil || len(found) == 0 || total != 1 {
		t.Errorf("another number of robots: %v %v, %d robots", found, err, total)
	}
	var unknown *change.UnknownRobots
	if _, _, _, err := d.Set(ctx, anna, selector.IDs("r1", "r9"), desired.Request{Mode: &desired.Mode{Mode: schema.ModeAto}}, false,
		who); !errors.As(err, &unknown) || !slices.Equal(unknown.IDs, []string{"r9"}) {
		t.Errorf("an unknown robot: %v", err)
	}
	if _, _, _, err := d.Assign(ctx, anna, selector.IDs("r9"), library.Assignment{}, false, who); !errors.As(err, &unknown) {
		t.Errorf("a story for an unknown robot: %v", err)
	}
	if _, _, found, err := d.Assign(ctx, anna, selector.IDs("r1"), library.Assignment{Story: "none"}, false, who); err != nil ||
		len(found) == 0 {
		t.Errorf("a story that does not exist: %v %v", found, err)
	}
	var name *change.NameRefused
	if err := i.NewToken(ctx, anna, enrol.Token{Digest: "d", Robot: "fleetd", CreatedAt: storetest.Start}, ""); !errors.As(err, &name) ||
		name.TakenBy != "this instance" {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := i.RestoreName(ctx, anna, "No Name", who); !errors.As(err, &name) || name.TakenBy != "" {
		t.Errorf("a name that no robot can have: %v", err)
	}
	if _, err := i.Revoke(ctx, anna, "r9", false, false, who); !errors.Is(err, change.ErrNeverSeen) {
		t.Errorf("a robot that nobody saw: %v", err)
	}
	if err := (&change.Labels{Deps: w.deps}).Set(ctx, anna, "r9", nil, who); !errors.Is(err, change.ErrNotFound) {
		t.Errorf("labels for an unknown robot: %v", err)
	}
	if notes := w.audit(); len(notes) > 0 || w.commits > 0 {
		t.Errorf("refused changes are noted: %+v; %d were reported", notes, w.commits)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	d := &change.Desired{Deps: w.deps}
	c, total, found, err := d.Set(ctx, anna, selector.IDs("r1"), desired.Request{Mode: &desired.Mode{Mode: schema.ModeAto}}, true, who)
	if err != nil || len(found) > 0 || total != 1 || !slices.Equal(c.Updated, []string{"r1"}) {
		t.Errorf("a desired mode: %+v %v %v", c, found, err)
	}
	if _, err := (&change.Identities{Deps: w.deps}).Revoke(ctx, anna, "r1", true, true, who); err != nil {
		t.Errorf("a revocation: %v", err)
	}
	if notes := w.audit(); len(notes) > 0 || w.commits > 0 {
		t.Errorf("a dry run is noted: %+v; %d were reported", notes, w.commits)
	}
}

// The audit has room for the beginning of such a table only.
func TestDryRunOfARevertShowsLongSettingsInFull(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	d := &change.Desired{Deps: w.deps}
	table := "[" + strings.Repeat(`{"intent":"greet","act":"greet-the-visitors-of-this-hall"},`, 60) + `{"intent":"%s","act":"greet"}]`
	for i := range 60 {
		table = strings.Replace(table, `"greet"`, fmt.Sprintf(`"greet-%d"`, i), 1)
	}
	settings := func(last string) desired.Request {
		return desired.Request{Config: &desired.Config{Set: map[string]jsontext.Value{"intents": jsontext.Value(fmt.Sprintf(table, last))}}}
	}
	for _, last := range []string{"wave", "nod"} {
		if _, _, found, err := d.Set(ctx, anna, selector.IDs("r1"), settings(last), false, who); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	c, _, found, err := d.Set(ctx, anna, selector.IDs("r1"), desired.Request{Revert: schema.TopicDesiredConfig}, true, who)
	if err != nil || len(found) > 0 || len(c.ValuesAfter) != 1 {
		t.Fatal(c.ValuesAfter, found, err)
	}
	if want := `{"intents":` + fmt.Sprintf(table, "wave") + `}`; string(c.ValuesAfter[0].Value) != want {
		t.Errorf("it gets %s", c.ValuesAfter[0].Value)
	}
}

func TestLabelsOfManyRobotsAreChanged(t *testing.T) {
	w := newWorld(t)
	ctx, labels := t.Context(), &change.Labels{Deps: w.deps}
	for _, id := range []string{"r2", "r3"} {
		if _, err := w.db.AddRobot(ctx, id, storetest.Start); err != nil {
			t.Fatal(err)
		}
		w.check(nil, labels.Set(ctx, anna, id, map[string]string{"hall": "a", "floor": "1"}, who))
	}
	noted := len(w.audit())
	three, two := 3, 2
	inA := selector.Labelled(selector.Label{Key: "hall", Value: "a"})
	e := change.LabelEdit{Robots: inA, Set: map[string]string{"hall": "b"}, Unset: []string{"floor"}, Expected: &three}
	if _, total, found, err := labels.Edit(ctx, anna, e, who); err != nil || total != 2 || len(found) != 1 ||
		found[0].Code != desired.CodeCountChanged {
		t.Errorf("another number than expected: %d %v %v", total, found, err)
	}
	e.Expected, e.DryRun = &two, true
	if changed, total, found, err := labels.Edit(ctx, anna, e, who); err != nil || total != 2 || len(found) > 0 ||
		!slices.Equal(changed, []string{"r2", "r3"}) {
		t.Errorf("a dry run: %v of %d, %v %v", changed, total, found, err)
	}
	if more := len(w.audit()) - noted; more != 0 {
		t.Errorf("%d entries of what changed nothing", more)
	}
	e.DryRun = false
	if changed, _, found, err := labels.Edit(ctx, anna, e, who); err != nil || len(found) > 0 || len(changed) != 2 {
		t.Errorf("the change: %v, %v %v", changed, found, err)
	}
	for _, id := range []string{"r2", "r3"} {
		r, err := w.db.Robot(ctx, id)
		w.check(nil, err)
		documents, err := w.db.DesiredOf(ctx, id)
		w.check(nil, err)
		if !maps.Equal(r.Labels, map[string]string{"hall": "b"}) || !strings.Contains(string(documents[schema.TopicDesiredConfig]), `"hall":"b"`) {
			t.Errorf("%s has %v, and gets %s", id, r.Labels, documents[schema.TopicDesiredConfig])
		}
	}
	if all := w.audit(); len(all) != noted+1 || all[noted].Detail != "floor- hall=b" || !strings.HasPrefix(all[noted].Target, "2 robots") {
		t.Errorf("noted %+v", all[noted:])
	}
}

func TestChangeWithoutDatabaseSaysWhy(t *testing.T) {
	w := newWorld(t)
	away := errors.New("the database is not open")
	w.deps.Store = func() (*store.Store, error) { return nil, away }
	if _, _, err := (&change.Library{Deps: w.deps}).Publish(t.Context(), anna, library.KindAct, "hello", nil, nil,
		who); !errors.Is(err, away) {
		t.Errorf("publish: %v", err)
	}
	if err := (&change.Labels{Deps: w.deps}).Set(t.Context(), anna, "r1", nil, who); !errors.Is(err, away) {
		t.Errorf("label: %v", err)
	}
}

// Users that were added in development mode have no administrator beside them.
func TestOnlyTheLastAdministratorStaysOne(t *testing.T) {
	w := newWorld(t)
	a := &change.Accounts{Deps: w.deps}
	add := func(name string, role auth.Role) {
		t.Helper()
		if found, err := a.AddUser(t.Context(), anna, auth.User{Name: name, Roles: []auth.Role{role}}, who); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	disable := func(name string) []schema.Problem {
		t.Helper()
		found, err := a.ChangeUser(t.Context(), anna, name, "user set", who, func(u *auth.User) { u.Disabled = true })
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	add("ben", auth.Operator)
	if found := disable("ben"); len(found) > 0 {
		t.Errorf("without an administrator nobody can be disabled: %v", found)
	}
	add("cleo", auth.Admin)
	if found := disable("cleo"); len(found) != 1 || found[0].Code != change.CodeLastAdmin {
		t.Errorf("the last administrator is disabled: %v", found)
	}
	add("dan", auth.Admin)
	if found := disable("cleo"); len(found) > 0 {
		t.Errorf("one of two administrators cannot be disabled: %v", found)
	}
}
