package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
)

// A stop that only an absent robot reported, in its last state, cannot be released.
func TestReleaseOfAStopThatOnlyAnAbsentRobotReportedIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		r1 := w.robot("r1")
		id := w.stopped("r1").Latch
		w.persisted(id)
		w.until("r1 reports it", func() bool { return w.latched("r1") == id })
		r1.Close()
		w.until("r1 is away", func() bool { d, _ := w.Robot("r1"); return d.Presence.Status != "online" })
		if p := w.releases(id); p != nil {
			w.Fatal(p)
		}
		w.sleep(3 * time.Second)
		p := w.releases(id)
		if p == nil || !p.Of(api.KindInvalid) || p.Errors[0].Code != "not_latched" {
			w.Fatalf("released twice: %+v", p)
		}
		for _, says := range []string{"ben released it at", "r1 reported it last and is not connected"} {
			if !strings.Contains(p.Errors[0].Detail, says) {
				w.Errorf("the refusal does not say %q: %s", says, p.Errors[0].Detail)
			}
		}
	})
}
