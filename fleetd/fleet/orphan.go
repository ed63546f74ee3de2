package fleet

import (
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/decommission"
	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Orphans are the retained documents of robots that the database does not know.
func (h *view) Orphans() []api.Orphan {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []api.Orphan
	for id, e := range h.robots {
		if e.adopted || len(e.documents) == 0 {
			continue
		}
		o := api.Orphan{Robot: id, View: string(e.shown.View)}
		for kind, d := range e.documents {
			o.Topics = append(o.Topics, h.deps.Namespace.Topic(kind, id))
			if at := schema.TimeOf(d.ReceivedAt); o.Seen == 0 || at < o.Seen {
				o.Seen = at
			}
		}
		slices.Sort(o.Topics)
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b api.Orphan) int { return strings.Compare(a.Robot, b.Robot) })
	return out
}

// emptied notes that the broker holds a document no more. Of a robot of the fleet
// the last value is kept, for that says nothing about the robot; of an unknown client
// nothing else was known.
func (h *view) Emptied(id string, kind schema.TopicKind) {
	h.mu.Lock()
	e := h.robots[id]
	if e == nil || e.adopted {
		h.mu.Unlock()
		return
	}
	delete(e.documents, kind)
	delete(e.unsaved, kind)
	over := len(e.documents) == 0 && !e.shown.View.Reachable()
	h.mu.Unlock()
	if over {
		h.forget(id)
	}
}

// forget takes a robot out of all that is shown. If it speaks again it is seen
// again, as an unknown client.
func (h *view) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.robots, id)
	h.tell(id)
}

// gone is the line of a robot that is shown no more.
func gone(id string) api.Robot {
	return api.Robot{
		ID: id, Gone: true, Labels: map[string]string{}, Presence: api.Presence{View: string(presence.Unknown), Why: "it is no robot of this fleet"},
		PauseHolders: []schema.Pause{}, Latches: []schema.StopLatch{}, Interrupts: []schema.Interrupt{}, Alerts: []schema.Alert{},
	}
}

// forgetOthers forgets every robot of the fleet that is not among these.
func (h *view) forgetOthers(robots []store.Robot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stay := map[string]bool{}
	for _, r := range robots {
		stay[r.ID] = true
	}
	for id, e := range h.robots {
		if e.adopted && !stay[id] {
			delete(h.robots, id)
			h.tell(id)
		}
	}
}

// whereabouts is whether a robot is there, as far as fleetd can know.
func (h *view) Whereabouts(id string, now time.Time) decommission.Whereabouts {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fleetd.Connected {
		return decommission.NotKnown
	}
	view := presence.Unknown
	if e := h.robots[id]; e != nil {
		view = e.shown.View
	} else if now.Sub(h.fleetd.Since) >= presence.Grace {
		return decommission.Gone
	}
	switch {
	case view == presence.Unknown:
		return decommission.NotKnown
	case view.Reachable():
		return decommission.Here
	}
	return decommission.Gone
}
