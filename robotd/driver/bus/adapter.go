package bus

import (
	"fmt"
	"slices"
	"strings"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// adapter is one adapter with its units.
type adapter struct {
	name    string
	watch   watch
	units   []*unit
	problem string       // with its newest message that was refused, until it is good or gone
	sent    driver.Order // the order that it got last
	ordered int          // ticks since then
	unsent  bool         // the order could not be sent
	latest  bus.State    // before the body was open
	strayed bool         // it was logged that the adapter publishes on a topic that is none of the bus
	// inputs are its stop inputs that are pressed; false = not reported since the adapter was lost.
	inputs map[string]bool
	works  int // ticks since it was last lost or wrong
}

// unit is what is known of one unit.
type unit struct {
	about      schema.Unit
	reported   driver.State // by the adapter; empty since it was lost
	fault      string
	untilReset bool // it moves, and its adapter was lost or wrong: it stays in error until a reset
	shown      driver.Event

	level    float64 // battery
	charging bool
	celsius  float64
	moves    bool // the drive was reported to move
	since    int  // ticks at which its speed or its angles were reported
	angles   [3]float64
	measured bool // something that it measures was reported
}

func newAdapter(name string) *adapter {
	return &adapter{name: name, watch: watch{health: absent, detail: "the adapter is not there: start the adapter"}, sent: driver.ToIdle,
		inputs: map[string]bool{}}
}

// unitIDs are the ids of its units, for the log.
func (a *adapter) unitIDs() string {
	var ids []string
	if d := a.watch.described; d != nil {
		for _, u := range d.Units {
			ids = append(ids, u.ID)
		}
	}
	return strings.Join(ids, ",")
}

func (b *Bus) adapter(name string) *adapter {
	return b.adapters[slices.IndexFunc(b.adapters, func(a *adapter) bool { return a.name == name })]
}

// take takes a message of an adapter.
func (b *Bus) take(a *adapter, what string, payload []byte) {
	switch what {
	case bus.OutPresence:
		p, problems := decode[bus.Presence](payload)
		if b.refuses(a, what, problems) {
			return
		}
		on, why := a.watch.onPresence(&p)
		if on == left || on == timedOut || on == replaced {
			a.loseInputs()
		}
		b.judge(a, on, why)
		if p.Present {
			b.send(a) // it may know no order yet
		}
	case bus.OutState:
		s, problems := decode[bus.State](payload)
		if b.refuses(a, what, problems) {
			return
		}
		ok, on, why := a.watch.onSession(s.Session)
		if ok {
			if a.watch.missing > a.watch.maxMissing() {
				a.ordered = 0 // it hung, and may not have read the order yet
			}
			ok, on, why = a.watch.onState(&s)
		}
		if on != nothing && on != seen {
			a.problem = "state: " + why
		}
		if ok && !b.isReady {
			a.latest = s
		}
		if b.judge(a, on, why); ok {
			b.reported(a, &s)
			b.showAll(a)
		}
	case bus.OutEvent:
		e, problems := decode[bus.Event](payload)
		if b.refuses(a, what, problems) {
			return
		}
		ok, on, why := a.watch.onSession(e.Session)
		if b.judge(a, on, why); ok {
			b.happened(a, &e)
		}
	default:
		if !a.strayed {
			a.strayed = true
			b.log.Warn("adapter publishes on a topic that is none of the bus, which is ignored", "adapter", a.name, "topic", bus.Out(a.name, what))
		}
	}
}

func decode[T any](payload []byte) (T, []schema.Problem) {
	v, problems := schema.DecodeStrict[T](payload)
	return v, schema.Errors(problems)
}

// refuses judges a message that is not of the contract.
func (b *Bus) refuses(a *adapter, what string, problems []schema.Problem) bool {
	if len(problems) == 0 {
		return false
	}
	a.problem = what + " " + problems[0].String()
	b.judge(a, observationOf(problems[0]), a.problem)
	return true
}

// judge applies an observation to an adapter and does what follows from its new health.
func (b *Bus) judge(a *adapter, on observation, what string) {
	from := a.watch.health
	if !a.watch.step(on, what) {
		return
	}
	if a.watch.health == good || on == left || on == timedOut || on == cutOff {
		a.problem = ""
	}
	if a.watch.health == good {
		if from == absent {
			b.log.Info("adapter is there", "adapter", a.name)
		} else {
			b.log.Info("adapter works again; its moving units can be used after a reset", "adapter", a.name, "units", a.unitIDs(), "was",
				string(from))
		}
		b.checkReady()
	} else {
		b.log.Warn("adapter misbehaves or is gone; its units are in error", "adapter", a.name, "units", a.unitIDs(), "health",
			string(a.watch.health), "why", a.watch.detail)
		for _, u := range a.units {
			u.untilReset, u.reported = u.about.Kind.Moves(), ""
		}
		b.failAll(a, schema.ReasonUnitError, a.watch.detail)
		b.endPartOf(a, a.watch.detail)
	}
	b.send(a)
	b.publishHealth(a)
	b.showAll(a)
}

// busLost is called when the bus cannot be reached.
func (b *Bus) busLost() {
	clear(b.unused)
	for _, a := range b.adapters {
		a.watch.present = false
		a.loseInputs()
		b.judge(a, cutOff, "")
	}
}

// otherPresence notes an adapter that is not one of the body's: robotd orders it nothing, so
// that its units do nothing.
func (b *Bus) otherPresence(name string, payload []byte) {
	delete(b.unused, name)
	p, problems := decode[bus.Presence](payload)
	if len(problems) > 0 || !p.Present || len(b.unused) >= inboxLimit {
		return
	}
	b.unused[name] = true
	b.publishUnused(name)
}

// rivalOf returns which other adapter of the body serves a unit of an adapter.
func (b *Bus) rivalOf(a *adapter) string {
	mine := func(id string) bool {
		return slices.ContainsFunc(a.units, func(u *unit) bool { return u.about.ID == id })
	}
	for _, other := range b.adapters {
		if other == a || !other.watch.present || other.watch.newest == nil {
			continue
		}
		for _, u := range other.watch.newest.Units {
			if mine(u.ID) {
				return fmt.Sprintf("adapter %s has the unit %s too", other.name, u.ID)
			}
		}
	}
	return ""
}

// checkReady opens the body when every adapter has been good.
func (b *Bus) checkReady() {
	if b.isReady || slices.ContainsFunc(b.adapters, func(a *adapter) bool { return a.watch.health != good }) || b.refused() != "" {
		return
	}
	body := driver.Body{Driver: "bus"}
	var models []string
	for _, a := range b.adapters {
		d := a.watch.described
		a.watch.fixed = true
		models = append(models, d.Model)
		body.Serial, body.Hardware = first(body.Serial, d.Serial), first(body.Hardware, d.Hardware)
		body.Units = append(body.Units, d.Units...)
		body.Points = append(body.Points, d.Points...)
		body.Homing = append(body.Homing, d.Homing...)
		for _, l := range d.Languages {
			if !slices.Contains(body.Languages, l) {
				body.Languages = append(body.Languages, l)
			}
		}
		for _, u := range d.Units {
			a.units = append(a.units, &unit{about: u})
		}
	}
	body.Model = strings.Join(slices.Compact(models), "+")
	slices.Sort(body.Points)
	b.body, b.isReady = body, true
	for _, a := range b.adapters {
		b.send(a)
		b.reported(a, &a.latest)
		b.showAll(a)
	}
	close(b.ready)
}

// refused returns why the units of these adapters do not fit together; empty = they do.
func (b *Bus) refused() string {
	has := map[string]string{}
	for _, a := range b.adapters {
		for _, u := range a.watch.described.Units {
			if has[u.ID] != "" {
				return fmt.Sprintf("unit %s is served by the adapters %s and %s: leave one of them out, or rename the unit", u.ID, has[u.ID], a.name)
			}
			has[u.ID] = a.name
		}
	}
	return ""
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
