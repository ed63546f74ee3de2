package cond

import "time"

// Hold is the state of a condition with "for": it holds once the condition has been
// true without interruption for that long.
type Hold struct {
	since time.Duration
	begun bool
}

// Step takes whether the condition is true at now, on any clock that does not go
// back, and tells whether it has been true for at least d.
func (h *Hold) Step(now time.Duration, truth bool, d time.Duration) bool {
	if !truth {
		*h = Hold{}
		return false
	}
	if !h.begun {
		*h = Hold{since: now, begun: true}
	}
	return now-h.since >= d
}

// TrueFor is how long the condition has been true at now; 0 if it is not.
func (h Hold) TrueFor(now time.Duration) time.Duration {
	if !h.begun {
		return 0
	}
	return now - h.since
}
