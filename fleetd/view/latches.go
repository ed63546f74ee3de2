package view

import (
	"slices"
	"time"

	"troupe/fleetd/stop"
	"troupe/schema"
	"troupe/schema/verb"
)

// ReportedStops lists which of these stops reachable robots of the fleet report, as requests to latch
// each on its robot: a release persists a stop first that only the robot has, because robots release
// only what a document of fleetd names. elsewhere are the robots that report one and that no release reaches: unknown
// robots, and unreachable ones, whose newest state may be long outdated.
func (v *View) ReportedStops(ids []string, now time.Time) (ours []stop.Request, elsewhere stop.Elsewhere) {
	v.mu.Lock()
	defer v.mu.Unlock()
	elsewhere = stop.Elsewhere{Unknown: map[string][]string{}, Away: map[string][]string{}}
	for robot, e := range v.robots {
		if e.state == nil {
			continue
		}
		for _, l := range e.state.Safety.Latches {
			switch o, validID := stop.RequestFromRobot(robot, l, e.ahead, now); {
			case !validID || !slices.Contains(ids, l.ID):
			case !e.adopted:
				elsewhere.Unknown[l.ID] = append(elsewhere.Unknown[l.ID], robot)
			case !e.assessment.Status.Reachable():
				elsewhere.Away[l.ID] = append(elsewhere.Away[l.ID], robot)
			default:
				o.All = false // it is latched on this robot only, whomever it was sent to
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

const (
	// notHeldAfter is how long a connected robot does not report a stop that is latched for it before that
	// counts: a new stop, and a release, take a moment to arrive.
	notHeldAfter = 3 * time.Second
	// maxLatchesReported is how many stops a robot's state names if it has no room for more.
	maxLatchesReported = 32
)

// NotHeld takes the stops that are latched by robot ("" = all robots) and id, and returns the robots of
// the fleet that are connected and have not reported them for notHeldAfter, sorted, as after the restore of a database
// from before a release. It raises an alert for each.
func (v *View) NotHeld(latched map[string]map[string]schema.StopLevel, now time.Time) (robots []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		if len(latched) == 0 && len(e.notHeldSince) == 0 {
			continue
		}
		was := e.notHeld
		e.noteNotHeld(latched[id], latched[""], now)
		if len(e.notHeld) > 0 {
			robots = append(robots, id)
		}
		if !slices.Equal(was, e.notHeld) {
			v.updateSummary(id, e)
		}
	}
	slices.Sort(robots)
	return robots
}

// noteNotHeld compares the stops that are latched on the robot by its name, and on all robots, with its
// state. Of those of all robots it may know one only: the document of all has room for the newest.
func (e *entry) noteNotHeld(latched, onAll map[string]schema.StopLevel, now time.Time) {
	since := e.notHeldSince
	e.notHeld, e.notHeldSince = nil, nil
	if len(latched) == 0 {
		latched = onAll
		if e.state != nil && len(e.state.Safety.Latches) > 0 {
			return
		}
	}
	known := e.adopted && e.state != nil && !e.outdated && e.assessment.Status.Reachable()
	if len(latched) == 0 || !known || len(e.state.Safety.Latches) >= maxLatchesReported {
		return
	}
	for id := range latched {
		if slices.ContainsFunc(e.state.Safety.Latches, func(l schema.StopLatch) bool { return l.ID == id }) {
			continue
		}
		if e.notHeldSince == nil {
			e.notHeldSince = map[string]time.Time{}
		}
		begun, before := since[id]
		if !before {
			begun = now
		}
		e.notHeldSince[id] = begun
		if now.Sub(begun) >= notHeldAfter {
			e.notHeld = append(e.notHeld, id)
		}
	}
	slices.Sort(e.notHeld)
}

// NewRetainedAlert reports whether a robot has an alert about a retained command that is not in seen.
// It replaces seen by all such alerts.
func (v *View) NewRetainedAlert(seen map[string]bool) (found bool) {
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

// WhyNotRemove says why a retained command cannot be removed now; empty if it can.
func (v *View) WhyNotRemove(at schema.TopicParams) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[at.RID]
	if e == nil || !e.assessment.Status.Reachable() {
		return "" // no robot receives the empty message
	}
	topic := "cmd/" + at.CID + "/" + at.Group + "/" + at.Verb
	if e.state == nil || !slices.ContainsFunc(e.state.Alerts, func(a schema.Alert) bool {
		return a.Type == string(schema.ReasonRetainedCommand) && a.Source == topic
	}) {
		return "the robot would take its removal for a command; it is removed when the robot is away, or has connected again"
	}
	switch v, _ := verb.Of(at.Group, at.Verb); {
	case v.Class != verb.ClassStop:
	case (v.Name == "halt" || v.Name == "estop") && e.state.Safety.State != schema.SafetyEStop:
		return "its removal would halt the robot; it is removed when the robot is in E_STOP, or away"
	case e.state.Safety.State == schema.SafetyEnabled:
		return "its removal would stop the robot, which is enabled; it is removed when the robot is not, or is away"
	}
	return ""
}
