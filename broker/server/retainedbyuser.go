package server

import (
	"maps"
	"sync"

	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// retainedByUser remembers the retained documents of users of the users file. They are
// deleted when the user loses their role. Robots' documents are not among them, because
// fleetd deletes those, nor are those of fleetd instances, which belong to the fleet.
type retainedByUser struct {
	mu sync.Mutex
	by map[string]access.User // by topic
}

// recordWriter is called for each document that is retained or deleted, while the guard
// holds its lock on retained documents.
func (g *guard) recordWriter(c *client, pk packets.Packet) {
	g.byUser.mu.Lock()
	defer g.byUser.mu.Unlock()
	if c == nil || len(pk.Payload) == 0 || c.serial != "" || c.Role == schema.RoleRobot || c.Role == schema.RoleFleetd || g.latchesStop(pk.TopicName) {
		delete(g.byUser.by, pk.TopicName)
		return
	}
	if g.byUser.by == nil {
		g.byUser.by = map[string]access.User{}
	}
	g.byUser.by[pk.TopicName] = c.user
}

// latchesStop reports whether a document on topic stops robots: no matter who published it, the
// broker must not release them by deleting it.
func (g *guard) latchesStop(topic string) bool {
	row, _, ok := g.ns.Match(topic)
	return ok && (row.Kind == schema.TopicDesiredStop || row.Kind == schema.TopicFleetStop)
}

// deleteOfLostUsers deletes the documents of users who have lost their role.
func (g *guard) deleteOfLostUsers(users access.Users) {
	g.byUser.mu.Lock()
	all := maps.Clone(g.byUser.by)
	g.byUser.mu.Unlock()
	for topic, was := range all {
		if is, known := users.Find(was.Name); known && is.Role == was.Role {
			continue
		}
		g.log.Warn("document deleted: its publisher lost its role", "topic", topic, "user", was.Name)
		if err := g.publish(topic, nil, 0, true); err != nil {
			g.log.Error("delete document", "topic", topic, "error", err)
		}
	}
}

// beginDelete prepares the broker's own deletion of a document, unless another client has
// replaced it meanwhile.
func (g *guard) beginDelete(topic string) bool {
	g.retained.begin(topic, 0, true)
	g.byUser.mu.Lock()
	_, still := g.byUser.by[topic]
	g.byUser.mu.Unlock()
	if !still {
		g.retained.Unlock()
	}
	return still
}
