package sim

import (
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// mover is the state of a unit that moves.
type mover struct {
	id     string
	state  driver.State
	since  time.Duration // in the state, and standing
	homed  bool
	fault  string // what is wrong now, worst first of what follows; as it was told
	broken string
	input  bool // a stop input is pressed
	unfed  bool // nobody fed it while it moved, and nobody has since
}

func (m *mover) wrong() string {
	switch {
	case m.broken != "":
		return m.broken
	case m.input:
		return "a stop input is pressed"
	case m.unfed:
		return "nobody fed it while it moved"
	}
	return ""
}

// unsettled reports whether time alone may change the unit's state.
func (m *mover) unsettled(o driver.Order) bool {
	switch m.state {
	case driver.Run:
		return true // the watchdog
	case driver.Halt:
		return true
	case driver.Error:
		return o == driver.ToReset && m.fault == "" || m.unfed
	}
	return false
}

// ordered takes an order; it stays in force.
func (s *Sim) ordered(o driver.Order) {
	s.order = o
	for i := range s.movers {
		m := &s.movers[i]
		switch o {
		case driver.ToRun:
			if m.state == driver.Idle {
				s.happen(m, driver.Enabled)
			}
		case driver.ToHalt:
			if m.state == driver.Run {
				s.happen(m, driver.Halted)
			}
		case driver.ToError:
			if m.state != driver.Error {
				s.happen(m, driver.Faulted)
			}
		case driver.ToReset: // when it has settled
		case driver.ToIdle, driver.ToStop:
			if m.state == driver.Run {
				s.giveUp(m.id, schema.ReasonStopped, "ordered to stand still")
			}
		default:
			s.happen(m, driver.Faulted) // an order that nobody knows is no permission
		}
	}
	s.settle(0)
}

// settle takes the edges that wait for a unit to stand or for time to pass.
func (s *Sim) settle(dt time.Duration) {
	for i := range s.movers {
		m := &s.movers[i]
		if s.stands(m.id) {
			m.since += dt
		} else {
			m.since = 0
		}
		switch {
		case m.state == driver.Run && (s.order == driver.ToIdle || s.order == driver.ToStop) && s.stands(m.id):
			s.happen(m, driver.AtRest)
		case m.state == driver.Halt && m.since >= holdTime:
			s.happen(m, driver.Settled)
		case m.state == driver.Error && s.order == driver.ToReset && m.fault == "" && m.since >= settling:
			s.happen(m, driver.Cleared)
		}
	}
}

// watch is the watchdog: nothing moves for a robotd that has gone silent.
func (s *Sim) watch() {
	if s.velocity != nil {
		if s.velocity.TTL -= driver.Tick; s.velocity.TTL < 0 {
			s.velocity = nil
		}
	}
	if s.fed.Swap(false) {
		s.unfed = 0
		for i := range s.movers {
			s.movers[i].unfed = false
			s.judge(&s.movers[i])
		}
		return
	}
	if !s.moving() {
		s.unfed = 0
		return
	}
	if s.unfed++; s.unfed <= driver.WatchdogTicks {
		return
	}
	for i := range s.movers {
		if m := &s.movers[i]; m.state == driver.Run && !s.stands(m.id) {
			m.unfed = true
			m.fault = m.wrong()
			s.happen(m, driver.Unfed)
		}
	}
}

// happen takes an edge of the table; what is not listed does not happen.
func (s *Sim) happen(m *mover, on driver.Happening) {
	row, ok := driver.Table.Next(m.state, on)
	if !ok {
		return
	}
	why := schema.ReasonStopped
	if on == driver.Faulted && m.fault != "" || on == driver.Unfed {
		why = schema.ReasonUnitError
	}
	m.state, m.since = row.To, 0
	if row.To != driver.Run {
		s.giveUp(m.id, why, row.Why)
	}
	s.tellMover(m)
}

// judge looks anew at what is wrong with a unit, after something of it changed.
func (s *Sim) judge(m *mover) {
	if m.fault == m.wrong() {
		return
	}
	m.fault = m.wrong()
	if m.fault != "" && m.state != driver.Error {
		s.happen(m, driver.Faulted)
		return
	}
	s.tellMover(m)
}

func (s *Sim) tellMover(m *mover) {
	s.tell(driver.Event{Kind: driver.Unit, Unit: m.id, State: m.state, Detail: m.fault})
}

// stands reports whether a unit does not move.
func (s *Sim) stands(id string) bool {
	if id == drive {
		return s.v == 0 && s.w == 0
	}
	return !s.gaze.turning
}

func (s *Sim) moving() bool { return !s.stands(drive) || !s.stands(head) }

// giveUp ends what a unit was told to do.
func (s *Sim) giveUp(id string, why schema.Reason, detail string) {
	switch id {
	case drive:
		s.velocity = nil
		if s.trip != nil {
			s.failed(s.trip.key, why, detail)
			s.trip = nil
		}
	case head:
		s.gaze.on = false
		if s.gaze.key != 0 {
			s.failed(s.gaze.key, why, detail)
			s.gaze.key = 0
		}
	}
}

// mayMove answers why a unit takes no command now.
func (s *Sim) mayMove(m *mover) (schema.Reason, string) {
	switch {
	case m.state == driver.Error && m.fault != "":
		return schema.ReasonUnitError, m.fault
	case m.state != driver.Run || s.order != driver.ToRun:
		return schema.ReasonSafetyDisabled, "the " + m.id + " is not enabled"
	case !m.homed:
		return schema.ReasonNotCalibrated, "the " + m.id + " was never homed"
	}
	return "", ""
}
