package drivertest

import (
	"testing"
	"testing/synctest"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// harness is an open body with a simulated robotd that feeds it and reads its events.
type harness struct {
	t      *testing.T
	b      Body
	key    uint64
	states map[string]driver.State
	faults map[string]string
	seen   []driver.Event
	closed bool
}

func newHarness(t *testing.T, b Body) *harness {
	s := &harness{t: t, b: b, states: map[string]driver.State{}, faults: map[string]string{}}
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.read()
	return s
}

func (s *harness) close() {
	if err := s.b.Close(); err != nil {
		s.t.Error(err)
	}
}

// read takes all pending events.
func (s *harness) read() {
	for {
		synctest.Wait()
		select {
		case e, open := <-s.b.Events():
			if !open {
				s.closed = true
				return
			}
			if e.Kind == driver.Unit {
				s.states[e.Unit], s.faults[e.Unit] = e.State, e.Detail
			}
			s.seen = append(s.seen, e)
		default:
			return
		}
	}
}

// pass feeds the body for d.
func (s *harness) pass(d time.Duration) {
	for ; d > 0; d -= driver.Tick {
		s.b.Feed()
		time.Sleep(driver.Tick)
		s.read()
	}
}

func (s *harness) unit(k schema.UnitKind) string {
	s.t.Helper()
	for _, u := range s.b.Body().Units {
		if u.Kind == k {
			return u.ID
		}
	}
	s.t.Fatalf("the body under test has no %s", k)
	return ""
}

func (s *harness) order(o driver.Order) {
	s.b.Order(o)
	s.read()
}

func (s *harness) start(unit string, do score.Action) uint64 {
	s.key++
	s.b.Start(driver.Command{Key: s.key, Unit: unit, Do: &do, Text: do.Text().In("en"), Holds: do.EndMS != nil || do.TimeoutMS != nil})
	s.read()
	return s.key
}

// answers returns the answers to a command so far.
func (s *harness) answers(key uint64) []driver.Event {
	var list []driver.Event
	for _, e := range s.seen {
		if e.Key == key && (e.Kind == driver.Done || e.Kind == driver.Failed) {
			list = append(list, e)
		}
	}
	return list
}

func (s *harness) wantAnswer(key uint64, k driver.Kind, why schema.Reason) {
	s.t.Helper()
	got := s.answers(key)
	if len(got) != 1 || got[0].Kind != k || got[0].Reason != why {
		s.t.Errorf("command %d was answered with %+v, want one %s %s", key, got, k, why)
	}
}

func (s *harness) wantState(unit string, want driver.State) {
	s.t.Helper()
	if got := s.states[unit]; got != want {
		s.t.Errorf("the %s is in %s, want %s", unit, got, want)
	}
}

func far() score.Action { return place(5) }

// place returns a goto to the point (x, x), in metres on the map.
func place(x float64) score.Action {
	limit := int64(60_000)
	return score.Action{TimeoutMS: &limit, Do: score.Goto{XM: &x, YM: &x}}
}

func look(yaw float64) score.Action {
	limit := int64(10_000)
	return score.Action{TimeoutMS: &limit, Do: score.Head{Axes: score.Axes{YawRad: &yaw}}}
}

func hello() score.Action {
	limit := int64(10_000)
	return score.Action{TimeoutMS: &limit, Do: score.Say{Text: score.Text{"en": "hello, hello, hello"}}}
}
