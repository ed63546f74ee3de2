package view

// maxClients bounds the names of clients that the view remembers.
const maxClients = 10_000

// clients are the MQTT clients that are no robots, as far as fleetd knows them: those that
// published a live stop, and fleetd instances. No robot can have such a name.
type clients map[string]bool

// NoteClient records the name of a client that is no robot.
func (v *View) NoteClient(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.clients) < maxClients {
		v.clients[name] = true
	}
}

// IsClient reports whether a client that is no robot has that name.
func (v *View) IsClient(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.clients[name]
}
