package fleet_test

import (
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/deploy/mosquittotest"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// foreign starts a fleetd instance on a broker that retains every message with the flag.
func foreign(t *testing.T) (w *world, url string, cable *brokertest.Cable) {
	t.Helper()
	url = mosquittotest.Start(t, mosquittotest.Options{})
	cable = &brokertest.Cable{To: brokertest.TCP(url)}
	w = &world{T: t, real: true}
	w.config = fleet.Config{Name: "fleetd", Dial: cable.Dial, Database: storetest.SQLite(t), Dev: true, Logger: logger(t)}
	w.startFleetd()
	t.Cleanup(w.stopFleetd)
	return w, url, cable
}

// Removing a retained halt halts its robot once more, unless it is in E_STOP.
func TestRetainedHaltIsRemovedWhileTheRobotIsHalted(t *testing.T) {
	w, url, cable := foreign(t)
	w.until("fleetd leads", func() bool { return w.Status().Leadership.Leads })
	mosquittotest.Pub(t, url, "-r", "-q", "1", "-t", "troupe/v1/robots/r1/cmd/op1/safety/halt", "-m", "halt!")
	r := fleettest.Start(t, "r1", fleettest.Dial(brokertest.TCP(url)))
	w.until("r1 to receive it", func() bool { return count(r.Received(), "safety/halt") == 1 })
	becomes := func(at schema.SafetyState) {
		r.Change(func(s *schema.State) {
			s.Safety.State = at
			s.Alerts = []schema.Alert{{ID: "a1", Type: string(schema.ReasonRetainedCommand), Level: schema.AlertWarn, Source: "cmd/op1/safety/halt"}}
		})
	}
	becomes(schema.SafetyDisabled)
	w.until("fleetd sees it", func() bool { d, _ := w.Robot("r1"); return d.Adopted && len(d.Alerts) == 1 })
	looked := cable.Dials()
	w.until("fleetd has looked twice at what the broker retains", func() bool { return cable.Dials() >= looked+2 })
	if n := count(r.Received(), "safety/halt"); n != 1 {
		t.Errorf("r1, which is not halted, was halted %d times", n)
	}
	if k := w.Status().RetainedCommands; len(k) != 1 || k[0].Topic != "robots/r1/cmd/op1/safety/halt" || k[0].Client != "op1" ||
		!strings.Contains(k[0].Why, "would halt the robot") {
		t.Errorf("the status says %+v", k)
	}
	becomes(schema.SafetyEStop)
	w.until("it is removed", func() bool { return count(r.Received(), "safety/halt") == 2 })
	w.until("the status to list it", func() bool { k := w.Status().RetainedCommands; return len(k) == 1 && k[0].Why == "" && k[0].At > 0 })
}
