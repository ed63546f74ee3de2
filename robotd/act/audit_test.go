package act

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// audit checks safety invariants on the executor's output alone.
type audit struct {
	kinds   map[string]schema.UnitKind
	running map[uint64]Effect // started with Holds and not ended
	ended   map[uint64]bool
	last    map[string]uint64 // action id -> key of its newest start
	paused  map[Lane]bool
	entries map[string]Outcome
	faults  []string
}

func newAudit(units []schema.Unit) *audit {
	a := &audit{kinds: map[string]schema.UnitKind{}, running: map[uint64]Effect{}, ended: map[uint64]bool{}, last: map[string]uint64{},
		paused: map[Lane]bool{}, entries: map[string]Outcome{}}
	for _, u := range units {
		a.kinds[u.ID] = u.Kind
	}
	return a
}

func (a *audit) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

// check checks the output of one call; g is the gate at that time.
func (a *audit) check(now time.Duration, outs []Effect, g Gate) {
	for _, o := range outs {
		switch o.Kind {
		case Start:
			if a.paused[o.Lane] {
				a.fault("%v: %s starts %s while it is paused", now, o.Lane, o.Action)
			}
			if shut := g.blocks(o.Lane, a.kinds[o.Unit]); shut != "" {
				a.fault("%v: %s starts %s although the gate is closed (%s)", now, o.Lane, o.Action, shut)
			}
			for _, r := range a.running {
				if r.Unit == o.Unit && r.Lane != o.Lane {
					a.fault("%v: %s has two owners: %s starts %s while %s runs %s", now, o.Unit, o.Lane, o.Action, r.Lane, r.Action)
				}
			}
			if a.ended[o.Key] || a.running[o.Key].Key != 0 {
				a.fault("%v: key %d used twice", now, o.Key)
			}
			a.last[o.Action] = o.Key
			if o.Holds {
				a.running[o.Key] = o
			}
		case Stop:
			r, ok := a.running[o.Key]
			if !ok || r.Unit != o.Unit || r.Lane != o.Lane {
				a.fault("%v: stop of %s (key %d), which does not run", now, o.Action, o.Key)
			}
			a.end(o.Key)
		case Ended:
			if was, twice := a.entries[o.Entry]; twice {
				a.fault("%v: entry %s ended %s after it had %s", now, o.Entry, o.Outcome, was)
			}
			a.entries[o.Entry] = o.Outcome
			for _, r := range a.running {
				if r.Entry == o.Entry {
					a.fault("%v: entry %s ended while %s runs", now, o.Entry, r.Action)
				}
			}
		}
	}
}

// report notes a unit's report on a command; a success does not end a velocity.
func (a *audit) report(key uint64, why schema.Reason) {
	if r, ok := a.running[key]; ok && (why != "" || r.Do.Type() != score.TypeDrive) {
		a.end(key)
	}
}

func (a *audit) end(key uint64) {
	delete(a.running, key)
	a.ended[key] = true
}
