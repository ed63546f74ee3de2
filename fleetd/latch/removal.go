package latch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/stop"
)

// removalWait is how long the broker may take to deliver the empty message that removes a live
// stop to this instance.
const removalWait = 5 * time.Second

// Remove has remove publish the empty message that removes a client's retained live stop, or
// says why that must not happen now. No stop is released between the check of the latched
// stops and the arrival of the empty message here: by then the broker has queued it for all
// robots, before any document of a release.
func (s *Stops) Remove(ctx context.Context, client string, payload []byte, remove func(context.Context) error) (why string, err error) {
	db, err := s.deps.Store()
	if err != nil {
		return "", err
	}
	over := make(chan struct{})
	j := &exclusiveJob{run: func() {
		s.removingClient = client
		o := stop.RequestOf(client, payload, s.deps.Now())
		s.start(func() func() {
			latched, failed := s.readLatched(ctx, db)
			if err = failed; err == nil {
				if why = whyNotRemove(latched.stops, o); why == "" {
					err = s.removeNow(ctx, remove)
				}
			}
			return func() {
				s.removingClient = ""
				if failed == nil {
					s.setLatched(latched)
				}
				s.reply(func() { close(over) })
			}
		})
	}}
	s.queueJob(j)
	select {
	case <-over:
		return why, err
	case <-ctx.Done():
	case <-s.ended:
	}
	if j.claim() {
		return "", cmp.Or(context.Cause(ctx), errEnded)
	}
	<-over
	return why, err
}

// removeNow removes the message and waits until it has arrived here. The worker calls it.
func (s *Stops) removeNow(ctx context.Context, remove func(context.Context) error) error {
	select {
	case <-s.removalArrived: // discard the signal of an earlier empty message of this client: a live stop may be empty, too
	default:
	}
	if err := remove(ctx); err != nil {
		return err
	}
	limit := time.NewTimer(removalWait)
	defer limit.Stop()
	select {
	case <-s.removalArrived:
		return nil
	case <-limit.C:
		return fmt.Errorf("no confirmation within %v that the broker removed the live stop; fleetd tries again", removalWait)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// whyNotRemove says why a retained live stop cannot be removed now; empty if it can. If o has an id of
// its own, the empty message latches another stop under the client's name on all robots, which hold o
// already. This is the safe error: a retained o would latch again whenever a robot connects.
func whyNotRemove(latched []stop.Latch, o stop.Request) string {
	switch {
	case !o.All:
		return "it was for some robots, and the empty message that removes it would stop all: when all robots may stop, publish an empty " +
			"retained message on this topic, then release the stop of that client"
	case !slices.ContainsFunc(latched, func(l stop.Latch) bool { return l.Robot == "" && l.ID == o.ID }):
		return "removing it now would stop all robots: fleetd removes it the next time that this stop is latched on all robots"
	}
	return ""
}
