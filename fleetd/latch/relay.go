package latch

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/command"
	"troupe/fleetd/stop"
	"troupe/schema"
	"troupe/schema/verb"
)

// A stop goes out on the connections of all instances, not only of the one to which it was given: that one's node of a
// cluster may be away, or reach only some of the robots. So an instance also sends the live stops of the others, as
// soon as it hears them from the broker or reads them in the database.

const (
	// relayWithin is the age up to which a stop that another instance persisted is sent. It includes the difference of
	// the clocks of two instances.
	relayWithin = 10 * time.Second
	// sentFor is how long an instance remembers the stops that it sent, so that it sends each once.
	sentFor = time.Minute
)

// relayHeard sends the live stop that another instance sent.
func (s *Stops) relayHeard(o stop.Request) {
	if !s.noteSent(o.ID) {
		s.relay(o.ID, s.deps.Now(), func(ctx context.Context) { s.publishLive(ctx, o) })
	}
}

// unheard returns the stops that are new in a list of the database and that this instance neither sent nor heard.
func (s *Stops) unheard(latched []stop.Latch) (unheard []stop.Latch) {
	if !s.loaded {
		return nil // nobody waits for those that were there when this instance began
	}
	now := s.deps.Now()
	sent := map[string]bool{} // before this list
	for _, l := range latched {
		_, known := s.latchedOn[l.Robot][l.ID]
		if known || l.Client != "" || len(s.queued[l.ID]) > 0 || now.Sub(l.RequestedAt) > relayWithin {
			continue
		}
		if _, looked := sent[l.ID]; !looked {
			sent[l.ID] = s.noteSent(l.ID)
		}
		if !sent[l.ID] {
			unheard = append(unheard, l)
		}
	}
	return unheard
}

// relayPersisted sends stops of other instances that are in the database.
func (s *Stops) relayPersisted(unheard []stop.Latch) {
	for _, l := range unheard {
		s.relay(l.ID, l.RequestedAt, func(ctx context.Context) { s.sendLatched(ctx, l) })
	}
}

// relay has a stop sent, unless it was released or is older than relayWithin when its turn comes. Relays wait for nothing but each
// other: what this instance sends itself has a sender of its own.
func (s *Stops) relay(id string, at time.Time, send func(context.Context)) {
	s.relays.post(func(ctx context.Context) {
		isLatched := slices.ContainsFunc(s.list.Load().latched, func(l LatchedStop) bool { return l.ID == id })
		if isLatched && s.deps.Now().Sub(at) <= relayWithin {
			send(ctx)
		}
	})
}

// noteSent records that this instance sends the live stop with that id, and reports whether it has before.
func (s *Stops) noteSent(id string) (before bool) {
	now := s.deps.Now()
	for other, at := range s.sentLive {
		if now.Sub(at) > sentFor {
			delete(s.sentLive, other)
		}
	}
	_, before = s.sentLive[id]
	s.sentLive[id] = now
	return before
}

// sendLatched sends a latched stop: a live stop for all robots, or the command for one.
func (s *Stops) sendLatched(ctx context.Context, l stop.Latch) {
	if l.Robot == "" {
		s.publishLive(ctx, stop.Request{ID: l.ID, Level: l.Level, By: l.By, Why: l.Why, All: true})
		return
	}
	if c, err := stopCommand(l.Robot, l.ID, l.Level, l.By, l.Why, l.RequestedAt); err != nil {
		s.deps.Log.Error("stop not encoded", "stop", l.ID, "error", err)
	} else {
		s.deps.Dispatcher.Send(ctx, c)
	}
}

// stopCommand is the command that latches a stop on one robot.
func stopCommand(robot, id string, level schema.StopLevel, by, why string, at time.Time) (command.Command, error) {
	v, _ := verb.Of("safety", verbOf(level))
	payload, err := verb.Encode(v, verb.Request{Args: verb.Stop{Latch: id, Why: why}, Envelope: schema.Envelope{ID: uuid.NewString(), By: by,
		Why: why}})
	return command.Command{Robot: robot, Verb: v.ID(), Payload: payload, CreatedAt: at}, err
}
