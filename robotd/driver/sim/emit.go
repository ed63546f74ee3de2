package sim

import (
	"troupe/robotd/driver"
	"troupe/schema"
)

func (s *Sim) emit(e driver.Event) { s.out.Push(e) }

func (s *Sim) done(key uint64) { s.emit(driver.Event{Kind: driver.Done, Key: key}) }

func (s *Sim) failed(key uint64, why schema.Reason, detail string) {
	s.emit(driver.Event{Kind: driver.Failed, Key: key, Reason: why, Detail: detail})
}
