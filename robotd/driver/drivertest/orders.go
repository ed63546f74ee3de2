package drivertest

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bubble"
)

// randomOrders takes a body through random orders and faults. It checks that a unit
// enters run only from idle, under the order run and without a fault; that every
// transition is in the table; and that no command is answered twice or after its stop.
func randomOrders(t *testing.T, newBody func() Body) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			what  string
			order driver.Order
			ticks int
		}
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				what: rapid.SampledFrom([]string{"order", "order", "order", "break", "repair", "press", "release", "goto", "look", "stop", "starve"}).
					Draw(t, "what"),
				order: rapid.SampledFrom([]driver.Order{driver.ToRun, driver.ToRun, driver.ToIdle, driver.ToStop, driver.ToHalt, driver.ToError,
					driver.ToReset, driver.ToReset}).Draw(t, "order"),
				ticks: rapid.IntRange(0, 40).Draw(t, "ticks"),
			}
		}), 1, 30).Draw(rt, "steps")
		bubble.Test(t, func(t *testing.T) {
			s := newHarness(t, newBody())
			defer s.close()
			drive, head := s.unit(schema.UnitDrive), s.unit(schema.UnitHead)
			order, broken, pressed := driver.ToIdle, false, false
			var keys []uint64
			over := map[uint64]string{} // commands that were answered or stopped
			was := map[string]driver.State{drive: driver.Idle, head: driver.Idle}
			for _, st := range steps {
				s.seen = nil
				stopping := uint64(0)
				switch st.what {
				case "order":
					order = st.order
					s.order(order)
				case "break":
					broken = true
					s.b.Break(head, "broken")
				case "repair":
					broken = false
					s.b.Repair(head)
				case "press", "release":
					pressed = st.what == "press"
					s.b.PressStop("bumper", pressed)
				case "goto":
					keys = append(keys, s.start(drive, far()))
				case "look":
					keys = append(keys, s.start(head, look(1)))
				case "stop":
					if len(keys) > 0 {
						stopping = keys[len(keys)-1]
						s.b.Stop(stopping)
						s.read()
					}
				case "starve":
					time.Sleep(time.Duration(st.ticks) * driver.Tick)
				}
				s.pass(time.Duration(st.ticks) * driver.Tick)
				for _, e := range s.seen {
					switch {
					case e.Kind == driver.Done || e.Kind == driver.Failed:
						if was, ended := over[e.Key]; ended {
							rt.Errorf("command %d was %s and then answered with %+v", e.Key, was, e)
						}
						over[e.Key] = "answered"
					case e.Kind == driver.Unit && (e.Unit == drive || e.Unit == head) && e.State != was[e.Unit]:
						if !isTransition(was[e.Unit], e.State) {
							rt.Errorf("%s went from %s to %s", e.Unit, was[e.Unit], e.State)
						}
						if e.State == driver.Run && (order != driver.ToRun || pressed || broken && e.Unit == head) {
							rt.Errorf("%s runs under the order %s, pressed %v, broken %v", e.Unit, order, pressed, broken)
						}
						was[e.Unit] = e.State
					}
				}
				if stopping != 0 {
					over[stopping] = "stopped"
				}
			}
		})
	})
}

func isTransition(from, to driver.State) bool {
	for _, row := range driver.Table {
		if row.To == to && slices.Contains(row.From, from) {
			return true
		}
	}
	return false
}
