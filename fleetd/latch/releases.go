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
	mu         sync.Mutex
	inProgress []*release
}

// release is one release.
type release struct {
	ids []string
	at  time.Time // a stop that was given later is another one, even under the same id

	deferred []command.Command
}

// isLatchedAgainBy reports whether a command would latch again what is released.
func (l *release) isLatchedAgainBy(c command.Command) bool {
	if c.CreatedAt.After(l.at) {
		return false
	}
	id := command.StopID(c)
	return id != "" && slices.Contains(l.ids, id)
}

// DeferIfReleasing keeps a command back if it would latch a stop again whose release is under
// way, until the outcome is known, and reports whether it does.
func (r *Releases) DeferIfReleasing(c command.Command) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.inProgress {
		if l.isLatchedAgainBy(c) {
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
	r.inProgress = append(r.inProgress, l)
	return l
}

// end removes a release, and returns the commands that it deferred.
func (r *Releases) end(l *release) []command.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inProgress = slices.DeleteFunc(r.inProgress, func(other *release) bool { return other == l })
	return l.deferred
}
