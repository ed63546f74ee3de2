package fleet_test

import (
	"testing"

	"troupe/fleetd/store/pgtest"
)

// listed are the stops that the API lists, and whether it says that those are all.
func (w *world) listed() (ids []string, complete bool) {
	w.Helper()
	var got struct {
		Complete *bool
		Stops    []struct{ ID string }
	}
	w.must("GET", "/stops", nil, &got)
	for _, s := range got.Stops {
		ids = append(ids, s.ID)
	}
	if got.Complete == nil {
		w.Fatal("the list does not say whether it is complete")
	}
	if now := w.Status().LatchedComplete; now != *got.Complete {
		w.Errorf("the list says complete=%v, fleetd %v", *got.Complete, now)
	}
	return ids, *got.Complete
}

// listedAll waits until so many stops are listed, and said to be all.
func (w *world) listedAll(n int) {
	w.Helper()
	w.until("all stops are listed", func() bool {
		ids, complete := w.listed()
		return complete && len(ids) == n
	})
}

func TestStopListSaysWhenTheDatabaseWasNotRead(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		w.robot("r1")
		hold := map[string]any{"selector": map[string]any{"all": true}, "by": "ann"}
		w.must("POST", "/stops", hold, nil)
		w.listedAll(1)
		first, _ := w.listed()
		w.persisted(first...)
		w.stopFleetd()

		question := "FROM stops"
		h.HoldAt(question)
		w.startFleetd()
		if ids, complete := w.listed(); complete || len(ids) > 0 {
			w.Errorf("a fleetd instance that has not read its database lists %q, complete: %v", ids, complete)
		}
		w.must("POST", "/stops", hold, nil)
		if ids, complete := w.listed(); complete || len(ids) != 1 {
			w.Errorf("a fleetd instance that has not read its database lists %q, complete: %v, of its own stop", ids, complete)
		}
		h.Release()
		w.listedAll(2)

		h.Hold() // another instance may write stops meanwhile
		w.until("the list is called incomplete", func() bool { _, complete := w.listed(); return !complete })
		if ids, _ := w.listed(); len(ids) != 2 {
			w.Errorf("what was known is no longer listed: %q", ids)
		}
		h.Release()
		w.listedAll(2)
	})
}
