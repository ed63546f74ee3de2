package retained

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/audit"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// sweepLook is how often the sweeper checks whether a sweep is due.
	sweepLook = time.Second
	// sweepAgain is the first pause before another sweep for what could not be removed;
	// each is twice the one before, up to sweepAgainMost.
	sweepAgain     = 2 * time.Second
	sweepAgainMost = 5 * time.Minute
	// ackWithin is how long the broker may take to acknowledge a message.
	ackWithin = 5 * time.Second
)

// Sweeper removes retained commands and retained live stops from the broker. Troupe's
// broker retains none. Another broker does, and would deliver them to every robot and
// every fleetd instance at each connect.
//
// To remove a retained message, a client publishes an empty one, which the broker also
// delivers to its subscribers: to them it is a command without arguments, or a stop. So
// the sweeper removes a command only while its robot is away, or when the robot's alert
// says that it knows this message to be retained and waits for its removal. It removes a
// live stop only if that stop is for all robots and is held on all of them anyway.
//
// Subscribers cannot distinguish the empty message from a live stop of the same client at
// this moment. So fleetd and robots take it for a live stop under the client's name, which changes
// nothing while that stop is held. If the retained stop has an id of its own, it is another stop, which
// has to be released, too; the notice and the audit say so. A release waits until the removal is over,
// and a removal until a release is over. If another instance releases the stop at this moment, the
// stop may come back, in the database and on robots, and has to be released again.
//
// The broker delivers a message that is published with the retain flag to connected
// subscribers without that flag. So the sweeper subscribes again, over a connection of its
// own: when this instance begins to lead or reconnects while it leads, after each live stop,
// and after an alert of a robot about a retained message.
type Sweeper struct {
	deps Deps

	soon chan struct{} // capacity 1: a sweep is requested
	list atomic.Pointer[list]

	// Owned by Run.
	due  time.Time       // of the next sweep; zero = none
	wait time.Duration   // the last pause before a sweep for what stayed
	seen map[string]bool // robots' alerts that led to a sweep
}

// Deps is what a Sweeper needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	Leads     func() bool
	Session   func() string // of fleetd's own connection; empty while it is down
	// Collect returns the retained commands and live stops; see the function Collect.
	Collect              func(ctx context.Context) ([]link.Message, error)
	Publish, PublishWait func(ctx context.Context, m link.Message) error
	Robots               Robots
	Stops                StopRemover
}

// Robots knows robots' alerts about retained messages.
type Robots interface {
	NewRetainedAlert(seen map[string]bool) bool
	// WhyNotRemove says why a retained command cannot be removed now; empty if it can.
	WhyNotRemove(at schema.TopicParams) string
}

// StopRemover removes retained live stops while nothing is released. Its why is empty if the
// stop was removed.
type StopRemover interface {
	Remove(ctx context.Context, client string, payload []byte, remove func(context.Context) error) (why string, err error)
}

// Store is the database with the audit.
type Store interface {
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// New makes a sweeper.
func New(d Deps) *Sweeper {
	s := &Sweeper{deps: d, soon: make(chan struct{}, 1), seen: map[string]bool{}}
	s.list.Store(&list{})
	return s
}

// RequestSweep requests a sweep; it does not block.
func (s *Sweeper) RequestSweep() {
	select {
	case s.soon <- struct{}{}:
	default:
	}
}

// scheduleRetry requests another sweep for what could not be removed.
func (s *Sweeper) scheduleRetry() {
	s.wait = min(max(sweepAgain, 2*s.wait), sweepAgainMost)
	s.scheduleSweep(s.deps.Now().Add(s.wait))
}

// scheduleSweep makes a sweep due at that time, unless one is due earlier.
func (s *Sweeper) scheduleSweep(when time.Time) {
	if s.due.IsZero() || when.Before(s.due) {
		s.due = when
	}
}

// takeDue reports whether a sweep is due, and if so clears the due time.
func (s *Sweeper) takeDue(now time.Time) bool {
	select {
	case <-s.soon:
		s.scheduleSweep(now)
	default:
	}
	if s.due.IsZero() || now.Before(s.due) {
		return false
	}
	s.due = time.Time{}
	return true
}

// Run sweeps whenever it is due, until ctx ends.
func (s *Sweeper) Run(ctx context.Context, db Store) {
	look := time.NewTicker(sweepLook)
	defer look.Stop()
	led, session := false, ""
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			leads, connected := s.deps.Leads(), s.deps.Session()
			if leads && (!led || connected != session) || s.deps.Robots.NewRetainedAlert(s.seen) {
				s.wait = 0
				s.scheduleSweep(now)
			}
			if led && !leads {
				s.setPresent(nil) // the leader lists it
			}
			led, session = leads, connected
			if !leads || connected == "" || !s.takeDue(now) {
				continue
			}
			if !s.sweep(ctx, db) {
				s.scheduleRetry()
			}
		}
	}
}

// sweep collects what is retained, and removes what may be removed now. It stops at a failure,
// logs it, and reports false.
func (s *Sweeper) sweep(ctx context.Context, db Store) bool {
	failed := func(what string, attrs ...any) bool {
		if ctx.Err() == nil {
			s.deps.Log.Warn(what, attrs...)
		}
		return false
	}
	kept, err := s.deps.Collect(ctx)
	if err != nil {
		return failed("retained messages not collected", "error", err)
	}
	var stays []Command
	for _, m := range kept {
		row, at, ok := s.deps.Namespace.Match(m.Topic)
		if !ok {
			continue
		}
		why, consequence := "", ""
		if row.Kind == schema.TopicFleetStopCmd {
			if r, _ := schema.ReadStop(at.CID, m.Payload); r.ID != at.CID {
				consequence = fmt.Sprintf("; its removal stopped all robots under the id %s, too: release both stops", at.CID)
			}
			why, err = s.deps.Stops.Remove(ctx, at.CID, m.Payload, func(ctx context.Context) error { return s.remove(ctx, m.Topic) })
		} else if why = s.deps.Robots.WhyNotRemove(at); why == "" {
			err = s.remove(ctx, m.Topic)
		}
		if err != nil {
			return failed("retained message not removed", "topic", m.Topic, "error", err)
		}
		if why != "" {
			s.deps.Log.Warn("retained message not removed yet", "topic", m.Topic, "why", why)
			stays = append(stays, s.found(m.Topic, at.CID, why))
			continue
		}
		s.addRemoved(s.found(m.Topic, at.CID, ""))
		s.deps.Log.Warn("retained message removed", "topic", m.Topic, "client", at.CID)
		notified, audited := s.notify(ctx, m.Topic, at.CID, consequence), s.audit(ctx, db, m.Topic, at.CID, consequence)
		if notified != nil {
			failed("removal of a retained message not reported to its client", "topic", m.Topic, "client", at.CID, "error", notified)
		}
		if audited != nil {
			failed("removal of a retained message not audited", "topic", m.Topic, "error", audited)
		}
		if notified != nil || audited != nil {
			return false
		}
	}
	s.setPresent(stays)
	if len(stays) > 0 {
		s.scheduleRetry()
	} else {
		s.wait = 0
	}
	return true
}

// remove publishes an empty retained message.
func (s *Sweeper) remove(ctx context.Context, topic string) error {
	within, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	if err := s.deps.PublishWait(within, link.Message{Topic: topic, QoS: 1, Retain: true}); err != nil {
		return fmt.Errorf("publish the empty message: %w", err)
	}
	return nil
}

// notify reports a removal to the client whose topic it is.
func (s *Sweeper) notify(ctx context.Context, topic, client, consequence string) error {
	notice, err := schema.Encode(schema.Notice{TS: schema.TimeOf(s.deps.Now()), Reason: schema.ReasonRetainedCommand, Topic: topic,
		Detail: "it was sent with the retain flag, so that the broker would have delivered it again at each connection; it was removed: send " +
			"it without that flag" + consequence})
	if err != nil {
		return fmt.Errorf("encode a notice: %w", err)
	}
	within, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	return s.deps.Publish(within, link.Message{Topic: s.deps.Namespace.Topic(schema.TopicNotice, client), Payload: notice, QoS: 1})
}

func (s *Sweeper) audit(ctx context.Context, db Store, topic, client, consequence string) error {
	now := s.deps.Now()
	return db.Tx(ctx, func(tx *store.Tx) error {
		return tx.Note(ctx, now, audit.Note{Source: audit.Source{Via: audit.ViaFleetd}, Who: s.deps.Name, What: audit.ActionRemoveRetained,
			Target: strings.TrimPrefix(topic, s.deps.Namespace.Root()), Detail: "sent by " + client + consequence})
	})
}
