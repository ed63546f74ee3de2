package replica

import (
	"slices"
	"sync"
	"time"
)

// silentFor is how long an instance may send no heartbeat before it counts as gone.
const silentFor = 15 * time.Second

// Instances are the other fleetd instances whose heartbeats this instance has received.
type Instances struct {
	mu       sync.Mutex
	up       bool      // this instance is connected to the broker
	since    time.Time // up has not changed since then
	lastSeen map[string]time.Time
}

// Linked records whether this instance is connected to the broker.
func (d *Instances) Linked(up bool, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if up != d.up {
		d.up, d.since = up, now
	}
}

// Beat records a heartbeat of another instance.
func (d *Instances) Beat(name string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lastSeen == nil {
		d.lastSeen = map[string]time.Time{}
	}
	d.lastSeen[name] = now
}

// Has reports whether another instance has that name.
func (d *Instances) Has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, one := d.lastSeen[name]
	return one
}

// Gone reports whether an instance has sent no heartbeat for silentFor, while this one
// was connected and would have received it.
func (d *Instances) Gone(name string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up && now.Sub(d.since) >= silentFor && now.Sub(d.lastSeen[name]) >= silentFor
}

// Others lists the other instances whose heartbeats arrive, sorted.
func (d *Instances) Others(self string, now time.Time) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for name, at := range d.lastSeen {
		if name != self && now.Sub(at) < silentFor {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
