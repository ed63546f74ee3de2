package fleet_test

import (
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
)

func TestLeaderPrunesOldHistory(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		id := w.command(setMode("ato", "r1"))
		c := w.state(id, "SUCCEEDED")
		w.publish()
		notes := func() int {
			var list api.Audit
			w.must("GET", "/audit", nil, &list)
			return len(list.Entries)
		}
		w.sleep(30 * time.Second) // history is looked through soon after the start
		if p := w.ask("GET", "/commands/"+id, nil, nil); p != nil || notes() == 0 {
			w.Errorf("after 30 s: command %v, %d notes", p, notes())
		}
		w.stopFleetd()
		w.sleep(time.Minute)
		w.startFleetd()
		w.until("r1 is known", func() bool { d, _ := w.Robot("r1"); return d.Presence.Status == "online" })
		w.sleep(30 * time.Second)
		if p := w.ask("GET", "/commands/"+id, nil, nil); p == nil || p.Status != 404 {
			w.Errorf("the old command: %v", p)
		}
		if p := w.ask("GET", "/batches/"+c.Batch, nil, nil); p == nil || p.Status != 404 {
			w.Errorf("its batch: %v", p)
		}
		if n := notes(); n == 0 {
			w.Error("the audit was pruned, which is kept for ever")
		}
		w.state(w.command(setMode("mnl", "r1")), "SUCCEEDED")
	}, func(c *fleet.Config) { c.KeepCommands, c.KeepAudit = time.Minute, -1 })
}
