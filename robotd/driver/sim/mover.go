package sim

import (
	"slices"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// mover is the state of a unit that moves.
type mover struct {
	id         string
	state      driver.State
	since      time.Duration // how long it has stood still in this state
	homed      bool
	fault      string // the fault in the last report: the worst of the following
	broken     string
	input      bool // a stop input is pressed
	unfed      bool // it was not fed while it moved, and neither stands nor has been fed since
	obstructed bool // it halted before an obstacle that is still there
	heat       heat
	gaze       gaze // of a head
}

// mover returns the unit of that id.
func (s *Sim) mover(id string) *mover {
	i := slices.IndexFunc(s.movers, func(m mover) bool { return m.id == id })
	return &s.movers[i]
}

// heads returns the movers that are heads.
func (s *Sim) heads() []mover { return s.movers[1:] }

func (m *mover) presentFault() string {
	switch {
	case m.broken != "":
		return m.broken
	case m.input:
		return "a stop input is pressed"
	case m.unfed:
		return "robotd did not feed it while it moved"
	case m.obstructed:
		return inTheWay
	}
	return ""
}

// awaitsTime reports whether time alone may change the unit's state.
func (m *mover) awaitsTime(o driver.Order) bool {
	switch m.state {
	case driver.Run:
		return true // by the watchdog
	case driver.Halt:
		return true
	case driver.Error:
		return o == driver.ToReset && m.fault == "" || m.unfed
	}
	return false
}

// applyOrder takes an order, which stays in force.
func (s *Sim) applyOrder(o driver.Order) {
	s.order = o
	for i := range s.movers {
		m := &s.movers[i]
		switch o {
		case driver.ToRun:
			if m.state == driver.Idle {
				s.trigger(m, driver.Enabled)
			}
		case driver.ToHalt:
			if m.state == driver.Run {
				s.trigger(m, driver.Halted)
			}
		case driver.ToError:
			if m.state != driver.Error {
				s.trigger(m, driver.Faulted)
			}
		case driver.ToReset: // takeDue clears the error after the settling time
		case driver.ToIdle, driver.ToStop:
			if m.state == driver.Run {
				s.abort(m.id, schema.ReasonStopped, "ordered to stand still")
			}
		default:
			s.trigger(m, driver.Faulted) // an unknown order grants no permission
		}
	}
	s.takeDue(0)
}

// takeDue takes the transitions that wait for a standstill or for time to pass.
func (s *Sim) takeDue(dt time.Duration) {
	for i := range s.movers {
		m := &s.movers[i]
		if s.atRest(m.id) {
			m.since += dt
		} else {
			m.since = 0
		}
		switch {
		case m.state == driver.Run && (s.order == driver.ToIdle || s.order == driver.ToStop) && s.atRest(m.id):
			s.trigger(m, driver.AtRest)
		case m.state == driver.Halt && m.since >= holdTime:
			s.trigger(m, driver.Settled)
		case m.state == driver.Error && s.order == driver.ToReset && m.fault == "" && m.since >= settling:
			s.trigger(m, driver.Cleared)
		}
	}
}

// checkWatchdog puts moving units into error if robotd has stopped feeding the body.
func (s *Sim) checkWatchdog() {
	if s.velocity != nil {
		if s.velocity.TTL -= driver.Tick; s.velocity.TTL < 0 {
			s.velocity = nil
		}
	}
	// At standstill there is nothing to feed, and robotd feeds no unit in error: the cause is gone.
	if s.fed.Swap(false) || !s.moving() {
		s.unfed = 0
		for i := range s.movers {
			s.movers[i].unfed = false
			s.updateFault(&s.movers[i])
		}
		return
	}
	if s.unfed++; s.unfed <= driver.WatchdogTicks {
		return
	}
	for i := range s.movers {
		if m := &s.movers[i]; m.state == driver.Run && !s.atRest(m.id) {
			m.unfed = true
			m.fault = m.presentFault()
			s.trigger(m, driver.Unfed)
		}
	}
}

// trigger makes the transition of the table, if the table has one.
func (s *Sim) trigger(m *mover, on driver.Trigger) {
	row, ok := driver.Table.Next(m.state, on)
	if !ok {
		return
	}
	why := schema.ReasonStopped
	if on == driver.Faulted && m.fault != "" || on == driver.Unfed {
		why = schema.ReasonUnitError
	} else if on == driver.Halted && m.obstructed {
		why = schema.ReasonObstructed
	}
	m.state, m.since = row.To, 0
	if row.To != driver.Run {
		s.abort(m.id, why, row.Why)
	}
	s.emitUnit(m)
}

// updateFault recomputes the fault of a unit and reports it if it changed.
func (s *Sim) updateFault(m *mover) {
	if m.fault == m.presentFault() {
		return
	}
	m.fault = m.presentFault()
	if m.fault != "" && m.state != driver.Error {
		s.trigger(m, driver.Faulted)
		return
	}
	s.emitUnit(m)
}

func (s *Sim) emitUnit(m *mover) {
	s.emit(driver.Event{Kind: driver.Unit, Unit: m.id, State: m.state, Detail: m.fault})
}

// atRest reports whether a unit does not move.
func (s *Sim) atRest(id string) bool {
	if id == drive {
		return s.v == 0 && s.w == 0 && !s.pose.moving
	}
	return !s.mover(id).gaze.turning
}

func (s *Sim) moving() bool {
	return slices.ContainsFunc(s.movers, func(m mover) bool { return !s.atRest(m.id) })
}

// abort fails the command that a unit is carrying out.
func (s *Sim) abort(id string, why schema.Reason, detail string) {
	if id == drive {
		s.velocity = nil
		if s.trip != nil {
			s.failed(s.trip.key, why, detail)
			s.trip = nil
		}
		s.abortCruise(why, detail)
		s.abortPose(why, detail)
		return
	}
	g := &s.mover(id).gaze
	if g.key != 0 {
		s.failed(g.key, why, detail)
	}
	g.rest()
}

// motionRefusal returns why a unit takes no command now, or an empty reason.
func (s *Sim) motionRefusal(m *mover) (schema.Reason, string) {
	switch {
	case m.state == driver.Error && m.fault != "":
		return schema.ReasonUnitError, m.fault
	case m.state != driver.Run || s.order != driver.ToRun:
		return schema.ReasonSafetyDisabled, "the " + m.id + " is not enabled; safety/enable lets it move"
	case !m.homed:
		return schema.ReasonNotCalibrated, "the " + m.id + " has not been homed"
	}
	return "", ""
}
