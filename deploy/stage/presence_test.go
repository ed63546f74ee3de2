package stage

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/testlog"
)

// testFleet is fleetd, a broker and one robot in one process, in fake time.
type testFleet struct {
	*testing.T
	broker *brokertest.Broker
	fleetd *fleet.Fleet
	cable  *brokertest.Cable // the robot's
	end    func()
	done   chan error
}

func inTestFleet(t *testing.T, test func(p *testFleet), options ...func(*robot.Config)) {
	t.Helper()
	folder, database := t.TempDir(), storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		p := &testFleet{T: t, broker: brokertest.Start(t, brokertest.InProcess), done: make(chan error, 1)}
		p.cable = &brokertest.Cable{To: p.broker.Dial}
		log := slog.New(slog.NewTextHandler(testlog.Writer(t, "fleetd"), nil))
		var err error
		p.fleetd, err = fleet.Start(context.Background(), fleet.Config{
			Dial: p.broker.Dial, Database: database, Dev: true, Logger: log,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.fleetd.Close(); err != nil {
				t.Error(err)
			}
		})
		cfg := robot.Config{ID: "r1", Dial: p.cable.Dial, Data: filepath.Join(folder, "r1"), Driver: sim.New(sim.Config{}), Logger: log}
		for _, o := range options {
			o(&cfg)
		}
		var ctx context.Context
		ctx, p.end = context.WithCancel(context.Background())
		t.Cleanup(func() {
			p.end()
			if err := <-p.done; err != nil {
				t.Error(err)
			}
		})
		go func() { p.done <- robot.Run(ctx, cfg); close(p.done) }()
		p.awaitPresence("online")
		test(p)
	})
}

func (p *testFleet) robot() view.Detail {
	d, _ := p.fleetd.Robot("r1")
	return d
}

// awaitRobot waits until the condition holds.
func (p *testFleet) awaitRobot(what string, holds func(view.Detail) bool) view.Detail {
	p.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		synctest.Wait()
		if d := p.robot(); holds(d) {
			return d
		} else if time.Since(began) > 5*time.Minute {
			p.Fatalf("still not %s: %+v", what, d.Presence)
		}
	}
}

func (p *testFleet) awaitPresence(want string) view.Presence {
	p.Helper()
	return p.awaitRobot(want, func(d view.Detail) bool { return d.Presence.Status == want }).Presence
}

// presenceStays checks for a time that the robot's presence does not change.
func (p *testFleet) presenceStays(status string, d time.Duration) {
	p.Helper()
	for began := time.Now(); time.Since(began) < d; time.Sleep(250 * time.Millisecond) {
		if got := p.robot().Presence; got.Status != status {
			p.Fatalf("%v on it is %s: %s", time.Since(began), got.Status, got.Why)
		}
	}
}

// hangingDriver is a driver whose call that enables motion does not return.
type hangingDriver struct {
	driver.Driver
	until chan struct{}
}

func (b *hangingDriver) Order(o driver.Order) {
	if o == driver.ToRun {
		<-b.until
	}
	b.Driver.Order(o)
}

func TestRobotWithHangingLoopIsStalledThenLost(t *testing.T) {
	hold := make(chan struct{})
	release := func() {}
	inTestFleet(t, func(p *testFleet) {
		p.awaitRobot("in mnl", func(d view.Detail) bool { return d.Mode == schema.ModeMnl })
		p.presenceStays("online", time.Minute)
		p.broker.Client(p.T, "op1").Publish("troupe/v1/robots/r1/cmd/op1/safety/enable", "")
		if got := p.awaitPresence("degraded"); !strings.HasPrefix(got.Why, "stalled: ") {
			p.Errorf("degraded, because %s", got.Why)
		}
		if got := p.awaitPresence("lost"); !strings.Contains(got.Why, "its control loop hangs") {
			p.Errorf("lost, because %s", got.Why)
		}
		p.presenceStays("lost", time.Minute)
		if n := p.cable.Dials(); n != 1 {
			p.Errorf("%d connections were made", n)
		}
		release()
		p.awaitPresence("online")
		if n := p.cable.Dials(); n != 1 {
			p.Errorf("%d connections were made", n)
		}
	}, func(c *robot.Config) {
		hold = make(chan struct{}) // made inside the synctest bubble
		release = func() { close(hold) }
		c.Driver = &hangingDriver{sim.New(sim.Config{}), hold}
	})
}

// TestRobotWithoutFleetdHeartbeatReconnects loses one subscription of several:
// everything else arrives, so that the connection itself seems healthy.
func TestRobotWithoutFleetdHeartbeatReconnects(t *testing.T) {
	inTestFleet(t, func(p *testFleet) {
		p.awaitRobot("linked to fleetd", func(d view.Detail) bool { return d.State != nil && d.State.Link.State == schema.LinkUp })
		p.cable.DropExisting(func(topic string) bool { return strings.Contains(topic, "fleet/heartbeat") })
		p.awaitRobot("without a link to its operators", func(d view.Detail) bool { return d.State.Link.State == schema.LinkLost })
		p.awaitRobot("linked to fleetd again", func(d view.Detail) bool { return d.State.Link.State == schema.LinkUp })
		if n := p.cable.Dials(); n != 2 {
			p.Errorf("%d connections were made", n)
		}
		if d := p.robot(); d.Mode != schema.ModeSafe {
			p.Errorf("after the link came back it is in %s", d.Mode)
		}
		p.awaitRobot("reported as an event", func(view.Detail) bool { return p.hasEvent("half_open_connection_replaced") })
	})
}

func (p *testFleet) hasEvent(event string) bool {
	p.Helper()
	db, err := p.fleetd.Store()
	if err != nil {
		p.Fatal(err)
	}
	events, err := db.Events(p.Context(), store.EventQuery{Robot: "r1", Type: event})
	if err != nil {
		p.Fatal(err)
	}
	return len(events) > 0
}

func TestSleepingRobotIsShownAsleepUntilItIsLate(t *testing.T) {
	inTestFleet(t, func(p *testFleet) {
		p.end()
		got := p.awaitPresence("sleeping")
		if !strings.Contains(got.Why, "it sleeps until 2000-01-01 00:20:00Z") {
			p.Errorf("it sleeps: %s", got.Why)
		}
		p.presenceStays("sleeping", 10*time.Minute)
		time.Sleep(10 * time.Minute)
		if got := p.awaitPresence("lost"); !strings.Contains(got.Why, "it should have woken up") {
			p.Errorf("lost: %s", got.Why)
		}
	}, func(c *robot.Config) {
		wake, err := robot.ParseWake("2000-01-01T00:20:00Z") // synctest bubbles begin at midnight
		if err != nil {
			t.Fatal(err)
		}
		c.Wake = wake
	})
}

func TestRoundTripIsMeasured(t *testing.T) {
	inTestFleet(t, func(p *testFleet) {
		d := p.awaitRobot("measured", func(d view.Detail) bool {
			return d.Heartbeat != nil && d.Heartbeat.Link.Client == "fleetd" && d.Heartbeat.Link.FleetSeq > 3
		})
		if ms := d.Presence.RoundTripMS; ms != 0 || d.Presence.Status != "online" { // fake time does not pass in between
			p.Errorf("a round trip of %d ms: %s", ms, d.Presence.Status)
		}
		p.cable.Slow(700 * time.Millisecond)
		p.awaitRobot("slow", func(d view.Detail) bool {
			return d.Presence.Status == "degraded" && d.Presence.RoundTripMS >= 1400 && strings.Contains(d.Presence.Why, "round trip time ")
		})
		p.cable.Slow(0)
		p.awaitRobot("fast again", func(d view.Detail) bool { return d.Presence.Status == "online" && d.Presence.RoundTripMS < 100 })
	})
}
