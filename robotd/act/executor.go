package act

import (
	"fmt"
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Limits bound waits and queues.
type Limits struct {
	DeferWarn time.Duration // a warning is emitted for an action that waits longer
	Wait      time.Duration // an action that waits longer for its unit or the gate fails its act
	Detached  time.Duration // how long a unit may go on after the other actions of its act have ended
	MaxStep   time.Duration // acts advance by at most this much in one tick
	Queue     int           // longest queue of a lane
}

// Defaults returns the usual limits.
func Defaults() Limits {
	return Limits{DeferWarn: 2 * time.Second, Wait: 10 * time.Second, Detached: 30 * time.Second, MaxStep: time.Second, Queue: 32}
}

// Config lists the units and lanes.
type Config struct {
	Units  []schema.Unit // an action that names none uses the first that performs it
	Lanes  []LaneConfig  // highest priority first
	Limits Limits
}

// Executor performs acts. Initially its gate lets nothing move.
type Executor struct {
	limits Limits
	body   []schema.Unit // read-only
	units  []unit
	lanes  []lane
	gate   Gate
	tick   uint64
	key    uint64
	out    []Effect // results of the current call
}

// New returns an executor with empty lanes.
func New(c Config) *Executor {
	x := &Executor{limits: c.Limits, body: c.Units, gate: Gate{Moves: schema.ReasonSafetyDisabled}}
	for _, u := range c.Units {
		x.units = append(x.units, unit{id: u.ID, kind: u.Kind, owner: nobody})
	}
	for _, l := range c.Lanes {
		x.lanes = append(x.lanes, lane{LaneConfig: l})
	}
	return x
}

// Check returns why this robot cannot perform a, or nil.
func (x *Executor) Check(a *score.Act) *Refusal {
	_, r := x.compile(Entry{Act: a})
	return r
}

// Push appends an entry to a lane's queue; it begins with a later tick. A refused
// entry changes nothing, even with Clear.
func (x *Executor) Push(to Lane, e Entry, out []Effect) ([]Effect, *Refusal) {
	l := x.lane(to)
	if l == nil {
		return out, &Refusal{Reason: schema.ReasonInternal, Detail: fmt.Sprintf("there is no lane %q", to)}
	}
	p, r := x.compile(e)
	if r != nil {
		return out, r
	}
	if len(l.queue) >= x.limits.Queue && !e.Clear {
		return out, &Refusal{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d acts are queued already", len(l.queue))}
	}
	if e.Clear {
		out = x.Cancel(to, "", schema.ReasonSuperseded, out)
	}
	l.queue = append(l.queue, p)
	return out, nil
}

// Tick advances every lane to now, at any interval. No ticks are needed while
// every lane is idle or paused.
func (x *Executor) Tick(now time.Duration, out []Effect) []Effect {
	x.out = out
	x.tick++
	for i := range x.lanes {
		if p := x.lanes[i].current; p != nil {
			x.flush(p)
		}
	}
	for i := range x.lanes {
		x.perform(i, now)
	}
	return x.takeOut()
}

// Reported processes a unit's report on a command: it is done if why is empty, and
// failed otherwise. The report takes effect with the next tick, at the instant of
// the report. Reported returns false if the command was stopped or reported before.
func (x *Executor) Reported(key uint64, why schema.Reason, detail string, now time.Duration) bool {
	for li := range x.lanes {
		l := &x.lanes[li]
		if l.current == nil || key == 0 {
			continue
		}
		for i := range l.current.runs {
			r := &l.current.runs[i]
			if r.key != key {
				continue
			}
			if why == "" && l.current.nodes[i].rest > 0 {
				return true // a unit that calls a velocity done may still move: only a stop ends it
			}
			x.dropKey(l.current, i)
			r.stopNextTick = false
			r.report, r.reason, r.detail = succeeded, why, detail
			if why != "" {
				r.report = failed
			}
			r.reportIn = 0
			if !l.paused {
				r.reportIn = max(0, now-l.at)
			}
			return true
		}
	}
	return false
}

// Pause freezes a lane: its clocks stop, its units are stopped and become free for
// other lanes. With AfterAct an entry with FinishBeforePause ends first.
func (x *Executor) Pause(of Lane, how Pausing, now time.Duration, out []Effect) []Effect {
	l := x.lane(of)
	if l == nil || l.paused {
		return out
	}
	if how == AfterAct && l.current != nil && l.current.FinishBeforePause {
		l.finishing = true
		return out
	}
	x.out = out
	l.paused, l.finishing, l.lag = true, false, 0
	if p := l.current; p != nil {
		l.lag = max(0, now-l.at)
		for i := range p.nodes {
			x.suspend(p, i)
		}
	}
	return x.takeOut()
}

// Resume continues a lane with the next tick, from where it was paused.
func (x *Executor) Resume(of Lane, now time.Duration) {
	l := x.lane(of)
	if l == nil {
		return
	}
	if l.paused {
		l.at = max(0, now-l.lag)
	}
	l.paused, l.finishing = false, false
}

// Cancel ends an entry of a lane, or all entries if the id is empty, and stops its
// units.
func (x *Executor) Cancel(of Lane, entry string, why schema.Reason, out []Effect) []Effect {
	l := x.lane(of)
	if l == nil {
		return out
	}
	x.out = out
	if p := l.current; p != nil && (entry == "" || p.ID == entry) {
		for i := range p.runs {
			if s := p.runs[i].stage; s == Pending || s == Deferred || s == Executing || s == Suspended {
				p.runs[i].stage = s.next(Cancel)
			}
		}
		x.end(l, Effect{Outcome: EntryCancelled, Reason: why})
	}
	l.queue = slices.DeleteFunc(l.queue, func(p *performance) bool {
		gone := entry == "" || p.ID == entry
		if gone {
			x.emit(l, p, Effect{Kind: Ended, Outcome: EntryCancelled, Reason: why})
		}
		return gone
	})
	return x.takeOut()
}

// Gate sets which units may be used from now on. Running actions on the others are
// stopped at once and continue when the gate opens. If they must not, the caller
// pauses or cancels the lanes before it opens the gate.
func (x *Executor) Gate(g Gate, out []Effect) []Effect {
	x.out, x.gate = out, g
	for li := range x.lanes {
		l := &x.lanes[li]
		for i := 0; l.current != nil && i < len(l.current.nodes); i++ {
			u := l.current.nodes[i].unit
			if u == none || l.current.runs[i].key == 0 {
				continue
			}
			if g.blocks(l.Lane, x.units[u].kind) != "" {
				x.suspend(l.current, i)
			}
		}
	}
	return x.takeOut()
}

// SetUnitDisabled disables a unit for all acts and says why, or enables it again if why is
// empty; acts that are using it fail.
func (x *Executor) SetUnitDisabled(id, why string, out []Effect) []Effect {
	x.out = out
	disabled := why != ""
	for u := range x.units {
		if x.units[u].id != id {
			continue
		}
		x.units[u].disabled = disabled
		for li := range x.lanes {
			l := &x.lanes[li]
			for i := 0; disabled && l.current != nil && i < len(l.current.nodes); i++ {
				if l.current.nodes[i].unit == u && l.current.runs[i].stage == Executing {
					x.fail(l, i, schema.ReasonDeviceDisabled, "the "+id+" cannot be used: "+why)
				}
			}
		}
	}
	return x.takeOut()
}

// UnitDisabled reports whether a unit is disabled.
func (x *Executor) UnitDisabled(id string) bool {
	return slices.ContainsFunc(x.units, func(u unit) bool { return u.id == id && u.disabled })
}

func (x *Executor) lane(name Lane) *lane {
	for i := range x.lanes {
		if x.lanes[i].Lane == name {
			return &x.lanes[i]
		}
	}
	return nil
}

// takeOut returns the results of the current call.
func (x *Executor) takeOut() []Effect {
	out := x.out
	x.out = nil
	return out
}
