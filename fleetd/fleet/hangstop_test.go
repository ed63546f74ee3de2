package fleet_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/latch"
	"troupe/fleetd/store/pgtest"
)

// A live stop that arrives while the database hangs does not wait for it.
func TestLiveStopIsKeptAndListedWhileTheDatabaseHangs(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		w.robot("r1")
		admin, wall := w.broker.Load().Client(w.T, "admin"), w.broker.Load().Client(w.T, "stop1")
		admin.Subscribe("troupe/v1/fleet/ack/admin")
		wall.Subscribe("troupe/v1/fleet/ack/stop1")
		listed := func(id string) func() bool {
			return func() bool {
				return slices.ContainsFunc(w.Latched(), func(h latch.LatchedStop) bool { return h.ID == id })
			}
		}
		h.Hold()
		admin.Publish("troupe/v1/fleet/cmd/admin/stop", "")
		w.within(time.Second, "the first stop is listed", listed("admin"))
		// Next it is persisted, and the database does not answer.
		w.within(time.Second, "the first stop is answered", func() bool { return len(admin.Inbox("troupe/v1/fleet/ack/admin")) > 0 })
		wall.Publish("troupe/v1/fleet/cmd/stop1/stop", "")
		w.within(time.Second, "the second stop is listed", listed("stop1"))
		w.within(time.Second, "the second stop is on the disk", func() bool {
			text, err := os.ReadFile(w.config.Spool)
			return err == nil && strings.Contains(string(text), `"stop1"`)
		})
		w.within(time.Second, "the second stop is answered", func() bool { return len(wall.Inbox("troupe/v1/fleet/ack/stop1")) > 0 })
	})
}
