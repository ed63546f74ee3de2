package view_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
)

// gather is how long the feeds of these tests gather changes.
const gather = 250 * time.Millisecond

// fleet is a view with robots that are there.
type fleet struct {
	testing.TB
	*view.View
	robots []store.Robot
	seq    int64
}

func newFleet(t testing.TB, robots int) *fleet {
	f := &fleet{TB: t, View: view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})}
	f.Connected(true, time.Now())
	for i := range robots {
		id := fmt.Sprintf("r%d", i)
		f.robots = append(f.robots, store.Robot{ID: id, Labels: map[string]string{"floor": "1"}})
		f.take(id, schema.TopicPresence, schema.Presence{TS: schema.TimeOf(time.Now()), State: schema.PresenceOnline, Session: "s", Boot: "b",
			Software: "test"})
		f.state(id, schema.SafetyDisabled)
	}
	f.reload()
	f.beat()
	return f
}

func (f *fleet) take(id string, kind schema.TopicKind, v any) {
	f.Helper()
	body, err := schema.Encode(v)
	if err != nil {
		f.Fatal(err)
	}
	if _, problems := f.Take(kind, id, link.Message{Topic: schema.DefaultNamespace.Topic(kind, id), Payload: body},
		time.Now()); len(problems) > 0 {
		f.Fatal(problems)
	}
}

// Robots implements view.Database.
func (f rows) Robots(_ context.Context, s selector.Selector) (all []store.Robot, err error) {
	for _, r := range f {
		if s.Match(selector.Robot{ID: r.ID, Labels: r.Labels}) {
			all = append(all, r)
		}
	}
	return all, nil
}

// rows are the robots that a database has.
type rows []store.Robot

// reload is a read of all robots.
func (f *fleet) reload() {
	f.Helper()
	if err := f.Reload(context.Background(), rows(f.robots)); err != nil {
		f.Fatal(err)
	}
}

// beat is one heartbeat of every robot.
func (f *fleet) beat() {
	f.seq++
	for _, r := range f.robots {
		f.take(r.ID, schema.TopicHeartbeat, schema.Heartbeat{
			Session: "s", Boot: "b", Seq: f.seq, MonoMS: f.seq * 2000, Mode: schema.ModeMnl, Safety: schema.SafetyDisabled, StateSeq: 1,
			Link: schema.HeartbeatLink{State: schema.LinkUp},
		})
	}
}

func (f *fleet) state(id string, safety schema.SafetyState) {
	f.take(id, schema.TopicState, schema.State{
		TS: schema.TimeOf(time.Now()), Session: "s", Boot: "b", StateSeq: 1,
		Safety: schema.StateSafety{State: safety},
		Mode: schema.StateMode{System: schema.SystemRunning, Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning,
			Calibrated: true},
		Auto: schema.StateAuto{Status: schema.AutoNotActive, PauseHolders: []schema.Pause{}},
	})
}

// changes is what a feed hands out of what happens.
func (f *fleet) changes(happens func()) []view.Delta {
	f.Helper()
	feed := f.Subscribe(view.AllButFresh, gather)
	defer feed.Close()
	happens()
	deltas, err := feed.Next(context.Background(), gather)
	if err != nil {
		f.Fatal(err)
	}
	return deltas
}

// What a page is sent depends on what changed, not on the size of the fleet.
func TestFeedHandsOutWhatChanged(t *testing.T) {
	for _, robots := range []int{10, 10_000} {
		t.Run(fmt.Sprint(robots), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := newFleet(t, robots)
				for _, c := range []struct {
					name    string
					happens func()
					want    []string // robot and what changed of it
				}{
					{"a round of heartbeats", func() { time.Sleep(2 * time.Second); f.beat() }, nil},
					{"a second without news", func() { f.Tick(time.Now()) }, nil},
					{"the same state again", func() { f.state("r3", schema.SafetyDisabled) }, nil},
					{"another safety state", func() {
						f.state("r3", schema.SafetyEnabled)
					}, []string{fmt.Sprint("r3 ", view.SafetyFields|view.DoingFields|view.FreshFields)}},
					{"a read of the database without news", func() {
						for i := range f.robots {
							f.robots[i].LastSeen = time.Now()
						}
						f.reload()
					}, nil},
					{"other labels of two", func() {
						f.robots = slices.Clone(f.robots)
						f.robots[2].Labels, f.robots[5].Labels = map[string]string{"floor": "2"}, map[string]string{}
						f.reload()
					}, []string{fmt.Sprint("r2 ", view.LabelFields), fmt.Sprint("r5 ", view.LabelFields)}},
					{"one that leaves the fleet", func() { f.robots = slices.Delete(f.robots, 7, 8); f.reload() }, []string{fmt.Sprint("r7 ", view.Gone)}},
				} {
					var got []string
					for _, d := range f.changes(c.happens) {
						got = append(got, fmt.Sprint(d.ID, " ", d.What))
						if d.Row.ID != d.ID {
							t.Errorf("%s: the line of %s is %s's", c.name, d.ID, d.Row.ID)
						}
					}
					if !slices.Equal(got, c.want) {
						t.Errorf("%s: changed %v, want %v", c.name, got, c.want)
					}
				}
			})
		})
	}
}

func TestSilentRobotIsHandedOut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		deltas := f.changes(func() { time.Sleep(20 * time.Second); f.Tick(time.Now()) })
		if len(deltas) != 3 || deltas[0].What != view.PresenceFields|view.DoingFields || deltas[0].Row.Presence.Status == "online" {
			t.Errorf("after 20 s of silence %d of 3 robots changed: %+v", len(deltas), deltas)
		}
	})
}

func TestSlowReaderGetsTheNewestRowOfEachRobot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, 3)
		deltas := f.changes(func() {
			for range 100 {
				f.state("r1", schema.SafetyEnabled)
				f.state("r1", schema.SafetyDisabled)
			}
			f.state("r1", schema.SafetyEStop)
		})
		if len(deltas) != 1 || deltas[0].Row.Safety != schema.SafetyEStop {
			t.Errorf("handed out: %+v", deltas)
		}
	})
}

// BenchmarkHeartbeat is what a heartbeat of one of 10,000 robots costs while ten
// pages are open.
func BenchmarkHeartbeat(b *testing.B) {
	f := newFleet(b, 10_000)
	for range 10 {
		feed := f.Subscribe(view.AllButFresh, gather)
		defer feed.Close()
	}
	robots := f.robots
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f.robots = robots[i%len(robots):][:1]
		f.beat()
	}
}
