package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store"
	"troupe/schema"
)

// cutOff runs a test with a fleetd instance that is cut off from its broker, while r1 is not.
func cutOff(t *testing.T, test func(w *world, r *fleettest.Robot, cable *brokertest.Cable)) {
	t.Helper()
	cable := &brokertest.Cable{}
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		cable.Cut()
		w.until("fleetd misses its broker", func() bool { return !w.Status().Broker.OK })
		test(w, r, cable)
	}, func(c *fleet.Config) {
		cable.To = brokertest.Dialer(c.Dial)
		c.Dial = cable.Dial
	})
}

// stopsInVain gives a stop that reaches nobody yet, and returns its id.
func (w *world) stopsInVain() string {
	w.Helper()
	p := w.ask("POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "by": "anna",
		"why": "children on the stage"}, nil)
	if p == nil || !p.Of(api.KindBroker) || len(w.Latched()) != 1 {
		w.Fatalf("a stop without a broker: %v, held are %+v", p, w.Latched())
	}
	return w.Latched()[0].ID
}

func TestStopReleasedBeforeItWasSentHoldsNoRobot(t *testing.T) {
	cutOff(t, func(w *world, r *fleettest.Robot, cable *brokertest.Cable) {
		id := w.stopsInVain()
		if p := w.releases(id); p != nil {
			w.Fatal(p)
		}
		cable.Mend()
		w.until("fleetd is back", func() bool { return w.Status().Broker.OK })
		w.sleep(time.Minute) // longer than any command is sent again
		if n, held := count(r.Received(), "safety/stop"), w.latched("r1"); n != 0 || held != "" {
			w.Errorf("after its release the stop was sent %d times, and r1 holds %q", n, held)
		}
		w.persisted()
	})
}

func TestUnreleasedStopHoldsAfterARestart(t *testing.T) {
	cutOff(t, func(w *world, r *fleettest.Robot, cable *brokertest.Cable) {
		id := w.stopsInVain()
		if p := w.releases(id, "another"); p == nil { // all of them or none
			w.Fatal("a stop that nobody holds was released")
		}
		cable.Mend()
		w.until("it is sent, and r1 holds it", func() bool { return count(r.Received(), "safety/stop") > 0 && w.latched("r1") == id })
		w.persisted(id)
	})
}

func TestReleaseNamesUnknownRobotsThatHoldTheStop(t *testing.T) {
	inWorld(t, func(w *world) {
		r9 := startUnknownRobot(w, "r9")
		r9.LatchUnrecorded(schema.StopLatch{ID: "wall1", Level: schema.StopStop, By: "wall1", Since: 1})
		w.until("fleetd sees it", func() bool { return w.latched("r9") == "wall1" })
		p := w.releases("wall1")
		if p == nil || p.Errors[0].Code != "not_latched" || !strings.Contains(p.Errors[0].Detail, "r9") || !strings.Contains(p.Errors[0].Hint,
			"fleetd adopt r9") {
			w.Errorf("a release of what an unknown client holds: %+v", p)
		}
	}, strict)
}

// awayStop stops a robot that is not there: fleetd sends it once more when it comes.
func (d *instance) awayStop(id string) string {
	d.Helper()
	r := fleettest.Start(d.T, id, d.broker.Load().Dial)
	d.sees(id)
	r.Close()
	d.until(id+" is away", func() bool { v, _ := d.Robot(id); return v.Presence.Status != "online" })
	latch := d.stopped(id).Latch
	d.persisted(latch)
	return latch
}

func TestStopReleasedAtOneInstanceIsSentByNoOther(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		latch := b.awayStop("r1")
		a.persisted(latch)
		if p := a.releases(latch); p != nil {
			t.Fatal(p)
		}
		b.persisted()
		b.comesFree("r1")
	})
}

func TestStopReleasedWhileItsInstanceIsAwayIsNotSent(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		latch := b.awayStop("r1")
		b.stopFleetd()
		a.persisted(latch)
		if p := a.releases(latch); p != nil {
			t.Fatal(p)
		}
		b.startFleetd()
		b.comesFree("r1")
	})
}

// comesFree has a robot come, and sees that no stop is sent to it.
func (d *instance) comesFree(id string) {
	d.Helper()
	r := fleettest.Start(d.T, id, d.broker.Load().Dial)
	d.sees(id)
	d.state(d.command(setMode("mnl", id)), "SUCCEEDED") // whatever was to be sent on its coming was sent before
	if n := count(r.Received(), "safety/stop"); n != 0 || d.latched(id) != "" {
		d.Errorf("a stop that was released came %d times, and %s holds %q", n, id, d.latched(id))
	}
}
