package latch

import (
	"slices"
	"sync"
	"time"

	"troupe/fleetd/command"
)

// Releases are the releases of stops under way. Robots learn of a release by a document,
// and a command that reaches them after that document would latch them again. So from
// before the release is persisted until the commands that would latch its stops have been
// cancelled, none of those is sent: they are deferred, and are sent after all if nothing
// was released.
type Releases struct {
	mu    sync.Mutex
	under []*release
}

// release is one release.
type release struct {
	ids []string
	at  time.Time // a stop that was given later is another one, even under the same id

	deferred []command.Command
}

// concerns reports whether a command would latch what is released.
func (l *release) concerns(c command.Command) bool {
	if c.CreatedAt.After(l.at) {
		return false
	}
	id := command.StopID(c)
	return id != "" && slices.Contains(l.ids, id)
}

// DeferIfReleasing keeps a command until the outcome of a release is known, if the command would
// hold what is released, and reports whether it does.
func (r *Releases) DeferIfReleasing(c command.Command) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.under {
		if l.concerns(c) {
			l.deferred = append(l.deferred, c)
			return true
		}
	}
	return false
}

// begin adds a release of stops.
func (r *Releases) begin(ids []string, now time.Time) *release {
	l := &release{ids: ids, at: now}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.under = append(r.under, l)
	return l
}

// end removes a release, and returns the commands that it deferred.
func (r *Releases) end(l *release) []command.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.under = slices.DeleteFunc(r.under, func(other *release) bool { return other == l })
	return l.deferred
}
