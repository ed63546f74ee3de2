package act

import (
	"fmt"
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Limits bound what would otherwise last for ever.
type Limits struct {
	DeferWarn time.Duration // an action that waits longer is warned of
	Wait      time.Duration // an action that waits longer for its unit or the gate fails its act
	Loose     time.Duration // what a unit still does when its act is through is cut off after this
	Late      time.Duration // a tick that comes later moves the acts by no more than this
	Queue     int           // entries that may wait in a lane
}

// Defaults returns the usual limits.
func Defaults() Limits {
	return Limits{DeferWarn: 2 * time.Second, Wait: 10 * time.Second, Loose: 30 * time.Second, Late: time.Second, Queue: 32}
}

// Config is the body and its occupants.
type Config struct {
	Units  []schema.Unit // of each kind, the first is used
	Lanes  []LaneConfig  // highest priority first
	Limits Limits
}

// Executor performs acts. It begins with the gate closed.
type Executor struct {
	limits Limits
	units  []unit
	lanes  []lane
	gate   Gate
	tick   uint64
	key    uint64
	out    []Out // of the call that runs now
}

// New returns an executor without anything to perform.
func New(c Config) *Executor {
	x := &Executor{limits: c.Limits, gate: Gate{Moves: schema.ReasonSafetyDisabled}}
	for _, u := range c.Units {
		x.units = append(x.units, unit{id: u.ID, kind: u.Kind, owner: nobody})
	}
	for _, l := range c.Lanes {
		x.lanes = append(x.lanes, lane{LaneConfig: l})
	}
	return x
}

// Check answers whether this body could perform a, without performing it.
func (x *Executor) Check(a *score.Act) *Refusal {
	_, r := x.compile(Entry{Act: a})
	return r
}

// Push puts an entry into a lane's queue; it begins with a later tick. A refused
// entry changed nothing, not even with Clear.
func (x *Executor) Push(to Lane, e Entry, out []Out) ([]Out, *Refusal) {
	l := x.lane(to)
	if l == nil {
		return out, &Refusal{Reason: schema.ReasonInternal, Detail: fmt.Sprintf("there is no lane %q", to)}
	}
	p, r := x.compile(e)
	if r != nil {
		return out, r
	}
	if len(l.queue) >= x.limits.Queue && !e.Clear {
		return out, &Refusal{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d acts wait already", len(l.queue))}
	}
	if e.Clear {
		out = x.Cancel(to, "", schema.ReasonSuperseded, out)
	}
	l.queue = append(l.queue, p)
	return out, nil
}

// Tick performs every lane up to now. Any interval will do; while every lane is
// idle or paused there is no need for any.
func (x *Executor) Tick(now time.Duration, out []Out) []Out {
	x.out = out
	x.tick++
	for i := range x.lanes {
		if p := x.lanes[i].now; p != nil {
			x.flush(p)
		}
	}
	for i := range x.lanes {
		x.perform(i, now)
	}
	return x.give()
}

// Done is a unit's report on a command: reason empty = done, else it failed. It
// takes effect with the next tick, at the instant of the report. It answers
// whether anybody waits for it: reports on commands that were stopped, and
// second reports, are of no interest any more.
func (x *Executor) Done(key uint64, why schema.Reason, detail string, now time.Duration) bool {
	for li := range x.lanes {
		l := &x.lanes[li]
		if l.now == nil || key == 0 {
			continue
		}
		for i := range l.now.runs {
			r := &l.now.runs[i]
			if r.key != key {
				continue
			}
			x.dropKey(l.now, i)
			r.stays = false
			r.report, r.reason, r.detail = succeeded, why, detail
			if why != "" {
				r.report = broken
			}
			r.doneIn = 0
			if !l.paused {
				r.doneIn = max(0, now-l.at)
			}
			return true
		}
	}
	return false
}

// Pause freezes a lane: its clocks stand, what its units do is stopped, and they
// are free for other lanes. AfterAct lets an entry that asks for it end first.
func (x *Executor) Pause(of Lane, how Pausing, now time.Duration, out []Out) []Out {
	l := x.lane(of)
	if l == nil || l.paused {
		return out
	}
	if how == AfterAct && l.now != nil && l.now.FinishBeforePause {
		l.finishing = true
		return out
	}
	x.out = out
	l.paused, l.finishing, l.owed = true, false, 0
	if p := l.now; p != nil {
		l.owed = max(0, now-l.at)
		for i := range p.nodes {
			x.interrupt(p, i)
		}
	}
	return x.give()
}

// Resume lets a lane go on with the next tick, where it was.
func (x *Executor) Resume(of Lane, now time.Duration) {
	l := x.lane(of)
	if l == nil {
		return
	}
	if l.paused {
		l.at = max(0, now-l.owed)
	}
	l.paused, l.finishing = false, false
}

// Cancel ends an entry of a lane, or with an empty id all that the lane has, and
// stops what its units do.
func (x *Executor) Cancel(of Lane, entry string, why schema.Reason, out []Out) []Out {
	l := x.lane(of)
	if l == nil {
		return out
	}
	x.out = out
	if p := l.now; p != nil && (entry == "" || p.ID == entry) {
		for i := range p.runs {
			if s := p.runs[i].stage; s == Pending || s == Deferred || s == Executing || s == Held {
				p.runs[i].stage = s.next(Cancel)
			}
		}
		x.end(l, Out{Outcome: EntryCancelled, Reason: why})
	}
	l.queue = slices.DeleteFunc(l.queue, func(p *performance) bool {
		gone := entry == "" || p.ID == entry
		if gone {
			x.tell(l, p, Out{Kind: Ended, Outcome: EntryCancelled, Reason: why})
		}
		return gone
	})
	return x.give()
}

// Gate sets what may be started from now on. What runs and may not any more is
// stopped at once, and goes on when the gate opens. Whoever opens the gate after
// a stop decides before whether that may be: pauses or cancels the lanes.
func (x *Executor) Gate(g Gate, out []Out) []Out {
	x.out, x.gate = out, g
	for li := range x.lanes {
		l := &x.lanes[li]
		for i := 0; l.now != nil && i < len(l.now.nodes); i++ {
			u := l.now.nodes[i].unit
			if u == none || l.now.runs[i].key == 0 {
				continue
			}
			switch shut := g.shuts(x.units[u].kind); {
			case shut == "":
			case l.FailsClosed && x.units[u].kind.Moves() && l.now.runs[i].stage == Executing:
				x.fail(l, i, schema.ReasonNeedsEnable, shut.Describe().Text)
			default:
				x.interrupt(l.now, i)
			}
		}
	}
	return x.give()
}

// Revoke takes a unit away from all acts, or gives it back: acts that use it
// fail.
func (x *Executor) Revoke(id string, revoked bool, out []Out) []Out {
	x.out = out
	for u := range x.units {
		if x.units[u].id != id {
			continue
		}
		x.units[u].revoked = revoked
		for li := range x.lanes {
			l := &x.lanes[li]
			for i := 0; revoked && l.now != nil && i < len(l.now.nodes); i++ {
				if l.now.nodes[i].unit == u && l.now.runs[i].stage == Executing {
					x.fail(l, i, schema.ReasonDeviceDisabled, "the "+id+" was switched off")
				}
			}
		}
	}
	return x.give()
}

func (x *Executor) lane(name Lane) *lane {
	for i := range x.lanes {
		if x.lanes[i].Lane == name {
			return &x.lanes[i]
		}
	}
	return nil
}

// give hands out what the running call came to.
func (x *Executor) give() []Out {
	out := x.out
	x.out = nil
	return out
}
