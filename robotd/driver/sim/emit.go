package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
)

func (s *Sim) emit(e driver.Event) {
	if droppable(e) {
		if s.droppables >= eventLimit {
			s.dropOldest()
		}
		s.droppables++
	}
	s.out = append(s.out, e)
}

// droppable reports whether an unread event may be dropped because a newer one
// replaces it, or because nobody hears it in time. Events of stop inputs are never dropped.
func droppable(e driver.Event) bool {
	return e.Kind == driver.Sensed && e.Signal != driver.EStopInput || e.Kind == driver.Heard || e.Kind == driver.Battery || e.Kind == driver.Speed || e.Kind == driver.Position
}

func (s *Sim) dropOldest() {
	for i, e := range s.out {
		if droppable(e) {
			s.out = append(s.out[:i], s.out[i+1:]...)
			s.droppables--
			return
		}
	}
}

func (s *Sim) done(key uint64) { s.emit(driver.Event{Kind: driver.Done, Key: key}) }

func (s *Sim) failed(key uint64, why schema.Reason, detail string) {
	s.emit(driver.Event{Kind: driver.Failed, Key: key, Reason: why, Detail: detail})
}
