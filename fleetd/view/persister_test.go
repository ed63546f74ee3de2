package view_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/store"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
)

// saved is a view.Store that fails as often as told.
type saved struct {
	fails     int
	full      atomic.Bool // it takes no write
	events    []int64
	documents atomic.Int64
	most      atomic.Int64 // documents of one transaction
}

func (s *saved) SaveDocuments(_ context.Context, documents []store.Document) error {
	s.documents.Add(int64(len(documents)))
	s.most.Store(max(s.most.Load(), int64(len(documents))))
	return nil
}

func (s *saved) AddEvents(_ context.Context, events []store.Event) error {
	if s.fails > 0 {
		s.fails--
		return errors.New("the database does not answer")
	}
	for _, e := range events {
		s.events = append(s.events, e.Seq)
	}
	return nil
}

func (s *saved) CheckWrite(context.Context) error {
	if s.full.Load() {
		return errors.New("the disk is full")
	}
	return nil
}

// Another part of fleetd has reported a failure, and robots change nothing.
func TestDatabaseWorksAgainOnlyAfterAWrite(t *testing.T) {
	for _, c := range []struct {
		name    string
		unknown bool // a robot waits to be adopted
	}{{"no robot changes", false}, {"an unknown robot is not adopted", true}} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := newFleet(t, 0)
				if c.unknown {
					f.take("r1", schema.TopicPresence, schema.Presence{TS: schema.TimeOf(time.Now()), State: schema.PresenceOnline, Session: "s",
						Boot: "b", Software: "test"})
				}
				db := &saved{}
				db.full.Store(true)
				var worked atomic.Int64
				var works atomic.Bool
				p := view.NewPersister(f.View, view.PersisterDeps{
					Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false },
					Failed: func(string, error) { works.Store(false) }, Works: works.Load,
					Worked: func() { worked.Add(1); works.Store(true) },
					Adopt:  func(ctx context.Context, _ []string) error { return db.CheckWrite(ctx) },
				})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { p.Run(ctx, db); close(done) }()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if worked.Load() > 0 {
					t.Errorf("reported as working %d times while it takes no write", worked.Load())
				}
				db.full.Store(false)
				time.Sleep(time.Second)
				synctest.Wait()
				if !works.Load() {
					t.Error("not reported as working although it takes writes")
				}
				cancel()
				<-done
			})
		})
	}
}

// A whole fleet appears in a fleetd that adopts every robot: it is adopted at once, and its documents leave room for other writes.
func TestFleetIsAdoptedAtOnce(t *testing.T) {
	const robots, documents = 3000, 2
	f := newFleet(t, 0)
	for i := range robots {
		id := fmt.Sprintf("r%d", i)
		f.take(id, schema.TopicPresence, schema.Presence{TS: schema.TimeOf(time.Now()), State: schema.PresenceOnline, Session: "s", Boot: "b",
			Software: "test"})
		f.state(id, schema.SafetyDisabled)
	}
	calls, adopted := 0, 0
	p := view.NewPersister(f.View, view.PersisterDeps{
		Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false }, Worked: func() {},
		Works:  func() bool { return true },
		Failed: func(_ string, err error) { t.Error(err) },
		Adopt: func(_ context.Context, ids []string) error {
			calls++
			for _, id := range ids {
				f.robots = append(f.robots, store.Robot{ID: id, Labels: map[string]string{}})
			}
			f.reload()
			adopted += len(ids)
			return nil
		},
	})
	db := &saved{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx, db) // writes once more, and ends
	if calls != 1 || adopted != robots {
		t.Errorf("%d robots adopted by %d calls", adopted, calls)
	}
	if n := db.documents.Load(); n != robots*documents {
		t.Errorf("%d documents saved, want %d", n, robots*documents)
	}
	if most := db.most.Load(); most > 2000 {
		t.Errorf("%d documents in one transaction", most)
	}
}

// The database is away for long, and robots perform.
func TestEventsOfActsDisplaceNoOthers(t *testing.T) {
	f := newFleet(t, 1)
	p := view.NewPersister(f.View, view.PersisterDeps{
		Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false }, Worked: func() {},
		Works:  func() bool { return true },
		Failed: func(_ string, err error) { t.Error(err) },
	})
	for seq := range int64(30_000) {
		p.Event(store.Event{Robot: "r0", Seq: seq, Routine: seq%3 > 0})
	}
	db, rare := &saved{}, 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx, db)
	for _, seq := range db.events {
		if seq%3 == 0 {
			rare++
		}
	}
	if rare != 10_000 || len(db.events)+int(p.Dropped()) != 30_000 {
		t.Errorf("of 10,000 other events %d are saved; %d in all, %d dropped", rare, len(db.events), p.Dropped())
	}
}

// The database is away for so long that more events wait than there is room for.
func TestWaitingEventsOfLevelInfoDisplaceNoOthers(t *testing.T) {
	f := newFleet(t, 1)
	db := &saved{fails: 1}
	p := view.NewPersister(f.View, view.PersisterDeps{
		Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false }, Worked: func() {},
		Works:  func() bool { return true },
		Failed: func(string, error) {},
	})
	levels := []schema.EventLevel{schema.EventInfo, schema.EventInfo, schema.EventSafety, schema.EventInfo, schema.EventWarn, schema.EventInfo,
		schema.EventError, schema.EventInfo, schema.EventInfo, ""}
	const n = 60_000
	for seq := range int64(n) {
		level := levels[seq%10]
		p.Event(store.Event{Robot: "r0", Seq: seq, Level: string(level), Routine: level == schema.EventInfo && seq%2 == 0})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Run(ctx, db) // the database takes nothing yet
	p.Run(ctx, db)
	saved := map[schema.EventLevel]int{}
	for _, seq := range db.events {
		saved[levels[seq%10]]++
	}
	if saved[schema.EventSafety] != n/10 || saved[schema.EventWarn] != n/10 || saved[schema.EventError] != n/10 || len(db.events)+
		int(p.Dropped()) != n {
		t.Errorf("of %d events of each level above info are saved: %v; %d dropped", n/10, saved, p.Dropped())
	}
	if !slices.IsSorted(db.events) || db.events[len(db.events)-1] < n-10 {
		t.Errorf("the last of %d events that are saved is %d", len(db.events), db.events[len(db.events)-1])
	}
}

func TestEventsOfTheFleetAreSavedInOrderAndOthersDropped(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, 1)
		failed := 0
		p := view.NewPersister(f.View, view.PersisterDeps{
			Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false },
			Failed: func(string, error) { failed++ }, Worked: func() {}, Works: func() bool { return true },
		})
		var want []int64
		for seq := range int64(5000) { // more than one transaction holds; long stretches are of an unknown robot
			robot := "unknown"
			if seq < 10 || seq >= 4500 {
				robot = "r0"
				want = append(want, seq)
			}
			p.Event(store.Event{Robot: robot, Seq: seq})
		}
		db := &saved{fails: 1}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { p.Run(ctx, db); close(done) }()
		time.Sleep(1100 * time.Millisecond) // two attempts
		synctest.Wait()
		if failed != 1 || !slices.Equal(db.events, want) || p.Dropped() != 0 {
			t.Errorf("after %d failures %d events are saved, %d dropped; want the %d of r0 in their order", failed, len(db.events),
				p.Dropped(), len(want))
		}
		cancel()
		<-done
	})
}

// Robots publish their state again and again, and mostly nothing of it has changed.
func TestUnchangedDocumentIsNotSavedAgain(t *testing.T) {
	for _, robots := range []int{10, 10_000} {
		t.Run(fmt.Sprint(robots), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f, db := newFleet(t, robots), &saved{}
				ctx, cancel := context.WithCancel(t.Context())
				p := view.NewPersister(f.View, view.PersisterDeps{
					Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false }, Worked: func() {},
					Works:  func() bool { return true },
					Failed: func(_ string, err error) { t.Error(err) },
				})
				done := make(chan struct{})
				go func() { p.Run(ctx, db); close(done) }()
				for _, c := range []struct {
					name    string
					happens func()
					want    int
				}{
					{"presence and state of all", func() {}, 2 * robots},
					{"the same states, later", func() {
						for _, r := range f.robots {
							f.state(r.ID, schema.SafetyDisabled)
						}
						f.beat()
					}, 0},
					{"another state of one", func() { f.state("r3", schema.SafetyEnabled) }, 1},
				} {
					before := db.documents.Load()
					c.happens()
					time.Sleep(time.Second)
					synctest.Wait()
					if got := db.documents.Load() - before; got != int64(c.want) {
						t.Errorf("%s: %d documents are saved, want %d", c.name, got, c.want)
					}
				}
				cancel()
				<-done
			})
		})
	}
}

func TestEachReportOfTheDatabaseIsShownAfterARestart(t *testing.T) {
	for kind, file := range map[schema.TopicKind]string{
		schema.TopicReportedStory: "ReportedStory.active", schema.TopicReportedConfig: "ReportedConfig.applied",
		schema.TopicReportedMode:       "ReportedMode.held",
		schema.TopicReportedActivities: "ReportedSet.fetching", schema.TopicReportedPlaces: "ReportedSet.fetching",
	} {
		body, err := os.ReadFile("../../testdata/messages/ok/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		v := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
		v.LoadDocument(store.Document{Robot: "r1", Kind: kind, Body: body, ReceivedAt: time.Now()})
		if all, _ := v.Documents("r1"); len(all) != 1 || all[0].Kind != kind {
			t.Errorf("%s: the documents of the robot are %+v", kind, all)
		}
	}
}
