package replica

import (
	"sync"
	"time"
)

// silentFor is how long another instance's heartbeats may stay away before fleetd
// counts as gone.
const silentFor = 15 * time.Second

// Instances are the other fleetd instances, as far as their heartbeats tell.
type Instances struct {
	mu    sync.Mutex
	up    bool      // this instance hears
	since time.Time // or does not
	heard map[string]time.Time
}

// Linked notes that this instance hears, or does not.
func (d *Instances) Linked(up bool, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if up != d.up {
		d.up, d.since = up, now
	}
}

// Beat notes a heartbeat.
func (d *Instances) Beat(name string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.heard == nil {
		d.heard = map[string]time.Time{}
	}
	d.heard[name] = now
}

// Has reports whether that is the name of another instance.
func (d *Instances) Has(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, one := d.heard[name]
	return one
}

// Gone reports whether a fleetd instance was not heard for long, by one that would have.
func (d *Instances) Gone(name string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up && now.Sub(d.since) >= silentFor && now.Sub(d.heard[name]) >= silentFor
}
