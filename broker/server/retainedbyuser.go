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

	deleted string // publisher of the document that the broker deleted last; owned by the file watcher
}

// recordWriter is called for each document that is retained or deleted, while the guard
// holds its lock on retained documents.
func (g *guard) recordWriter(c *client, pk *packets.Packet) {
	g.byUser.mu.Lock()
	defer g.byUser.mu.Unlock()
	if c == nil || len(pk.Payload) == 0 || c.serial != "" || c.Role == schema.RoleRobot || c.Role == schema.RoleFleetd ||
		g.latchesStop(pk.TopicName) {
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

// deleteDocumentsOfFormerUsers deletes the documents of users who have lost their role. Only the
// goroutine of the file watcher calls it.
func (g *guard) deleteDocumentsOfFormerUsers() {
	g.byUser.mu.Lock()
	all := maps.Clone(g.byUser.by)
	g.byUser.mu.Unlock()
	for topic, publisher := range all {
		if g.hasItsRole(publisher) {
			continue
		}
		g.byUser.deleted = ""
		if err := g.publish(topic, nil, 0, true); err != nil {
			g.log.Error("delete document", "topic", topic, "error", err)
		} else if g.byUser.deleted != "" {
			g.log.Warn("document deleted: its publisher lost its role", "topic", topic, "user", g.byUser.deleted)
		}
	}
}

// hasItsRole reports whether the users file still gives a user the same role.
func (g *guard) hasItsRole(was access.User) bool {
	is, known := g.creds.current.Load().users.Find(was.Name)
	return known && is.Role == was.Role
}

// beginDelete prepares the broker's own deletion of a document, unless a client that has its
// role has replaced it meanwhile. publish calls it on its own goroutine.
func (g *guard) beginDelete(topic *string) bool {
	g.retained.begin(topic, 0, true)
	g.byUser.mu.Lock()
	publisher, known := g.byUser.by[*topic]
	g.byUser.mu.Unlock()
	if !known || g.hasItsRole(publisher) {
		g.retained.Unlock()
		return false
	}
	g.byUser.deleted = publisher.Name
	return true
}
