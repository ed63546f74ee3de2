package view

import (
	"slices"
	"strings"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
)

// Targets are the robots that a selector matches. A stop includes robots that the database
// does not know, present or not; for anything else their names are returned as unknown.
func (v *View) Targets(s selector.Selector, stop bool) (targets []command.Target, unknown []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		if !s.Match(e.selectable(id)) {
			continue
		}
		if !e.adopted && !stop {
			if len(s.IDs) > 0 {
				unknown = append(unknown, id)
			}
			continue
		}
		targets = append(targets, e.target(id))
	}
	for _, id := range s.IDs {
		if v.robots[id] == nil {
			if stop {
				targets = append(targets, command.Target{Robot: id})
			} else {
				unknown = append(unknown, id)
			}
		}
	}
	slices.SortFunc(targets, func(a, b command.Target) int { return strings.Compare(a.Robot, b.Robot) })
	slices.Sort(unknown)
	return targets, slices.Compact(unknown)
}

// Resolve replaces terms that the database does not know by the names of the robots of the fleet
// for which they hold now.
func (v *View) Resolve(s selector.Selector) selector.Selector {
	if !s.NeedsView() {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []string
	for id, e := range v.robots {
		if e.adopted && s.Match(e.selectable(id)) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return selector.IDs(ids...)
}

func (e *entry) selectable(id string) selector.Robot {
	r := e.summary.Selectable()
	r.ID, r.Labels = id, e.dbRow.Labels
	return r
}

func (e *entry) target(id string) command.Target {
	t := command.Target{Robot: id, Present: e.assessment.Status.Reachable(), Caps: e.caps}
	if e.heartbeat != nil {
		t.SeenMonoMS, t.SeenBoot, t.SeenSeq = e.heartbeat.MonoMS, e.heartbeat.Boot, e.heartbeat.StateSeq
		if e.state != nil && e.state.Boot == e.heartbeat.Boot {
			t.StateSeq = e.state.StateSeq
		}
	}
	return t
}
