package sim_test

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/score"
)

// underway starts a goto and waits until the drive is at full speed.
func (r *robot) underway() (key uint64) {
	r.t.Helper()
	key = r.start("drive", score.Action{Do: score.Goto{XM: number(8.0), YM: number(0.0)}})
	for range 500 {
		if r.tick(); r.Snapshot().V >= 0.6-1e-9 {
			return key
		}
	}
	r.t.Fatalf("never reaches its speed: %+v", r.Snapshot())
	return 0
}

func (r *robot) failure(key uint64) (why schema.Reason) {
	for _, e := range r.seen {
		if e.Key == key && e.Kind == driver.Failed {
			why = e.Reason
		}
	}
	return why
}

func TestGotoFailsBeforeObstacleThatStays(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		key := r.underway()
		from := r.Snapshot().X
		r.Obstacle(1.5)
		r.pass(6 * time.Second)
		l := r.Snapshot()
		if gap := from + 1.5 - l.X; l.V != 0 || gap < 0.25 || gap > 0.4 || r.failure(key) != "" || l.Drive != driver.Run {
			t.Errorf("stands %g m before the obstacle: %+v, failed %q", gap, l, r.failure(key))
		}
		r.pass(5 * time.Second)
		if why := r.failure(key); why != schema.ReasonObstructed || r.Snapshot().Drive != driver.Run {
			t.Errorf("the goto failed with %q: %+v", why, r.Snapshot())
		}
	})
}

func TestGotoGoesOnWhenObstacleGoes(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		key := r.underway()
		r.Obstacle(0.5)
		r.pass(4 * time.Second)
		if r.Snapshot().V != 0 {
			t.Errorf("drives into the obstacle: %+v", r.Snapshot())
		}
		r.RemoveObstacles()
		r.takes(key)
	})
}

func TestDriveHaltsBeforeObstacleNearerThanItsBrakingDistance(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		key := r.underway()
		from := r.Snapshot().X
		r.Obstacle(0.1)
		r.pass(20 * time.Millisecond)
		if l := r.Snapshot(); l.Drive != driver.Halt {
			t.Errorf("did not halt: %+v", l)
		}
		r.pass(time.Second)
		l := r.Snapshot()
		if l.V != 0 || l.X-from > 0.1 || l.Drive != driver.Error || r.failure(key) != schema.ReasonObstructed {
			t.Errorf("%g m later: %+v, failed with %q", l.X-from, l, r.failure(key))
		}
		r.Order(driver.ToReset)
		r.pass(time.Second)
		if l := r.Snapshot(); l.Drive != driver.Error {
			t.Errorf("left the error before the obstacle went: %+v", l)
		}
		r.RemoveObstacles()
		r.pass(time.Second)
		if l := r.Snapshot(); l.Drive != driver.Idle {
			t.Errorf("did not leave the error when the obstacle was gone: %+v", l)
		}
	})
}

func TestManualDrivingStopsBeforeObstacle(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		r.Obstacle(1)
		for range 100 {
			r.Move(driver.Velocity{VX: 0.6, TTL: driver.VelocityTTL})
			r.pass(100 * time.Millisecond)
		}
		if l := r.Snapshot(); l.V != 0 || l.X < 0.6 || l.X > 0.75 || l.Drive != driver.Run {
			t.Errorf("drove to %+v", l)
		}
		for range 10 { // away from it
			r.Move(driver.Velocity{VX: -0.3, TTL: driver.VelocityTTL})
			r.pass(100 * time.Millisecond)
		}
		if l := r.Snapshot(); l.X > 0.6 {
			t.Errorf("does not drive back: %+v", l)
		}
	})
}

// heats returns the reported temperatures of a unit.
func (r *robot) heats(unit string) (list []float64) {
	for _, e := range r.seen {
		if e.Kind == driver.Sensed && e.Signal == driver.Heat && e.Name == unit {
			list = append(list, e.Level)
		}
	}
	return list
}

func TestJointHeatFollowsUse(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		r.pass(10 * time.Minute)
		if got := r.heats("drive"); len(got) > 0 {
			t.Errorf("a drive at rest reports %v", got)
		}
		for range 60 { // 20 minutes
			r.Move(driver.Velocity{VX: 0.6, WZ: 0.3, TTL: time.Hour})
			for range 100 {
				r.Move(driver.Velocity{VX: 0.6, WZ: 0.3, TTL: time.Hour})
				r.pass(200 * time.Millisecond)
			}
		}
		drive := r.heats("drive")
		if n := len(drive); n < 20 || n > 121 || drive[n-1] < 50 || drive[n-1] > 54 {
			t.Errorf("after 20 minutes of driving: %v", drive)
		}
		if head := r.heats("head"); len(head) > 0 {
			t.Errorf("a head at rest reports %v", head)
		}
		r.Heat("drive", 80)
		r.pass(30 * time.Minute)
		drive = r.heats("drive")[len(drive):]
		if drive[0] != 80 || drive[len(drive)-1] > 26 {
			t.Errorf("cools as %v", drive)
		}
	})
}
