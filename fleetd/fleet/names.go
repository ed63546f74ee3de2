package fleet

import "troupe/schema"

// clientsKept bounds the names of clients that are kept in mind.
const clientsKept = 10_000

// clients are the names under which others than robots speak, as far as fleetd
// hears them: of whom the broker took a stop, or a fleetd instance's sign of life, that is no
// robot's name.
type clients map[string]bool

// NoteClient notes that a client of that name, which is no robot, speaks to the broker.
func (h *view) NoteClient(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) < clientsKept {
		h.clients[name] = true
	}
}

// IsClient reports whether a client that is no robot has that name.
func (h *view) IsClient(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clients[name]
}

// TakenBy says who goes by a name, so that no robot can; empty: nobody that is
// known here. What the database knows is not looked at.
func (f *Fleet) TakenBy(name string) string {
	switch {
	case name == f.cfg.Name:
		return "this instance"
	case schema.ReservedName(name):
		return "fleetd instances or people's tools"
	case f.view.IsClient(name):
		return "a client of the broker"
	}
	return ""
}
