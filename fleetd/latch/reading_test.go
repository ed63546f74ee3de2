package latch_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"troupe/fleetd/latch"
	"troupe/fleetd/stop"
)

// lateReader is a database whose list of latched stops arrives late.
type lateReader struct {
	latch.Store
	arrive chan struct{}
}

func (l lateReader) LatchedStops(ctx context.Context) ([]stop.Latch, error) {
	latched, err := l.Store.LatchedStops(ctx)
	<-l.arrive
	return latched, err
}

func TestListOfLatchedStopsIsNotReplacedByAnOlderOne(t *testing.T) {
	inWorld(t, func(w *world) {
		w.publishLiveStop("admin", `{"id":"first"}`)
		w.settles()
		late := lateReader{w.db, make(chan struct{})}
		read := make(chan error)
		go func() { read <- w.Read(w.Context(), late) }()
		synctest.Wait()
		w.publishLiveStop("admin", `{"id":"second"}`)
		w.settles()
		close(late.arrive)
		if err := <-read; err != nil {
			w.Fatal(err)
		}
		synctest.Wait()
		ids := held(w.Latched())
		slices.Sort(ids)
		if !slices.Equal(ids, []string{"first", "second"}) {
			w.Errorf("latched are %q", ids)
		}
	})
}
