package store_test

import (
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"testing"

	"troupe/fleetd/audit"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// holdStops saves orders as latched stops.
func holdStops(t testing.TB, s *store.Store, now int, orders ...stop.Request) (c stop.Changes) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(t.Context(), stop.Need{Requests: orders})
		if err != nil {
			return err
		}
		if c, err = stop.Persist(rows, orders, at(now)); err != nil {
			return err
		}
		return tx.ApplyStops(t.Context(), c, at(now))
	})
	return c
}

// A stop is stored whatever texts its sender adds: one that the database refused would block
// all stops that wait behind it.
func stopsWithUnprintableTextsAreStored(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	holdStops(t, s, 1,
		stop.RequestOf("op1", []byte(`{"by":"an\u0000na","why":"now\u0000"}`), at(1)),
		stop.Request{ID: "s-2", Level: schema.StopStop, By: "\x00", Why: "a\x00b\xff", At: at(1), Robots: []string{"r1"}, FromRobot: true},
		stop.Request{ID: "s-3", Level: schema.StopStop, At: at(1), Robots: []string{"r1"}, Selects: "robots \x00"})
	var ids []string
	for _, l := range must[[]stop.Latch](t)(s.LatchedStops(t.Context())) {
		ids = append(ids, l.Robot+" "+l.ID)
	}
	wantEqual(t, "what is held", ids, []string{" op1", "r1 op1", "r1 s-2", "r1 s-3"})
}

func latchedStopsAreReleased(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	order := stop.Request{ID: "s-1", Level: schema.StopHalt, By: "anna", Why: "„children“", At: at(1), All: true}
	holdStops(t, s, 2, order, stop.Request{ID: "s-2", Level: schema.StopStop, At: at(2), Robots: []string{"r1"}})
	wantEqual(t, "what is held", must[[]stop.Latch](t)(s.LatchedStops(t.Context())), []stop.Latch{
		{ID: "s-1", Level: schema.StopHalt, By: "anna", Why: "„children“", RequestedAt: at(1)},
		{ID: "s-1", Robot: "r1", Level: schema.StopHalt, By: "anna", Why: "„children“", RequestedAt: at(1)},
		{ID: "s-1", Robot: "r2", Level: schema.StopHalt, By: "anna", Why: "„children“", RequestedAt: at(1)},
		{ID: "s-2", Robot: "r1", Level: schema.StopStop, RequestedAt: at(2)},
	})
	if c := holdStops(t, s, 3, order); !c.Empty() {
		t.Errorf("saved again: %+v", c)
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(t.Context(), stop.Need{Release: []string{"s-1"}})
		if err != nil {
			return err
		}
		if rows.FleetID != s.FleetID() || rows.Revs["r1"] != at(2).UnixMilli() || rows.Revs[""] != at(2).UnixMilli() {
			t.Errorf("a plan reads %+v", rows)
		}
		c, problems, err := stop.Release(rows, []string{"s-1"}, stop.Elsewhere{}, "ben", "seen", at(4))
		if err != nil || problems != nil {
			t.Errorf("release: %v, %v", problems, err)
		}
		return tx.ApplyStops(t.Context(), c, at(4))
	})
	transact(t, s, func(tx *store.Tx) error {
		published, err := tx.StopDocuments(t.Context())
		if v, problems := schema.Decode[schema.DesiredStop](published["r1"]); len(published) != 3 || len(problems) > 0 || len(v.Stops) != 1 {
			t.Errorf("the newest documents are %s, %s and %s", published[""], published["r1"], published["r2"])
		}
		return err
	})
	if left := must[[]stop.Latch](t)(s.LatchedStops(t.Context())); len(left) != 1 || left[0].ID != "s-2" {
		t.Errorf("still latched: %+v", left)
	}
	for since, want := range map[int]int{4: 3, 5: 0} { // of s-1 on all, r1 and r2
		if let := must[[]stop.Latch](t)(s.ReleasedStops(t.Context(), at(since))); len(let) != want || want > 0 && let[0].ID != "s-1" {
			t.Errorf("released since %d: %+v", since, let)
		}
	}
	if c := holdStops(t, s, 5, order); !c.Empty() {
		t.Errorf("saved again after its release: %+v", c)
	}
	var published []string
	for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
		published = append(published, string(o.Topic)+" "+o.Target)
	}
	wantEqual(t, "what robots receive", published, []string{
		"fleet_stop ", "desired_stop r1", "desired_stop r2", "fleet_stop ", "desired_stop r1", "desired_stop r2",
	})
	var first []string
	for _, o := range must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())) {
		first = append(first, string(o.Topic)+" "+o.Target)
	}
	wantEqual(t, "what the broker must hold", first, []string{"fleet_stop ", "desired_stop r1", "desired_stop r2"})
	if notes := must[[]audit.Entry](t)(s.Audit(t.Context(), store.AuditQuery{})); len(notes) != 3 || notes[0].What != "release" ||
		notes[0].Who != "ben" || notes[0].Target != "stop s-1" {
		t.Errorf("audit entries %+v", notes)
	}
}

// A plan decides the same from the rows that it needs as from all.
func stopsForReadsWhatIsNeeded(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fleet := []string{"r1", "r2", "r3", "r4"}
	robots(t, s, fleet...)
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.SetLabels(t.Context(), "r3", map[string]string{"site": "museum", "floor": "1"}); err != nil {
			return err
		}
		return tx.SetLabels(t.Context(), "r4", map[string]string{"site": "museum"})
	})
	random := rand.New(rand.NewPCG(1, 2))
	order := func(now int) stop.Request {
		o := stop.Request{ID: fmt.Sprint("s-", random.IntN(5)), Level: schema.StopStop, At: at(now - random.IntN(3)),
			NoOwnID: random.IntN(3) == 0}
		switch random.IntN(5) {
		case 0:
			o.All = true
		case 1:
			o.Labels = map[string]string{"site": "museum"}
		case 2:
			o.Labels = map[string]string{"site": "museum", "floor": "1"}
			o.Robots = []string{"r1"}
		case 3:
			o.FromRobot, o.All, o.SinceFleetClock, o.SinceRobotClock = true, random.IntN(2) == 0, o.At, o.At
			o.Robots = []string{fleet[random.IntN(4)]}
		default:
			o.Robots = []string{fleet[random.IntN(4)], "unknown"}
		}
		return o
	}
	released := 0
	for now := range 300 {
		transact(t, s, func(tx *store.Tx) error {
			var need stop.Need
			for range random.IntN(3) {
				need.Requests = append(need.Requests, order(now))
			}
			if random.IntN(2) == 0 {
				need.Release = []string{fmt.Sprint("s-", random.IntN(5)), fmt.Sprint("s-", random.IntN(5))}[:1+random.IntN(2)]
			}
			needed, err := tx.StopsFor(t.Context(), need)
			if err != nil {
				return err
			}
			all, err := tx.StopsFor(t.Context(), stop.Need{
				Requests: append([]stop.Request{{All: true}}, need.Requests...), Release: []string{"s-0", "s-1", "s-2", "s-3", "s-4"}, All: true,
			})
			if err != nil {
				return err
			}
			for _, o := range need.Requests {
				wantEqual(t, "released", stop.ReleasesOf(needed).Include(o), stop.ReleasesOf(all).Include(o))
				wantEqual(t, "already persisted", stop.AlreadyPersisted(needed, o), stop.AlreadyPersisted(all, o))
			}
			hold := func(rows stop.Rows) stop.Changes {
				return must[stop.Changes](t)(stop.Persist(rows, need.Requests, at(now)))
			}
			held := hold(needed)
			wantEqual(t, "hold", held, hold(all))
			if len(need.Release) == 0 {
				return tx.ApplyStops(t.Context(), held, at(now))
			}
			release := func(rows stop.Rows) (stop.Changes, []schema.Problem) {
				c, problems, err := stop.Release(rows, need.Release, stop.Elsewhere{}, "ben", "seen", at(now))
				if err != nil {
					t.Error(err)
				}
				return c, problems
			}
			let, problems := release(needed)
			want, found := release(all)
			wantEqual(t, "release", let, want)
			wantEqual(t, "why a stop is not released", problems, found)
			released += len(let.Latches)
			return tx.ApplyStops(t.Context(), let, at(now))
		})
	}
	if released < 50 {
		t.Errorf("%d stops were released", released)
	}
}

// Stop documents get rising signature counters, each once.
func stopsAreSigned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	s.SignWith(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), nil)
	robots(t, s, "r1", "r2")
	last := int64(0)
	for i := range 3 {
		c := holdStops(t, s, 1, stop.Request{ID: fmt.Sprint("s-", i), Level: schema.StopStop, At: at(1), All: true}) // all at the same time
		for _, d := range c.Documents {
			v, problems := schema.Decode[schema.DesiredStop](d.Payload)
			if d.Robot == "" {
				f, p := schema.Decode[schema.FleetStop](d.Payload)
				v.Counter, v.Sig, problems = f.Counter, f.Sig, p
			}
			if len(problems) > 0 || v.Sig == nil || v.Counter <= last {
				t.Errorf("counter %d after %d: %s", v.Counter, last, d.Payload)
			}
			last = v.Counter
		}
	}
}

// Its documents were deleted when it left, and nothing would delete the new one.
func releaseIsNotPublishedForAnArchivedRobot(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	holdStops(t, s, 1, stop.Request{ID: "s-1", Level: schema.StopStop, At: at(1), Robots: []string{"r1", "r2"}})
	archive(t, s, "r2", at(2))
	sendAll(t, s, at(3))
	unsent := func() (targets []string) {
		for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
			targets = append(targets, string(o.Topic)+" "+o.Target)
		}
		return targets
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(t.Context(), stop.Need{Release: []string{"s-1"}})
		if err != nil {
			return err
		}
		c, problems, err := stop.Release(rows, []string{"s-1"}, stop.Elsewhere{}, "ben", "seen", at(4))
		if err != nil || problems != nil {
			t.Errorf("release: %v, %v", problems, err)
		}
		return tx.ApplyStops(t.Context(), c, at(4))
	})
	wantEqual(t, "the outbox after the release", unsent(), []string{"desired_stop r1"})
	wantEqual(t, "what is still latched", len(must[[]stop.Latch](t)(s.LatchedStops(t.Context()))), 0)
	must[bool](t)(s.AddRobot(t.Context(), "r2", at(5)))
	wantEqual(t, "the outbox when it is added again", unsent(), []string{"desired_stop r1", "desired_stop r2"})
}
