package latch_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/latch"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// inWorld runs a test with an instance that holds stops, and the robot r1.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	storetest.InWorld(t, func(in *storetest.World) {
		g := &gate{Store: in.DB, open: make(chan struct{})}
		g.set(true)
		w := &world{T: in.T, db: g, spool: filepath.Join(dir, "stops")}
		w.start()
		defer func() { w.end() }()
		synctest.Wait()
		test(w)
	}, "r1")
}

// publishLiveStop delivers a live stop of a client.
func (w *world) publishLiveStop(client, payload string) {
	w.ReceiveLiveStop(client, []byte(payload), time.Now())
	time.Sleep(time.Millisecond) // no client is faster
	synctest.Wait()
}

// settles waits until every stop is persisted.
func (w *world) settles() (ids []string) {
	w.Helper()
	time.Sleep(5 * time.Second)
	synctest.Wait()
	all := w.Latched()
	if slices.ContainsFunc(all, func(h latch.LatchedStop) bool { return !h.Persisted }) {
		w.Errorf("after 5 s some are not persisted: %+v", all)
	}
	return held(all)
}

func (w *world) mustRelease(ids ...string) {
	w.Helper()
	r := w.release(context.Background(), ids...)
	if <-r.over; !r.released {
		w.Fatalf("the release returned %v, %v", r.problems, r.err)
	}
}

func TestStopsOfOneClientAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		for n := range 500 {
			w.publishLiveStop("admin", fmt.Sprintf(`{"id":"n%d","robots":["r1"]}`, n))
		}
		ids := w.settles()
		if len(ids) > 50 || !slices.Contains(ids, "n0") || !slices.Contains(ids, schema.MoreStops) {
			t.Errorf("%d stops are held: %q", len(ids), ids)
		}
		w.mustRelease(ids...)
		w.publishLiveStop("admin", `{"id":"later","robots":["r1"]}`)
		if ids := w.settles(); !slices.Equal(ids, []string{"later"}) {
			t.Errorf("after the release %q are held", ids)
		}
	})
}

func TestRepeatedLiveStopIsLatchedOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 500 {
			w.publishLiveStop("admin", "")
		}
		if ids := w.settles(); !slices.Equal(ids, []string{"admin"}) {
			t.Errorf("held are %q", ids)
		}
		w.mustRelease("admin")
		if ids := w.settles(); len(ids) > 0 {
			t.Errorf("after the release %q are held", ids)
		}
	})
}

// A client that publishes live stops faster than the disk writes fills no memory, and loses no stop: each robot
// stays stopped, under the id of its stop or by a stop of all robots.
func TestFloodOfLiveStopsLosesNone(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.set(false)
		for n := range 1000 {
			w.ReceiveLiveStop("admin", fmt.Appendf(nil, `{"id":"n%d","robots":["r%d"]}`, n, n), time.Now())
		}
		synctest.Wait()
		w.db.set(true)
		ids := w.settles()
		all := w.Latched()
		if len(ids) > 50 {
			t.Errorf("%d stops are latched: %q", len(ids), ids)
		}
		for n := range 1000 {
			robot := fmt.Sprint("r", n)
			if !slices.ContainsFunc(all, func(l latch.LatchedStop) bool { return l.All || slices.Contains(l.Robots, robot) }) {
				t.Fatalf("no stop of %s is latched: %+v", robot, all)
			}
		}
	})
}

// Beyond its limits a client's stops are one, whatever their reasons, and as strong as any of
// them, even if fleetd ends before the database is back.
func TestFloodOfReasonsIsOneStopOfTheStrongestLevel(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.set(false)
		for n := range 1000 {
			level := schema.StopSoft
			if n == 700 {
				level = schema.StopHalt
			}
			w.publishLiveStop("admin", fmt.Sprintf(`{"id":"n%d","level":%q,"robots":["r1"],"why":"reason %d"}`, n, level, n))
		}
		spooled, err := os.ReadFile(w.spool)
		if lines := bytes.Count(spooled, []byte("\n")); err != nil || lines > 300 {
			t.Errorf("%d stops are in the spool: %v", lines, err)
		}
		w.end()
		w.start()
		w.db.set(true)
		if ids := w.settles(); len(ids) > 50 {
			t.Errorf("%d stops are latched: %q", len(ids), ids)
		}
		if all := w.Latched(); !slices.ContainsFunc(all, func(l latch.LatchedStop) bool { return l.All && l.Level == schema.StopHalt }) {
			t.Errorf("no stop is a halt: %+v", all)
		}
	})
}
