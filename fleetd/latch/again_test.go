package latch_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/stop"
	"troupe/schema"
)

// The message of a live stop is lost while fleetd is not connected to the broker.
func TestLiveStopIsPublishedAgainUntilItIsReleased(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		sent := func(id string) (n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, a := range w.acks { // a live stop has an id, too
				if a.ID != nil && *a.ID == id {
					n++
				}
			}
			return n
		}
		all := stop.Request{ID: "stop-all", Level: schema.StopStop, All: true, By: "anna", At: time.Now()}
		one := stop.Request{ID: "stop-one", Level: schema.StopStop, Robots: []string{"r1"}, By: "anna", At: time.Now()}
		if err := errors.Join(w.StopAndLatch(ctx, all, func(bool) {}), w.StopAndLatch(ctx, one, func(bool) {})); err != nil {
			t.Fatal(err)
		}
		w.PublishAgain(ctx, all)
		w.PublishAgain(ctx, one)
		if sent(all.ID) != 2 || sent(one.ID) != 0 {
			t.Errorf("the stop of all robots was published %d times, that of one %d times", sent(all.ID), sent(one.ID))
		}
		w.settles()
		synctest.Wait()
		w.mustRelease(all.ID)
		if w.PublishAgain(ctx, all); sent(all.ID) != 2 {
			t.Errorf("a released stop was published %d times", sent(all.ID))
		}
	})
}
