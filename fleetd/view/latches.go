package view

import (
	"slices"
	"time"

	"troupe/fleetd/stop"
	"troupe/schema"
)

// showing are those of these stops that robots of the fleet show that they hold, one
// of each robot; and which robots show them that no release reaches: those that are not
// the fleet's, and those that are away, whose newest state may be long over.
func (v *View) Showing(ids []string, now time.Time) (ours []stop.Order, elsewhere stop.Elsewhere) {
	v.mu.Lock()
	defer v.mu.Unlock()
	elsewhere = stop.Elsewhere{Unknown: map[string][]string{}, Away: map[string][]string{}}
	for robot, e := range v.robots {
		if e.state == nil {
			continue
		}
		for _, l := range e.state.Safety.Latches {
			switch o, named := stop.OrderFromRobot(robot, l, e.ahead, now); {
			case !named || !slices.Contains(ids, l.ID):
			case !e.adopted:
				elsewhere.Unknown[l.ID] = append(elsewhere.Unknown[l.ID], robot)
			case !e.shown.View.Reachable():
				elsewhere.Away[l.ID] = append(elsewhere.Away[l.ID], robot)
			default:
				o.All = false // others need not be held to be released
				ours = append(ours, o)
			}
		}
	}
	for _, where := range []map[string][]string{elsewhere.Unknown, elsewhere.Away} {
		for _, robots := range where {
			slices.Sort(robots)
		}
	}
	return ours, elsewhere
}

// alarmed reports whether a robot has raised an alert about a command that was kept
// that is not among those seen, and adds it to them.
func (v *View) Alarmed(seen map[string]bool) (found bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := map[string]bool{}
	for id, e := range v.robots {
		if e.state == nil {
			continue
		}
		for _, a := range e.state.Alerts {
			if a.Type == string(schema.ReasonRetainedCommand) {
				key := id + " " + e.state.Session + " " + a.ID
				now[key] = true
				found = found || !seen[key]
			}
		}
	}
	clear(seen)
	for key := range now {
		seen[key] = true
	}
	return found
}

// mayRemove says why a command cannot be removed now, or nothing.
func (v *View) MayRemove(at schema.TopicParams) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[at.RID]
	if e == nil || !e.shown.View.Reachable() {
		return "" // nobody hears it
	}
	topic := "cmd/" + at.CID + "/" + at.Group + "/" + at.Verb
	if e.state == nil || !slices.ContainsFunc(e.state.Alerts, func(a schema.Alert) bool {
		return a.Type == string(schema.ReasonRetainedCommand) && a.Source == topic
	}) {
		return "the robot would take its removal for a command; it is removed when the robot is away, or has connected again"
	}
	switch verb, _ := schema.VerbOf(at.Group, at.Verb); {
	case verb.Class != schema.ClassStop:
	case (verb.Name == "halt" || verb.Name == "estop") && e.state.Safety.State != schema.SafetyEStop:
		return "its removal would halt the robot, which is not halted"
	case e.state.Safety.State == schema.SafetyEnabled:
		return "its removal would stop the robot, which is enabled"
	}
	return ""
}
