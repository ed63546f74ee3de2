package fleettest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// maxUnrecorded bounds the stops that are in no document, as on a robot.
const maxUnrecorded = 32

// stopped latches stops on the robot, or releases them: a document releases what
// the one before it latched.
func (r *Robot) stopped(kind schema.TopicKind, client string, payload []byte) {
	r.with(func() {
		switch kind {
		case schema.TopicDesiredStop:
			if d, problems := schema.Decode[schema.DesiredStop](payload); len(problems) == 0 && d.Rev > r.desiredStop.Rev {
				r.desiredStop = d
				for _, l := range d.Stops {
					delete(r.unrecorded, l.ID)
				}
			}
		case schema.TopicFleetStop:
			if d, problems := schema.Decode[schema.FleetStop](payload); len(problems) == 0 && d.Rev > r.fleetStop.Rev {
				r.fleetStop = d
				delete(r.unrecorded, d.ID)
			}
		default:
			q, _ := schema.ReadStop(client, payload)
			r.liveStops++
			if len(q.Robots) == 0 || slices.Contains(q.Robots, r.ID) {
				if _, known := r.unrecorded[q.ID]; !known && len(r.unrecorded) >= maxUnrecorded {
					q.ID = schema.MoreStops
				}
				r.latch(schema.StopLatch{ID: q.ID, Level: q.Level, By: q.By, Why: q.Why, Since: schema.TimeOf(time.Now()), All: len(q.Robots) == 0 &&
					len(q.Labels) == 0})
			}
		}
		r.showLatches()
	})
	r.publishState()
}

// latch latches a stop that was requested, unless a document latches it already:
// fleetd may write the document before the robot receives the request. It is
// called under the lock.
func (r *Robot) latch(l schema.StopLatch) {
	inDocument := slices.ContainsFunc(r.desiredStop.Stops, func(s schema.StopLatch) bool { return s.ID == l.ID })
	if inDocument || r.fleetStop.Active && r.fleetStop.ID == l.ID {
		return
	}
	r.unrecorded[l.ID] = l
}

// showLatches puts the latched stops into the state. It is called under the lock.
func (r *Robot) showLatches() {
	held := maps.Clone(r.unrecorded)
	for _, l := range r.desiredStop.Stops {
		held[l.ID] = l
	}
	if f := r.fleetStop; f.Active {
		held[f.ID] = schema.StopLatch{ID: f.ID, Level: f.Level, By: f.By, Why: f.Why, Since: f.TS}
	}
	r.state.Safety.Latches = slices.SortedFunc(maps.Values(held), func(a, b schema.StopLatch) int { return strings.Compare(a.ID, b.ID) })
	if len(held) > 0 && r.state.Safety.State == schema.SafetyEnabled {
		r.state.Safety.State = schema.SafetyDisabled
	}
}

// LiveStops returns how many live stops the robot received.
func (r *Robot) LiveStops() (n int) {
	r.with(func() { n = r.liveStops })
	return n
}

// LatchUnrecorded latches a stop on the robot of which fleetd has no record.
func (r *Robot) LatchUnrecorded(l schema.StopLatch) {
	r.with(func() {
		r.unrecorded[l.ID] = l
		r.showLatches()
	})
	r.publishState()
}
