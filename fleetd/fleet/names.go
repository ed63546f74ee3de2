package fleet

import (
	"sync"

	"troupe/schema"
)

// clientsKept bounds the names of clients that are kept in mind.
const clientsKept = 10_000

// clients are the names under which others than robots speak, as far as fleetd
// hears them: of whom the broker took a stop, or a fleetd instance's sign of life, that is no
// robot's name.
type clients struct {
	mu    sync.Mutex
	names map[string]bool
}

func (c *clients) heard(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.names) < clientsKept {
		c.names[name] = true
	}
}

func (c *clients) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names[name]
}

// TakenBy says who goes by a name, so that no robot can; empty: nobody that is
// known here. What the database knows is not looked at.
func (f *Fleet) TakenBy(name string) string {
	switch {
	case name == f.cfg.Name:
		return "this instance"
	case schema.ReservedName(name):
		return "fleetd instances or people's tools"
	case f.clients.has(name):
		return "a client of the broker"
	}
	return ""
}
