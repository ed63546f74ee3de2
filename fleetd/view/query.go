package view

import (
	"slices"
	"strings"
	"time"

	"troupe/fleetd/decommission"
	"troupe/fleetd/desired"
	"troupe/fleetd/presence"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// StrayDocuments lists the retained documents of a robot that this fleet does not know. The API and
// the command line call such a robot an orphan. (Orphaned commands are something else: see
// dispatch.OrphanEnder.)
type StrayDocuments struct {
	Robot          string      `json:"robot"`
	Topics         []string    `json:"topics" doc:"retained documents"`
	PresenceStatus string      `json:"presence_status" doc:"if the robot is online, adopt or revoke it instead"`
	Seen           schema.Time `json:"seen" doc:"when fleetd received the oldest of them, each in its newest version"`
}

// Orphans are the retained documents of robots that the database does not know.
func (v *View) Orphans() []StrayDocuments {
	v.mu.Lock()
	defer v.mu.Unlock()
	var out []StrayDocuments
	for id, e := range v.robots {
		if e.adopted || len(e.documents) == 0 {
			continue
		}
		o := StrayDocuments{Robot: id, PresenceStatus: string(e.assessment.Status)}
		for kind, d := range e.documents {
			o.Topics = append(o.Topics, v.deps.Namespace.Topic(kind, id))
			if at := schema.TimeOf(d.ReceivedAt); o.Seen == 0 || at < o.Seen {
				o.Seen = at
			}
		}
		slices.Sort(o.Topics)
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b StrayDocuments) int { return strings.Compare(a.Robot, b.Robot) })
	return out
}

// DocumentDeleted records that a retained document was removed from the broker. The view keeps the
// last value of an adopted robot, since its removal proves nothing about the robot; of an
// unknown robot nothing else was known.
func (v *View) DocumentDeleted(id string, kind schema.TopicKind) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil || e.adopted {
		return
	}
	delete(e.documents, kind)
	delete(e.unsaved, kind)
	if len(e.documents) == 0 && !e.assessment.Status.Reachable() {
		v.forget(id)
	}
}

// forget removes a robot. If it publishes again it is back, as an unknown robot. It is called
// under the lock.
func (v *View) forget(id string) {
	delete(v.robots, id)
	v.addToFeeds(Delta{id, Gone, GoneRow(id)})
}

// GoneRow is the row that makes readers of the stream forget a robot.
func GoneRow(id string) *Row {
	return newRow(Robot{
		ID: id, Gone: true, Doing: selector.NotConnected, Labels: map[string]string{}, Presence: Presence{Status: string(presence.Unknown),
			Why: "it was removed, or is not among the robots of this stream any more"},
		PauseHolders: []schema.Pause{}, Latches: []schema.StopLatch{}, Interrupts: []schema.Interrupt{}, Alerts: []schema.Alert{},
	})
}

// Connection reports whether a robot is connected, as far as fleetd can know.
func (v *View) Connection(id string, now time.Time) decommission.Connection {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.fleetd.Connected {
		return decommission.NotKnown
	}
	status, hangs := presence.Unknown, false
	if e := v.robots[id]; e != nil {
		status, hangs = e.assessment.Status, e.assessment.Hangs
	} else if now.Sub(v.fleetd.Since) >= presence.Grace {
		return decommission.Disconnected
	}
	switch {
	case status == presence.Unknown:
		return decommission.NotKnown
	case status.Reachable() || hangs:
		return decommission.Connected
	}
	return decommission.Disconnected
}

// NotConverged lists the online robots that do not report their desired state, sorted.
func (v *View) NotConverged(desired map[string]map[schema.TopicKind]int64, now time.Time) []string {
	return v.online(now, func(id string, e *entry) bool {
		return !e.desiredStory(v.fleetID).Converged || e.unanswered(v.fleetID, desired[id])
	})
}

// unanswered reports whether the robot has not reported on the newest revision of some
// desired document of this fleet, whatever its report says.
func (e *entry) unanswered(fleetID string, revs map[schema.TopicKind]int64) bool {
	for topic, report := range desired.ReportOn {
		rev := revs[topic]
		if rev == 0 {
			continue
		}
		said, problems := schema.Decode[struct {
			FleetID    string `json:"fleet_id"`
			DesiredRev int64  `json:"desired_rev"`
		}](e.documents[report].Body)
		if len(problems) > 0 || said.DesiredRev != rev || said.FleetID != "" && said.FleetID != fleetID {
			return true
		}
	}
	return false
}
