package fleet

import (
	"sync"
	"time"
)

// silentFor is how long another desk's heartbeats may stay away before the desk
// counts as gone.
const silentFor = 15 * time.Second

// desks are the other desks, as far as their heartbeats tell.
type desks struct {
	mu    sync.Mutex
	up    bool      // this desk hears
	since time.Time // or does not
	heard map[string]time.Time
}

// linked notes that this desk hears, or does not.
func (d *desks) linked(up bool, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if up != d.up {
		d.up, d.since = up, now
	}
}

// beat notes a heartbeat.
func (d *desks) beat(name string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.heard == nil {
		d.heard = map[string]time.Time{}
	}
	d.heard[name] = now
}

// isOne reports whether that is the name of another desk.
func (d *desks) isOne(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, one := d.heard[name]
	return one
}

// gone reports whether a desk was not heard for long, by one that would have.
func (d *desks) gone(name string, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.up && now.Sub(d.since) >= silentFor && now.Sub(d.heard[name]) >= silentFor
}
