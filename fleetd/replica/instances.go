package replica

import (
	"maps"
	"slices"
	"sync"
	"time"

	"troupe/schema"
)

// silentFor is how long an instance may send no heartbeat before it counts as gone.
const silentFor = 15 * time.Second

// Instances are the fleetd instances whose heartbeats this instance has received, itself among
// them.
type Instances struct {
	mu       sync.Mutex
	up       bool      // this instance is connected to the broker
	since    time.Time // up has not changed since then
	lastSeen map[string]time.Time
	said     map[string]schema.FleetInstance // in the newest heartbeat
}

// Instance is one instance, by its newest heartbeat.
type Instance struct {
	Name     string
	LastSeen time.Time
	Silent   bool
	schema.FleetInstance
}

// SetConnected records whether this instance is connected to the broker now.
func (d *Instances) SetConnected(up bool, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if up != d.up {
		d.up, d.since = up, now
	}
}

// ReceiveHeartbeat records a heartbeat of an instance, and what it says of itself.
func (d *Instances) ReceiveHeartbeat(name string, said schema.FleetInstance, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lastSeen == nil {
		d.lastSeen, d.said = map[string]time.Time{}, map[string]schema.FleetInstance{}
	}
	d.lastSeen[name], d.said[name] = now, said
}

// Has reports whether an instance has that name.
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

// List lists every instance that was heard since this one started, also those that have gone
// silent, sorted.
func (d *Instances) List(now time.Time) []Instance {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Instance{}
	for _, name := range slices.Sorted(maps.Keys(d.lastSeen)) {
		list = append(list, Instance{name, d.lastSeen[name], now.Sub(d.lastSeen[name]) >= silentFor, d.said[name]})
	}
	return list
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
