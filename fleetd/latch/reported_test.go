package latch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/latch"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

// reports has a robot hold these stops from now on, in each state that it publishes.
func (w *world) reports(robot string, held ...schema.StopLatch) {
	w.robots.mu.Lock()
	if w.robots.latches == nil {
		w.robots.latches, w.robots.away = map[string][]schema.StopLatch{}, map[string]bool{}
	}
	w.robots.latches[robot] = held
	w.robots.mu.Unlock()
	w.ReceiveLatches(robot, held, 0, time.Now())
	synctest.Wait()
}

// pass lets time pass, in which each robot that is not away publishes two states a second.
func (w *world) pass(d time.Duration) {
	for ; d > 0; d -= 500 * time.Millisecond {
		time.Sleep(min(d, 500*time.Millisecond))
		for robot, held := range w.robots.latches {
			if w.robots.Reachable(robot) {
				w.ReceiveLatches(robot, held, 0, time.Now())
			}
		}
		synctest.Wait()
	}
}

// listed requires the stops that are listed, and that the list says whether those are all.
func (w *world) listed(complete bool, ids ...string) []latch.LatchedStop {
	w.Helper()
	all := w.Latched()
	if got := held(all); !slices.Equal(got, ids) || w.Complete() != complete {
		w.Fatalf("listed are %q, complete: %v; want %q, %v", got, w.Complete(), ids, complete)
	}
	return all
}

func gate7() schema.StopLatch {
	return schema.StopLatch{ID: "gate-7", Level: schema.StopHalt, By: "gate", Since: schema.TimeOf(time.Now())}
}

func TestStopThatARobotReportsIsPersistedWithinHalfASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		w.listed(true)
		w.reports("r1", gate7())
		w.pass(100 * time.Millisecond)
		w.listed(false)
		w.pass(400 * time.Millisecond)
		l := w.listed(true, "gate-7")[0]
		if !l.Persisted || l.By != "gate" || l.Level != schema.StopHalt || l.All || !slices.Equal(l.Robots, []string{"r1"}) {
			t.Errorf("it is persisted as %+v", l)
		}
	})
}

// A robot releases only a stop that a document of its fleet has named, so the release of one that reports it
// otherwise than the document, as after it obeyed another fleet, publishes it once more before.
func TestReleaseNamesAStopFirstThatTheRobotHasNotRecorded(t *testing.T) {
	for _, recorded := range []bool{false, true} {
		inWorld(t, func(w *world) {
			held := gate7()
			held.Since = schema.TimeOf(time.Now().Add(-time.Hour))
			w.reports("r1", held)
			w.pass(time.Second)
			if recorded {
				held.Since = w.listed(true, "gate-7")[0].Since
				w.reports("r1", held)
			}
			w.mustRelease("gate-7")
			sent, err := w.db.Store.(*store.Store).Unsent(w.Context(), 0, 0)
			if err != nil {
				w.Fatal(err)
			}
			var names []bool
			for _, o := range sent {
				if d, _ := schema.Decode[schema.DesiredStop](o.Payload); o.Topic == schema.TopicDesiredStop && o.Target == "r1" {
					names = append(names, len(d.Stops) > 0)
				}
			}
			want := []bool{true, true, false}
			if recorded {
				want = []bool{true, false}
			}
			if !slices.Equal(names, want) {
				t.Errorf("recorded %v: the documents of r1 name the stop: %v, want %v", recorded, names, want)
			}
		})
	}
}

// A robot may report a stop for a while after its release: of a large fleet not all receive it at once.
func TestReleasedStopIsPersistedAgainWhenARobotStillReportsIt(t *testing.T) {
	inWorld(t, func(w *world) {
		old := gate7()
		w.reports("r1", old)
		w.pass(3 * time.Second)
		w.mustRelease("gate-7")
		w.reports("r1")
		w.reports("r1", old)
		w.pass(59500 * time.Millisecond)
		w.listed(false)
		w.pass(time.Second)
		w.listed(true, "gate-7")

		w.mustRelease("gate-7")
		w.reports("r1")
		w.pass(3 * time.Second)
		w.reports("r1", old)
		w.listed(false)
		w.mustRelease("gate-7") // what is not persisted yet is released too
		w.reports("r1")
		w.pass(30 * time.Second)
		w.listed(true)
		w.reports("r1", gate7()) // latched again under the same id
		w.pass(500 * time.Millisecond)
		w.listed(true, "gate-7")
	})
}

// TestLateReportOfAReleasedStopNeedsNoDatabase: beside the answers of a large fleet it answers late, and what it does not say in time must
// not latch a stop again that this instance has just released.
func TestLateReportOfAReleasedStopNeedsNoDatabase(t *testing.T) {
	inWorld(t, func(w *world) {
		old := gate7()
		w.reports("r1", old)
		w.pass(3 * time.Second)
		w.mustRelease("gate-7")
		w.db.set(false)
		w.reports("r1", old)
		w.pass(5 * time.Second)
		w.listed(false)
		w.reports("r1")
		w.reports("r1", gate7()) // latched again under the same id
		w.pass(3 * time.Second)
		w.listed(true, "gate-7")
	})
}

// A robot that is away cannot report that it released a stop.
func TestStopListIsCompleteDespiteAnAbsentRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		old := gate7()
		w.reports("r1", old)
		w.pass(time.Second)
		w.mustRelease("gate-7")
		w.reports("r1", old)
		w.listed(false)
		w.robots.away["r1"] = true
		w.pass(time.Minute)
		w.listed(true)
	})
}

func TestLiveStopIsAnsweredWithWhatBecameOfIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.publishLiveStop("admin", "{{{")
		if all := w.Latched(); len(all) != 1 || !all[0].All || !strings.Contains(all[0].Why, "could not be read") {
			t.Errorf("it is latched as %+v", all)
		}
		w.publishLiveStop("admin", `{"id":"k1","robots":["r1","r9"],"level":"soft_stop","by":"ben"}`)
		w.publishLiveStop("admin", `{"id":"k2","robots":["r9"]}`)
		w.publishLiveStop("admin", `{"id":"k3","labels":{"site":"nowhere"}}`)
		w.settles()
		w.listed(true, "admin", "k1")
		w.mustRelease("admin", "k1")
		w.publishLiveStop("admin", "") // once more, after the release
		w.publishLiveStop("admin", `{"id":"k1","robots":["r9"],"level":"soft_stop","by":"ben"}`)
		w.settles()
		w.listed(true, "admin")
		final := map[string]string{}
		for _, a := range w.acks {
			if a.Verb != "fleet/stop" {
				t.Errorf("answered as %s", a.Verb)
			}
			final[*a.ID] = fmt.Sprint(a.Status, " ", a.Reason)
		}
		want := fmt.Sprintf("map[admin:SUCCEEDED  k1:REJECTED id_reuse k2:REJECTED %[1]s k3:REJECTED %[1]s]", schema.ReasonUnknownRobot)
		if got := fmt.Sprint(final); got != want {
			t.Errorf("answered were %s, want %s", got, want)
		}
	})
}

// A live stop that arrives while the database hangs does not wait for it.
func TestLiveStopIsKeptAndListedWhileTheDatabaseHangs(t *testing.T) {
	inWorld(t, func(w *world) {
		w.db.set(false)
		w.publishLiveStop("admin", "") // next it is persisted, and the database does not answer
		w.publishLiveStop("wall", "")
		if got := held(w.Latched()); !slices.Equal(got, []string{"admin", "wall"}) || len(w.acks) != 2 {
			t.Errorf("listed are %q, and answered %d", got, len(w.acks))
		}
		w.publishLiveStop("wall", "") // a second press
		if n := len(w.acks); n != 3 || w.acks[1].Dup || !w.acks[2].Dup {
			t.Errorf("the second press is answered %+v", w.acks[1:])
		}
		if text, err := os.ReadFile(w.spool); err != nil || !bytes.Contains(text, []byte(`"wall"`)) {
			t.Errorf("on the disk is %s, %v", text, err)
		}
	})
}

// brokenReader is a database that may not say which stops are latched.
type brokenReader struct {
	latch.Store
	away  atomic.Bool
	ended atomic.Int64 // reads whose context had ended
}

func (b *brokenReader) LatchedStops(ctx context.Context) ([]stop.Latch, error) {
	if ctx.Err() != nil {
		b.ended.Add(1)
	}
	if b.away.Load() {
		return nil, errors.New("away")
	}
	return b.Store.LatchedStops(ctx)
}

func TestStopListIsIncompleteAfterAFailedRead(t *testing.T) {
	inWorld(t, func(w *world) {
		db := &brokenReader{Store: w.db.Store}
		w.db.Store = db
		w.publishLiveStop("admin", "")
		w.settles()
		db.away.Store(true)
		w.mustRelease("admin")
		if w.Complete() {
			t.Error("a list that could not be read again is called complete")
		}
		db.away.Store(false)
		w.settles()
		w.listed(true)
	})
}

func TestReleaseIsListedAfterItsClientDisconnected(t *testing.T) {
	inWorld(t, func(w *world) {
		w.publishLiveStop("admin", "")
		w.settles()
		db := &brokenReader{Store: w.db.Store}
		w.db.Store = db
		ctx, leave := context.WithCancel(context.Background())
		w.nobody.released = leave
		<-w.release(ctx, "admin").over
		if w.listed(true); db.ended.Load() > 0 {
			t.Error("the list was to be read for a client that has left")
		}
	})
}

// fleetd removes a retained live stop by an empty retained message, which subscribers take for another live stop. A
// release during that is after it, and so the stop does not come back.
func TestReleaseWaitsForTheRemovalOfARetainedStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.publishLiveStop("op1", "stop!")
		w.settles()
		removed := make(chan error, 1)
		go func() {
			_, err := w.Remove(context.Background(), "op1", []byte("stop!"), func(context.Context) error { return nil })
			removed <- err
		}()
		synctest.Wait() // the empty message is on its way
		r := w.release(context.Background(), "op1")
		time.Sleep(500 * time.Millisecond)
		select {
		case <-r.over:
			t.Error("it was released before its removal arrived")
		default:
		}
		w.publishLiveStop("op1", "")
		if err := <-removed; err != nil {
			t.Error(err)
		}
		if <-r.over; !r.released {
			t.Errorf("the release returned %v, %v", r.problems, r.err)
		}
		if ids := w.settles(); len(ids) > 0 {
			t.Errorf("after the release %q are held", ids)
		}
	})
}
