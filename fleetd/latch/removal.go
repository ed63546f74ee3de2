package latch

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/stop"
)

// removalWait is how long the empty message that removes a live stop may take to come
// back to this instance.
const removalWait = 5 * time.Second

// mayRemove says why a live stop cannot be removed now, or nothing.
func (s *Stops) mayRemove(o stop.Order) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !o.All:
		return "it was for some robots, and its removal would stop all: stop all, then remove it with an empty retained message"
	case !s.on[""][o.ID]:
		return "its removal would stop all robots, and they are not held by it: it is removed when all robots are stopped by it again"
	}
	return ""
}

// Remove removes a live stop of a client that the broker keeps, by remove, unless it
// says why it cannot. No stop is released from before the look at what is held until
// fleetd has heard the empty message: then it is under way to all robots, before
// whatever a release tells them.
func (s *Stops) Remove(ctx context.Context, client string, payload []byte, remove func(context.Context) error) (why string, err error) {
	over, err := s.alone(ctx)
	if err != nil {
		return "", err
	}
	defer over()
	db, err := s.deps.Store()
	if err != nil {
		return "", err
	}
	if err := s.Read(ctx, db); err != nil {
		return "", err
	}
	if why := s.mayRemove(stop.OrderOf(client, payload, s.deps.Now())); why != "" {
		return why, nil
	}
	heard := s.awaits(client)
	defer s.awaits("")
	if err := remove(ctx); err != nil {
		return "", err
	}
	patience := time.NewTimer(removalWait)
	defer patience.Stop()
	select {
	case <-heard:
		return "", nil
	case <-patience.C:
		return "", fmt.Errorf("remove the live stop of %s: the broker passes it on to others, and not to this instance", client)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
