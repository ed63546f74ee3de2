package view_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
)

// read is a view.Database that answers as the function does.
type read func(s selector.Selector) ([]store.Robot, error)

func (r read) Robots(_ context.Context, s selector.Selector) ([]store.Robot, error) { return r(s) }

func labelled(id, floor string) store.Robot {
	return store.Robot{ID: id, Labels: map[string]string{"floor": floor}}
}

// Requests read robots at the same time, and the one that began first may end last.
func TestLateReadDoesNotReplaceANewerOne(t *testing.T) {
	v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	check(v.Reload(ctx, rows{labelled("r1", "1"), labelled("r2", "1"), labelled("r3", "1")}))
	floors := func() map[string]string {
		out := map[string]string{}
		for _, r := range v.Robots() {
			out[r.ID] = r.Labels["floor"]
		}
		return out
	}
	// The outer read begins first, and shows what was before the inner one.
	check(v.Refresh(ctx, read(func(selector.Selector) ([]store.Robot, error) {
		check(v.Refresh(ctx, rows{labelled("r1", "2")}, []string{"r1"}))
		return []store.Robot{labelled("r1", "1"), labelled("r2", "2")}, nil
	}), []string{"r1", "r2"}))
	if got := floors(); got["r1"] != "2" || got["r2"] != "2" {
		t.Errorf("after a late read of two robots: %v, want both on floor 2", got)
	}
	check(v.Reload(ctx, read(func(selector.Selector) ([]store.Robot, error) {
		check(v.Refresh(ctx, rows{labelled("r4", "1")}, []string{"r4"})) // r4 is adopted meanwhile
		check(v.Refresh(ctx, rows{labelled("r3", "3")}, []string{"r3"}))
		return rows{labelled("r1", "3"), labelled("r2", "3"), labelled("r3", "1")}, nil
	})))
	if got, want := floors(), map[string]string{"r1": "3", "r2": "3", "r3": "3", "r4": "1"}; !maps.Equal(got, want) {
		t.Errorf("after a late read of all robots: %v, want %v", got, want)
	}
	check(v.Refresh(ctx, read(func(selector.Selector) ([]store.Robot, error) {
		check(v.Reload(ctx, rows{labelled("r1", "3"), labelled("r2", "3")})) // the others have left the fleet
		return []store.Robot{labelled("r4", "1")}, nil
	}), []string{"r4"}))
	if got := slices.Sorted(maps.Keys(floors())); !slices.Equal(got, []string{"r1", "r2"}) {
		t.Errorf("a late read brought a robot back that has left the fleet: %v", got)
	}
}

func TestFailedReadIsMadeUpByTheNext(t *testing.T) {
	v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
	ctx := t.Context()
	if err := v.Reload(ctx, rows{labelled("r1", "1"), labelled("r2", "1")}); err != nil {
		t.Fatal(err)
	}
	gone := errors.New("the database does not answer")
	fails := read(func(selector.Selector) ([]store.Robot, error) { return nil, gone })
	if err := v.Refresh(ctx, fails, []string{"r1"}); !errors.Is(err, gone) {
		t.Errorf("a read that fails: %v", err)
	}
	if err := v.Refresh(ctx, fails, []string{"r2"}); !errors.Is(err, gone) {
		t.Errorf("the next, which fails too: %v", err)
	}
	if err := v.Refresh(ctx, rows{labelled("r1", "2"), labelled("r2", "2")}, []string{"r2"}); err != nil {
		t.Fatal(err)
	}
	for _, r := range v.Robots() {
		if r.Labels["floor"] != "2" {
			t.Errorf("%s is still on floor %s", r.ID, r.Labels["floor"])
		}
	}
}

// show is a fleet of robots, of which ten are in hall a, and its view.
type show struct {
	*fleet
	desired change.Desired
	others  rows // robots that are not in the database: to add 10,000 takes long
	read    int  // robots that the view has read
}

// Robots implements view.Database, and counts.
func (s *show) Robots(ctx context.Context, sel selector.Selector) ([]store.Robot, error) {
	db, err := s.desired.Store()
	if err != nil {
		return nil, err
	}
	all, err := db.Robots(ctx, sel)
	if err != nil {
		return nil, err
	}
	others, err := s.others.Robots(ctx, sel)
	all = append(all, others...)
	s.read += len(all)
	return all, err
}

var (
	local = auth.Dev()
	anna  = audit.Attribution{Who: "anna"}
	hallA = selector.Labelled(selector.Label{Key: "hall", Value: "a"})
)

// newShow makes a fleet of robots, of which the first are in the database.
func newShow(t testing.TB, robots, stored int) *show {
	t.Helper()
	ctx := context.Background()
	check := func(_ any, found []schema.Problem, err error) {
		t.Helper()
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	}
	db := storetest.Open(t, storetest.SQLite(t))
	s := &show{fleet: newFleet(t, robots)}
	s.others = s.robots[stored:]
	deps := change.Deps{
		Now: time.Now, Store: func() (*store.Store, error) { return db, nil }, Catalogue: func() library.Catalogue { return library.Catalogue{} },
		Caps:    func(string) *schema.Caps { return nil },
		Changed: func(ctx context.Context, touched []string) { check(nil, nil, s.Refresh(ctx, s, touched)) },
	}
	s.desired = change.Desired{Deps: deps}
	check(nil, nil, db.Tx(ctx, func(tx *store.Tx) error {
		for i, r := range s.robots[:stored] {
			if _, err := tx.AddRobot(ctx, r.ID, time.Now()); err != nil {
				return err
			}
			if i < 10 {
				if err := tx.SetLabels(ctx, r.ID, map[string]string{"hall": "a"}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	l := change.Library{Deps: deps}
	for _, e := range []struct {
		kind library.Kind
		id   string
		text string
	}{
		{library.KindAct, "wave", "act: wave\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n"},
		{library.KindStory, "show", "story: show\nname: {en: Show}\nrepeat: loop\nacts: [{act: wave}]\n"},
	} {
		saved, found, err := l.Save(ctx, local, e.kind, e.id, []byte(e.text), nil, anna)
		check(saved, found, err)
		published, found, err := l.Publish(ctx, local, e.kind, e.id, nil, nil, anna)
		check(published, found, err)
	}
	check(nil, nil, s.Reload(ctx, s))
	return s
}

// assign sets the default story of the robots in hall a.
func (s *show) assign(story string) {
	s.Helper()
	done, total, found, err := s.desired.Assign(context.Background(), local, hallA, library.Assignment{Story: story}, false, anna)
	if err != nil || len(found) > 0 || total != 10 || len(done.Updated) != 10 {
		s.Fatalf("%d robots are assigned, of %d: %v %v", len(done.Updated), total, found, err)
	}
}

// What a page and a write cost depends on what changed, not on the size of the fleet.
func TestPagesAndWritesCostWhatChanged(t *testing.T) {
	for _, robots := range []int{10, 10_000} {
		t.Run(fmt.Sprint(robots), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				s := newShow(t, robots, 10)
				p := s.open(50)
				defer p.close()
				for _, c := range []struct {
					name    string
					happens func()
					read    int // robots, from the database
					rows    int // sent to each page
				}{
					{"a round of heartbeats", s.beat, 0, 0},
					{"a change of one robot", func() { s.state("r3", schema.SafetyEnabled) }, 0, 1},
					{"three changes of one robot", func() {
						s.state("r3", schema.SafetyDisabled)
						s.state("r3", schema.SafetyEStop)
						s.state("r3", schema.SafetyEnabled)
					}, 0, 1},
					{"an assignment to 10 robots", func() { s.assign("show") }, 10, 10},
					{"another assignment", func() { s.assign("") }, 10, 10},
					{"a robot that leaves the fleet", func() {
						all, err := s.Robots(t.Context(), selector.All())
						if err != nil {
							t.Fatal(err)
						}
						s.robots = all[:len(all)-1]
						s.reload()
					}, robots, 1},
				} {
					before := s.read
					c.happens()
					got := p.send(t)
					if read := s.read - before; read != c.read {
						t.Errorf("%s: %d robots were read, want %d", c.name, read, c.read)
					}
					if got.rows != 50*c.rows || len(got.encoded) != c.rows {
						t.Errorf("%s: %d rows were sent to 50 pages, and %d encoded; want %d for each page, encoded once for all", c.name, got.rows,
							len(got.encoded), c.rows)
					}
				}
			})
		})
	}
}

// BenchmarkAssignment is an assignment to 10 of 10,000 robots with 50 pages open.
func BenchmarkAssignment(b *testing.B) {
	for _, robots := range []int{10, 10_000} {
		b.Run(fmt.Sprint(robots), func(b *testing.B) {
			s := newShow(b, robots, robots)
			p := s.open(50)
			defer p.close()
			var sent, encoded int
			before := s.read
			b.ResetTimer()
			for i := range b.N {
				s.assign([]string{"show", ""}[i%2])
				got := p.send(b)
				sent, encoded = sent+got.rows, encoded+len(got.encoded)
			}
			n := float64(b.N)
			b.ReportMetric(float64(s.read-before)/n, "robots-read/op")
			b.ReportMetric(float64(encoded)/n, "rows-encoded/op")
			b.ReportMetric(float64(sent)/n/50, "rows/page")
		})
	}
}
