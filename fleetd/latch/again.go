package latch

import (
	"context"
	"slices"

	"troupe/fleetd/stop"
)

// PublishAgain publishes the live stop of StopAndLatch once more, unless the stop was released: without a connection to the broker the
// first one was dropped. A robot that got both latches one stop, by its id.
func (s *Stops) PublishAgain(ctx context.Context, o stop.Request) {
	isLatched := slices.ContainsFunc(s.list.Load().latched, func(l LatchedStop) bool { return l.ID == o.ID })
	if isLatched && (o.All || len(o.Labels) > 0) {
		s.publishLive(ctx, o)
	}
}
