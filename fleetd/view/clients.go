package view

// clientsKept bounds the names of clients that are kept in mind.
const clientsKept = 10_000

// clients are the names under which others than robots speak, as far as fleetd
// hears them: of whom the broker took a stop, or a fleetd instance's sign of life, that is no
// robot's name.
type clients map[string]bool

// NoteClient notes that a client of that name, which is no robot, speaks to the broker.
func (v *View) NoteClient(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.clients) < clientsKept {
		v.clients[name] = true
	}
}

// IsClient reports whether a client that is no robot has that name.
func (v *View) IsClient(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clients[name]
}
