// Package stopbutton decides which stop buttons do not answer. A stop button is a client of role stop. It publishes a heartbeat over the
// connection over which it would publish a stop, so a silent one could not stop the robots.
package stopbutton

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// silentAfter is how long a button may send no heartbeat before it counts as silent: four of its heartbeats are missing then.
const silentAfter = 10 * time.Second

// maxUnlisted bounds the buttons that are watched although nobody listed them, so that no client can make any number.
const maxUnlisted = 256

// Buttons are the stop buttons of a fleet: those that a setting lists, and those that this instance has heard since it started.
type Buttons struct {
	mu        sync.Mutex
	connected bool      // this instance is connected to the broker
	since     time.Time // connected has not changed since then
	all       map[string]*button
	unlisted  int
}

type button struct {
	listed   bool
	heardAt  time.Time
	silentAt time.Time // zero = it is not silent
}

// Button is what is known of one stop button.
type Button struct {
	Name     string
	Listed   bool
	HeardAt  time.Time // zero = never since the start of fleetd
	SilentAt time.Time // since when it is silent; zero = it is not
}

// New watches the buttons of that list, and every other one from its first heartbeat on.
func New(listed []string) *Buttons {
	b := &Buttons{all: map[string]*button{}}
	for _, name := range listed {
		b.all[name] = &button{listed: true}
	}
	return b
}

// SetConnected records whether this instance is connected to the broker now. While it is not, no button becomes silent, and afterwards each
// has silentAfter to be heard.
func (b *Buttons) SetConnected(up bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.findSilent(now)
	if up != b.connected {
		b.connected, b.since = up, now
	}
}

// Heard records a heartbeat of a button.
func (b *Buttons) Heard(name string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.all[name]
	if one == nil {
		if b.unlisted == maxUnlisted {
			return
		}
		b.unlisted++
		one = &button{}
		b.all[name] = one
	}
	one.heardAt, one.silentAt = now, time.Time{}
}

// List lists the buttons by name.
func (b *Buttons) List(now time.Time) []Button {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.findSilent(now)
	out := make([]Button, 0, len(b.all))
	for name, one := range b.all {
		out = append(out, Button{Name: name, Listed: one.listed, HeardAt: one.heardAt, SilentAt: one.silentAt})
	}
	slices.SortFunc(out, func(a, b Button) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// findSilent notes which buttons have become silent. One that is silent stays so until it is heard, also while this instance is away.
func (b *Buttons) findSilent(now time.Time) {
	if !b.connected {
		return
	}
	for _, one := range b.all {
		from := one.heardAt
		if b.since.After(from) {
			from = b.since
		}
		if at := from.Add(silentAfter); one.silentAt.IsZero() && !now.Before(at) {
			one.silentAt = at
		}
	}
}
