package server

import (
	"maps"
	"sync"

	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// retainedByUser is what people have left with the broker: the retained documents of those
// whose right stands in the users file. It goes with the right. Robots' documents
// tell of the robot, and fleetd empties them; instances' are the fleet's.
type retainedByUser struct {
	mu sync.Mutex
	by map[string]access.User // by topic
}

// noteLeft comes with each document that is kept or deleted, in its window.
func (g *guard) noteLeft(c *client, pk packets.Packet) {
	g.left.mu.Lock()
	defer g.left.mu.Unlock()
	if c == nil || len(pk.Payload) == 0 || c.serial != "" || c.Role == schema.RoleRobot || c.Role == schema.RoleFleetd || g.stops(pk.TopicName) {
		delete(g.left.by, pk.TopicName)
		return
	}
	if g.left.by == nil {
		g.left.by = map[string]access.User{}
	}
	g.left.by[pk.TopicName] = c.user
}

// stops reports whether a document holds robots: whoever left it, it is not the
// broker that releases them.
func (g *guard) stops(topic string) bool {
	row, _, ok := g.ns.Match(topic)
	return ok && (row.Kind == schema.TopicDesiredStop || row.Kind == schema.TopicFleetStop)
}

// clearLeft removes what those have left who lost their right.
func (g *guard) clearLeft(users access.Users) {
	g.left.mu.Lock()
	all := maps.Clone(g.left.by)
	g.left.mu.Unlock()
	for topic, was := range all {
		if is, known := users.Find(was.Name); known && is.Role == was.Role {
			continue
		}
		g.log.Warn("document removed: whoever left it has lost his right", "topic", topic, "user", was.Name)
		if err := g.publish(topic, nil, 0, true); err != nil {
			g.log.Error("document not removed", "topic", topic, "error", err)
		}
	}
}

// clears begins the window in which the broker removes a document, unless somebody
// has replaced it meanwhile.
func (g *guard) clears(topic string) bool {
	g.kept.keeping(topic, 0, true)
	g.left.mu.Lock()
	_, still := g.left.by[topic]
	g.left.mu.Unlock()
	if !still {
		g.kept.Unlock()
	}
	return still
}
