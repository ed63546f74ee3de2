package check

import (
	"fmt"
	"math"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

// obeyTicks is how long an adapter may take to obey: its own watchdog, and a little for the
// way.
const obeyTicks = int((bus.Watchdog + 100*time.Millisecond) / bus.TickEvery)

// pass feeds the adapter, or not, for a time, and looks at what it sends.
func (c *checker) pass(d time.Duration) { c.until(d, func() bool { return false }) }

// until passes time until something is so, and reports whether it came to be.
func (c *checker) until(d time.Duration, so func() bool) bool {
	for n := int(d / bus.TickEvery); n > 0; {
		if so() {
			return true
		}
		select {
		case m := <-c.inbox:
			if name, what, ok := bus.FromAdapter(m.Topic); ok && name == c.name {
				c.take(what, m.Payload)
			}
		case <-c.ticker.C:
			n--
			c.tick()
		}
	}
	return so()
}

func (c *checker) tick() {
	c.now++
	c.ordered++
	if c.feeds {
		c.sendTick(0)
	}
	if missing := (c.now - c.stateAt) * int(bus.TickEvery/time.Millisecond); missing > bus.MissedStates*int(c.about.StateMS) {
		c.breaks("states", fmt.Sprintf("no state came for %d ms, its interval is %d ms (a busy computer can be the cause, too)", missing,
			c.about.StateMS))
	}
	if second := c.now / 50; second != c.second {
		c.second, c.got = second, 0
	}
}

func (c *checker) sendTick(qos byte) {
	c.seq++
	c.send(bus.InTick, qos, encode(bus.Tick{V: bus.Version, Seq: c.seq, Order: c.order}))
}

// setOrder orders the units that move.
func (c *checker) setOrder(o bus.Order) {
	if o != c.order {
		c.order, c.ordered = o, 0
	}
	c.sendTick(1)
}

// take looks at a message of the adapter.
func (c *checker) take(what string, payload []byte) {
	if c.got++; c.got > bus.MaxRate {
		c.breaks("rate", fmt.Sprintf("more than %d messages came in a second", bus.MaxRate))
	}
	switch what {
	case bus.OutPresence:
		p, problems := schema.DecodeStrict[bus.Presence](payload)
		if c.wrong(what, problems) || !p.Present {
			return
		}
		c.session = p.Session
	case bus.OutState:
		s, problems := schema.DecodeStrict[bus.State](payload)
		if !c.wrong(what, problems) {
			c.see(&s)
		}
	case bus.OutEvent:
		e, problems := schema.DecodeStrict[bus.Event](payload)
		if c.wrong(what, problems) {
			return
		}
		if e.Session != c.session {
			c.breaks("session", fmt.Sprintf("an event has the session %q, the presence %q", e.Session, c.session))
		}
		c.waited = c.waited || e.Kind == bus.Waits
		if e.Kind == bus.Done || e.Kind == bus.Failed || e.Kind == bus.CalibrationDone {
			c.answered(e)
		}
	default:
		c.breaks("contract", fmt.Sprintf("it publishes on %s, which is no topic of the bus: topics.md has them", bus.Out(c.name, what)))
	}
}

func (c *checker) wrong(what string, problems []schema.Problem) bool {
	errs := schema.Errors(problems)
	if len(errs) > 0 {
		c.breaks("contract", what+" "+errs[0].String())
	}
	return len(errs) > 0
}

func (c *checker) answered(e bus.Event) {
	c.answers[e.Key] = append(c.answers[e.Key], e)
	if len(c.answers[e.Key]) > 1 {
		c.breaks("answers-once", fmt.Sprintf("a start was answered with %s and then with %s", c.answers[e.Key][0].Kind, e.Kind))
	}
	if c.stopped[e.Key] {
		c.breaks("stopped", fmt.Sprintf("a start was stopped and then answered with %s", e.Kind))
	}
}

// see looks at a state.
func (c *checker) see(s *bus.State) {
	if s.Session != c.session {
		c.breaks("session", fmt.Sprintf("a state has the session %q, the presence %q", s.Session, c.session))
	}
	if problems := s.Fits(c.about.Units); len(problems) > 0 {
		rule := "contract"
		if problems[0].Code == bus.CodeWrongUnit {
			rule = "units-of-measure"
		}
		c.breaks(rule, "state "+problems[0].String())
	}
	if was := c.state; was != nil && (s.Seq <= was.Seq || s.TMS < was.TMS) {
		c.breaks("time", fmt.Sprintf("seq %d and t_ms %d came after seq %d and t_ms %d", s.Seq, s.TMS, was.Seq, was.TMS))
	}
	for _, u := range c.about.Units {
		if !u.Kind.Moves() {
			continue
		}
		now, was := s.Units[u.ID], c.previous[u.ID]
		if why := c.unpermitted(u, was, now); why != "" {
			c.breaks("permission", "unit "+u.ID+" "+why)
		}
		if why := c.beyond(u, now); why != "" {
			c.breaks("turns", why)
		}
		c.previous[u.ID] = now
	}
	c.state, c.stateAt = s, c.now
}

// unpermitted returns what a unit does without permission.
func (c *checker) unpermitted(u schema.Unit, was, now bus.UnitState) string {
	late := c.ordered > obeyTicks
	switch {
	case was.State == "" || !late:
		return ""
	case now.State == "run" && was.State != "run" && c.order != bus.OrderRun:
		return fmt.Sprintf("went from %s to run under the order %s", was.State, c.order)
	case was.State == "error" && now.State != "error" && c.order != bus.OrderReset:
		return fmt.Sprintf("left error under the order %s", c.order)
	case u.Kind == schema.UnitDrive && now.State != "run" && (value(now.SetVXMPS) != 0 || value(now.SetWZRadPS) != 0):
		return fmt.Sprintf("has a set-point of %g m/s and %g rad/s in the state %s", value(now.SetVXMPS), value(now.SetWZRadPS), now.State)
	}
	return ""
}

func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// calm brings the adapter to idle, fed, with nothing running.
func (c *checker) calm() {
	c.feeds = true
	if c.order != bus.OrderIdle {
		c.setOrder(bus.OrderIdle)
	}
	c.until(3*time.Second, func() bool { return c.all("idle", "error") && !c.isMoving() })
	if c.all("idle") {
		return
	}
	c.setOrder(bus.OrderReset)
	c.until(5*time.Second, func() bool { return c.all("idle") })
	c.setOrder(bus.OrderIdle)
	c.pass(bus.TickEvery * 2)
}

// enable brings what moves to run. It returns why it is not so.
func (c *checker) enable() string {
	c.setOrder(bus.OrderRun)
	if !c.until(time.Second, func() bool { return c.all("run") }) {
		return "under the order run a unit is in " + c.others("run")
	}
	return ""
}

// all reports whether every unit that moves is in one of these states.
func (c *checker) all(states ...string) bool { return c.others(states...) == "" }

// others names a unit that moves in another state.
func (c *checker) others(states ...string) string {
	if c.state == nil {
		return "an unknown state"
	}
	for _, u := range c.about.Units {
		now := c.state.Units[u.ID]
		found := !u.Kind.Moves()
		for _, s := range states {
			found = found || now.State == s
		}
		if !found {
			if now.Fault != "" {
				return fmt.Sprintf("%s (%s: %s)", now.State, u.ID, now.Fault)
			}
			return now.State + " (" + u.ID + ")"
		}
	}
	return ""
}

// drive returns the state of the first drive.
func (c *checker) drive() (u schema.Unit, now bus.UnitState, ok bool) {
	for _, u := range c.about.Units {
		if u.Kind == schema.UnitDrive && c.state != nil {
			return u, c.state.Units[u.ID], true
		}
	}
	return u, now, false
}

// isMoving reports whether the drive moves, or is to move.
func (c *checker) isMoving() bool {
	_, now, ok := c.drive()
	return ok && math.Abs(value(now.VXMPS))+math.Abs(value(now.WZRadPS))+math.Abs(value(now.SetVXMPS))+math.Abs(value(now.SetWZRadPS)) > 0
}

// start begins an action.
func (c *checker) start(unit string, holds bool, text string, do score.Action) uint64 {
	c.key++
	c.sendStart(c.key, unit, holds, text, do)
	return c.key
}

func (c *checker) sendStart(key uint64, unit string, holds bool, text string, do score.Action) {
	c.send(bus.InStart, 1, encode(bus.Start{V: bus.Version, Key: key, Unit: unit, Holds: holds, Text: text, Do: &do}))
}

func (c *checker) stop(key uint64) { c.send(bus.InStop, 1, encode(bus.Stop{V: bus.Version, Key: key})) }

// answer waits for the answer to a start.
func (c *checker) answer(key uint64, limit time.Duration) (bus.Event, bool) {
	if !c.until(limit, func() bool { return len(c.answers[key]) > 0 }) {
		return bus.Event{}, false
	}
	return c.answers[key][0], true
}

func (c *checker) velocity(share float64, ttl time.Duration) {
	u, _, _ := c.drive()
	mps, _ := u.Speeds()
	c.send(bus.InVelocity, 0, encode(bus.Velocity{V: bus.Version, Unit: u.ID, VXMPS: share * mps, TTLMS: ttl.Milliseconds()}))
}

// driveOn drives manually for a time.
func (c *checker) driveOn(share float64, d time.Duration) {
	for ; d > 0; d -= bus.TickEvery {
		c.velocity(share, 400*time.Millisecond)
		c.pass(bus.TickEvery)
	}
}
