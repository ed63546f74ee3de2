package store_test

import (
	"crypto/ed25519"
	"fmt"
	"testing"

	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// holdStops saves orders as latched stops.
func holdStops(t testing.TB, s *store.Store, now int, orders ...stop.Order) (c stop.Changes) {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(t.Context(), orders...)
		if err != nil {
			return err
		}
		if c, err = stop.Hold(rows, orders, at(now)); err != nil {
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
		stop.OrderOf("op1", []byte(`{"by":"an\u0000na","why":"now\u0000"}`), at(1)),
		stop.Order{ID: "s-2", Level: schema.StopStop, By: "\x00", Why: "a\x00b\xff", At: at(1), Robots: []string{"r1"}, FromRobot: true},
		stop.Order{ID: "s-3", Level: schema.StopStop, At: at(1), Robots: []string{"r1"}, Selects: "robots \x00"})
	var ids []string
	for _, l := range must[[]stop.Latch](t)(s.LatchedStops(t.Context())) {
		ids = append(ids, l.Robot+" "+l.ID)
	}
	wantEqual(t, "what is held", ids, []string{" op1", "r1 op1", "r1 s-2", "r1 s-3"})
}

func latchedStopsAreReleased(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	order := stop.Order{ID: "s-1", Level: schema.StopHalt, By: "anna", Why: "„children“", At: at(1), All: true}
	holdStops(t, s, 2, order, stop.Order{ID: "s-2", Level: schema.StopStop, At: at(2), Robots: []string{"r1"}})
	wantEqual(t, "what is held", must[[]stop.Latch](t)(s.LatchedStops(t.Context())), []stop.Latch{
		{ID: "s-1", Level: schema.StopHalt, By: "anna", Why: "„children“", AskedAt: at(1)},
		{ID: "s-1", Robot: "r1", Level: schema.StopHalt, By: "anna", Why: "„children“", AskedAt: at(1)},
		{ID: "s-1", Robot: "r2", Level: schema.StopHalt, By: "anna", Why: "„children“", AskedAt: at(1)},
		{ID: "s-2", Robot: "r1", Level: schema.StopStop, AskedAt: at(2)},
	})
	if c := holdStops(t, s, 3, order); !c.Empty() {
		t.Errorf("saved again: %+v", c)
	}
	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.Stops(t.Context(), "s-1")
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
		told, err := tx.StopDocuments(t.Context())
		if v, problems := schema.Decode[schema.DesiredStop](told["r1"]); len(told) != 3 || len(problems) > 0 || len(v.Stops) != 1 {
			t.Errorf("the newest documents are %s, %s and %s", told[""], told["r1"], told["r2"])
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
	var told []string
	for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
		told = append(told, string(o.Topic)+" "+o.Target)
	}
	wantEqual(t, "what robots are told", told, []string{
		"fleet_stop ", "desired_stop r1", "desired_stop r2", "fleet_stop ", "desired_stop r1", "desired_stop r2",
	})
	var first []string
	for _, o := range must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())) {
		first = append(first, string(o.Topic)+" "+o.Target)
	}
	wantEqual(t, "what the broker must hold", first, []string{"fleet_stop ", "desired_stop r1", "desired_stop r2"})
	if notes := must[[]store.AuditEntry](t)(s.Audit(t.Context(), 0)); len(notes) != 3 || notes[0].What != "release" || notes[0].Who != "ben" || notes[0].Target != "stop s-1" {
		t.Errorf("audit entries %+v", notes)
	}
}

// Stop documents get rising release counters, each once.
func stopsAreSigned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	s.SignWith(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), nil)
	robots(t, s, "r1", "r2")
	last := int64(0)
	for i := range 3 {
		c := holdStops(t, s, 1, stop.Order{ID: fmt.Sprint("s-", i), Level: schema.StopStop, At: at(1), All: true}) // all at the same time
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
