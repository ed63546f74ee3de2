package retained

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// sweepLook is how often the sweeper looks whether there is something to do.
	sweepLook = time.Second
	// sweepQuiet is how long nothing more may come of what a broker keeps before all
	// of it is here, and sweepWithin bounds the whole.
	sweepQuiet  = 500 * time.Millisecond
	sweepWithin = 10 * time.Second
	// sweepAgain is how soon what could not be removed is looked at again; each time
	// twice as late, up to sweepAgainMost.
	sweepAgain     = 2 * time.Second
	sweepAgainMost = 5 * time.Minute
	// ackWithin is how long the broker may take to acknowledge a message.
	ackWithin = 5 * time.Second
)

// Sweeper removes from the broker what must not be kept there: commands, and live
// stops. Our own broker keeps none. Another one does, and would tell them to every
// robot, and to every instance, each time that it connects.
//
// To remove a message is to publish an empty one, which the broker also passes on to
// whoever listens: there it is a command without arguments, or a stop. So a command
// is removed only when its robot is away, or when its alert says that it has seen
// that this one was kept, and that it waits for its removal; and a live stop only of
// all robots, while it holds them all anyway.
//
// Nothing tells such an empty message from that of a person who presses the same
// button in this moment, so it is taken for a press, here and by robots: it changes
// nothing as long as the stop is held. A release waits until it is through, and the
// other way round. Of a release at another instance in the same moment the stop may come
// back, on the record and on robots, and has to be released again.
//
// What is sent with the retain flag while a fleetd instance listens comes without the flag. So
// the sweeper asks anew, over a connection of its own: when this instance begins to
// lead, after each live stop, and when a robot's alert tells of it.
type Sweeper struct {
	deps Deps

	mu   sync.Mutex
	due  time.Time // zero = nothing to be done
	gone []Message // removed, the newest last
	stay []Message // not removed yet, as of the newest look

	// Owned by run.
	wait time.Duration   // before it was looked at again for what stayed
	seen map[string]bool // alerts of robots that were looked at
}

// Deps is what a Sweeper needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	Leads     func() bool
	Session   func() string // of fleetd's own link; empty: it is down
	// Open makes a connection of its own for this instance, whose client id ends so.
	Open                 func(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error)
	Publish, PublishWait func(ctx context.Context, m link.Message) error
	Robots               Robots
	Stops                StopRemover
}

// Robots are what robots say of messages that were kept.
type Robots interface {
	Alarmed(seen map[string]bool) bool
	MayRemove(at schema.TopicParams) (why string)
}

// StopRemover removes live stops in the right moment.
type StopRemover interface {
	Remove(ctx context.Context, client string, payload []byte, remove func(context.Context) error) (why string, err error)
}

// Store is the database with the audit.
type Store interface {
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

func New(d Deps) *Sweeper {
	return &Sweeper{deps: d, seen: map[string]bool{}}
}

// Soon has the sweeper look at what the broker keeps; it waits for nothing.
func (s *Sweeper) Soon() { s.at(s.deps.Now()) }

// later has it look again for what could not be removed.
func (s *Sweeper) later() {
	s.wait = min(max(sweepAgain, 2*s.wait), sweepAgainMost)
	s.at(s.deps.Now().Add(s.wait))
}

func (s *Sweeper) at(when time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.IsZero() || when.Before(s.due) {
		s.due = when
	}
}

func (s *Sweeper) isDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.due.IsZero() || now.Before(s.due) {
		return false
	}
	s.due = time.Time{}
	return true
}

// Run looks and removes until ctx ends.
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
			if leads && (!led || connected != session) || s.deps.Robots.Alarmed(s.seen) {
				s.wait = 0
				s.Soon()
			}
			if led && !leads {
				s.stays(nil) // another instance tells of it
			}
			led, session = leads, connected
			if !leads || connected == "" || !s.isDue(now) {
				continue
			}
			if err := s.sweep(ctx, db); err != nil && ctx.Err() == nil {
				s.deps.Log.Warn("what the broker keeps of commands could not be looked at", "error", err)
				s.later()
			}
		}
	}
}

// sweep asks for all that is kept, and removes what may be.
func (s *Sweeper) sweep(ctx context.Context, db Store) error {
	kept, err := s.collect(ctx)
	if err != nil {
		return err
	}
	var stays []Message
	for _, m := range kept {
		row, at, ok := s.deps.Namespace.Match(m.Topic)
		if !ok {
			continue
		}
		why := ""
		if row.Kind == schema.TopicFleetStopCmd {
			why, err = s.deps.Stops.Remove(ctx, at.CID, m.Payload, func(ctx context.Context) error { return s.remove(ctx, m.Topic) })
		} else if why = s.deps.Robots.MayRemove(at); why == "" {
			err = s.remove(ctx, m.Topic)
		}
		if err != nil {
			return err
		}
		if why != "" {
			s.deps.Log.Warn("the broker keeps a message that it should not; it is not removed yet", "topic", m.Topic, "why", why)
			stays = append(stays, s.found(m.Topic, at.CID, why))
			continue
		}
		s.tells(s.found(m.Topic, at.CID, ""))
		if err := s.removed(ctx, db, m.Topic, at.CID); err != nil {
			return err
		}
	}
	s.stays(stays)
	if len(stays) > 0 {
		s.later()
	} else {
		s.wait = 0
	}
	return nil
}

// collect is what the broker keeps of commands and live stops.
func (s *Sweeper) collect(ctx context.Context) ([]link.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	came := make(chan link.Message, 1024)
	l, err := s.deps.Open(ctx, ".sweep", link.Config{
		Subscribe: []link.Subscription{
			{Filter: s.deps.Namespace.Topic(schema.TopicCmd, "+", "+", "+", "+"), QoS: 1},
			{Filter: s.deps.Namespace.Topic(schema.TopicFleetStopCmd, "+"), QoS: 1},
		},
		OnMessage: func(m link.Message) {
			if m.Retain && len(m.Payload) > 0 {
				select {
				case came <- m:
				default: // the next time
				}
			}
		},
		Logger: s.deps.Log.With("link", "sweep"),
	})
	if err != nil {
		return nil, err
	}
	defer l.Close(context.WithoutCancel(ctx))
	if err := l.WaitUp(ctx); err != nil {
		return nil, err
	}
	var kept []link.Message
	for {
		quiet := time.NewTimer(sweepQuiet)
		select {
		case m := <-came:
			quiet.Stop()
			kept = append(kept, m)
		case <-quiet.C:
			return kept, nil
		case <-ctx.Done():
			quiet.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// remove empties a topic.
func (s *Sweeper) remove(ctx context.Context, topic string) error {
	within, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	if err := s.deps.PublishWait(within, link.Message{Topic: topic, QoS: 1, Retain: true}); err != nil {
		return fmt.Errorf("remove %s: %w", topic, err)
	}
	return nil
}

// removed tells of what was removed, whoever filled the topic and the audit.
func (s *Sweeper) removed(ctx context.Context, db Store, topic, client string) error {
	s.deps.Log.Warn("a command that the broker kept was removed", "topic", topic, "client", client)
	now := s.deps.Now()
	notice, err := schema.Encode(schema.Notice{TS: schema.TimeOf(now), Reason: schema.ReasonRetainedCommand, Topic: topic,
		Detail: "the broker kept it, and would have told it again at each connection; it was removed"})
	if err != nil {
		return fmt.Errorf("encode a notice: %w", err)
	}
	within, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	return errors.Join(
		s.deps.Publish(within, link.Message{Topic: s.deps.Namespace.Topic(schema.TopicNotice, client), Payload: notice, QoS: 1}),
		db.Tx(ctx, func(tx *store.Tx) error {
			return tx.Note(ctx, now, library.Note{Who: s.deps.Name, What: "remove retained", Target: strings.TrimPrefix(topic, s.deps.Namespace.Root()), Detail: "sent by " + client})
		}),
	)
}
